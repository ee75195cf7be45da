//! Holds tuples until a tick; each tick acks them and emits, unanchored, its own number from 1.

use anchorbolt_sdk::prelude::*;

#[derive(Default)]
struct Ticker {
    held: Vec<Held>,
    ticks: u64,
}

impl Bolt for Ticker {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().output(["value"]))
    }

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self::default())
    }

    fn execute(&mut self, tuple: Tuple<'_>, _: &mut Collector) -> Result<(), Error> {
        self.held.push(tuple.hold());
        Ok(())
    }

    fn tick(&mut self, out: &mut Collector) -> Result<(), Error> {
        self.ticks += 1;
        out.emit_unanchored([self.ticks]);
        self.held.drain(..).for_each(|held| out.ack(held));
        Ok(())
    }
}

anchorbolt_sdk::export!(Ticker);
