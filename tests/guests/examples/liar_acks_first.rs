//! Acks each tuple at once and emits its value only in a later call, outside every tree: what dies in between is lost.

use anchorbolt_sdk::prelude::*;

struct AcksFirst {
    owed: Vec<String>,
}

impl AcksFirst {
    fn pay(&mut self, out: &mut Collector) {
        self.owed.drain(..).for_each(|value| out.emit_unanchored([value]));
    }
}

impl Bolt for AcksFirst {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().output(["value"]))
    }

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self { owed: Vec::new() })
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        self.pay(out);
        self.owed.push(tuple.str(0)?.to_owned());
        out.ack(tuple);
        Ok(())
    }

    fn flush(&mut self, out: &mut Collector) -> Result<(), Error> {
        self.pay(out);
        Ok(())
    }
}

anchorbolt_sdk::export!(AcksFirst);
