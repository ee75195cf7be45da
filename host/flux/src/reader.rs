//! Maps of known keys.
//!
//! In: a [`Node`]. Out: its values by key and type; what is wrong is reported once and passed over. Invariant: null is as
//! good as not there.

use crate::yaml::{Node, Value};
use anchorbolt_core::manifest::names::quote;
use anchorbolt_core::manifest::{Diagnostic, Span, Spanned, codes, suggest};
use std::ops::RangeInclusive;

/// A map, and what messages call it.
pub(crate) struct Fields<'n> {
    what: String,
    node: &'n Node,
}

impl<'n> Fields<'n> {
    /// Opens a map; anything else, and keys that are not known, are reported.
    pub(crate) fn open(
        node: &'n Node,
        what: impl Into<String>,
        known: &[&'static str],
        out: &mut Vec<Diagnostic>,
    ) -> Option<Fields<'n>> {
        let what = what.into();
        let Value::Map(entries) = &node.value else {
            let message = format!("{what} must be a map of keys and values");
            out.push(Diagnostic::error(codes::WRONG_TYPE, node.span, message).help(keys(known)));
            return None;
        };
        for (key, _) in entries {
            let text = key.text().unwrap_or_default();
            if !known.contains(&text) {
                let message = format!("{what} has no key {}", quote(text));
                let help = suggest::help(text, "known keys", known.iter().copied());
                out.push(Diagnostic::error(codes::UNKNOWN_KEY, key.span, message).help(help));
            }
        }
        Some(Fields { what, node })
    }

    /// The value of a key that is there.
    pub(crate) fn get(&self, key: &str) -> Option<&'n Node> {
        self.node.get(key).filter(|node| !node.is_null())
    }

    /// Where the map was written.
    pub(crate) fn span(&self) -> Span {
        self.node.span
    }

    /// A text.
    pub(crate) fn text(&self, key: &str, out: &mut Vec<Diagnostic>) -> Option<Spanned<String>> {
        let node = self.get(key)?;
        match node.text() {
            Some(text) => Some(Spanned::at(text.to_owned(), node.span)),
            None => self.wrong(key, node, "a text", out),
        }
    }

    /// A text that has to be there.
    pub(crate) fn required(&self, key: &str, out: &mut Vec<Diagnostic>) -> Option<Spanned<String>> {
        let text = self.text(key, out);
        if self.get(key).is_none() {
            let message = format!("{} lacks the key `{key}`", self.what);
            out.push(
                Diagnostic::error(codes::MISSING_KEY, self.node.span, message)
                    .help(format!("add `{key}: \"..\"`")),
            );
        }
        text
    }

    /// A list; not there is empty.
    pub(crate) fn list(&self, key: &str, out: &mut Vec<Diagnostic>) -> &'n [Node] {
        let Some(node) = self.get(key) else { return &[] };
        node.items().or_else(|| self.wrong(key, node, "a list", out)).unwrap_or(&[])
    }

    /// Keys and values of a map whose keys are free; not there is empty.
    pub(crate) fn map(&self, key: &str, out: &mut Vec<Diagnostic>) -> &'n [(Node, Node)] {
        match self.get(key) {
            None => &[],
            Some(Node { value: Value::Map(entries), .. }) => entries,
            Some(node) => self.wrong(key, node, "a map of keys and values", out).unwrap_or(&[]),
        }
    }

    /// True or false.
    pub(crate) fn boolean(&self, key: &str, out: &mut Vec<Diagnostic>) -> Option<bool> {
        let node = self.get(key)?;
        boolean(node).or_else(|| self.wrong(key, node, "true or false", out))
    }

    /// A whole number in a range.
    pub(crate) fn integer(
        &self,
        key: &str,
        range: RangeInclusive<i64>,
        out: &mut Vec<Diagnostic>,
    ) -> Option<Spanned<i64>> {
        let node = self.get(key)?;
        let Some(number) = integer(node) else { return self.wrong(key, node, "a whole number", out) };
        if range.contains(&number) {
            return Some(Spanned::at(number, node.span));
        }
        let message = format!("`{key}` of {} is out of range", self.what);
        let help = format!("from {} to {}", range.start(), range.end());
        out.push(Diagnostic::error(codes::OUT_OF_RANGE, node.span, message).help(help));
        None
    }

    fn wrong<T>(&self, key: &str, node: &Node, needed: &str, out: &mut Vec<Diagnostic>) -> Option<T> {
        let message = format!("`{key}` of {} must be {needed}", self.what);
        out.push(Diagnostic::error(codes::WRONG_TYPE, node.span, message).help(format!("write {needed}")));
        None
    }
}

fn keys(known: &[&'static str]) -> String {
    format!("its keys: {}", suggest::list(known.iter().copied()))
}

/// A whole number, as YAML 1.1 writes one; in quotes, too, as Storm takes it.
pub(crate) fn integer(node: &Node) -> Option<i64> {
    let text = node.text()?.replace('_', "");
    match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// True or false, as YAML 1.1 writes them.
pub(crate) fn boolean(node: &Node) -> Option<bool> {
    match &*node.text()?.to_ascii_lowercase() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}
