//! Takes memory without end on tuples that contain config `on`, 1 MiB at a time, and touches it.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests::{Misbehave, On};

#[derive(Default)]
struct Alloc {
    taken: Vec<Vec<u8>>,
}

impl Misbehave for Alloc {
    const TEXT: &'static str = "alloc";

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self::default())
    }

    fn act(&mut self, _: &Tuple<'_>) -> Result<(), Error> {
        loop {
            self.taken.push(vec![1; 1 << 20]);
        }
    }
}

anchorbolt_sdk::export!(On<Alloc>);
