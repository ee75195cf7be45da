//! Counts config `n` (1,000,000 unless set) figures of different names on tuples that contain config `on`.

use anchorbolt_sdk::metrics;
use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests::{Misbehave, On};

struct Many {
    n: u64,
}

impl Misbehave for Many {
    const TEXT: &'static str = "bad";

    fn prepare(context: &Context) -> Result<Self, Error> {
        Ok(Self { n: context.config().get_or("n", 1_000_000)? })
    }

    fn act(&mut self, tuple: &Tuple<'_>) -> Result<(), Error> {
        _ = tuple;
        (0..self.n).for_each(|i| metrics::counter(&format!("figure-{i}"), 1));
        Ok(())
    }
}

anchorbolt_sdk::export!(On<Many>);
