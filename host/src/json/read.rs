//! Rows from JSON: the way back of what `object` and `array` write.
//!
//! In: JSON values, as a dead letter has them. Out: an encoded row ([`row_values`] is the other direction). `{"base64"}`, `{"type", "base64"}` and
//! `{"seconds", "nanoseconds"}`, with no other keys, are binary, an extension and a timestamp again; integers stay
//! integers, and a number with a point or an exponent is a float. What JSON could not say does not come back: binary
//! that is UTF-8 and a timestamp up to the year 9999 are strings, a float that is no number is null, and a map's key
//! is a string.
//!
//! Invariant: what comes out is one well-formed row.

use super::array;
use crate::durable::base64;
use anchorbolt_row::{MAX_DEPTH, Row, RowWriter, check_row, write_row};
use serde_json::{Map, Number, Value};

/// The row of these values.
///
/// # Errors
/// They are nested too deep to be a row.
pub fn row_of(values: &[Value]) -> Result<Vec<u8>, String> {
    let mut row = Vec::new();
    let mut fault = Ok(());
    write_row(&mut row, |out| {
        for value in values {
            write(value, 1, out, &mut fault);
        }
    });
    fault.map(|()| row)
}

/// The values of a row, as JSON has them.
///
/// # Errors
/// It is no row, or JSON can't say it.
pub fn row_values(row: &[u8]) -> Result<Vec<Value>, String> {
    check_row(row, Row::new(row).len()).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    array(row, &mut text)?;
    serde_json::from_slice(&text).map_err(|error| error.to_string())
}

/// The row of an object's values, in the order of these fields.
///
/// # Errors
/// It lacks one of them, or as [`row_of`].
pub fn row_of_fields(object: &Map<String, Value>, fields: &[String]) -> Result<Vec<u8>, String> {
    let values: Result<Vec<Value>, String> = fields
        .iter()
        .map(|field| object.get(field).cloned().ok_or_else(|| format!("there is no field `{field}`")))
        .collect();
    row_of(&values?)
}

fn write(value: &Value, depth: usize, out: &mut RowWriter<'_>, fault: &mut Result<(), String>) {
    match value {
        Value::Null => _ = out.nil(),
        Value::Bool(v) => _ = out.bool(*v),
        Value::Number(v) => number(v, out),
        Value::String(v) => _ = out.str(v),
        Value::Array(_) | Value::Object(_) if depth >= MAX_DEPTH => {
            *fault = Err(format!("a field is nested deeper than {MAX_DEPTH} levels"));
            out.nil();
        }
        Value::Array(list) => {
            out.array(|out| list.iter().for_each(|item| write(item, depth + 1, out, fault)));
        }
        Value::Object(object) => match Special::of(object) {
            Some(special) => special.write(out),
            None => map(object, depth, out, fault),
        },
    }
}

fn map(object: &Map<String, Value>, depth: usize, out: &mut RowWriter<'_>, fault: &mut Result<(), String>) {
    out.map(|map| {
        for (key, item) in object {
            let mut encoded = Vec::new();
            write_row(&mut encoded, |out| write(item, depth + 1, out, fault));
            // A row of one value: its header is one byte.
            map.entry(key, anchorbolt_row::Raw(encoded.get(1..).unwrap_or(&[0xc0])));
        }
    });
}

fn number(number: &Number, out: &mut RowWriter<'_>) {
    match (number.as_u64(), number.as_i64()) {
        (Some(v), _) => out.uint(v),
        (None, Some(v)) => out.int(v),
        (None, None) => out.f64(number.as_f64().unwrap_or(f64::NAN)),
    };
}

/// An object that stands for what JSON has no type for.
enum Special {
    Binary(Vec<u8>),
    Extension(i8, Vec<u8>),
    Timestamp(i64, u32),
}

impl Special {
    /// None if it is a map like any other.
    fn of(object: &Map<String, Value>) -> Option<Special> {
        let bytes = || base64::decode(object.get("base64")?.as_str()?);
        match object.len() {
            1 => bytes().map(Special::Binary),
            2 if object.contains_key("type") => {
                let kind = i8::try_from(object.get("type")?.as_i64()?).ok()?;
                bytes().map(|body| Special::Extension(kind, body))
            }
            2 => {
                let nanos = u32::try_from(object.get("nanoseconds")?.as_u64()?).ok()?;
                let seconds = object.get("seconds")?.as_i64()?;
                (nanos < 1_000_000_000).then_some(Special::Timestamp(seconds, nanos))
            }
            _ => None,
        }
    }

