//! The keys that belong to one native kind, read into [`super::kinds`].

use super::codes;
use super::diagnostic::Diagnostic;
use super::document::Value;
use super::inputs::distinct;
use super::kinds::{Fsync, Generate, LineFormat, Lines, RandomField, SinkKind, SpoutKind};
use super::names::{self, quote};
use super::reader::{Field, Parsed, Reader, keep};
use super::values::{boolean, duration, integer, path, positive, word};
use std::collections::BTreeSet;

/// The most fields of a stream.
pub const FIELDS_MAX: usize = 256;
const FIELDS_EXAMPLE: &str = "write `fields = [\"id\", \"name\"]`";
const PATH_EXAMPLE: &str = "write `path = \"data/*.txt\"`, or a list of files and globs";
const RANDOM_EXAMPLE: &str =
    "write `fields = { id = \"int\", name = \"string\", amount = \"float\", ok = \"bool\" }`";

/// A kind as its word says it.
#[derive(Clone, Copy)]
pub(super) enum SpoutWord {
    Lines,
    Generate,
    Stdin,
}

/// A kind as its word says it.
#[derive(Clone, Copy)]
pub(super) enum SinkWord {
    Jsonl,
    Stdout,
    Null,
}

/// The keys of all native kinds: known where the kind itself could not be read.
pub(super) const SPOUT_KEYS: &[&str] =
    &["path", "format", "fields", "follow", "count", "rate", "seed", "keys"];
/// The keys of all native kinds: known where the kind itself could not be read.
pub(super) const SINK_KEYS: &[&str] = &["path", "fsync"];

/// Reads the options of a spout's kind.
pub(super) fn spout(word: SpoutWord, t: &mut Reader<'_, '_>) -> Option<SpoutKind> {
    match word {
        SpoutWord::Lines => lines(t).map(SpoutKind::Lines),
        SpoutWord::Generate => Some(SpoutKind::Generate(generate(t))),
        SpoutWord::Stdin => Some(SpoutKind::Stdin),
    }
}

/// Reads the options of a sink's kind.
pub(super) fn sink(word: SinkWord, t: &mut Reader<'_, '_>) -> Option<SinkKind> {
    match word {
        SinkWord::Jsonl => {
            let path = t.require("path", "path = \"out/result.jsonl\"", path);
            let fsync = t.read("fsync", fsync).unwrap_or(Fsync::Batch);
            path.map(|path| SinkKind::Jsonl { path, fsync })
        }
        SinkWord::Stdout => Some(SinkKind::Stdout),
        SinkWord::Null => Some(SinkKind::Null),
    }
}

fn fsync(field: &Field<'_>) -> Parsed<Fsync> {
    match &field.node.value {
        Value::String(text) if text == "never" => Ok(Fsync::Never),
        Value::String(text) if text == "batch" => Ok(Fsync::Batch),
        _ => duration(field).map(Fsync::Interval).map_err(|mistake| {
            mistake.map(|mut diagnostic| {
                diagnostic.help =
                    Some("write \"never\", \"batch\", or an interval such as \"1s\"".to_owned());
                diagnostic
            })
        }),
    }
}

fn lines(t: &mut Reader<'_, '_>) -> Option<Lines> {
    let path = t.require_field("path", "path = \"data/*.txt\"").and_then(|field| paths(&field, t.out));
    let follow = t.read("follow", boolean).unwrap_or(false);
    let format = line_format(t);
    Some(Lines { path: path?, format: format?, follow })
}

#[derive(Clone, Copy)]
enum Format {
    Line,
    Json,
    Csv,
}

