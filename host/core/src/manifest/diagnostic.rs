//! Mistakes as data: where, what, how to mend it. Rendering is the program's.
//!
//! A [`Span`] points into one of the texts that a manifest is made of, which [`Sources`] holds: the file
//! itself and the `--set` arguments. Every diagnostic's code is in [`super::codes`].

use std::ops::Range;

/// A place in one of the [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// 0 is the manifest, n the n-th `--set`.
    pub source: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span; texts are below 4 GiB.
    pub fn new(source: u32, range: Range<usize>) -> Span {
        let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { source, start: clip(range.start), end: clip(range.end.max(range.start)) }
    }

    /// The bytes.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether it lies in a `--set` argument.
    pub fn overridden(&self) -> bool {
        self.source != 0
    }
}

/// A value and where it was written; nowhere when a program made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Option<Span>,
}

impl<T> Spanned<T> {
    /// A value that was written here.
    pub fn at(value: T, span: Span) -> Spanned<T> {
        Spanned { value, span: Some(span) }
    }

    /// A value that was not written anywhere.
    pub fn bare(value: T) -> Spanned<T> {
        Spanned { value, span: None }
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It can't run.
    Error,
    /// It can, but look at it.
    Warning,
}

impl Severity {
    /// The word in `--json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its stable name.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where; nowhere only when a program built the manifest.
    pub span: Option<Span>,
    /// What is wrong: one line that names the culprit.
    pub message: String,
    /// How to mend it.
    pub help: Option<String>,
    /// Other places that matter, each with what is there.
    pub related: Vec<(Span, String)>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(
        code: &'static str,
        span: impl Into<Option<Span>>,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            span: span.into(),
            message: one_line(message.into()),
            help: None,
            related: Vec::new(),
        }
    }

    /// A warning at a place.
    pub fn warning(
        code: &'static str,
        span: impl Into<Option<Span>>,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Says how to mend it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(one_line(help.into()));
        self
    }

    /// Points at another place too, when it is known.
    #[must_use]
    pub fn related(mut self, span: impl Into<Option<Span>>, what: impl Into<String>) -> Diagnostic {
        if let Some(span) = span.into() {
            self.related.push((span, what.into()));
        }
        self
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// A text of a bounded length without control characters: keys and values of the manifest may be in it.
fn one_line(text: String) -> String {
    const SHOWN: usize = 500;
    if text.len() <= SHOWN && !text.contains(char::is_control) {
        return text;
    }
    let mut line = String::new();
    for c in text.chars().take(SHOWN) {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    if text.chars().nth(SHOWN).is_some() {
        line.push_str("..");
    }
    line
}

/// The texts that spans point into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    texts: Vec<(String, String)>,
}

/// A place for people. Lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// The manifest's name, or `--set`.
    pub file: &'a str,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Sources {
    /// The manifest under the name that diagnostics show, and the `--set` arguments.
    pub fn new(name: &str, text: &str, sets: &[String]) -> Sources {
        let mut texts = vec![(name.to_owned(), text.to_owned())];
        texts.extend(sets.iter().map(|set| ("--set".to_owned(), set.clone())));
        Sources { texts }
    }

    /// One more text; what is returned is its number for spans.
    pub fn push(&mut self, name: &str, text: &str) -> u32 {
        self.texts.push((name.to_owned(), text.to_owned()));
        u32::try_from(self.texts.len() - 1).unwrap_or(u32::MAX)
    }

    /// Name and text of a source.
    pub fn get(&self, source: u32) -> Option<(&str, &str)> {
        self.texts.get(source as usize).map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Where a span begins.
    pub fn locate(&self, span: Span) -> Option<Location<'_>> {
        let (file, text) = self.get(span.source)?;
        let before = text.get(..floor_char(text, span.start as usize))?;
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let line = before.matches('\n').count() + 1;
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        Some(Location { file, line, column })
    }

    /// One diagnostic as `check --json` prints it. What has no place has no file, line and column.
    pub fn json(&self, diagnostic: &Diagnostic) -> serde_json::Value {
        let location = diagnostic.span.and_then(|span| self.locate(span));
        serde_json::json!({
            "code": diagnostic.code,
            "severity": diagnostic.severity.as_str(),
            "file": location.as_ref().map(|l| l.file),
            "line": location.as_ref().map(|l| l.line),
            "column": location.as_ref().map(|l| l.column),
            "message": diagnostic.message,
            "help": diagnostic.help,
        })
    }
}

/// The nearest character boundary at or before a byte.
fn floor_char(text: &str, mut byte: usize) -> usize {
    byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}

/// Puts diagnostics in the order of the text: the manifest's before those of `--set`.
pub fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by(|a, b| (a.span, a.code, &a.message).cmp(&(b.span, b.code, &b.message)));
}
