//! Passes each row on.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests as guests;

struct Identity;

impl BasicBolt for Identity {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        guests::declaration(config)
    }

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn execute(&mut self, tuple: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
        out.emit(tuple.row());
        Ok(())
    }
}

anchorbolt_sdk::export!(Identity);
