//! Holds its tuples and restarts the timeout of each config `times` times at each of config `ticks` ticks; then acks them.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests as guests;

struct ResetsMuch {
    times: u32,
    ticks: u32,
    held: Vec<Held>,
}

impl Bolt for ResetsMuch {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        guests::declaration(config)
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        let config = context.config();
        Ok(Self {
            times: config.get_or("times", 1000)?,
            ticks: config.get_or("ticks", 10)?,
            held: Vec::new(),
        })
    }

    fn execute(&mut self, tuple: Tuple<'_>, _: &mut Collector) -> Result<(), Error> {
        self.held.push(tuple.hold());
        Ok(())
    }

    fn tick(&mut self, out: &mut Collector) -> Result<(), Error> {
        for held in &self.held {
            (0..self.times).for_each(|_| out.reset_timeout(held));
        }
        self.ticks = self.ticks.saturating_sub(1);
        if self.ticks == 0 {
            self.held.drain(..).for_each(|held| out.ack(held));
        }
        Ok(())
    }
}

anchorbolt_sdk::export!(ResetsMuch);
