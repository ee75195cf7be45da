//! Works for config `us` microseconds (100 unless set) on each tuple, then passes it on.

use std::time::{Duration, Instant};

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests as guests;

struct Slow(Duration);

impl BasicBolt for Slow {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        guests::declaration(config)
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        context.config().get_or("us", 100).map(|us| Self(Duration::from_micros(us)))
    }

    fn execute(&mut self, tuple: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
        let start = Instant::now();
        while start.elapsed() < self.0 {
            std::hint::spin_loop();
        }
        out.emit(tuple.row());
        Ok(())
    }
}

anchorbolt_sdk::export!(Slow);
