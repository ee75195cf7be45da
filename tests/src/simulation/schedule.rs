//! Who takes the next step.
//!
//! In: those who are awake. Out: one of them. Invariant: whoever is awake and alone gets the step, so that nothing
//! starves for ever.

use fastrand::Rng;

/// A way to choose.
#[derive(Clone, Debug)]
enum Kind {
    Uniform,
    /// Some are chosen more often.
    Biased,
    /// One gets a step only when all others wait.
    Starve,
    /// Priorities, which change at a few moments.
    Priorities,
    /// The same one until it waits.
    Sticky,
}

/// A scheduler.
#[derive(Clone, Debug)]
pub(super) struct Scheduler {
    kind: Kind,
    weights: Vec<u32>,
    last: usize,
}

impl Scheduler {
    /// For so many executors, the controller included. A fair one does not starve any for long.
    pub(super) fn random(rng: &mut Rng, executors: usize, fair: bool) -> Scheduler {
        let kind = match rng.u8(..if fair { 2 } else { 6 }) {
            0 => Kind::Uniform,
            1 => Kind::Biased,
            2 => Kind::Starve,
            3 | 4 => Kind::Priorities,
            _ => Kind::Sticky,
        };
        let weights = (0..executors).map(|_| rng.u32(1..=10)).collect();
        Scheduler { kind, weights, last: rng.usize(..executors) }
    }

    /// One of those who are awake; there are some.
    pub(super) fn pick(&mut self, rng: &mut Rng, awake: &[usize]) -> usize {
        let any = awake[rng.usize(..awake.len())];
        let weight = |i: &usize| self.weights.get(*i).copied().unwrap_or(1);
        let picked = match self.kind {
            Kind::Uniform => any,
            Kind::Biased => {
                let all: u32 = awake.iter().map(weight).sum();
                let mut draw = rng.u32(..all);
                let at = awake.iter().position(|i| {
                    let mine = weight(i);
                    let here = draw < mine;
                    draw = draw.saturating_sub(mine);
                    here
                });
                at.and_then(|at| awake.get(at).copied()).unwrap_or(any)
            }
            Kind::Starve => awake
                .iter()
                .copied()
                .find(|i| *i == any && *i != self.last)
                .unwrap_or_else(|| awake.iter().copied().find(|i| *i != self.last).unwrap_or(any)),
            Kind::Priorities => {
                if rng.u8(..100) == 0 {
                    let at = rng.usize(..self.weights.len());
                    self.weights[at] = rng.u32(1..=1000);
                }
                awake.iter().copied().max_by_key(|i| self.weights.get(*i)).unwrap_or(any)
            }
            Kind::Sticky => awake.iter().copied().find(|i| *i == self.last).unwrap_or(any),
        };
        if !matches!(self.kind, Kind::Starve) {
            self.last = picked;
        }
        picked
    }
}
