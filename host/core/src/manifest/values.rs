//! Parsers of single values: from a [`Field`] to a value or the diagnostic that says how to write it.

use super::codes;
use super::diagnostic::{Diagnostic, Spanned};
use super::document::Value;
use super::names::quote;
use super::reader::{Field, Parsed};
use super::suggest;
use super::units::{self, Wrong};
use std::ops::RangeInclusive;
use std::time::Duration;

fn fail<T>(diagnostic: Diagnostic) -> Parsed<T> {
    Err(Some(Box::new(diagnostic)))
}

/// Any text.
pub(super) fn string(field: &Field<'_>) -> Parsed<String> {
    match &field.node.value {
        Value::String(text) => Ok(text.clone()),
        _ => field.wrong_type("a string", "write it in quotes"),
    }
}

/// A text with something in it.
pub(super) fn text(field: &Field<'_>) -> Parsed<String> {
    let text = string(field)?;
    if text.trim().is_empty() {
        return fail(
            field
                .error(codes::EMPTY, format!("`{}` is empty", field.path))
                .help("write something in the quotes"),
        );
    }
    Ok(text)
}

/// A text with something in it and its span.
pub(super) fn spanned_text(field: &Field<'_>) -> Parsed<Spanned<String>> {
    Ok(field.spanned(text(field)?))
}

/// A file's path: a text without control characters.
pub(super) fn path(field: &Field<'_>) -> Parsed<String> {
    let path = text(field)?;
    if path.contains(char::is_control) {
        let message = format!("`{}` has a control character in it", field.path);
        return fail(field.error(codes::EMPTY, message).help("write a path relative to the manifest"));
    }
    Ok(path)
}

/// `true` or `false`.
pub(super) fn boolean(field: &Field<'_>) -> Parsed<bool> {
    match field.node.value {
        Value::Boolean(b) => Ok(b),
        _ => field.wrong_type("a boolean", "write `true` or `false`, without quotes"),
    }
}

/// A whole number in a range.
pub(super) fn integer<T: TryFrom<i128> + Copy + Into<i128>>(
    range: RangeInclusive<T>,
) -> impl Fn(&Field<'_>) -> Parsed<T> {
    move |field| {
        let (low, high): (i128, i128) = ((*range.start()).into(), (*range.end()).into());
        let Value::Integer(n) = field.node.value else {
            return field
                .wrong_type("an integer", &format!("write a whole number without quotes, {low} to {high}"));
        };
        match T::try_from(n) {
            Ok(value) if (low..=high).contains(&n) => Ok(value),
            _ => fail(
                field
                    .error(codes::OUT_OF_RANGE, format!("`{}` is out of range", field.path))
                    .help(format!("it must be {low} to {high}")),
            ),
        }
    }
}

/// A finite number above 0.
pub(super) fn positive(field: &Field<'_>) -> Parsed<f64> {
    let number = match field.node.value {
        Value::Integer(n) => n as f64,
        Value::Float(x) => x,
        _ => {
            return field
                .wrong_type("a number", "write a number without quotes, for example `1000` or `0.5`");
        }
    };
    if number.is_finite() && number > 0.0 {
        return Ok(number);
    }
    let message = format!("`{}` is out of range", field.path);
    fail(field.error(codes::OUT_OF_RANGE, message).help("it must be a finite number above 0"))
}

/// A duration.
pub(super) fn duration(field: &Field<'_>) -> Parsed<Duration> {
    const EXAMPLE: &str = "write a whole number above 0 and a unit: \"250ms\", \"30s\", \"5m\" or \"1h\"";
    let Value::String(text) = &field.node.value else {
        return field.wrong_type("a duration", &did_you_mean(bare(field, units::duration_meant), EXAMPLE));
    };
    units::duration(text).or_else(|wrong| match wrong {
        Wrong::Range => {
            let message = format!("`{}` = {} is out of range", field.path, quote(text));
            fail(
                field.error(codes::OUT_OF_RANGE, message).help("a duration is above 0 and at most \"8760h\""),
            )
        }
        Wrong::Form(meant) => {
            let message = format!("`{}` = {} is not a duration", field.path, quote(text));
            fail(field.error(codes::NOT_A_DURATION, message).help(did_you_mean(meant, EXAMPLE)))
        }
    })
}

