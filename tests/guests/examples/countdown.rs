//! Takes one off the number that its field 0 is as a text, and emits the rest; 0 ends there.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests as guests;

struct Countdown;

impl BasicBolt for Countdown {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        guests::declaration(config)
    }

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn execute(&mut self, tuple: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
        let left: u32 = tuple.str(0)?.parse().map_err(|e| Error::reject(format!("no number: {e}")))?;
        if left > 0 {
            out.emit([(left - 1).to_string()]);
        }
        Ok(())
    }
}

anchorbolt_sdk::export!(Countdown);
