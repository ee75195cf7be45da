//! Sleeps for config `sleep_ms` (1,000 unless set) on tuples that contain config `on`.

use std::time::Duration;

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests::{Misbehave, On};

struct Sleep(Duration);

impl Misbehave for Sleep {
    const TEXT: &'static str = "sleep";

    fn prepare(context: &Context) -> Result<Self, Error> {
        context.config().get_or("sleep_ms", 1_000).map(|ms| Self(Duration::from_millis(ms)))
    }

    fn act(&mut self, _: &Tuple<'_>) -> Result<(), Error> {
        std::thread::sleep(self.0);
        Ok(())
    }
}

anchorbolt_sdk::export!(On<Sleep>);
