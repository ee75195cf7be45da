//! Calls itself without end on tuples that contain config `on`.

use std::hint::black_box;

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests::{Misbehave, On};

struct Recurses;

#[inline(never)]
fn deeper(n: u64) -> u64 {
    if n == u64::MAX { 0 } else { black_box(deeper(black_box(n + 1)) + 1) }
}

impl Misbehave for Recurses {
    const TEXT: &'static str = "bad";

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn act(&mut self, tuple: &Tuple<'_>) -> Result<(), Error> {
        _ = tuple;
        assert_ne!(deeper(0), 1);
        Ok(())
    }
}

anchorbolt_sdk::export!(On<Recurses>);
