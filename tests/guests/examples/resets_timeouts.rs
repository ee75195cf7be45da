//! Holds tuples that contain `bad` for ever, and restarts their timeouts at each tick; passes the others on.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests as guests;

struct Resets {
    held: Vec<Held>,
}

impl Bolt for Resets {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        guests::declaration(config)
    }

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self { held: Vec::new() })
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        if guests::text(&tuple).contains("bad") {
            self.held.push(tuple.hold());
        } else {
            guests::pass(tuple, out);
        }
        Ok(())
    }

    fn tick(&mut self, out: &mut Collector) -> Result<(), Error> {
        self.held.iter().for_each(|held| out.reset_timeout(held));
        Ok(())
    }
}

anchorbolt_sdk::export!(Resets);
