//! Single rules with the bytes and texts that show them.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use anchorbolt_row::{MAX_DEPTH, Row, RowError, RowWriter, check_row, key_hash, write_row};

fn refusal(data: &[u8], arity: usize) -> String {
    check_row(data, arity).unwrap_err().to_string()
}

#[test]
fn each_fault_has_its_text() {
    assert_eq!(refusal(b"", 1), "the row is empty: no bytes");
    assert_eq!(refusal(b"\xa3cat", 1), "the row is not an array but a string");
    assert_eq!(refusal(b"\x81\x01\x02", 1), "the row is not an array but a map");
    assert_eq!(refusal(b"\xc1", 1), "the row is not an array but the reserved byte 0xc1");
    assert_eq!(refusal(b"\xdc\x00", 1), "the row ends inside its array header");
    assert_eq!(refusal(b"\x93\x01\x02\x03", 2), "the row has 3 fields where the stream declares 2");
    assert_eq!(refusal(b"\x92\x01", 2), "the row ends inside field 1");
    assert_eq!(refusal(b"\x91\xdb\xff\xff\xff\xffabc", 1), "the row ends inside field 0");
    assert_eq!(refusal(b"\x92\x01\xc1", 2), "reserved byte 0xc1 in field 1");
    assert_eq!(refusal(b"\x92\x01\xa2\xc3\x28", 2), "invalid UTF-8 in field 1");
    assert_eq!(refusal(b"\x91\x01\x02", 1), "1 byte follows the last field");
    assert_eq!(refusal(b"\x91\x01\x02\x03", 1), "2 bytes follow the last field");
}

#[test]
fn nesting_has_a_limit_that_counts_the_row() {
    let nested = |levels: usize| [vec![0x91; levels], vec![0xc0]].concat();
    assert_eq!(check_row(&nested(MAX_DEPTH), 1), Ok(()));
    assert_eq!(refusal(&nested(MAX_DEPTH + 1), 1), "field 0 is nested deeper than 64 levels");
    assert_eq!(refusal(&nested(1_000_000), 1), "field 0 is nested deeper than 64 levels");
    assert!(key_hash(&nested(MAX_DEPTH), 1, &[0]).is_ok());
}

#[test]
fn lengths_that_lie_cost_nothing() {
    let arrays = [b"\x91".to_vec(), b"\xdd\xff\xff\xff\xff".repeat(50)].concat();
    let maps = [b"\x91".to_vec(), b"\xdf\xff\xff\xff\xff".repeat(50)].concat();
    for data in [arrays, maps] {
        assert_eq!(check_row(&data, 1), Err(RowError::Truncated { field: 0 }));
        assert_eq!(Row::new(&data).raw(0), None);
    }
    assert_eq!(
        check_row(b"\xdd\xff\xff\xff\xff\x01", u32::MAX as usize),
        Err(RowError::Truncated { field: 1 })
    );
}

#[test]
fn a_row_without_fields_is_legal() {
    assert_eq!(check_row(b"\x90", 0), Ok(()));
    assert!(Row::new(b"\x90").is_empty());
}

#[test]
fn headers_widen_when_a_row_turns_out_long() {
    for len in [15, 16, 65_535, 65_536] {
        let mut data = b"before".to_vec();
        let written = write_row(&mut data, |row| (0..len).for_each(|i| _ = row.uint(i)));
        let row = &data[6..];
        assert_eq!(check_row(row, written), Ok(()));
        assert_eq!(Row::new(row).fields().iter().count(), len as usize);
        assert_eq!(Row::new(row).u64(14), Some(14));
    }
}

#[test]
fn every_integer_takes_its_shortest_form() {
    let cases: [(i64, &[u8]); 10] = [
        (127, b"\x7f"),
        (128, b"\xcc\x80"),
        (256, b"\xcd\x01\x00"),
        (65_536, b"\xce\x00\x01\x00\x00"),
        (1 << 32, b"\xcf\x00\x00\x00\x01\x00\x00\x00\x00"),
        (-1, b"\xff"),
        (-33, b"\xd0\xdf"),
        (-129, b"\xd1\xff\x7f"),
        (-32_769, b"\xd2\xff\xff\x7f\xff"),
        (i64::MIN, b"\xd3\x80\x00\x00\x00\x00\x00\x00\x00"),
    ];
    for (value, bytes) in cases {
        let mut data = Vec::new();
        write_row(&mut data, |row| _ = row.int(value));
        assert_eq!(&data[1..], bytes);
        assert_eq!(Row::new(&data).i64(0), Some(value));
    }
}