fn line_format(t: &mut Reader<'_, '_>) -> Option<LineFormat> {
    const FORMATS: &[(&str, Format)] =
        &[("line", Format::Line), ("json", Format::Json), ("csv", Format::Csv)];
    let format = match t.field("format") {
        Some(field) => keep(word(FORMATS)(&field), t.out),
        None => Some(Format::Line),
    };
    let Some(format) = format else {
        // Whether fields are needed is not known.
        t.know(&["fields"]);
        return None;
    };
    if let Format::Line = format {
        let Some(field) = t.field("fields") else {
            return Some(LineFormat::Line);
        };
        let message = format!("`{}` goes only with `format = \"json\"` or \"csv\"", field.path);
        let mistake = Diagnostic::error(codes::KEY_MISPLACED, field.key_span, message);
        t.out.push(mistake.help("add the format, or remove it: a plain line has the one field `line`"));
        return None;
    }
    let field = t.require_field("fields", "fields = [\"id\", \"name\"]")?;
    let fields = field_names(&field, t.out)?;
    Some(if let Format::Csv = format { LineFormat::Csv { fields } } else { LineFormat::Json { fields } })
}

fn paths(field: &Field<'_>, out: &mut Vec<Diagnostic>) -> Option<Vec<String>> {
    match &field.node.value {
        Value::String(_) => keep(path(field), out).map(|path| vec![path]),
        Value::Array(_) => {
            let paths = distinct(field, PATH_EXAMPLE, out)?;
            Some(paths.into_iter().map(|path| path.value).collect())
        }
        _ => keep(field.wrong_type("a string or a list of them", PATH_EXAMPLE), out),
    }
}

fn field_names(field: &Field<'_>, out: &mut Vec<Diagnostic>) -> Option<Vec<String>> {
    let fields = distinct(field, FIELDS_EXAMPLE, out)?;
    let mut right = few_enough(field, fields.len(), out);
    for name in &fields {
        right &= field_name(&name.value, name.span, out);
    }
    right.then(|| fields.into_iter().map(|name| name.value).collect())
}

fn few_enough(field: &Field<'_>, count: usize, out: &mut Vec<Diagnostic>) -> bool {
    if count > FIELDS_MAX {
        let message = format!("`{}` has {count} fields", field.path);
        out.push(field.error(codes::OUT_OF_RANGE, message).help(format!("it may have {FIELDS_MAX}")));
    }
    count <= FIELDS_MAX
}

fn field_name(name: &str, span: Option<super::Span>, out: &mut Vec<Diagnostic>) -> bool {
    let (code, why) = match names::check_field(name) {
        Ok(()) => return true,
        Err(names::BadName::Reserved) => (codes::RESERVED_NAME, ": names that begin with `__` are reserved"),
        Err(names::BadName::Form) => (codes::BAD_NAME, ""),
    };
    let mistake = Diagnostic::error(code, span, format!("a field can't be called {}{why}", quote(name)));
    let bytes = names::FIELD_BYTES_MAX;
    out.push(mistake.help(format!("a field's name has 1 to {bytes} bytes and no control characters")));
    false
}

fn generate(t: &mut Reader<'_, '_>) -> Generate {
    let any = || integer(0..=u64::MAX);
    Generate {
        count: t.read("count", any()),
        rate: t.read("rate", positive),
        seed: t.read("seed", any()).unwrap_or(0),
        fields: t.field("fields").and_then(|field| random_fields(&field, t.out)),
        keys: t.read("keys", integer(1..=u64::MAX)),
    }
}

fn random_fields(field: &Field<'_>, out: &mut Vec<Diagnostic>) -> Option<Vec<(String, RandomField)>> {
    const TYPES: &[(&str, RandomField)] = &[
        ("int", RandomField::Int),
        ("string", RandomField::String),
        ("float", RandomField::Float),
        ("bool", RandomField::Bool),
    ];
    let entries = keep(field.entries(RANDOM_EXAMPLE), out)?;
    if entries.is_empty() {
        out.push(field.error(codes::EMPTY, format!("`{}` is empty", field.path)).help(RANDOM_EXAMPLE));
        return None;
    }
    few_enough(field, entries.len(), out);
    let mut fields = Vec::new();
    let mut names = BTreeSet::new();
    for (entry, field) in entries {
        let right = field_name(&entry.key, Some(entry.key_span), out) && names.insert(&entry.key);
        if let (Some(kind), true) = (keep(word(TYPES)(&field), out), right) {
            fields.push((entry.key.clone(), kind));
        }
    }
    Some(fields)
}
