//! Settles tuples twice. Config `how`: `twice` (two acks, unless set), `together` (both in one list), `fail` (an ack,
//! then a failure), `emit` (an ack, an emission anchored to the acked tuple, an ack).

use anchorbolt_sdk::serde_json::Value;
use anchorbolt_test_guests::raw::{self, Failure, Failures, RawBolt, Tuples, collector};

/// The bolt.
#[derive(Debug)]
pub struct DoubleAck;

impl RawBolt for DoubleAck {
    fn execute(config: &Value, batch: Tuples) -> Result<(), String> {
        for (id, row) in raw::tuples(&batch) {
            match raw::how(config) {
                "emit" => collector::ack(&[id]),
                "together" => collector::ack(&[]),
                _ => {}
            }
            collector::emit(&raw::emission(&[id], row));
            match raw::how(config) {
                "together" => collector::ack(&[id, id]),
                "fail" => {
                    collector::ack(&[id]);
                    let (ids, reasons, kinds) = (vec![id], vec!["after the ack".into()], vec![Failure::Fail]);
                    collector::fail(&Failures { ids, reasons, kinds });
                }
                _ => {
                    collector::ack(&[id]);
                    collector::ack(&[id]);
                }
            }
        }
        Ok(())
    }
}

anchorbolt_test_guests::export_raw!(DoubleAck);
