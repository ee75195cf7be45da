//! Never returns from tuples that contain config `on`.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests::{Misbehave, On};

struct Loop;

impl Misbehave for Loop {
    const TEXT: &'static str = "loop";

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn act(&mut self, _: &Tuple<'_>) -> Result<(), Error> {
        loop {
            std::hint::black_box(());
        }
    }
}

anchorbolt_sdk::export!(On<Loop>);
