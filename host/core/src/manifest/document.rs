//! TOML text to a tree in which every key and value knows where it was written.
//!
//! In comes one text, out go a [`Node`] and what is wrong with the syntax. The tree is always there: what
//! could not be read is [`Value::Wrong`], which every later step passes over in silence, so that one
//! mistake is not reported twice. Entries of a table are in the order of the text.

use super::codes;
use super::diagnostic::{Diagnostic, Span};
use toml::de::{DeTable, DeValue};

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) span: Span,
}

/// A TOML value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    String(String),
    Integer(i128),
    Float(f64),
    Boolean(bool),
    Datetime(String),
    Array(Vec<Node>),
    Table(Vec<Entry>),
    /// Something that was already reported.
    Wrong,
}

/// One key of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_span: Span,
    pub(super) node: Node,
}

impl Value {
    /// The type with its article, for messages.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Value::String(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Boolean(_) => "a boolean",
            Value::Datetime(_) => "a date",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
            Value::Wrong => "a mistake",
        }
    }
}

/// A text as a tree.
pub(super) struct Document {
    /// Always a table.
    pub(super) root: Node,
    /// Parts of the text are missing from the tree: that a key or component is not there says nothing.
    pub(super) damaged: bool,
}

/// Reads the manifest's text; its spans have source 0.
pub(super) fn parse(text: &str, out: &mut Vec<Diagnostic>) -> Document {
    let (table, errors) = DeTable::parse_recoverable(text);
    let root_span = Span::new(0, 0..0);
    let mut root = Node { value: Value::Table(entries(table.into_inner(), 0, 0)), span: root_span };
    let mut damaged = false;
    let mut done = Vec::new();
    let errors = errors.iter().map(|e| SyntaxError::new(text, e)).collect::<Vec<_>>();
    for error in errors.iter().filter(|e| e.fault == Fault::Unclosed) {
        damaged = true;
        let Some(open) = unclosed(&root, error.span) else {
            continue;
        };
        poison(&mut root, open, true);
        done.push(open);
        out.push(error.diagnostic(text, Span { end: open.start + 1, ..open }));
    }
    let mut last_line = None;
    for error in &errors {
        let swallowed =
            done.iter().any(|open| open.start <= error.span.start && error.span.start <= open.end);
        let line = text.get(..error.span.start as usize).map(|before| before.matches('\n').count());
        // What follows a mistake on its line is mostly its echo; only a missing quote stands alone.
        let echo = error.fault == Fault::Other && line.is_some() && line == last_line;
        if swallowed || echo {
            continue;
        }
        last_line = line;
        damaged |= error.fault == Fault::Other;
        if error.fault != Fault::Duplicate {
            poison(&mut root, error.span, false);
        }
        out.push(error.diagnostic(text, error.span));
    }
    Document { root, damaged }
}

/// Reads the value of a `--set`: TOML when it is, else a string.
pub(super) fn parse_value(text: &str, source: u32, offset: usize) -> Node {
    let span = Span::new(source, offset..offset + text.len());
    match DeValue::parse(text) {
        Ok(value) => Node { span, ..node(value, source, offset) },
        Err(_) => Node { value: Value::String(text.to_owned()), span },
    }
}

