//! Reads the FIFO `/data/fifo` on tuples that contain config `on`, again and again, and dies with what came of it.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests::{Misbehave, On};

struct Reads;

impl Misbehave for Reads {
    const TEXT: &'static str = "bad";

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn act(&mut self, tuple: &Tuple<'_>) -> Result<(), Error> {
        _ = tuple;
        let outcomes: Vec<String> = (0..100).map(|_| format!("{:?}", std::fs::read("/data/fifo"))).collect();
        panic!("read the FIFO: {}", outcomes[99]);
    }
}

anchorbolt_sdk::export!(On<Reads>);
