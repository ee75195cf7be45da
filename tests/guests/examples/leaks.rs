//! Keeps config `bytes` (65,536 unless set) bytes of memory for each tuple that contains config `on` (all unless set), for ever.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests::{Misbehave, On};

struct Leaks {
    bytes: usize,
    kept: Vec<Vec<u8>>,
}

impl Misbehave for Leaks {
    const TEXT: &'static str = "";

    fn prepare(context: &Context) -> Result<Self, Error> {
        Ok(Self { bytes: context.config().get_or("bytes", 1 << 16)?, kept: Vec::new() })
    }

    fn act(&mut self, tuple: &Tuple<'_>) -> Result<(), Error> {
        _ = tuple;
        self.kept.push(vec![1; self.bytes]);
        Ok(())
    }
}

anchorbolt_sdk::export!(On<Leaks>);
