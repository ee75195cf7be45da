//! Passes rows on until one contains config `on` (`error` unless set): there the call ends in an error, with that tuple
//! and those after it unsettled.

use anchorbolt_sdk::Batch;
use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests as guests;

struct ErrorCall {
    on: String,
}

impl Bolt for ErrorCall {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        guests::declaration(config)
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        Ok(Self { on: context.config().get_or("on", "error".to_owned())? })
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        let text = guests::text(&tuple);
        if text.contains(&self.on) {
            return Err(Error::fail(format!("the call ends at `{text}`")));
        }
        guests::pass(tuple, out);
        Ok(())
    }

    fn execute_batch(&mut self, mut batch: Batch<'_>, out: &mut Collector) -> Result<(), Error> {
        batch.try_for_each(|tuple| self.execute(tuple, out))
    }
}

anchorbolt_sdk::export!(ErrorCall);
