//! Neither emits nor settles tuples that contain config `on` (`never` unless set); passes the others on.

use anchorbolt_sdk::serde_json::Value;
use anchorbolt_test_guests::raw::{self, RawBolt, Tuples, collector};

/// The bolt.
#[derive(Debug)]
pub struct NeverSettle;

impl RawBolt for NeverSettle {
    fn execute(config: &Value, batch: Tuples) -> Result<(), String> {
        for (id, row) in raw::tuples(&batch) {
            if !raw::is_on(config, "never", row) {
                collector::emit(&raw::emission(&[id], row));
                collector::ack(&[id]);
            }
        }
        Ok(())
    }
}

anchorbolt_test_guests::export_raw!(NeverSettle);
