//! The target `json`: rows as JSON and back.
//!
//! In: bytes that may be a row, or a JSON text. Out: an error if the values of a row are not what a slow translation
//! says, if they do not come back as they were, or if a text that is an array does not come back but for what the
//! reference says of it. Invariant: no text makes a row that is none.

use super::model::{Model, row as slow};
use super::{Shape, Target, ensure, kind, mutate as plain, sample, shape, size};
use anchorbolt_host::durable::base64;
use anchorbolt_host::json::{row_of, row_values};
use anchorbolt_row::{Row, check_row};
use fastrand::Rng;
use serde_json::{Map, Value, json};
use std::time::Duration;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

pub(super) const TARGET: Target = Target {
    name: "json",
    bytes_max: 2000,
    wall: Duration::from_secs(2),
    memory_max: 16 << 20,
    seeds,
    mutate,
    check,
};

/// Texts that stand for something, and texts that only nearly do.
const TEXTS: [&str; 8] = [
    r#"[{"base64":"/w=="},{"base64":"YQ=="},{"base64":"Zg="}]"#,
    r#"[{"type":5,"base64":"/w=="},{"type":-1,"base64":"AAAAAA=="},{"type":128,"base64":""}]"#,
    r#"[{"seconds":1099511627776,"nanoseconds":1},{"seconds":0,"nanoseconds":0},{"nanoseconds":1,"seconds":-1}]"#,
    "[1,-1,1.0,-0,1e3,18446744073709551615,-9223372036854775808,18446744073709551616,1e308]",
    r#"["é\u0000\ud83e\udd80\n\"",null,true,false,[],{},[[[[]]]],{"a":{"b":[1]}}]"#,
    r#"[{"a":1,"a":2,"":0,"1":3}]"#,
    "[]",
    r#"[{"type":-1,"base64":"AAAAAAAAAAAAAAAA"},{"type":-1,"base64":"/////////////////"}]"#,
];

fn seeds() -> Vec<Vec<u8>> {
    let mut rng = Rng::with_seed(3);
    let rows = (0..40).map(|i| [vec![0], sample::row(&mut rng, i % 5)].concat());
    rows.chain(TEXTS.iter().map(|text| [&[1], text.as_bytes()].concat())).collect()
}

fn mutate(rng: &mut Rng, input: &mut Vec<u8>) {
    if input.first().is_some_and(|mode| mode % 2 == 1) {
        match rng.u8(..3) {
            0 => plain::decimal(rng, input),
            1 => {
                let text = rng.choice(TEXTS).unwrap_or("[]");
                let part = &text[1..text.len() - 1];
                let at = input.iter().position(|b| *b == b'[').map_or(input.len(), |at| at + 1);
                let comma = if input.get(at) == Some(&b']') { "" } else { "," };
                input.splice(at..at, format!("{part}{comma}").into_bytes());
            }
            _ => {
                let word = rng.choice([
                    "{\"base64\":\"",
                    "\"}",
                    "{\"type\":1,\"base64\":\"",
                    "[[",
                    "\\u",
                    "e9",
                    "-",
                    ".5",
                ]);
                let at = rng.usize(1..=input.len());
                input.splice(at..at, word.unwrap_or("").bytes());
            }
        }
    } else {
        let at = rng.usize(input.len().min(1)..=input.len());
        input.splice(at..at, sample::row(rng, 1).split_off(1));
    }
}

fn check(input: &[u8]) -> Result<Shape, String> {
    match input.split_first() {
        Some((mode, text)) if mode % 2 == 1 => of_text(text),
        Some((_, row)) => of_row(row),
        None => Ok(0),
    }
}

fn of_row(row: &[u8]) -> Result<Shape, String> {
    let values = row_values(row);
    let Some(fields) = slow(row, Row::new(row).len()) else {
        ensure(values.is_err(), || format!("the values of no row: {values:?}"))?;
        return Ok(shape(values.err().map(|text| kind(&text))));
    };
    let fields: Vec<Model> = fields.into_iter().map(|(field, _)| field).collect();
    let expected: Vec<Value> = fields.iter().map(translated).collect();
    let values = values.map_err(|problem| format!("{fields:?} has no values: {problem}"))?;
    ensure(values == expected, || format!("{fields:?} is {values:?}, it should be {expected:?}"))?;
    settled(&values)?;
    Ok(shape((1, values.iter().map(outline).collect::<Vec<_>>())))
}

fn of_text(text: &[u8]) -> Result<Shape, String> {
    let Ok(Value::Array(values)) = serde_json::from_slice(text) else { return Ok(1) };
    settled(&values)?;
    Ok(shape((2, values.iter().map(outline).collect::<Vec<_>>())))
}

