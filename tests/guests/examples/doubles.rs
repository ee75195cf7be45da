//! Emits each tuple that contains `bad` twice on stream `again`, which it takes itself: each round has twice as many. Passes
//! the others on.

use anchorbolt_sdk::StreamRef;
use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests as guests;

struct Doubles {
    again: StreamRef,
}

impl BasicBolt for Doubles {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().output(["value"]).stream("again", ["value"]).stateless())
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        Ok(Self { again: context.stream("again")? })
    }

    fn execute(&mut self, tuple: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
        if !guests::text(tuple).contains("bad") {
            out.emit(tuple.row());
            return Ok(());
        }
        out.emit_to(self.again, tuple.row())?;
        out.emit_to(self.again, tuple.row())
    }
}

anchorbolt_sdk::export!(Doubles);
