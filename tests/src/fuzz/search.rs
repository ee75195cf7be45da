//! Many inputs, for as long as there is time.
//!
//! In: a target, a seed and a time. Out: the first failure, made smaller and kept; or how much was tried. The corpus is
//! tried first. Inputs with a shape that was not seen before join those that are changed further.
//!
//! Invariant: a seed gives the same inputs in the same order; only where it stops depends on the time.

use super::guard::{Failure, run};
use super::{Shape, Target, corpus, mutate, shrink};
use fastrand::Rng;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// So many inputs are changed further.
const POOL_MAX: usize = 4096;
/// The newest of them get half of the time.
const NEWEST: usize = 48;
/// An input is changed up to so many times at once.
const CHANGES_MAX: usize = 6;
/// So long a failing input is made smaller.
const SHRINK_TIME: Duration = Duration::from_secs(20);

/// What a search came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Inputs that were tried.
    pub inputs: u64,
    /// Shapes that were seen.
    pub shapes: usize,
}

/// Tries one input.
///
/// # Errors
/// It breaks a promise.
pub fn one(target: &'static Target, input: &[u8]) -> Result<Shape, String> {
    run(target, input)
}

/// Tries the corpus, and then changed inputs until the time is over.
///
/// # Errors
/// At the first failure.
pub fn search(target: &'static Target, seed: u64, time: Duration) -> Result<Found, Failure> {
    let (began, mut rng) = (Instant::now(), Rng::with_seed(seed));
    let mut search = Search { target, pool: vec![], shapes: HashSet::new(), inputs: 0 };
    for (_, input) in corpus::inputs(target) {
        search.look(input)?;
    }
    for input in (target.seeds)() {
        search.look(input)?;
    }
    while began.elapsed() < time {
        let input = search.next(&mut rng);
        search.look(input)?;
    }
    Ok(Found { inputs: search.inputs, shapes: search.shapes.len() })
}

struct Search {
    target: &'static Target,
    pool: Vec<Vec<u8>>,
    shapes: HashSet<Shape>,
    inputs: u64,
}

impl Search {
    /// Tries an input and keeps it in memory if it is of a new shape.
    fn look(&mut self, input: Vec<u8>) -> Result<(), Failure> {
        self.inputs += 1;
        match run(self.target, &input) {
            Ok(shape) => {
                if self.shapes.insert(shape) && self.pool.len() < POOL_MAX {
                    self.pool.push(input);
                }
                Ok(())
            }
            Err(what) => Err(self.failure(&input, what)),
        }
    }

    /// Another input: one of the pool, changed.
    fn next(&self, rng: &mut Rng) -> Vec<u8> {
        let newest = self.pool.len().saturating_sub(NEWEST);
        let from = if rng.bool() { newest } else { 0 };
        let pick = |rng: &mut Rng, from: usize| rng.choice(&self.pool[from..]).cloned().unwrap_or_default();
        let mut input = pick(rng, from);
        let other = pick(rng, 0);
        for _ in 0..rng.usize(1..=CHANGES_MAX) {
            if rng.bool() {
                (self.target.mutate)(rng, &mut input)
            } else {
                mutate::mutate(rng, &mut input, &other)
            }
        }
        input.truncate(self.target.bytes_max);
        input
    }

    fn failure(&self, input: &[u8], what: String) -> Failure {
        let target = self.target;
        // What takes too long or too much would take that again and again.
        let costly = what.starts_with("it took");
        let time = if costly { Duration::ZERO } else { SHRINK_TIME };
        let input = shrink::shrink(input, time, |less| run(target, less).is_err());
        let what = run(target, &input).err().unwrap_or(what);
        let kept = corpus::keep(target, &input);
        Failure { target: target.name, what, input, kept }
    }
}
