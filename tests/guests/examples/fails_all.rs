//! Fails each tuple, with its text as the reason.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests as guests;

struct FailsAll;

impl Bolt for FailsAll {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        guests::declaration(config)
    }

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        let reason = format!("no: {}", guests::text(&tuple));
        out.fail(tuple, reason);
        Ok(())
    }
}

anchorbolt_sdk::export!(FailsAll);
