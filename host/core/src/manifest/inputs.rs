//! A bolt's `inputs`: where its tuples come from and how they are spread over its tasks.
//!
//! Names are only read here; whether they exist is for `plan`.

use super::codes;
use super::diagnostic::{Diagnostic, Spanned};
use super::document::Value;
use super::model::{Grouping, Input, Inputs};
use super::names::quote;
use super::reader::{Field, Parsed, Reader, keep};
use super::suggest;
use super::values::{config, path, spanned_text};
use crate::port::DEFAULT_STREAM;
use std::collections::BTreeMap;

const EXAMPLE: &str = "write `inputs = [{ from = \"lines\", grouping = \"shuffle\" }]`";
const GROUPING_EXAMPLE: &str = "write `grouping = \"shuffle\"`, or `grouping = { fields = [\"word\"] }` so that equal words meet in one task";
const WORDS: &[(&str, Grouping)] = &[
    ("shuffle", Grouping::Shuffle),
    ("all", Grouping::All),
    ("global", Grouping::Global),
    ("none", Grouping::None),
    ("direct", Grouping::Direct),
    ("local-or-shuffle", Grouping::LocalOrShuffle),
];
/// Groupings that are written as a table.
const TABLES: &[&str] = &["fields", "partial-key", "plugin"];

/// Reads the list.
pub(super) fn inputs(field: &Field<'_>, out: &mut Vec<Diagnostic>) -> Inputs {
    let mut inputs = Inputs::default();
    let Some(items) = keep(field.items(EXAMPLE), out) else {
        inputs.incomplete = true;
        return inputs;
    };
    for item in items {
        match input(item, out) {
            Some(input) => inputs.list.push(input),
            None => inputs.incomplete = true,
        }
    }
    inputs
}

fn input(field: Field<'_>, out: &mut Vec<Diagnostic>) -> Option<Input> {
    let mut t = Reader::open(field, EXAMPLE, out)?;
    let from = t.require("from", "from = \"component\"", spanned_text);
    let stream = match t.field("stream") {
        Some(field) => keep(spanned_text(&field), t.out),
        None => Some(Spanned::bare(DEFAULT_STREAM.to_owned())),
    };
    let grouping = t
        .require_field("grouping", "grouping = \"shuffle\"")
        .and_then(|field| grouping(&field, t.out).map(|value| field.spanned(value)));
    t.finish();
    Some(Input { from: from?, stream: stream?, grouping })
}

fn grouping(field: &Field<'_>, out: &mut Vec<Diagnostic>) -> Option<Grouping> {
    match &field.node.value {
        Value::String(text) => keep(grouping_word(field, text), out),
        Value::Table(_) => grouping_table(field, out),
        _ => keep(field.wrong_type("a string or a table", GROUPING_EXAMPLE), out),
    }
}

fn grouping_word(field: &Field<'_>, text: &str) -> Parsed<Grouping> {
    if let Some((_, grouping)) = WORDS.iter().find(|(word, _)| *word == text) {
        return Ok(grouping.clone());
    }
    let message = format!("there is no grouping {}", quote(text));
    let all = WORDS.iter().map(|(word, _)| *word).chain(TABLES.iter().copied());
    let help = match suggest::nearest(text, all) {
        Some("plugin") => "write `grouping = { plugin = \"plugins/grouping.wasm\" }`".to_owned(),
        Some(table) if TABLES.contains(&table) => format!("write `grouping = {{ {table} = [\"field\"] }}`"),
        Some(word) => format!("did you mean \"{word}\"?"),
        None => {
            let words = suggest::list(WORDS.iter().map(|(word, _)| *word));
            format!("write one of {words}, or `{{ fields = [\"field\"] }}`")
        }
    };
    Err(Some(Box::new(field.error(codes::UNKNOWN_WORD, message).help(help))))
}

fn grouping_table(field: &Field<'_>, out: &mut Vec<Diagnostic>) -> Option<Grouping> {
    let mut t = Reader::open(field.clone(), GROUPING_EXAMPLE, out)?;
    let found: Vec<Field<'_>> = TABLES.iter().filter_map(|key| t.field(key)).collect();
    let settings = t.field("config");
    let grouping = match found.as_slice() {
        [one] => one_grouping(one, settings.as_ref(), &mut t),
        [] => {
            t.out.push(
                field
                    .error(codes::MISSING_KEY, format!("`{}` names no grouping", field.path))
                    .help(GROUPING_EXAMPLE),
            );
            None
        }
        [first, second, ..] => {
            let message = format!("`{}` names two groupings", field.path);
            let mistake = Diagnostic::error(codes::KEY_MISPLACED, second.key_span, message);
            let help = "keep one; to take a stream twice, write two inputs";
            t.out.push(mistake.help(help).related(first.key_span, "the first"));
            None
        }
    };
    t.finish();
    grouping
}

fn one_grouping(key: &Field<'_>, settings: Option<&Field<'_>>, t: &mut Reader<'_, '_>) -> Option<Grouping> {
    if key.path.ends_with(".plugin") {
        let path = keep(path(key), t.out)?;
        let config = match settings {
            Some(field) => keep(config(field), t.out)?,
            None => serde_json::Value::Object(serde_json::Map::new()),
        };
        return Some(Grouping::Plugin { path, config });
    }
    if let Some(settings) = settings {
        let message = "`config` goes only with a grouping of a `plugin`";
        t.out.push(Diagnostic::error(codes::KEY_MISPLACED, settings.key_span, message).help("remove it"));
    }
    let fields = distinct(key, "write a list of field names, for example `[\"word\"]`", t.out)?;
    let partial = key.path.ends_with(".partial-key");
    Some(if partial { Grouping::PartialKey(fields) } else { Grouping::Fields(fields) })
}

/// A list of texts, at least one, no two alike.
pub(super) fn distinct(
    field: &Field<'_>,
    help: &str,
    out: &mut Vec<Diagnostic>,
) -> Option<Vec<Spanned<String>>> {
    let items = keep(field.items(help), out)?;
    if items.is_empty() {
        out.push(field.error(codes::EMPTY, format!("`{}` is empty", field.path)).help(help));
        return None;
    }
    let mut texts = Vec::new();
    let mut complete = true;
    let mut seen = BTreeMap::new();
    for item in items {
        let Some(text) = keep(spanned_text(&item), out) else {
            complete = false;
            continue;
        };
        if let Some(first) = seen.insert(text.value.clone(), item.node.span) {
            let message = format!("{} is twice in `{}`", quote(&text.value), field.path);
            out.push(
                item.error(codes::REPEATED, message)
                    .help("remove one of the two")
                    .related(first, "the first"),
            );
            complete = false;
        }
        texts.push(text);
    }
    complete.then_some(texts)
}
