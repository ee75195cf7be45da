//! Prints lines without end on tuples that contain config `on`.

use std::io::Write;

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests::{Misbehave, On};

struct Prints;

impl Misbehave for Prints {
    const TEXT: &'static str = "bad";

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn act(&mut self, tuple: &Tuple<'_>) -> Result<(), Error> {
        _ = tuple;
        loop {
            writeln!(std::io::stdout(), "again, and \u{1b}[31magain")?;
        }
    }
}

anchorbolt_sdk::export!(On<Prints>);
