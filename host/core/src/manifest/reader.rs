//! Reading tables of the tree: typed values out, mistakes into a list, no key overlooked.
//!
//! A [`Reader`] hands out the keys of one table and remembers which it was asked for; [`Reader::finish`]
//! reports those that nobody asked for. Parsers are functions from a [`Field`] to a value or a diagnostic.

use super::codes;
use super::diagnostic::{Diagnostic, Span, Spanned};
use super::document::{Entry, Node, Value};
use super::suggest;

/// A value with the dotted path that messages call it by.
#[derive(Clone)]
pub(super) struct Field<'n> {
    /// `bolts.count.limits`
    pub(super) path: String,
    /// Where its key was written; the value itself when it has none.
    pub(super) key_span: Span,
    pub(super) node: &'n Node,
}

/// What a parser says. No diagnostic: it was reported before.
pub(super) type Parsed<T> = Result<T, Option<Box<Diagnostic>>>;

impl<'n> Field<'n> {
    /// An error about the value.
    pub(super) fn error(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, self.node.span, message)
    }

    /// The error of a parser.
    pub(super) fn wrong_type<T>(&self, needed: &str, help: &str) -> Parsed<T> {
        if self.node.value == Value::Wrong {
            return Err(None);
        }
        let message = format!("`{}` must be {needed}, not {}", self.path, self.node.value.type_name());
        Err(Some(Box::new(self.error(codes::WRONG_TYPE, message).help(help))))
    }

    /// The items of an array.
    pub(super) fn items(&self, help: &str) -> Parsed<Vec<Field<'n>>> {
        let Value::Array(items) = &self.node.value else {
            return self.wrong_type("an array", help);
        };
        let item = |(i, node): (usize, &'n Node)| Field {
            path: format!("{}[{i}]", self.path),
            key_span: node.span,
            node,
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// The entries of a table whose keys are free.
    pub(super) fn entries(&self, help: &str) -> Parsed<Vec<(&'n Entry, Field<'n>)>> {
        let Value::Table(entries) = &self.node.value else {
            return self.wrong_type("a table", help);
        };
        Ok(entries.iter().map(|entry| (entry, self.below(entry))).collect())
    }

    /// The value with its span.
    pub(super) fn spanned<T>(&self, value: T) -> Spanned<T> {
        Spanned::at(value, self.node.span)
    }

    fn below(&self, entry: &'n Entry) -> Field<'n> {
        let path =
            if self.path.is_empty() { entry.key.clone() } else { format!("{}.{}", self.path, entry.key) };
        Field { path, key_span: entry.key_span, node: &entry.node }
    }
}

/// Reports what a parser found.
pub(super) fn keep<T>(parsed: Parsed<T>, out: &mut Vec<Diagnostic>) -> Option<T> {
    match parsed {
        Ok(value) => Some(value),
        Err(mistake) => {
            out.extend(mistake.map(|boxed| *boxed));
            None
        }
    }
}

/// One table with known keys.
pub(super) struct Reader<'n, 'o> {
    field: Field<'n>,
    entries: &'n [Entry],
    known: Vec<&'static str>,
    /// Keys that were reported as misplaced.
    misplaced: Vec<&'static str>,
    /// Its keys are not all known here.
    open_ended: bool,
    pub(super) out: &'o mut Vec<Diagnostic>,
}

impl<'n, 'o> Reader<'n, 'o> {
    /// Opens a table; anything else is reported with this example of how to write it.
    pub(super) fn open(field: Field<'n>, help: &str, out: &'o mut Vec<Diagnostic>) -> Option<Reader<'n, 'o>> {
        match &field.node.value {
            Value::Table(entries) => Some(Reader {
                field,
                entries,
                known: Vec::new(),
                misplaced: Vec::new(),
                open_ended: false,
                out,
            }),
            _ => {
                keep(field.wrong_type::<()>("a table", help), out);
                None
            }
        }
    }

    /// The path of the table.
    pub(super) fn path(&self) -> &str {
        &self.field.path
    }

    /// Where the table's key was written.
    pub(super) fn span(&self) -> Span {
        self.field.key_span
    }

    /// A key's field, when it is there. From now on the key is known.
    pub(super) fn field(&mut self, key: &'static str) -> Option<Field<'n>> {
        self.known.push(key);
        self.peek(key)
    }

    /// A key's field without knowing the key.
    pub(super) fn peek(&self, key: &str) -> Option<Field<'n>> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(self.field.below(entry))
    }

    /// A key's value, when it is there and right.
    pub(super) fn read<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&Field<'n>) -> Parsed<T>,
    ) -> Option<T> {
        let field = self.field(key)?;
        keep(parse(&field), self.out)
    }

    /// As [`Reader::read`]; a missing key is reported with how to write it.
    pub(super) fn require<T>(
        &mut self,
        key: &'static str,
        example: &str,
        parse: impl FnOnce(&Field<'n>) -> Parsed<T>,
    ) -> Option<T> {
        let field = self.require_field(key, example)?;
        keep(parse(&field), self.out)
    }

    /// As [`Reader::field`]; a missing key is reported with how to write it.
    pub(super) fn require_field(&mut self, key: &'static str, example: &str) -> Option<Field<'n>> {
        let field = self.field(key);
        if field.is_none() {
            let message = format!("`{}` lacks the key `{key}`", self.path());
            let missing = Diagnostic::error(codes::MISSING_KEY, self.span(), message);
            self.out.push(missing.help(format!("add `{example}`")));
        }
        field
    }

    /// Reports a key that is right elsewhere, and takes it.
    pub(super) fn misplaced(&mut self, key: &'static str, why: impl FnOnce(&Field<'n>) -> Diagnostic) {
        if let Some(field) = self.peek(key) {
            self.misplaced.push(key);
            self.out.push(why(&field));
        }
    }

    /// Makes keys known that nobody should be advised to use.
    pub(super) fn hide(&mut self, keys: &[&'static str]) {
        self.misplaced.extend(keys);
    }

    /// Makes keys known that are not read.
    pub(super) fn know(&mut self, keys: &[&'static str]) {
        self.known.extend(keys);
    }

    /// Makes every key known: nothing can be said of them.
    pub(super) fn know_all(&mut self) {
        self.open_ended = true;
    }

    /// Reports all keys that were not asked for.
    pub(super) fn finish(self) {
        let advice = self.known.iter().copied().filter(|key| !self.misplaced.contains(key));
        let reported = |key: &str| self.known.contains(&key) || self.misplaced.contains(&key);
        for entry in self.entries.iter().filter(|entry| !self.open_ended && !reported(&entry.key)) {
            let code = if entry.key_span.overridden() { codes::UNKNOWN_OVERRIDE } else { codes::UNKNOWN_KEY };
            let place = if self.field.path.is_empty() {
                "a manifest".to_owned()
            } else {
                format!("`{}`", self.path())
            };
            let message = format!("{place} has no key `{}`", entry.key);
            let help = suggest::help(&entry.key, "known keys", advice.clone());
            self.out.push(Diagnostic::error(code, entry.key_span, message).help(help));
        }
    }
}
