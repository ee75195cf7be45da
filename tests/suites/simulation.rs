//! The real runtime without threads: random topologies, faults, kills and restarts, from seeds.

use anchorbolt_tests::simulation::{Options, run, search};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Seeds that show what was wrong once, each found by undoing its mend; or what is seldom looked at.
const REGRESSIONS: [(u64, &str); 10] = [
    (2, "a bolt with a tick did not sleep during its backoff"),
    (32, "nor while a queue that it sends to was full"),
    (8, "a spout did not sleep while a queue was full and a retry was due"),
    (
        214,
        "a spout that replays messages itself was not asked for those of many rows, nor below many done ranges",
    ),
    (1618, "nor when the run had read all that it may"),
    (2291, "a drain that ran out of time said that it had finished, and messages were pending"),
    (557, "a drain was over while a bolt that had waited for room had tuples to send"),
    (923, "fewer tasks after a restart, and a kill before each of them has saved"),
    (1_796_091_866_003_572, "what an executor had taken for a task was overtaken when the task moved"),
    (101, "a part of a source that another task reads after a restart, and a kill before it has saved"),
];

#[test]
fn seeds_that_were_wrong_once_are_right() {
    for (seed, what) in REGRESSIONS {
        if let Err(violation) = run(seed, Options::default()) {
            panic!("{what}, again?\n{violation}");
        }
    }
}

#[test]
fn fresh_seeds_show_nothing_wrong() {
    let seconds = std::env::var("ANCHORBOLT_SIMULATE_SECONDS").ok().and_then(|text| text.parse().ok());
    let first = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as u64);
    println!("seeds from {first}");
    match search(first, Duration::from_secs(seconds.unwrap_or(20)), |_| {}) {
        Ok(found) => println!("{found:?}"),
        Err(violation) => panic!("{violation}"),
    }
}

#[test]
fn a_seed_repeats_every_step() {
    for seed in 0..60 {
        let (once, twice) = (run(seed, Options::default()), run(seed, Options::default()));
        match (once, twice) {
            (Ok(once), Ok(twice)) => assert_eq!(once, twice, "seed {seed}"),
            (Err(violation), _) | (_, Err(violation)) => panic!("{violation}"),
        }
    }
}
