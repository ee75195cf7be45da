//! The native spouts and sinks: their own options, typed, and what each declares.
//!
//! In come the options as the readers of `[spouts.X]` and `[bolts.X]` find them; out go [`SpoutKind`] and
//! [`SinkKind`], which the host builds from, and [`Declaration`]s, which `plan` resolves against. A kind
//! that is named here but belongs to a later version is refused by name, never as unknown.

use crate::port::Declaration;
use std::time::Duration;

/// The native spouts of this version.
pub const SPOUT_KINDS: &[&str] = &["lines", "generate", "stdin"];
/// The native sinks of this version.
pub const SINK_KINDS: &[&str] = &["jsonl", "stdout", "null"];
/// Spouts that later versions bring.
pub const LATER_SPOUT_KINDS: &[&str] = &["kafka", "http"];
/// Sinks that later versions bring.
pub const LATER_SINK_KINDS: &[&str] = &["kafka", "http", "files"];

/// A native spout with its options.
#[derive(Clone, Debug, PartialEq)]
pub enum SpoutKind {
    /// Lines of files.
    Lines(Lines),
    /// Made-up messages.
    Generate(Generate),
    /// Lines of standard input; one task.
    Stdin,
}

/// Options of `kind = "lines"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// Files and globs as written, relative to the manifest; never empty.
    pub path: Vec<String>,
    /// What a line is.
    pub format: LineFormat,
    /// Wait for more at the end of a file.
    pub follow: bool,
}

/// What a line of a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineFormat {
    /// One field, `line`.
    Line,
    /// A JSON object; these of its keys become the fields.
    Json {
        /// The keys, in the order of the row; never empty.
        fields: Vec<String>,
    },
    /// Comma-separated columns.
    Csv {
        /// The names of the columns, in the order of the row; never empty.
        fields: Vec<String>,
    },
}

/// Options of `kind = "generate"`.
#[derive(Clone, Debug, PartialEq)]
pub struct Generate {
    /// How many messages before it is done; none: it never ends.
    pub count: Option<u64>,
    /// Messages a second; none: as fast as they are taken. Finite and above 0.
    pub rate: Option<f64>,
    /// Where the random numbers start; 0 when the manifest does not say.
    pub seed: u64,
    /// Typed random fields in the order written; none: the fields `seq` and `sentence`.
    pub fields: Option<Vec<(String, RandomField)>>,
    /// How many distinct words there are, in sentences and in `string` fields.
    pub keys: Option<u64>,
}

/// The type of a random field: `fields = { id = "int", name = "string", amount = "float", ok = "bool" }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomField {
    /// `"int"`
    Int,
    /// `"float"`
    Float,
    /// `"string"`
    String,
    /// `"bool"`
    Bool,
}

/// A native sink with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SinkKind {
    /// One JSON object a line, appended to a file; one task.
    Jsonl {
        /// The file as written, relative to the manifest.
        path: String,
        /// When the file is made durable.
        fsync: Fsync,
    },
    /// The same on standard output.
    Stdout,
    /// Takes everything, keeps nothing.
    Null,
}

/// When a file is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fsync {
    /// When the system likes.
    Never,
    /// After each batch, before its acks leave.
    Batch,
    /// Each time this much time has gone by.
    Interval(Duration),
}

impl SpoutKind {
    /// The word in the manifest.
    pub fn name(&self) -> &'static str {
        match self {
            SpoutKind::Lines(_) => "lines",
            SpoutKind::Generate(_) => "generate",
            SpoutKind::Stdin => "stdin",
        }
    }

    /// What the spout emits: always one stream, `default`.
    pub fn declaration(&self) -> Declaration {
        match self {
            SpoutKind::Lines(Lines { format: LineFormat::Line, .. }) | SpoutKind::Stdin => {
                Declaration::fields(["line"])
            }
            SpoutKind::Lines(Lines { format: LineFormat::Json { fields }, .. })
            | SpoutKind::Lines(Lines { format: LineFormat::Csv { fields }, .. }) => {
                Declaration::fields(fields.iter().cloned())
            }
            SpoutKind::Generate(Generate { fields: Some(fields), .. }) => {
                Declaration::fields(fields.iter().map(|(name, _)| name.clone()))
            }
            SpoutKind::Generate(_) => Declaration::fields(["seq", "sentence"]),
        }
    }

    /// Whether only one task of it can run.
    pub fn single(&self) -> bool {
        matches!(self, SpoutKind::Stdin)
    }
}

impl SinkKind {
    /// The word in the manifest.
    pub fn name(&self) -> &'static str {
        match self {
            SinkKind::Jsonl { .. } => "jsonl",
            SinkKind::Stdout => "stdout",
            SinkKind::Null => "null",
        }
    }

    /// What the sink declares: nothing, and it keeps nothing a fresh one would miss.
    pub fn declaration(&self) -> Declaration {
        Declaration { outputs: Vec::new(), stateless: true }
    }

    /// Whether only one task of it can run.
    pub fn single(&self) -> bool {
        matches!(self, SinkKind::Jsonl { .. } | SinkKind::Stdout)
    }
}
