//! `lines` with `format`: JSON objects and CSV records.

use crate::support::{Got, LIMIT, kind, names, read_all};
use anchorbolt_core::failure::{Class, Cost};
use anchorbolt_core::manifest::kinds::LineFormat;
use anchorbolt_host::spouts::{self, contract::Expected, contract::check_spout};
use anchorbolt_row::Row;
use std::fs;
use tempfile::tempdir;

fn read(content: &[u8], format: &LineFormat) -> Got {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("in"), content).unwrap();
    let make = || spouts::open(&kind(&["in"], format.clone(), false), dir.path(), LIMIT);
    let got = read_all(make()).unwrap();
    check_spout(make, &Expected::messages(got.rows.len()).refused(got.refused.len()));
    got
}

fn json(content: &str, fields: &[&str]) -> Got {
    read(content.as_bytes(), &LineFormat::Json { fields: names(fields) })
}

fn csv(content: &[u8], fields: &[&str]) -> Got {
    read(content, &LineFormat::Csv { fields: names(fields) })
}

#[test]
fn json_fields_come_in_the_order_asked_for() {
    let got = json("{\"b\": 1, \"a\": \"x\\u00e9\\n\", \"other\": 9}\n{\"a\": null}\r\n{}\n", &["a", "b"]);
    assert_eq!(got.shown(), [r#"["xé\n", 1]"#, "[null, null]", "[null, null]"]);
    assert!(got.refused.is_empty());
}

#[test]
fn json_values_keep_their_types() {
    let got = json(
        r#"{"v":[18446744073709551615,-9223372036854775808,0.5,1.0,1e300,true,{"k":[{}],"é":null}]}"#,
        &["v"],
    );
    assert_eq!(
        got.shown(),
        [format!(
            "[[18446744073709551615, -9223372036854775808, 0.5, 1.0, {:?}, true, {{\"k\": [{{}}], \"é\": null}}]]",
            1e300
        )]
    );
}

#[test]
fn what_is_no_json_object_is_refused_and_reading_goes_on() {
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(63), "]".repeat(63));
    let deeper = format!("{{\"a\":{}1{}}}", "[".repeat(64), "]".repeat(64));
    let text = format!("{{\"a\":1}}\n{{\"a\":\n\n[1]\n{deep}\n{deeper}\n{{\"a\":2}} x\n{{\"a\":3}}");
    let got = json(&text, &["a"]);
    assert_eq!(got.rows.len(), 3);
    let reasons: Vec<&str> = got.refused.iter().map(|(_, failure)| failure.reason.as_str()).collect();
    assert_eq!(reasons.len(), 5, "{reasons:#?}");
    let first = "the line at byte 8 of `in` is not a JSON object: EOF while parsing a value (column 5)";
    assert_eq!(reasons[0], first);
    assert!(reasons[2].contains("invalid type: sequence, expected a map"), "{}", reasons[2]);
    assert!(reasons[3].contains("nested deeper than 64 levels"), "{}", reasons[3]);
    let failure = &got.refused[0].1;
    assert_eq!((failure.class, failure.cost, failure.task), (Class::Rejected, Cost::Final, 7));
    let input = failure.input.as_ref().unwrap();
    assert_eq!((input.stream.as_str(), Row::new(&input.row).str(0)), ("lines/default", Some("{\"a\":")));
}

#[test]
fn json_that_is_not_utf8_is_refused_and_a_byte_order_mark_is_not() {
    let got = read(b"\xef\xbb\xbf{\"a\":1}\n{\"a\":\"\xff\"}\n", &LineFormat::Json { fields: names(&["a"]) });
    assert_eq!(got.shown(), ["[1]"]);
    assert!(got.refused[0].1.reason.ends_with("is not a JSON object: it is not UTF-8"));
}

#[test]
fn csv_columns_are_named_by_their_order() {
    let got = csv(b"1,\"a, \"\"b\"\"\",\r\n\"\",x y ,\"\"\"\"\n", &["id", "name", "rest"]);
    assert_eq!(got.shown(), [r#"["1", "a, \"b\"", ""]"#, r#"["", "x y ", "\""]"#]);
}

#[test]
fn csv_of_a_wrong_shape_is_refused() {
    let got = csv(b"1,2\n1\n\n1,2,3\n\"1,2\n\"1\"2,3\na\xff,b\n", &["x", "y"]);
    assert_eq!(got.shown(), [r#"["1", "2"]"#, r#"[b"a\xff", "b"]"#]);
    let reasons: Vec<&str> = got.refused.iter().map(|(_, failure)| failure.reason.as_str()).collect();
    assert_eq!(reasons[0], "the line at byte 4 of `in` has 1 columns, and 2 are declared: x, y");
    assert!(reasons[2].contains("has 3 columns"), "{}", reasons[2]);
    assert!(reasons[3].contains("a quoted column does not end on this line"), "{}", reasons[3]);
    assert!(reasons[4].contains("text follows the closing quote"), "{}", reasons[4]);
}

#[test]
fn csv_agrees_with_a_csv_library() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..200 {
        let alphabet = ['a', ',', '"', ' ', 'é', '\'', '\\'];
        let records: Vec<Vec<String>> = (0..20)
            .map(|_| {
                (0..3)
                    .map(|_| (0..random.usize(..6)).map(|_| random.choice(alphabet).unwrap()).collect())
                    .collect()
            })
            .collect();
        let mut writer = csv::Writer::from_writer(Vec::new());
        records.iter().for_each(|record| writer.write_record(record).unwrap());
        let dir = tempdir().unwrap();
        fs::write(dir.path().join("in"), writer.into_inner().unwrap()).unwrap();
        let format = LineFormat::Csv { fields: names(&["a", "b", "c"]) };
        let got = read_all(spouts::open(&kind(&["in"], format, false), dir.path(), LIMIT)).unwrap();
        let read: Vec<Vec<String>> = got
            .rows
            .iter()
            .map(|row| (0..3).map(|i| Row::new(row).str(i).unwrap().to_owned()).collect())
            .collect();
        assert_eq!(read, records);
    }
}
