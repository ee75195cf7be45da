//! `--set PATH=VALUE`: laid over the tree before anything is validated.
//!
//! PATH is dotted keys as in TOML, and numbers within arrays. It may name a component only when the
//! manifest has it; below that, what it creates is validated like the rest, so a key that means nothing
//! is found there. Values carry spans into the argument, and so does every later mistake in them.

use super::codes;
use super::diagnostic::{Diagnostic, Span};
use super::document::{self, Entry, Node, Value};
use super::suggest;
use toml::de::{DeTable, DeValue};

/// One key of a path.
struct Segment {
    key: String,
    span: Span,
}

/// Applies all arguments in their order; the n-th is source n.
pub(super) fn apply(root: &mut Node, sets: &[String], out: &mut Vec<Diagnostic>) {
    for (i, set) in sets.iter().enumerate() {
        let source = u32::try_from(i + 1).unwrap_or(u32::MAX);
        let result = split(set, source).and_then(|(path, value)| {
            check_component(root, &path)?;
            insert(root, &path, 0, value)
        });
        out.extend(result.err());
    }
}

fn split(set: &str, source: u32) -> Result<(Vec<Segment>, Node), Diagnostic> {
    let whole = Span::new(source, 0..set.len());
    let malformed = |why: &str| {
        Diagnostic::error(codes::BAD_OVERRIDE, whole, format!("`--set {set}` {why}"))
            .help("write PATH=VALUE, for example `--set bolts.count.config.top=20`")
    };
    let (path, value) = set.split_once('=').ok_or_else(|| malformed("has no `=`"))?;
    let segments = segments(path, source).ok_or_else(|| malformed("has no valid path before the `=`"))?;
    Ok((segments, document::parse_value(value, source, path.len() + 1)))
}

/// Dotted keys, read by the TOML parser itself so that quoted keys work.
fn segments(path: &str, source: u32) -> Option<Vec<Segment>> {
    if path.contains(char::is_control) {
        return None;
    }
    let text = format!("{path} = 0");
    let mut table = DeTable::parse(&text).ok()?.into_inner();
    let mut segments = Vec::new();
    loop {
        let (key, value) = table.into_iter().next()?;
        segments.push(Segment { span: Span::new(source, key.span()), key: key.into_inner().into_owned() });
        match value.into_inner() {
            DeValue::Table(inner) => table = inner,
            _ => return Some(segments),
        }
    }
}

/// The first two keys must be in the manifest: a mistyped name must not make a new component.
fn check_component(root: &Node, path: &[Segment]) -> Result<(), Diagnostic> {
    let sections = ["topology", "spouts", "bolts"];
    let [section, rest @ ..] = path else { return Ok(()) };
    if !sections.contains(&&*section.key) {
        return Err(unknown(section, format!("`{}` is no part of a manifest", section.key))
            .help(suggest::help(&section.key, "parts", sections)));
    }
    let Some(component) = rest.first() else {
        return Err(unknown(section, format!("`{}` can't be set as a whole", section.key))
            .help("name one of its keys, for example `topology.message-timeout`"));
    };
    let Some(Value::Table(components)) = child(root, &section.key).map(|node| &node.value) else {
        return if section.key == "topology" { Ok(()) } else { Err(no_component(section, component, &[])) };
    };
    if section.key != "topology" && !components.iter().any(|entry| entry.key == component.key) {
        return Err(no_component(section, component, components));
    }
    Ok(())
}

fn no_component(section: &Segment, component: &Segment, known: &[Entry]) -> Diagnostic {
    unknown(component, format!("the manifest has no `{}.{}`", section.key, component.key))
        .help(suggest::help(&component.key, &section.key, known.iter().map(|entry| &*entry.key)))
}

fn unknown(segment: &Segment, message: String) -> Diagnostic {
    Diagnostic::error(codes::UNKNOWN_OVERRIDE, segment.span, message)
}

fn child<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Value::Table(entries) = &node.value else {
        return None;
    };
    entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
}

/// Puts the value where the path, from its segment `at` on, leads.
fn insert(node: &mut Node, path: &[Segment], at: usize, value: Node) -> Result<(), Diagnostic> {
    let Some(segment) = path.get(at) else {
        *node = value;
        return Ok(());
    };
    match &mut node.value {
        Value::Table(entries) => {
            let i = entries.iter().position(|entry| entry.key == segment.key).unwrap_or_else(|| {
                let node = Node { value: Value::Table(Vec::new()), span: segment.span };
                entries.push(Entry { key: segment.key.clone(), key_span: segment.span, node });
                entries.len() - 1
            });
            let Some(entry) = entries.get_mut(i) else {
                return Ok(());
            };
            if at + 1 == path.len() {
                entry.key_span = segment.span;
            }
            insert(&mut entry.node, path, at + 1, value)
        }
        Value::Array(items) => {
            let count = items.len();
            match segment.key.parse::<usize>().ok().and_then(|i| items.get_mut(i)) {
                Some(item) => insert(item, path, at + 1, value),
                None => {
                    Err(unknown(segment, format!("`{}` has no item `{}`", dotted(path, at), segment.key))
                        .help(format!("it has {count}, counted from 0")))
                }
            }
        }
        Value::Wrong => Ok(()),
        other => {
            let what = other.type_name();
            Err(unknown(segment, format!("`{}` is {what}, nothing is below it", dotted(path, at)))
                .help(format!("set it as a whole: `--set {}=VALUE`", dotted(path, at))))
        }
    }
}

fn dotted(path: &[Segment], up_to: usize) -> String {
    path.iter().take(up_to).map(|segment| &*segment.key).collect::<Vec<_>>().join(".")
}
