//! Everything that comes from outside, changed at random: a short look at each target with each run of the tests.
//!
//! A binary of its own, because its allocator measures the whole process; so its one test takes the targets in turn.

#![allow(clippy::print_stdout, reason = "a test says which seed it has, and how far it came")]

use anchorbolt_tests::fuzz::{TARGETS, folder, memory, one, search, target};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

#[test]
fn no_input_breaks_a_promise() {
    let seconds = std::env::var("ANCHORBOLT_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let each = Duration::from_secs(seconds.unwrap_or(12)) / TARGETS.len() as u32;
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as u64);
    println!("seed {seed}");
    for target in TARGETS {
        assert!(folder(target).is_dir(), "{} has no folder of inputs", target.name);
        match search(target, seed, each) {
            Ok(found) => println!("{}: {found:?}", target.name),
            Err(failure) => panic!("{failure}\nseed {seed}"),
        }
    }
    assert!(target("none").is_none());
    assert!(one(TARGETS[0], b"").is_ok());
}
