//! Emits what is no emission, for tuples that contain config `on` (`bad` unless set), and acks them; passes the others on.
//! Each emission is a host call of its own. Config `how` names the fault: see `spoil`.

use anchorbolt_sdk::serde_json::Value;
use anchorbolt_test_guests::raw::{self, Emissions, RawBolt, Tuples, collector};

/// The bolt.
#[derive(Debug)]
pub struct BadRows;

impl RawBolt for BadRows {
    fn execute(config: &Value, batch: Tuples) -> Result<(), String> {
        for (id, row) in raw::tuples(&batch) {
            let emission = raw::emission(&[id], row);
            let on = raw::is_on(config, "bad", row);
            collector::emit(&if on { spoil(emission, raw::how(config)) } else { emission });
            collector::ack(&[id]);
        }
        Ok(())
    }
}

fn spoil(mut e: Emissions, how: &str) -> Emissions {
    let end = e.data.len() as u32;
    match how {
        // Rows.
        "arity" => replace(&mut e, b"\x92\x01\x02"),
        "empty" => replace(&mut e, b""),
        "not-msgpack" => replace(&mut e, b"\xc1\xc1\xc1"),
        "not-array" => replace(&mut e, b"\xa3cat"),
        "lying-length" => replace(&mut e, b"\x91\xdb\xff\xff\xff\xffcat"),
        "utf8" => replace(&mut e, b"\x91\xa2\xc3\x28"),
        "trailing" => replace(&mut e, b"\x91\x01\x01"),
        "nested-10000" => replace(&mut e, &[[0x91].repeat(10_000), vec![0xc0]].concat()),
        "nested" => replace(&mut e, &[[0x91].repeat(100_000), vec![0xc0]].concat()),
        // Columns.
        "offsets-beyond" => e.offsets = vec![0, end + 1],
        "offsets-descend" => e.offsets = vec![end, 0],
        "offsets-short" => e.offsets = vec![0],
        "offsets-none" => e.offsets.clear(),
        "offsets-from-one" => e.offsets = vec![1, end],
        "offsets-before-end" => e.offsets = vec![0, end - 1],
        "anchor-offsets-beyond" => e.anchor_offsets = vec![0, 2],
        "anchor-offsets-descend" => e.anchor_offsets = vec![1, 0],
        "anchor-offsets-none" => e.anchor_offsets.clear(),
        "stream" => e.streams = vec![7],
        "streams-more" => e.streams = vec![0, 0],
        "target" => e.targets = vec![1],
        "target-unknown" => e.targets = vec![1_000_000],
        "targets-more" => e.targets = vec![0, 0],
        other => panic!("no such fault: `{other}`"),
    }
    e
}

fn replace(e: &mut Emissions, row: &[u8]) {
    e.data = row.into();
    e.offsets = vec![0, row.len() as u32];
}

anchorbolt_test_guests::export_raw!(BadRows);
