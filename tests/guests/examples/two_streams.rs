//! Emits each row on stream `even` or `odd`, by the integer in its field 0.

use anchorbolt_sdk::StreamRef;
use anchorbolt_sdk::prelude::*;

struct TwoStreams {
    even: StreamRef,
    odd: StreamRef,
}

impl BasicBolt for TwoStreams {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().stream("even", ["value"]).stream("odd", ["value"]).stateless())
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        Ok(Self { even: context.stream("even")?, odd: context.stream("odd")? })
    }

    fn execute(&mut self, tuple: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
        let stream = if tuple.i64(0)? % 2 == 0 { self.even } else { self.odd };
        out.emit_to(stream, tuple.row())
    }
}

anchorbolt_sdk::export!(TwoStreams);
