//! One line into one encoded row.
//!
//! In: a line and the format that the manifest gives. Out: a row appended to a buffer, or what is wrong with
//! the line, in words that begin in the middle of a sentence. What a failed call leaves in the buffer is cut off
//! by the caller.
//!
//! Invariant: a row has exactly the fields that the spout's declaration names, in its order.

use super::splitter::Line;
use anchorbolt_core::manifest::kinds::LineFormat;
use anchorbolt_row::{MAX_DEPTH, MapWriter, RowWriter, ToValue, write_row};
use serde_json::Value;
use std::borrow::Cow;
use std::str;

/// Appends the row of a line.
#[inline]
pub(crate) fn encode(format: &LineFormat, line: Line<'_>, out: &mut Vec<u8>) -> Result<(), String> {
    match format {
        LineFormat::Line => {
            write_row(out, |row| value(row, line));
            Ok(())
        }
        LineFormat::Json { fields } => json(fields, line, out),
        LineFormat::Csv { fields } => csv(fields, line.bytes(), out),
    }
}

/// A string, or binary if it is not UTF-8.
#[inline]
fn value(row: &mut RowWriter<'_>, line: Line<'_>) {
    match line {
        Line::Text(text) => row.str(text),
        Line::Bytes(bytes) => row.bin(bytes),
    };
}

fn json(fields: &[String], line: Line<'_>, out: &mut Vec<u8>) -> Result<(), String> {
    let Line::Text(text) = line else { return Err("is not a JSON object: it is not UTF-8".to_owned()) };
    let object: serde_json::Map<String, Value> = serde_json::from_str(text).map_err(|e| not_json(&e))?;
    // The row itself is the first level, a field's own value the second.
    if let Some(field) = fields.iter().find(|f| object.get(*f).is_some_and(|v| depth(v) >= MAX_DEPTH)) {
        return Err(format!("has a field `{field}` that is nested deeper than {MAX_DEPTH} levels"));
    }
    write_row(out, |row| {
        for field in fields {
            match object.get(field) {
                Some(value) => row.value(Json(value)),
                None => row.nil(),
            };
        }
    });
    Ok(())
}

/// The parser counts lines, and each text that it gets is one.
fn not_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    format!("is not a JSON object: {reason} (column {})", error.column())
}

/// How many arrays and objects lie in one another.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

struct Json<'a>(&'a Value);

impl ToValue for Json<'_> {
    fn write(&self, row: &mut RowWriter<'_>) {
        match self.0 {
            Value::Null => row.nil(),
            Value::Bool(v) => row.bool(*v),
            Value::Number(v) => match (v.as_u64(), v.as_i64()) {
                (Some(v), _) => row.uint(v),
                (None, Some(v)) => row.int(v),
                (None, None) => row.f64(v.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(v) => row.str(v),
            Value::Array(list) => row.array(|row| {
                for v in list {
                    row.value(Json(v));
                }
            }),
            Value::Object(map) => row.map(|entries: &mut MapWriter<'_>| {
                for (key, v) in map {
                    entries.entry(key, Json(v));
                }
            }),
        };
    }
}

fn csv(fields: &[String], line: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    let mut error = None;
    let found = write_row(out, |row| {
        let mut rest = Some(line);
        while let Some(text) = rest {
            match column(text) {
                Ok((column, after)) => {
                    match str::from_utf8(&column) {
                        Ok(text) => row.str(text),
                        Err(_) => row.bin(&column),
                    };
                    rest = after;
                }
                Err(problem) => {
                    error = Some(problem);
                    return;
                }
            }
        }
    });
    if let Some(problem) = error {
        return Err(format!("is not a CSV record: {problem}"));
    }
    if found != fields.len() {
        return Err(format!("has {found} columns, and {} are declared: {}", fields.len(), fields.join(", ")));
    }
    Ok(())
}

/// A column, and what follows its comma if there is one.
type Column<'a> = (Cow<'a, [u8]>, Option<&'a [u8]>);

/// The first column of what is left of a record.
fn column(text: &[u8]) -> Result<Column<'_>, &'static str> {
    let Some(mut rest) = text.strip_prefix(b"\"") else {
        return Ok(match memchr::memchr(b',', text) {
            Some(comma) => (Cow::Borrowed(&text[..comma]), Some(&text[comma + 1..])),
            None => (Cow::Borrowed(text), None),
        });
    };
    let mut value = Cow::Borrowed(&rest[..0]);
    loop {
        let quote = memchr::memchr(b'"', rest)
            .ok_or("a quoted column does not end on this line, and a record is one line")?;
        let (part, after) = (&rest[..quote], &rest[quote + 1..]);
        match after.first() {
            Some(b'"') => {
                value.to_mut().extend_from_slice(part);
                value.to_mut().push(b'"');
                rest = &after[1..];
                continue;
            }
            None | Some(b',') if value.is_empty() => value = Cow::Borrowed(part),
            None | Some(b',') => value.to_mut().extend_from_slice(part),
            Some(_) => return Err("text follows the closing quote of a column"),
        }
        return Ok((value, after.get(1..)));
    }
}
