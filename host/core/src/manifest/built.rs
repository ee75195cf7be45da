//! A manifest that a program makes, setting by setting.
//!
//! In: a text of the calls that the program made, and what each of them set. Out: [`Parsed`], by the same readers as a
//! manifest's text and with the same codes; places lie in the text of the calls. Invariant: nothing is looked up: a `${`
//! of a program is a `${`.

use super::codes;
use super::diagnostic::{Diagnostic, Sources, Span};
use super::document::{Entry, Node, Value};
use super::{Parsed, finish};
use serde_json::Value as Json;
use std::ops::Range;

/// One value and the call that set it.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The keys that lead to it: `["bolts", "count", "limits", "memory"]`. In a list it is the place of an item; the place
    /// behind the last adds one.
    pub path: Vec<String>,
    /// The value, as a manifest would have it.
    pub value: Json,
    /// Where in the text of the calls.
    pub at: Range<usize>,
}

/// Reads the settings in their order; `name` is what diagnostics call the text.
pub fn build(name: &str, text: &str, settings: &[Setting]) -> Parsed {
    let mut diagnostics = Vec::new();
    let mut root = Node { value: Value::Table(vec![]), span: Span::new(0, 0..0) };
    // What is said of a component that is there already.
    let mut repeated: Option<&[String]> = None;
    for setting in settings {
        let span = Span::new(0, setting.at.clone());
        if is_component(&setting.path) {
            repeated = find(&root, &setting.path).map(|_| &*setting.path);
        } else if repeated.is_some_and(|path| setting.path.starts_with(path)) {
            continue;
        }
        if is_component(&setting.path) && repeated.is_some() {
            let message = format!("`{}` is set twice", setting.path.join("."));
            let mistake =
                Diagnostic::error(codes::NAME_TAKEN, span, message).help("give one of the two another id");
            diagnostics.push(mistake.related(find(&root, &setting.path), "the first"));
            continue;
        }
        let value = node(&setting.value, span, &mut diagnostics);
        insert(&mut root, &setting.path, value);
    }
    finish(&root, false, diagnostics, Sources::new(name, text, &[]))
}

fn is_component(path: &[String]) -> bool {
    matches!(path, [section, _] if section != "topology")
}

/// Where a key was written.
fn find(node: &Node, path: &[String]) -> Option<Span> {
    let [key, rest @ ..] = path else { return None };
    let Value::Table(entries) = &node.value else { return None };
    let entry = entries.iter().find(|entry| entry.key == *key)?;
    if rest.is_empty() { Some(entry.key_span) } else { find(&entry.node, rest) }
}

fn insert(node: &mut Node, path: &[String], value: Node) {
    let [key, rest @ ..] = path else {
        *node = value;
        return;
    };
    let span = value.span;
    let empty = || Node { value: Value::Table(vec![]), span };
    match &mut node.value {
        Value::Table(entries) => {
            let i = entries.iter().position(|entry| entry.key == *key).unwrap_or_else(|| {
                entries.push(Entry { key: key.clone(), key_span: span, node: empty() });
                entries.len() - 1
            });
            if let Some(entry) = entries.get_mut(i) {
                insert(&mut entry.node, rest, value);
            }
        }
        Value::Array(items) => {
            let i = key.parse::<usize>().ok().filter(|i| *i <= items.len());
            if i == Some(items.len()) {
                items.push(empty());
            }
            if let Some(item) = i.and_then(|i| items.get_mut(i)) {
                insert(item, rest, value);
            }
        }
        // A value that was set before has no keys: the later call counts.
        other => {
            *other = Value::Table(vec![]);
            insert(node, path, value);
        }
    }
}

fn node(json: &Json, span: Span, out: &mut Vec<Diagnostic>) -> Node {
    let value = match json {
        Json::Null => {
            out.push(
                Diagnostic::error(codes::WRONG_TYPE, span, "a value is null, which a manifest does not have")
                    .help("leave it out"),
            );
            Value::Wrong
        }
        Json::Bool(truth) => Value::Boolean(*truth),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(n), _) => Value::Integer(n.into()),
            (None, Some(n)) => Value::Integer(n.into()),
            (None, None) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => Value::Array(items.iter().map(|item| node(item, span, out)).collect()),
        Json::Object(entries) => {
            let entry = |(key, value): (&String, &Json)| Entry {
                key: key.clone(),
                key_span: span,
                node: node(value, span, out),
            };
            Value::Table(entries.iter().map(entry).collect())
        }
    };
    Node { value, span }
}
