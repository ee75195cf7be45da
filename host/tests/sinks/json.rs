//! What a row looks like as JSON.

use crate::support::{context, execute, jsonl, tuples};
use anchorbolt_core::manifest::kinds::Fsync;
use anchorbolt_core::port::FailKind;
use anchorbolt_row::{RowWriter, write_row};
use serde_json::{Value, json};
use std::fs;
use tempfile::tempdir;

/// The line of one row of one field, `v`.
fn line(fill: impl FnOnce(&mut RowWriter<'_>)) -> String {
    let mut row = Vec::new();
    write_row(&mut row, fill);
    let dir = tempdir().unwrap();
    let mut sink = jsonl(dir.path(), "out", Fsync::Never);
    sink.prepare(&context(&[&["v"]])).unwrap();
    let settled = execute(&mut *sink, &tuples(&[(0, row)]));
    assert_eq!(settled.acked, [10], "{settled:?}");
    let text = fs::read_to_string(dir.path().join("out")).unwrap();
    text.strip_prefix("{\"v\":").and_then(|text| text.strip_suffix("}\n")).unwrap().to_owned()
}

macro_rules! assert_line {
    (|$row:ident| $value:expr, $line:expr) => {
        assert_eq!(
            line(|$row| {
                $value;
            }),
            $line
        )
    };
}

#[test]
fn each_type_has_its_form() {
    assert_line!(|r| r.nil(), "null");
    assert_line!(|r| r.bool(true), "true");
    assert_line!(|r| r.uint(u64::MAX), "18446744073709551615");
    assert_line!(|r| r.int(i64::MIN), "-9223372036854775808");
    assert_line!(|r| r.uint(0), "0");
    assert_line!(|r| r.f64(0.1), "0.1");
    assert_line!(|r| r.f64(-1.0), "-1.0");
    assert_line!(|r| r.f64(1e300), "1e300");
    assert_line!(|r| r.f64(f64::NAN), "null");
    assert_line!(|r| r.f64(f64::NEG_INFINITY), "null");
    assert_line!(
        |r| r.str("a\"b\\c\nd\re\tf\u{1}g\u{7f}é🦀/"),
        "\"a\\\"b\\\\c\\nd\\re\\tf\\u0001g\u{7f}é🦀/\""
    );
    assert_line!(
        |r| r.array(|l| {
            l.uint(1).str("x").array(|_| ());
        }),
        "[1,\"x\",[]]"
    );
    assert_line!(|r| r.ext(5, b"\xff"), "{\"type\":5,\"base64\":\"/w==\"}");
}

#[test]
fn binary_is_text_where_it_can_be() {
    assert_line!(|r| r.bin("é\n".as_bytes()), "\"é\\n\"");
    assert_line!(|r| r.bin(b"\xff"), "{\"base64\":\"/w==\"}");
    assert_line!(|r| r.bin(b"\xff\xfe"), "{\"base64\":\"//4=\"}");
    assert_line!(|r| r.bin(b"\xff\xfe\x00"), "{\"base64\":\"//4A\"}");
    assert_line!(|r| r.bin(b"\xfb\xef\xbe~"), "{\"base64\":\"++++fg==\"}");
}

#[test]
fn timestamps_are_rfc_3339() {
    assert_line!(|r| r.timestamp(1_767_225_600, 0), "\"2026-01-01T00:00:00Z\"");
    assert_line!(|r| r.timestamp(-1, 500_000_000), "\"1969-12-31T23:59:59.5Z\"");
    assert_line!(|r| r.timestamp(1 << 40, 1), "{\"seconds\":1099511627776,\"nanoseconds\":1}");
}

#[test]
fn map_keys_are_strings() {
    let text = line(|r| {
        r.map(|m| {
            m.entry("a\"", 1).entry(2, true).entry(false, ()).entry(0.5, "x");
            m.entry(&b"\xff"[..], 1).entry(&b"ok"[..], 1).entry([1, 2], 1).map((), |m| {
                m.entry("in", 1);
            });
        });
    });
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        value,
        json!({"a\"": 1, "2": true, "false": null, "0.5": "x", "{\"base64\":\"/w==\"}": 1, "ok": 1, "[1,2]": 1,
            "null": {"in": 1}})
    );
}

