//! Anchors without measure on tuples that contain `bad`, as config `how` says: `one` (60,000 anchors on one emission, which is
//! legal), `rows` (60,000 emissions of one anchor each, which is legal), `square` (60,000 anchors on each of 60,000
//! emissions). Passes the others on.

use anchorbolt_sdk::serde_json::Value;
use anchorbolt_test_guests::raw::{self, Emissions, RawBolt, Tuples, collector};

/// The bolt.
#[derive(Debug)]
pub struct Anchors;

const MANY: usize = 60_000;

impl RawBolt for Anchors {
    fn execute(config: &Value, batch: Tuples) -> Result<(), String> {
        for (id, row) in raw::tuples(&batch) {
            match raw::how(config) {
                _ if !raw::is_on(config, "bad", row) => collector::emit(&raw::emission(&[id], row)),
                "one" => collector::emit(&raw::emission(&vec![id; MANY], row)),
                "rows" => collector::emit(&rows(id)),
                _ => (0..MANY).for_each(|_| collector::emit(&raw::emission(&vec![id; MANY], row))),
            }
            collector::ack(&[id]);
        }
        Ok(())
    }
}

/// Rows of one number.
fn rows(id: u32) -> Emissions {
    let places: Vec<u32> = (0..=MANY as u32).collect();
    Emissions {
        streams: vec![0; MANY],
        targets: vec![],
        anchor_offsets: places.clone(),
        anchors: vec![id; MANY],
        offsets: places.iter().map(|place| place * 2).collect(),
        data: b"\x91\x07".repeat(MANY),
    }
}

anchorbolt_test_guests::export_raw!(Anchors);
