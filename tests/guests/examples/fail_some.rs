//! Fails tuples whose field 0 starts with `fail:`, `retry:` or `reject:`, with the rest as the reason; from the attempt
//! after config `until` on it passes them, too.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests as guests;

struct FailSome {
    until: u32,
}

impl Bolt for FailSome {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        guests::declaration(config)
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        Ok(Self { until: context.config().get_or("until", u32::MAX)? })
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        match guests::text(&tuple).split_once(':') {
            Some((kind @ ("fail" | "retry" | "reject"), reason))
                if out.describe(&tuple).attempt <= self.until =>
            {
                match kind {
                    "fail" => out.fail(tuple, reason),
                    "retry" => out.retry(tuple, reason),
                    _ => out.reject(tuple, reason),
                }
            }
            _ => guests::pass(tuple, out),
        }
        Ok(())
    }
}

anchorbolt_sdk::export!(FailSome);
