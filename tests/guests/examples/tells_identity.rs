//! Passes each row on with the identity of its tuple behind it, `children` times, and fails now and then, by config `seed`:
//! one in `one_in` (0: never); with `dies` it panics instead. With `pair` it holds a tuple until the next one comes, and emits
//! anchored to both.

use anchorbolt_sdk::TupleInfo;
use anchorbolt_sdk::prelude::*;

struct Tells {
    children: u32,
    one_in: u64,
    dies: bool,
    pair: bool,
    seed: u64,
    held: Option<Held>,
}

impl Tells {
    /// Of a tuple at an attempt it is always the same, whichever instance is asked.
    fn fails(&self, info: &TupleInfo) -> bool {
        let seed = self.seed ^ u64::from(info.attempt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mix =
            |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
        let hash = info.identity.bytes().fold(seed, mix);
        self.one_in > 0 && hash % self.one_in == 0
    }
}

impl Bolt for Tells {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().output(["value", "identity", "child"]))
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        let config = context.config();
        let (children, one_in) = (config.get_or("children", 1)?, config.get_or("one_in", 0)?);
        let (pair, seed) = (config.get_or("pair", false)?, config.get_or("seed", 1)?);
        let dies = config.get_or("dies", false)?;
        Ok(Self { children, one_in, dies, pair, seed, held: None })
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        let info = out.describe(&tuple);
        let fails = self.fails(&info);
        let identity = info.identity;
        let value = tuple.str(0)?.to_owned();
        for child in 0..self.children {
            // In the middle, so that what was emitted before is emitted again.
            if fails && child == self.children / 2 {
                assert!(!self.dies, "by the seed");
                out.fail(tuple, "by the seed");
                return Ok(());
            }
            let row = (value.as_str(), identity.as_str(), child);
            match &self.held {
                Some(held) => out.emit((held, &tuple), row),
                None if self.pair => break,
                None => out.emit(&tuple, row),
            }
        }
        match self.held.take() {
            Some(held) => out.ack(held),
            None if self.pair => {
                self.held = Some(tuple.hold());
                return Ok(());
            }
            None => {}
        }
        out.ack(tuple);
        Ok(())
    }
}

anchorbolt_sdk::export!(Tells);