/// A size in a range of bytes.
pub(super) fn size(range: RangeInclusive<u64>) -> impl Fn(&Field<'_>) -> Parsed<u64> {
    const EXAMPLE: &str = "write a whole number above 0 and a unit: \"64KiB\", \"64MiB\" or \"1GiB\"";
    move |field| {
        let Value::String(text) = &field.node.value else {
            return field.wrong_type("a size", &did_you_mean(bare(field, units::size_meant), EXAMPLE));
        };
        match units::size(text) {
            Ok(bytes) if range.contains(&bytes) => Ok(bytes),
            Ok(_) | Err(Wrong::Range) => {
                let message = format!("`{}` = {} is out of range", field.path, quote(text));
                let (low, high) = (units::show_size(*range.start()), units::show_size(*range.end()));
                fail(
                    field
                        .error(codes::OUT_OF_RANGE, message)
                        .help(format!("it must be \"{low}\" to \"{high}\"")),
                )
            }
            Err(Wrong::Form(meant)) => {
                let message = format!("`{}` = {} is not a size", field.path, quote(text));
                fail(field.error(codes::NOT_A_SIZE, message).help(did_you_mean(meant, EXAMPLE)))
            }
        }
    }
}

/// One of a few words.
pub(super) fn word<T: Copy>(words: &'static [(&'static str, T)]) -> impl Fn(&Field<'_>) -> Parsed<T> {
    move |field| {
        let names = words.iter().map(|(name, _)| *name);
        let Value::String(text) = &field.node.value else {
            return field.wrong_type("a string", &format!("write one of {}", suggest::list(names)));
        };
        let found = words.iter().find(|(name, _)| name == text);
        found.map(|(_, value)| Ok(*value)).unwrap_or_else(|| {
            let message = format!("`{}` can't be {}", field.path, quote(text));
            let mut help = format!("write one of {}", suggest::list(names.clone()));
            if let Some(meant) = suggest::nearest(text, names) {
                help = format!("did you mean \"{meant}\"? ({help})");
            }
            fail(field.error(codes::UNKNOWN_WORD, message).help(help))
        })
    }
}

/// A value or one word that stands for none.
pub(super) fn or_word<'n, T>(
    word: &'static str,
    parse: impl Fn(&Field<'n>) -> Parsed<T>,
) -> impl Fn(&Field<'n>) -> Parsed<Option<T>> {
    move |field| match &field.node.value {
        Value::String(text) if text == word => Ok(None),
        _ => parse(field).map(Some).map_err(|mistake| {
            mistake.map(|mut diagnostic| {
                diagnostic.help = diagnostic.help.map(|help| format!("{help}; or \"{word}\""));
                diagnostic
            })
        }),
    }
}

/// A table as JSON, for a plugin's own configuration.
pub(super) fn config(field: &Field<'_>) -> Parsed<serde_json::Value> {
    match &field.node.value {
        Value::Table(_) => json(field),
        _ => field.wrong_type("a table", "write `config = { key = \"value\" }`"),
    }
}

fn json(field: &Field<'_>) -> Parsed<serde_json::Value> {
    use serde_json::{Number, Value as Json};
    let beyond = || {
        let message = format!("`{}` can't be given to a plugin as JSON", field.path);
        fail(
            field
                .error(codes::OUT_OF_RANGE, message)
                .help("use a finite number of at most 64 bits, or a string"),
        )
    };
    match &field.node.value {
        Value::String(text) | Value::Datetime(text) => Ok(Json::String(text.clone())),
        Value::Boolean(b) => Ok(Json::Bool(*b)),
        Value::Integer(n) => match (i64::try_from(*n), u64::try_from(*n)) {
            (Ok(n), _) => Ok(Json::from(n)),
            (_, Ok(n)) => Ok(Json::from(n)),
            _ => beyond(),
        },
        Value::Float(x) => Number::from_f64(*x).map_or_else(beyond, |n| Ok(Json::Number(n))),
        Value::Array(_) => field.items("")?.iter().map(json).collect::<Result<Vec<_>, _>>().map(Json::Array),
        Value::Table(_) => {
            let entries = field.entries("")?.into_iter();
            let pairs = entries.map(|(entry, field)| Ok((entry.key.clone(), json(&field)?)));
            pairs.collect::<Result<serde_json::Map<_, _>, _>>().map(Json::Object)
        }
        Value::Wrong => Err(None),
    }
}

/// What a number without a unit probably means.
fn bare(field: &Field<'_>, meant: fn(f64, &str) -> Option<String>) -> Option<String> {
    match field.node.value {
        Value::Integer(n) => meant(n as f64, ""),
        _ => None,
    }
}

fn did_you_mean(meant: Option<String>, example: &str) -> String {
    meant.map_or_else(|| example.to_owned(), |meant| format!("did you mean \"{meant}\"? ({example})"))
}
