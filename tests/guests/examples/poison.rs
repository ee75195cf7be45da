//! Panics on tuples that contain config `poison`; the text of the panic shows the row.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests::{Misbehave, On};

struct Poison;

impl Misbehave for Poison {
    const KEY: &'static str = "poison";
    const TEXT: &'static str = "poison";

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn act(&mut self, tuple: &Tuple<'_>) -> Result<(), Error> {
        panic!("can't stomach {:?}", tuple.row());
    }
}

anchorbolt_sdk::export!(On<Poison>);
