//! Emits config `n` (10 unless set) children of each tuple, on fields `value` (its field 0) and `index`.

use anchorbolt_sdk::prelude::*;

struct Fanout {
    n: u32,
}

impl BasicBolt for Fanout {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().output(["value", "index"]).stateless())
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        Ok(Self { n: context.config().get_or("n", 10)? })
    }

    fn execute(&mut self, tuple: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
        let value = tuple.value(0)?;
        (0..self.n).for_each(|index| out.emit((value, index)));
        Ok(())
    }
}

anchorbolt_sdk::export!(Fanout);
