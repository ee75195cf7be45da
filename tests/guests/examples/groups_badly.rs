//! A grouping that does what config `how` says (see `act`) for rows whose field 0 contains `bad`; the others take turns.

use std::io::Write;

use anchorbolt_sdk::prelude::*;
use anchorbolt_sdk::{Fields, Grouping, GroupingContext, log};
use anchorbolt_test_guests as guests;

struct Badly {
    how: String,
    targets: Vec<u32>,
    turn: usize,
}

impl Grouping for Badly {
    fn prepare(context: &GroupingContext) -> Result<Self, Error> {
        let how: String = context.config().require("how")?;
        if how == "prepare-loops" {
            forever();
        }
        Ok(Self { how, targets: context.targets().to_vec(), turn: 0 })
    }

    fn choose(&mut self, row: &Fields<'_>) -> Result<Vec<u32>, Error> {
        if guests::text(row).contains("bad") {
            return self.act(row);
        }
        self.turn += 1;
        Ok(vec![self.targets[self.turn % self.targets.len()]])
    }
}

impl Badly {
    fn act(&self, row: &Fields<'_>) -> Result<Vec<u32>, Error> {
        let first = self.targets[0];
        match self.how.as_str() {
            "panics" => panic!("can't group {}", guests::text(row)),
            "loops" => forever(),
            "allocates" => {
                let mut taken = vec![];
                loop {
                    taken.push(vec![1u8; 1 << 20]);
                    std::hint::black_box(&taken);
                }
            }
            "exits" => std::process::exit(7),
            "errs" => Err(Error::fail("no task is good enough")),
            "stranger" => Ok(vec![first, 9999]),
            "twice" => Ok(vec![first, first]),
            "huge" => Ok(vec![first; 8_000_000]),
            "nowhere" => Ok(vec![]),
            "prints" => {
                log::log(log::Level::Info, &"x".repeat(100_000));
                std::io::stdout().write_all(&[b'y'; 100_000])?;
                Ok(vec![first])
            }
            other => panic!("no such way: {other}"),
        }
    }
}

fn forever() -> ! {
    loop {
        std::hint::black_box(());
    }
}

anchorbolt_sdk::export_grouping!(Badly);