#[test]
fn typed_reads_refuse_other_types() {
    let mut data = Vec::new();
    write_row(&mut data, |row| {
        row.str("a").uint(u64::MAX).int(-1).f64(0.5).bool(true).bin(b"b").nil();
    });
    let row = Row::new(&data);
    assert_eq!((row.str(0), row.str(1), row.str(5), row.str(9)), (Some("a"), None, None, None));
    assert_eq!((row.i64(1), row.u64(1), row.i64(2), row.u64(2)), (None, Some(u64::MAX), Some(-1), None));
    assert_eq!((row.f64(3), row.f64(2), row.f64(0)), (Some(0.5), Some(-1.0), None));
    assert_eq!(
        (row.bool(4), row.bool(6), row.bytes(5), row.bytes(0)),
        (Some(true), None, Some(&b"b"[..]), None)
    );
    assert_eq!(format!("{row:?}"), r#"["a", 18446744073709551615, -1, 0.5, true, b"b", null]"#);
}

#[test]
fn kinds_stay_apart_and_numbers_meet() {
    let hash = |value: &[u8]| key_hash(&[b"\x91", value].concat(), 1, &[0]).unwrap();
    let apart: [&[u8]; 9] =
        [b"\xc0", b"\xc2", b"\xc3", b"\x00", b"\x01", b"\xa1\x01", b"\xc4\x01\x01", b"\x91\x01", b"\x80"];
    for (i, a) in apart.iter().enumerate() {
        for b in &apart[..i] {
            assert_ne!(hash(a), hash(b), "{a:?} {b:?}");
        }
    }
    assert_eq!(hash(b"\x01"), hash(b"\xca\x3f\x80\x00\x00"));
    assert_eq!(hash(b"\x00"), hash(b"\xcb\x80\x00\x00\x00\x00\x00\x00\x00"));
    assert_eq!(hash(b"\xca\x7f\xc0\x00\x00"), hash(b"\xcb\xff\xf8\x00\x00\x00\x00\x00\x01"));
}

#[test]
fn values_of_one_kind_part() {
    let hash = |value: &[u8]| key_hash(&[b"\x91", value].concat(), 1, &[0]).unwrap();
    let apart: [(&[u8], &[u8], &str); 8] = [
        (b"\xa1a", b"\xa1b", "strings"),
        (b"\xc4\x01\x01", b"\xc4\x01\x02", "binaries"),
        (b"\xd4\x05\x01", b"\xd4\x05\x02", "bodies of an extension"),
        (b"\xd4\x05\x01", b"\xd4\x06\x01", "extensions of a body"),
        (b"\xd6\xff\x00\x00\x00\x01", b"\xd6\xff\x00\x00\x00\x02", "seconds"),
        (b"\xd7\xff\x00\x00\x00\x04\x00\x00\x00\x01", b"\xd6\xff\x00\x00\x00\x01", "nanoseconds"),
        (b"\xd6\xff\x00\x00\x00\x01", b"\xd6\x05\x00\x00\x00\x01", "a timestamp and another extension"),
        (b"\xd4\xff\x01", b"\xd4\xff\x02", "extensions of a timestamp's type that are none"),
    ];
    for (a, b, what) in apart {
        assert_ne!(hash(a), hash(b), "{what}");
    }
    assert_eq!(hash(b"\xd6\xff\x00\x00\x00\x01"), hash(b"\xd7\xff\x00\x00\x00\x00\x00\x00\x00\x01"));
}

/// A float meets the integer that it equals as far as there are integers, and no further.
#[test]
fn floats_meet_integers_to_the_ends_of_their_ranges() {
    let hash = |write: &dyn Fn(&mut RowWriter<'_>)| {
        let mut data = Vec::new();
        write_row(&mut data, write);
        key_hash(&data, 1, &[0]).unwrap()
    };
    let float = |v: f64| hash(&|row| _ = row.f64(v));
    let half = 1u64 << 63;
    assert_eq!(float(half as f64), hash(&|row| _ = row.uint(half)));
    let last = u64::MAX - 2047;
    assert_eq!(float(last as f64), hash(&|row| _ = row.uint(last)), "the largest float below 2^64");
    assert_ne!(float(u64::MAX as f64), hash(&|row| _ = row.uint(u64::MAX)), "that float is 2^64");
    assert_eq!(float(i64::MIN as f64), hash(&|row| _ = row.int(i64::MIN)));
    assert_ne!(float(i64::MIN as f64 * 2.0), hash(&|row| _ = row.int(i64::MIN)));
}

#[test]
fn keys_spread_evenly() {
    let mut tasks = [0u32; 7];
    for i in 0..70_000u32 {
        let mut data = Vec::new();
        write_row(&mut data, |row| _ = row.str(&format!("user-{i}")));
        tasks[(key_hash(&data, 1, &[0]).unwrap() % 7) as usize] += 1;
    }
    assert!(tasks.iter().all(|n| (9_600..10_400).contains(n)), "{tasks:?}");
}
