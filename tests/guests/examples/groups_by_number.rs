//! A grouping: number n in field 0 goes to the n-th target, modulo how many there are; with config `copies` also to so
//! many behind it, less one. A negative one goes nowhere. Config `refuse`: it does not prepare, with this text.

use anchorbolt_sdk::prelude::*;
use anchorbolt_sdk::{Fields, Grouping, GroupingContext};

struct ByNumber {
    targets: Vec<u32>,
    copies: usize,
}

impl Grouping for ByNumber {
    fn prepare(context: &GroupingContext) -> Result<Self, Error> {
        if let Some(text) = context.config().get::<String>("refuse")? {
            return Err(Error::fail(text));
        }
        Ok(Self { targets: context.targets().to_vec(), copies: context.config().get_or("copies", 1)? })
    }

    fn choose(&mut self, row: &Fields<'_>) -> Result<Vec<u32>, Error> {
        let Ok(n) = usize::try_from(row.i64(0)?) else { return Ok(vec![]) };
        let place = |copy: usize| self.targets[(n + copy) % self.targets.len()];
        Ok((0..self.copies).map(place).collect())
    }
}

anchorbolt_sdk::export_grouping!(ByNumber);
