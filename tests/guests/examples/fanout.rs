//! Emits config `n` (10 unless set) children of each tuple, on fields `value` (its field 0) and `index`. With config
//! `only`, tuples that don't have that text have one child.

use anchorbolt_sdk::prelude::*;

struct Fanout {
    n: u32,
    only: String,
}

impl BasicBolt for Fanout {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().output(["value", "index"]).stateless())
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        let config = context.config();
        Ok(Self { n: config.get_or("n", 10)?, only: config.get_or("only", String::new())? })
    }

    fn execute(&mut self, tuple: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
        let value = tuple.value(0)?;
        let n = if self.only.is_empty() || tuple.get::<&str>(0)?.contains(&self.only) { self.n } else { 1 };
        (0..n).for_each(|index| out.emit((value, index)));
        Ok(())
    }
}

anchorbolt_sdk::export!(Fanout);
