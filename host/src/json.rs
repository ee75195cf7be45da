//! Rows as JSON, straight from MessagePack into a buffer.
//!
//! In: a row and, for an object, the names of its fields. Out: one object or array, appended, without spaces: binary
//! is a string if it is UTF-8 and `{"base64": ".."}` if not, a float that is no number is null, a timestamp is RFC
//! 3339 (beyond year 9999 `{"seconds", "nanoseconds"}`), any other extension `{"type", "base64"}`, and a map's key that
//! is no string is the JSON text of it. Two keys of a map that have one text (1 and "1") both appear. The way back is
//! in `read`.
//!
//! Invariant: what is appended is one whole JSON value on one line, or the call fails and the caller cuts it off.

mod read;

pub use read::{row_of, row_of_fields, row_values};

use crate::durable::base64;
use anchorbolt_row::{MAX_DEPTH, Map, Row, Value};
use std::io::Write;
use std::str;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The texts before the values of a row: `{"a":`, `,"b":`.
pub(crate) struct Keys(Vec<Vec<u8>>);

impl Keys {
    /// The keys of a stream.
    pub(crate) fn new(fields: &[String]) -> Keys {
        let mut keys = Vec::with_capacity(fields.len());
        for (i, field) in fields.iter().enumerate() {
            let mut key = vec![if i == 0 { b'{' } else { b',' }];
            string(field, &mut key);
            key.push(b':');
            keys.push(key);
        }
        Keys(keys)
    }
}

/// Appends the object of a row.
pub(crate) fn object(row: &[u8], keys: &Keys, out: &mut Vec<u8>) -> Result<(), String> {
    let fields = Row::new(row).fields();
    let (found, wanted) = (fields.len(), keys.0.len());
    if found != wanted {
        return Err(format!("the row has {found} fields, its stream declares {wanted}"));
    }
    if wanted == 0 {
        out.push(b'{');
    }
    let mut written = 0;
    for (key, field) in keys.0.iter().zip(fields.iter()) {
        out.extend_from_slice(key);
        // The row itself is the first level.
        value(field, 1, out)?;
        written += 1;
    }
    if written != wanted {
        return Err(format!("field {written} of the row is not valid MessagePack"));
    }
    out.push(b'}');
    Ok(())
}

/// Appends the array of a row's values.
pub(crate) fn array(row: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    let fields = Row::new(row).fields();
    value(Value::Array(fields), 0, out)
}

fn value(value: Value<'_>, depth: usize, out: &mut Vec<u8>) -> Result<(), String> {
    match value {
        Value::Nil => out.extend_from_slice(b"null"),
        Value::Bool(v) => out.extend_from_slice(if v { b"true" } else { b"false" }),
        Value::Int(v) => int(v, out),
        Value::UInt(v) => uint(v, out),
        Value::F64(v) => float(v, out),
        Value::Str(v) => string(v, out),
        Value::Bin(v) => binary(v, out),
        Value::Timestamp { seconds, nanos } => timestamp(seconds, nanos, out),
        Value::Ext(kind, body) => {
            out.extend_from_slice(b"{\"type\":");
            int(kind.into(), out);
            out.extend_from_slice(b",\"base64\":\"");
            base64::encode(body, out);
            out.extend_from_slice(b"\"}");
        }
        Value::Array(_) | Value::Map(_) if depth >= MAX_DEPTH => {
            return Err(format!("a field of the row is nested deeper than {MAX_DEPTH} levels"));
        }
        Value::Array(list) => {
            out.push(b'[');
            for (i, item) in list.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                self::value(item, depth + 1, out)?;
            }
            out.push(b']');
        }
        Value::Map(map) => entries(map, depth + 1, out)?,
        other => return Err(format!("a field of the row is {}, which JSON can't say", other.type_name())),
    }
    Ok(())
}

fn entries(map: Map<'_>, depth: usize, out: &mut Vec<u8>) -> Result<(), String> {
    out.push(b'{');
    for (i, (key, item)) in map.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        match key {
            Value::Str(key) => string(key, out),
            other => {
                let mut text = Vec::new();
                value(other, depth, &mut text)?;
                match str::from_utf8(&text) {
                    // Binary that is UTF-8, and a timestamp, are strings already.
                    Ok(text) if text.starts_with('"') => out.extend_from_slice(text.as_bytes()),
                    Ok(text) => string(text, out),
                    Err(_) => return Err("a map's key has no JSON text".to_owned()),
                }
            }
        }
        out.push(b':');
        value(item, depth, out)?;
    }
    out.push(b'}');
    Ok(())
}

/// What stands for a byte inside a string: itself (0), an escape of this letter, or `u` for four hex digits.
const ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = b'u';
        byte += 1;
    }
    table[b'\n' as usize] = b'n';
    table[b'\r' as usize] = b'r';
    table[b'\t' as usize] = b't';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
};

fn string(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    out.push(b'"');
    let mut from = 0;
    for (i, &byte) in bytes.iter().enumerate() {
        let escape = ESCAPES[byte as usize];
        if escape == 0 {
            continue;
        }
        out.extend_from_slice(&bytes[from..i]);
        from = i + 1;
        out.extend_from_slice(&[b'\\', escape]);
        if escape == b'u' {
            out.extend_from_slice(b"00");
            out.extend_from_slice(&[hex(byte >> 4), hex(byte & 15)]);
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

fn hex(digit: u8) -> u8 {
    b"0123456789abcdef"[usize::from(digit & 15)]
}

fn int(v: i64, out: &mut Vec<u8>) {
    if v < 0 {
        out.push(b'-');
    }
    uint(v.unsigned_abs(), out);
}

fn uint(mut v: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut from = digits.len();
    loop {
        from -= 1;
        digits[from] = b'0' + (v % 10) as u8;
        v /= 10;
        if v == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[from..]);
}

fn float(v: f64, out: &mut Vec<u8>) {
    if v.is_finite() {
        // `{:?}` is the shortest text that reads back as the same float, and valid JSON.
        print(out, format_args!("{v:?}"));
    } else {
        out.extend_from_slice(b"null");
    }
}

fn binary(bytes: &[u8], out: &mut Vec<u8>) {
    match str::from_utf8(bytes) {
        Ok(text) => string(text, out),
        Err(_) => {
            out.extend_from_slice(b"{\"base64\":\"");
            base64::encode(bytes, out);
            out.extend_from_slice(b"\"}");
        }
    }
}

fn timestamp(seconds: i64, nanos: u32, out: &mut Vec<u8>) {
    let before = out.len();
    out.push(b'"');
    let moment = OffsetDateTime::from_unix_timestamp(seconds).and_then(|t| t.replace_nanosecond(nanos));
    if moment.is_ok_and(|moment| moment.format_into(out, &Rfc3339).is_ok()) {
        out.push(b'"');
    } else {
        out.truncate(before);
        print(out, format_args!("{{\"seconds\":{seconds},\"nanoseconds\":{nanos}}}"));
    }
}

fn print(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // A vector takes whatever is written to it.
    drop(out.write_fmt(text));
}