#[test]
fn a_tuple_is_keyed_by_the_stream_it_came_by() {
    let dir = tempdir().unwrap();
    let mut sink = jsonl(dir.path(), "out", Fsync::Batch);
    sink.prepare(&context(&[&["a\"", "b"], &["c"], &[]])).unwrap();
    let rows = [(0, vec![0x92, 1, 2]), (1, vec![0x91, 3]), (2, vec![0x90])];
    assert_eq!(execute(&mut *sink, &tuples(&rows)).acked, [10, 11, 12]);
    let text = fs::read_to_string(dir.path().join("out")).unwrap();
    assert_eq!(text, "{\"a\\\"\":1,\"b\":2}\n{\"c\":3}\n{}\n");
}

#[test]
fn a_row_that_is_none_is_rejected_and_its_neighbours_are_written() {
    let dir = tempdir().unwrap();
    let mut sink = jsonl(dir.path(), "out", Fsync::Never);
    sink.prepare(&context(&[&["a", "b"]])).unwrap();
    let good = || (0, vec![0x92, 1, 2]);
    let deep = [vec![0x92], vec![0x91; 200], vec![1, 1]].concat();
    let bad =
        [vec![0x91, 1], vec![], vec![0x92, 1], vec![0x92, 1, 0xa5, b'x'], vec![0x92, 0xa1, 0xff, 1], deep];
    let mut rows = vec![good()];
    rows.extend(bad.map(|row| (0, row)));
    rows.extend([(7, vec![0x90]), good()]);
    let settled = execute(&mut *sink, &tuples(&rows));
    assert_eq!(settled.acked, [10, 18]);
    assert_eq!(settled.failed.len(), 7);
    assert!(settled.failed.iter().all(|(_, kind, _)| *kind == FailKind::Reject), "{:#?}", settled.failed);
    assert_eq!(fs::read_to_string(dir.path().join("out")).unwrap(), "{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2}\n");
}

fn random_value(random: &mut fastrand::Rng, row: &mut RowWriter<'_>, depth: usize) -> Value {
    let text =
        |random: &mut fastrand::Rng| (0..random.usize(..9)).map(|_| random.char(..)).collect::<String>();
    match random.u8(..if depth < 4 { 8 } else { 6 }) {
        0 => {
            row.nil();
            Value::Null
        }
        1 => {
            let v = random.i64(..) >> random.u32(..64);
            row.int(v);
            v.into()
        }
        2 => {
            let v = random.u64(..);
            row.uint(v);
            v.into()
        }
        3 => {
            // The other parser rounds long fractions loosely; the last digit is not this test's matter.
            let v = if random.bool() { f64::from(random.i16(..)) / 64.0 } else { f64::NAN };
            row.f64(v);
            v.into()
        }
        4 => {
            let v = random.bool();
            row.bool(v);
            v.into()
        }
        5 => {
            let v = text(random);
            row.str(&v);
            v.into()
        }
        6 => {
            let mut list = Vec::new();
            row.array(|row| {
                (0..random.usize(..20)).for_each(|_| list.push(random_value(random, row, depth + 1)))
            });
            list.into()
        }
        _ => {
            let mut map = serde_json::Map::new();
            row.map(|entries| {
                for i in 0..random.usize(..20) {
                    let (key, v) = (format!("{i}{}", text(random)), text(random));
                    entries.entry(&key, &v);
                    map.insert(key, v.into());
                }
            });
            map.into()
        }
    }
}

#[test]
fn random_rows_read_back_with_another_parser() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let dir = tempdir().unwrap();
    let mut sink = jsonl(dir.path(), "out", Fsync::Never);
    sink.prepare(&context(&[&["a", "b", "é"]])).unwrap();
    let mut expected = Vec::new();
    for _ in 0..100 {
        let rows: Vec<(u32, Vec<u8>)> = (0..random.usize(1..20))
            .map(|_| {
                let mut row = Vec::new();
                let mut object = serde_json::Map::new();
                write_row(&mut row, |row| {
                    for name in ["a", "b", "é"] {
                        object.insert(name.to_owned(), random_value(&mut random, row, 0));
                    }
                });
                expected.push(Value::from(object));
                (0, row)
            })
            .collect();
        assert_eq!(execute(&mut *sink, &tuples(&rows)).acked.len(), rows.len());
    }
    let text = fs::read_to_string(dir.path().join("out")).unwrap();
    let read: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(text.ends_with('\n') && read == expected);
}