fn node(value: toml::Spanned<DeValue<'_>>, source: u32, offset: usize) -> Node {
    let range = value.span();
    let span = Span::new(source, range.start + offset..range.end + offset);
    let value = match value.into_inner() {
        DeValue::String(s) => Value::String(s.into_owned()),
        // Beyond 128 bits it is beyond every range, too.
        DeValue::Integer(n) => {
            Value::Integer(i128::from_str_radix(n.as_str(), n.radix()).unwrap_or(i128::MAX))
        }
        DeValue::Float(x) => Value::Float(x.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(b) => Value::Boolean(b),
        DeValue::Datetime(d) => Value::Datetime(d.to_string()),
        DeValue::Array(items) => {
            Value::Array(items.into_iter().map(|item| node(item, source, offset)).collect())
        }
        DeValue::Table(table) => Value::Table(entries(table, source, offset)),
    };
    Node { value, span }
}

fn entries(table: DeTable<'_>, source: u32, offset: usize) -> Vec<Entry> {
    let mut entries: Vec<Entry> = table
        .into_iter()
        .map(|(key, value)| Entry {
            key_span: Span::new(source, key.span().start + offset..key.span().end + offset),
            key: key.into_inner().into_owned(),
            node: node(value, source, offset),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_span);
    entries
}

/// Marks what a mistake made worthless: every text and number that it touches, or (`whole`) everything
/// within it.
fn poison(node: &mut Node, at: Span, whole: bool) {
    let touched = node.span.start <= at.end && at.start <= node.span.end;
    match &mut node.value {
        _ if whole && node.span == at => node.value = Value::Wrong,
        Value::Array(items) => items.iter_mut().for_each(|item| poison(item, at, whole)),
        Value::Table(entries) => entries.iter_mut().for_each(|entry| poison(&mut entry.node, at, whole)),
        _ if touched && !whole => node.value = Value::Wrong,
        _ => {}
    }
}

/// The outermost array or inline table that runs into the place where its end was missed.
fn unclosed(node: &Node, at: Span) -> Option<Span> {
    let children: Vec<&Node> = match &node.value {
        Value::Array(items) => items.iter().collect(),
        Value::Table(entries) => entries.iter().map(|entry| &entry.node).collect(),
        _ => return None,
    };
    if node.span.end == at.end && node.span.start < at.start {
        return Some(node.span);
    }
    children.into_iter().find_map(|child| unclosed(child, at))
}

/// How much a syntax error spoils.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// A text without quotes, or without its closing one: that value.
    Quotes,
    /// Nothing: the first one counts.
    Duplicate,
    /// All up to the end of an array or inline table.
    Unclosed,
    /// Unknown.
    Other,
}

struct SyntaxError {
    span: Span,
    fault: Fault,
    message: String,
}

impl SyntaxError {
    fn new(text: &str, error: &toml::de::Error) -> SyntaxError {
        let message = error.message().to_owned();
        let fault = match &*message {
            m if m.starts_with("string values must be quoted") => Fault::Quotes,
            m if m.starts_with("invalid basic string") || m.starts_with("invalid literal string") => {
                Fault::Quotes
            }
            m if m.starts_with("duplicate key") => Fault::Duplicate,
            m if m.starts_with("unclosed array") || m.starts_with("unclosed inline table") => Fault::Unclosed,
            _ => Fault::Other,
        };
        let range = error.span().unwrap_or(text.len()..text.len());
        SyntaxError { span: Span::new(0, range), fault, message }
    }

    fn diagnostic(&self, text: &str, span: Span) -> Diagnostic {
        let written = text.get(span.range()).unwrap_or_default().trim();
        match self.fault {
            Fault::Duplicate => {
                Diagnostic::error(codes::DUPLICATE_KEY, span, format!("`{written}` is written twice"))
                    .help("remove one of the two, or merge them")
            }
            Fault::Quotes if self.message.starts_with("string values") && written.is_empty() => {
                Diagnostic::error(codes::SYNTAX, span, "a value is missing").help("write a value after the `=`")
            }
            Fault::Quotes if self.message.starts_with("string values") => {
                Diagnostic::error(codes::SYNTAX, span, format!("the text {written} needs quotes"))
                    .help(format!("write \"{}\"", written.trim_matches(['"', '\''])))
            }
            Fault::Quotes => Diagnostic::error(codes::SYNTAX, span, self.message.clone())
                .help("close the text with the quote it opens with, on the same line; in \"..\" write a backslash as `\\\\`"),
            Fault::Unclosed => {
                let (what, close) = if self.message.contains("array") { ("array", ']') } else { ("inline table", '}') };
                Diagnostic::error(codes::SYNTAX, span, format!("the {what} that begins here is not closed"))
                    .help(format!("add the missing `{close}`, or a comma between its items"))
            }
            Fault::Other => Diagnostic::error(codes::SYNTAX, span, self.message.clone())
                .help("one `key = value` a line, tables as `[bolts.name]`, texts in quotes"),
        }
    }
}
