//! Declares what can't be. Config `how`: see `declare`. Passes rows on if it is let.

use anchorbolt_sdk::serde_json::Value;
use anchorbolt_test_guests::raw::{self, Declaration, RawBolt, Tuples, stream};

/// The bolt.
#[derive(Debug)]
pub struct DeclareBad;

impl RawBolt for DeclareBad {
    fn declare(config: &Value) -> Result<Declaration, String> {
        let long = "x".repeat(100_000);
        let million = || (0..1_000_000).map(|_| stream("", &[])).collect();
        let many = || (0..100_000).map(|i| stream(&format!("s{i}"), &["value"])).collect();
        Ok(raw::declaration(match raw::how(config) {
            "error" => return Err("declare was told to fail".into()),
            "stream-empty" => vec![stream("", &["value"])],
            "stream-twice" => vec![stream("default", &["a"]), stream("default", &["b"])],
            "stream-reserved" => vec![stream("__tick", &["value"])],
            "stream-space" => vec![stream("a b", &["value"])],
            "stream-control" => vec![stream("a\u{1b}[31m\n", &["value"])],
            "stream-long" => vec![stream(&long, &["value"])],
            "streams-many" => many(),
            "streams-million" => million(),
            "field-empty" => vec![stream("default", &[""])],
            "field-twice" => vec![stream("default", &["value", "value"])],
            "field-control" => vec![stream("default", &["a\u{1b}[31m\n"])],
            "field-long" => vec![stream("default", &[&long])],
            "fields-none" => vec![stream("default", &[])],
            "fields-many" => vec![stream("default", &vec!["value"; 100_000])],
            _ => vec![stream("default", &["value"])],
        }))
    }

    fn execute(_: &Value, batch: Tuples) -> Result<(), String> {
        raw::pass(&batch);
        Ok(())
    }
}

anchorbolt_test_guests::export_raw!(DeclareBad);
