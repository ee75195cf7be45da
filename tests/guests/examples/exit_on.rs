//! Exits with code 3 on tuples that contain config `on`. WASI tells the host only that it was not 0.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests::{Misbehave, On};

struct Exit;

impl Misbehave for Exit {
    const TEXT: &'static str = "exit";

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn act(&mut self, _: &Tuple<'_>) -> Result<(), Error> {
        std::process::exit(3);
    }
}

anchorbolt_sdk::export!(On<Exit>);
