//! Passes rows on without anchors, and acks.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests as guests;

struct Unanchored;

impl Bolt for Unanchored {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        guests::declaration(config)
    }

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        out.emit_unanchored(tuple.row());
        out.ack(tuple);
        Ok(())
    }
}

anchorbolt_sdk::export!(Unanchored);
