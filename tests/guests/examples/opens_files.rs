//! Opens `/data/f` without end on tuples that contain config `on`, and closes nothing.

use std::fs::File;

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests::{Misbehave, On};

struct Opens {
    files: Vec<File>,
}

impl Misbehave for Opens {
    const TEXT: &'static str = "bad";

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self { files: Vec::new() })
    }

    fn act(&mut self, tuple: &Tuple<'_>) -> Result<(), Error> {
        _ = tuple;
        loop {
            self.files.push(File::open("/data/f")?);
        }
    }
}

anchorbolt_sdk::export!(On<Opens>);
