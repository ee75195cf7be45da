//! Names handles that it was not given. Config `how`: `ack`, `fail`, `anchor`, `reset`, `describe` (each of a handle that
//! never was), `stale` (acks the handles of the call before once more), `progress` (of indexes that fall),
//! `failures` (lists of unequal lengths). Passes all on besides.

use std::cell::RefCell;

use anchorbolt_sdk::serde_json::Value;
use anchorbolt_test_guests::raw::{self, Failure, Failures, RawBolt, Tuples, collector};

/// The bolt.
#[derive(Debug)]
pub struct Forged;

const FORGED: u32 = 0xdead_beef;

thread_local! {
    static BEFORE: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

impl RawBolt for Forged {
    fn execute(config: &Value, batch: Tuples) -> Result<(), String> {
        match raw::how(config) {
            "ack" => collector::ack(&[FORGED]),
            "fail" => collector::fail(&failures(vec![Failure::Reject])),
            "failures" => collector::fail(&failures(Vec::new())),
            "anchor" => {
                raw::tuples(&batch).for_each(|(id, row)| collector::emit(&raw::emission(&[id, FORGED], row)));
            }
            "reset" => collector::reset_timeout(&[FORGED]),
            "describe" => _ = collector::describe(&[FORGED]),
            "stale" => BEFORE.with_borrow(|ids| collector::ack(ids)),
            "progress" => [1, 0].into_iter().for_each(collector::progress),
            _ => {}
        }
        raw::pass(&batch);
        BEFORE.set(batch.ids);
        Ok(())
    }
}

fn failures(kinds: Vec<Failure>) -> Failures {
    Failures { ids: vec![FORGED], reasons: vec!["forged".into()], kinds }
}

anchorbolt_test_guests::export_raw!(Forged);
