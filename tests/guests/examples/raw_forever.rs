//! Does one thing without end on tuples that contain `bad`, as config `how` says: `emit`, `emit-empty` (emissions of no row),
//! `report` (errors), `log`, `reset`, `describe`. Passes the others on.

use anchorbolt_sdk::serde_json::Value;
use anchorbolt_test_guests::raw::{self, RawBolt, Tuples, collector, logging};

/// The bolt.
#[derive(Debug)]
pub struct Forever;

impl RawBolt for Forever {
    fn execute(config: &Value, batch: Tuples) -> Result<(), String> {
        for (id, row) in raw::tuples(&batch) {
            while raw::is_on(config, "bad", row) {
                act(raw::how(config), id, row);
            }
            collector::emit(&raw::emission(&[id], row));
            collector::ack(&[id]);
        }
        Ok(())
    }
}

fn act(how: &str, id: u32, row: &[u8]) {
    match how {
        "emit" => collector::emit(&raw::emission(&[id], row)),
        "emit-empty" => collector::emit(&raw::nothing()),
        "report" => collector::report_error("again and again"),
        "log" => logging::log(logging::Level::Error, "again and again"),
        "reset" => collector::reset_timeout(&[id]),
        "describe" => _ = collector::describe(&[id]),
        other => panic!("no such deed: `{other}`"),
    }
}

anchorbolt_test_guests::export_raw!(Forever);
