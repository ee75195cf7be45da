//! Holds tuples until it has config `n` (10 unless set), then emits their number anchored to all and acks all. A flush
//! does the same with those it has, if config `flush` is true, and nothing otherwise. With config `poison` it dies of
//! tuples that begin with that.

use anchorbolt_sdk::prelude::*;

struct HoldAll {
    n: usize,
    flush: bool,
    poison: Option<String>,
    held: Vec<Held>,
}

impl HoldAll {
    fn settle(&mut self, out: &mut Collector) {
        if !self.held.is_empty() {
            out.emit(&self.held, [self.held.len()]);
            self.held.drain(..).for_each(|held| out.ack(held));
        }
    }
}

impl Bolt for HoldAll {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().output(["value"]))
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        let config = context.config();
        Ok(Self {
            n: config.get_or("n", 10)?,
            flush: config.get_or("flush", false)?,
            poison: config.get_or("poison", None)?,
            held: Vec::new(),
        })
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        if let Some(poison) = &self.poison {
            assert!(!tuple.str(0)?.starts_with(poison), "poisoned while it held {}", self.held.len());
        }
        self.held.push(tuple.hold());
        if self.held.len() >= self.n {
            self.settle(out);
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut Collector) -> Result<(), Error> {
        if self.flush {
            self.settle(out);
        }
        Ok(())
    }
}

anchorbolt_sdk::export!(HoldAll);