    fn write(self, out: &mut RowWriter<'_>) {
        match self {
            Special::Binary(bytes) => out.bin(&bytes),
            Special::Extension(kind, body) => out.ext(kind, &body),
            Special::Timestamp(seconds, nanos) => out.timestamp(seconds, nanos),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn as_json(row: &[u8]) -> Vec<Value> {
        row_values(row).unwrap()
    }

    fn back(value: Value) -> Vec<u8> {
        row_of(&[value]).unwrap()
    }

    fn one(fill: impl FnOnce(&mut RowWriter<'_>)) -> Vec<u8> {
        let mut row = Vec::new();
        write_row(&mut row, fill);
        row
    }

    #[test]
    fn each_form_has_its_way_back() {
        assert_eq!(back(json!(1)), one(|r| _ = r.uint(1)));
        assert_eq!(back(json!(-1)), one(|r| _ = r.int(-1)));
        assert_eq!(back(json!(u64::MAX)), one(|r| _ = r.uint(u64::MAX)));
        assert_eq!(back(json!(i64::MIN)), one(|r| _ = r.int(i64::MIN)));
        assert_eq!(back(json!(1.0)), one(|r| _ = r.f64(1.0)), "a float that is whole stays one");
        assert_eq!(back(json!({"base64": "/w=="})), one(|r| _ = r.bin(b"\xff")));
        assert_eq!(back(json!({"type": 5, "base64": "/w=="})), one(|r| _ = r.ext(5, b"\xff")));
        let far = json!({"seconds": 1_u64 << 40, "nanoseconds": 1});
        assert_eq!(back(far), one(|r| _ = r.timestamp(1 << 40, 1)));
    }

    #[test]
    fn objects_that_only_look_like_one_of_them_stay_maps() {
        for value in [
            json!({"base64": "no!"}),
            json!({"base64": 1}),
            json!({"base64": "/w==", "x": 1}),
            json!({"type": 500, "base64": "/w=="}),
            json!({"type": "a", "base64": "/w=="}),
            json!({"seconds": 1, "nanoseconds": 2_000_000_000}),
            json!({"seconds": 1.5, "nanoseconds": 0}),
            json!({}),
        ] {
            let row = back(value.clone());
            assert_eq!(as_json(&row), [value], "{:?}", Row::new(&row));
            assert!(matches!(Row::new(&row).field(0), Some(anchorbolt_row::Value::Map(_))));
        }
    }

    #[test]
    fn fields_come_in_the_order_that_is_asked_for() {
        let object = json!({"b": 2, "a": "x", "c": null});
        let object = object.as_object().unwrap();
        let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let row = row_of_fields(object, &names(&["a", "b"])).unwrap();
        assert_eq!(as_json(&row), [json!("x"), json!(2)]);
        assert_eq!(row_of_fields(object, &names(&["z"])).unwrap_err(), "there is no field `z`");
        assert_eq!(row_of_fields(object, &[]).unwrap(), [0x90]);
    }

    #[test]
    fn the_deepest_row_comes_back_and_a_deeper_one_is_refused() {
        let nested = |depth: usize| (1..depth).fold(json!(7), |inner, _| json!([inner]));
        let row = back(nested(MAX_DEPTH));
        assert_eq!(check_row(&row, 1), Ok(()));
        assert_eq!(as_json(&row), [nested(MAX_DEPTH)]);
        assert!(row_of(&[nested(MAX_DEPTH + 1)]).unwrap_err().contains("deeper than 64"));
        let maps = (1..MAX_DEPTH + 1).fold(json!(7), |inner, _| json!({"k": inner}));
        assert!(row_of(&[maps]).is_err());
    }

    /// Whatever of MessagePack JSON can say exactly.
    fn random(random: &mut fastrand::Rng, row: &mut RowWriter<'_>, depth: usize) {
        let text =
            |random: &mut fastrand::Rng| (0..random.usize(..9)).map(|_| random.char(..)).collect::<String>();
        let many = random.usize(..20);
        match random.u8(..if depth < 5 { 11 } else { 9 }) {
            0 => _ = row.nil(),
            1 => _ = row.bool(random.bool()),
            2 => _ = row.int(random.i64(..) >> random.u32(..64)),
            3 => _ = row.uint(random.u64(..)),
            4 => _ = row.f64(Some(f64::from_bits(random.u64(..))).filter(|v| v.is_finite()).unwrap_or(-0.0)),
            5 => _ = row.str(&text(random)),
            // Not UTF-8, or it would come back as a string.
            6 => _ = row.bin(&[&[0xff][..], &vec![random.u8(..); many]].concat()),
            7 => _ = row.ext(random.i8(0..), &vec![random.u8(..); many]),
            // Beyond the year 9999.
            8 => _ = row.timestamp(random.i64(1 << 39..1 << 60), random.u32(..1_000_000_000)),
            9 => _ = row.array(|row| (0..many).for_each(|_| self::random(random, row, depth + 1))),
            _ => {
                _ = row.map(|map| {
                    for i in 0..many {
                        let mut value = Vec::new();
                        write_row(&mut value, |row| self::random(random, row, depth + 1));
                        map.entry(format!("{i}{}", text(random)), anchorbolt_row::Raw(&value[1..]));
                    }
                });
            }
        }
    }

    #[test]
    fn random_rows_come_back_byte_by_byte() {
        let seed = fastrand::u64(..);
        let mut rng = fastrand::Rng::with_seed(seed);
        for _ in 0..2000 {
            let row = one(|row| (0..rng.usize(..6)).for_each(|_| random(&mut rng, row, 0)));
            let values = as_json(&row);
            assert_eq!(row_of(&values).unwrap(), row, "seed {seed}: {values:?}");
        }
    }

    #[test]
    fn random_json_comes_back_as_it_was() {
        let seed = fastrand::u64(..);
        let mut rng = fastrand::Rng::with_seed(seed);
        for _ in 0..500 {
            let row = one(|row| (0..rng.usize(..6)).for_each(|_| random(&mut rng, row, 0)));
            let values = as_json(&row);
            let again = as_json(&row_of(&values).unwrap());
            assert_eq!(again, values, "seed {seed}");
        }
    }
}
