//! Lists folder `/data` on tuples that contain config `on`, and fails them if it has not config `entries` entries.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests::{Misbehave, On};

struct Lists {
    entries: usize,
}

impl Misbehave for Lists {
    const TEXT: &'static str = "bad";

    fn prepare(context: &Context) -> Result<Self, Error> {
        Ok(Self { entries: context.config().get_or("entries", 0)? })
    }

    fn act(&mut self, tuple: &Tuple<'_>) -> Result<(), Error> {
        _ = tuple;
        let found = std::fs::read_dir("/data")?.count();
        if found == self.entries { Ok(()) } else { Err(Error::fail(format!("{found} entries"))) }
    }
}

anchorbolt_sdk::export!(On<Lists>);
