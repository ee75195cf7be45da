//! Emits a row of config `bytes` bytes (16 MiB and one more unless set) for each tuple that contains `bad`; passes the others
//! on.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests as guests;

struct Huge {
    bytes: usize,
}

impl BasicBolt for Huge {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        guests::declaration(config)
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        Ok(Self { bytes: context.config().get_or("bytes", (16 << 20) + 1)? })
    }

    fn execute(&mut self, tuple: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
        if guests::text(tuple).contains("bad") {
            // A string of this length has a head of five bytes, and the row one of one byte.
            out.emit(["x".repeat(self.bytes - 6)]);
        } else {
            out.emit(tuple.row());
        }
        Ok(())
    }
}

anchorbolt_sdk::export!(Huge);
