//! Many seeds, for as long as there is time.
//!
//! In: where to begin, for how long. Out: the first violation, made smaller; or how much was done. Invariant: a seed that
//! hangs is named before the process is ended.

use super::case::{Done, Options, Violation, run};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// No case takes this long.
const LONGEST: Duration = Duration::from_secs(120);

/// What a search came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// Seeds that were run.
    pub seeds: u64,
    /// Over all of them; the hash means nothing.
    pub sum: Done,
}

/// Runs one seed after the other. `tell` is called after each.
///
/// # Errors
/// At the first violation.
pub fn search(first: u64, time: Duration, mut tell: impl FnMut(&Found)) -> Result<Found, Box<Violation>> {
    let (began, watch) = (Instant::now(), Watchdog::start());
    let mut found = Found::default();
    while began.elapsed() < time {
        let seed = first.wrapping_add(found.seeds);
        watch.seed(seed);
        let done = run(seed, Options::default()).map_err(smaller)?;
        found.seeds += 1;
        found.sum.add(done);
        tell(&found);
    }
    Ok(found)
}

/// The same seed with fewer lives and messages, if that is wrong too.
fn smaller(violation: Box<Violation>) -> Box<Violation> {
    let mut best = violation;
    for lives in 0..best.life {
        best = with(best, |options| options.lives = lives);
    }
    for messages in [2, 4, 8, 16, 32] {
        best = with(best, |options| options.messages = messages.min(options.messages));
    }
    best
}

fn with(best: Box<Violation>, change: impl Fn(&mut Options)) -> Box<Violation> {
    let mut options = best.options;
    change(&mut options);
    match run(best.seed, options) {
        Err(less)
            if options != best.options
                && less.life + less.step as usize <= best.life + best.step as usize =>
        {
            less
        }
        _ => best,
    }
}

/// Says which seed hangs.
struct Watchdog {
    seed: Arc<AtomicU64>,
    moved: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
}

impl Watchdog {
    fn start() -> Watchdog {
        let dog = Watchdog { seed: Arc::default(), moved: Arc::default(), over: Arc::default() };
        let (seed, moved, over) = (dog.seed.clone(), dog.moved.clone(), dog.over.clone());
        std::thread::spawn(move || {
            let mut since = Instant::now();
            while !over.load(Relaxed) {
                std::thread::sleep(Duration::from_millis(200));
                if moved.swap(false, Relaxed) {
                    since = Instant::now();
                }
                if since.elapsed() > LONGEST {
                    println!("seed {} hangs: cargo xtask simulate --seed {0} --trace", seed.load(Relaxed));
                    std::process::exit(1);
                }
            }
        });
        dog
    }

    fn seed(&self, seed: u64) {
        self.seed.store(seed, Relaxed);
        self.moved.store(true, Relaxed);
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
    }
}