/// A row of JSON values has those values, but for what stands for something that JSON can say.
fn settled(values: &[Value]) -> Result<(), String> {
    let row = match row_of(values) {
        Ok(row) => row,
        Err(problem) => {
            let deep = values.iter().any(|value| depth(value) > 63);
            return ensure(deep, || format!("{values:?} is no row: {problem}"));
        }
    };
    ensure(check_row(&row, values.len()).is_ok(), || format!("{values:?} became no row: {row:x?}"))?;
    let again = row_values(&row).map_err(|problem| format!("{values:?} has no way back: {problem}"))?;
    let expected: Vec<Value> = values.iter().map(settle).collect();
    ensure(again == expected, || format!("{values:?} came back as {again:?}, not as {expected:?}"))
}

/// What JSON can say is said so.
fn settle(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(settle).collect(),
        Value::Object(object) => special(object).unwrap_or_else(|| {
            object.iter().map(|(key, value)| (key.clone(), settle(value))).collect::<Map<_, _>>().into()
        }),
        other => other.clone(),
    }
}

fn special(object: &Map<String, Value>) -> Option<Value> {
    let keys: Vec<&str> = object.keys().map(String::as_str).collect();
    let bytes = || base64::decode(object.get("base64")?.as_str()?);
    match keys.len() {
        1 => Some(translated(&Model::Bin(bytes()?))),
        2 if keys.contains(&"base64") => {
            let kind = i8::try_from(object.get("type")?.as_i64()?).ok()?;
            let body = bytes()?;
            // The bytes of an instant are one, whatever they were called.
            let mut row = vec![0x91, 0xc9];
            row.extend((body.len() as u32).to_be_bytes());
            row.push(kind as u8);
            row.extend(body);
            slow(&row, 1).and_then(|fields| Some(translated(&fields.first()?.0)))
        }
        2 => {
            let nanos =
                u32::try_from(object.get("nanoseconds")?.as_u64()?).ok().filter(|n| *n < 1_000_000_000)?;
            Some(translated(&Model::Timestamp(object.get("seconds")?.as_i64()?, nanos)))
        }
        _ => None,
    }
}

/// A value as the reference says that it looks in JSON.
fn translated(value: &Model) -> Value {
    match value {
        Model::Nil => Value::Null,
        Model::Bool(b) => json!(b),
        Model::Int(i) => u64::try_from(*i).map_or_else(|_| json!(*i as i64), |n| json!(n)),
        Model::Float(f) => json!(f),
        Model::Str(s) => json!(s),
        Model::Bin(b) => match std::str::from_utf8(b) {
            Ok(text) => json!(text),
            Err(_) => json!({ "base64": base64::text(b) }),
        },
        Model::Array(list) => list.iter().map(translated).collect(),
        Model::Map(map) => map.iter().map(|(k, v)| (key(k), translated(v))).collect::<Map<_, _>>().into(),
        Model::Timestamp(seconds, nanos) => {
            let moment =
                OffsetDateTime::from_unix_timestamp(*seconds).and_then(|t| t.replace_nanosecond(*nanos));
            match moment.ok().and_then(|moment| moment.format(&Rfc3339).ok()) {
                Some(text) => json!(text),
                None => json!({ "seconds": seconds, "nanoseconds": nanos }),
            }
        }
        Model::Ext(kind, body) => json!({ "type": kind, "base64": base64::text(body) }),
    }
}

fn key(value: &Model) -> String {
    match translated(value) {
        Value::String(text) => text,
        other => printed(&other),
    }
}

/// The text of a value as the host writes it: the parser's own has floats in another form.
fn printed(value: &Value) -> String {
    let list = |parts: Vec<String>| parts.join(",");
    match value {
        Value::Number(n) if n.is_f64() => format!("{:?}", n.as_f64().unwrap_or(f64::NAN)),
        Value::Array(items) => format!("[{}]", list(items.iter().map(printed).collect())),
        Value::Object(map) => {
            format!("{{{}}}", list(map.iter().map(|(k, v)| format!("{}:{}", json!(k), printed(v))).collect()))
        }
        other => other.to_string(),
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn outline(value: &Value) -> (u8, u32) {
    match value {
        Value::Null => (0, 0),
        Value::Bool(_) => (1, 0),
        Value::Number(n) => {
            (2, u32::from(n.is_f64()) + 2 * u32::from(n.is_i64()) + 4 * u32::from(n.is_u64()))
        }
        Value::String(s) => (3, size(s.len())),
        Value::Array(list) => (4, size(list.len()) * 100 + size(depth(value))),
        Value::Object(map) => (5, size(map.len()) * 100 + size(depth(value))),
    }
}
