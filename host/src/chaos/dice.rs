//! Which calls and batches are hit.
//!
//! In: a plan. Out: the fault of the next call or batch of a component, or none. Each component has dice of its own, so
//! that a busy one does not draw the faults of all. Invariant: no more faults of a kind than planned for each.

use super::Plan;
use crate::runtime::BatchFilter;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallFault {
    /// The instance dies before it does anything.
    KillBefore,
    /// It dies when all is done, and nothing that it told the host counts.
    KillAfter,
    /// It dies for want of memory.
    RefuseMemory,
    /// The call takes so much longer.
    Stall(Duration),
}

/// What happens to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BatchFault {
    Drop,
    Delay(Duration),
}

/// The dice of all components, for the batches that they emit.
pub struct Table(BTreeMap<String, Arc<Dice>>);

impl Table {
    /// Dice for each of these components.
    pub fn new(plan: &Plan, components: impl Iterator<Item = String>) -> Table {
        let dice = |(i, name): (usize, String)| {
            // Whoever is which number: the seed says the same each time.
            let seed = plan.seed.wrapping_add((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            (name, Arc::new(Dice::new(Plan { seed, ..plan.clone() })))
        };
        Table(components.enumerate().map(dice).collect())
    }

    /// The dice of a component.
    pub fn dice(&self, component: &str) -> Option<Arc<Dice>> {
        self.0.get(component).cloned()
    }
}

impl BatchFilter for Table {
    fn lets_pass(&self, from: &str, tuples: usize) -> bool {
        self.0.get(from).is_none_or(|dice| dice.lets_pass(from, tuples))
    }
}

/// Draws faults until there have been as many as planned.
#[derive(Debug)]
pub struct Dice(Mutex<State>);

#[derive(Debug)]
struct State {
    left: Plan,
    rng: fastrand::Rng,
}

impl State {
    /// Whether this one is hit, of `all` faults that are left.
    fn hits(&mut self, all: u32) -> bool {
        all > 0 && self.rng.u32(..self.left.one_in) == 0
    }
}

impl Dice {
    /// Dice for this plan.
    pub fn new(plan: Plan) -> Dice {
        let rng = fastrand::Rng::with_seed(plan.seed);
        Dice(Mutex::new(State { left: plan, rng }))
    }

    pub(super) fn call(&self) -> Option<CallFault> {
        let state = &mut *self.0.lock();
        let Plan { kill, refuse_memory, stall, .. } = state.left;
        let all = kill.saturating_add(refuse_memory).saturating_add(stall);
        if !state.hits(all) {
            return None;
        }
        let draw = state.rng.u32(..all);
        Some(if draw < kill {
            state.left.kill -= 1;
            if state.rng.bool() { CallFault::KillBefore } else { CallFault::KillAfter }
        } else if draw < kill.saturating_add(refuse_memory) {
            state.left.refuse_memory -= 1;
            CallFault::RefuseMemory
        } else {
            state.left.stall = stall.saturating_sub(1);
            CallFault::Stall(state.left.stall_for)
        })
    }

    fn batch(&self) -> Option<BatchFault> {
        let state = &mut *self.0.lock();
        let Plan { drop, delay, .. } = state.left;
        let all = drop.saturating_add(delay);
        if !state.hits(all) {
            return None;
        }
        Some(if state.rng.u32(..all) < drop {
            state.left.drop -= 1;
            BatchFault::Drop
        } else {
            state.left.delay = delay.saturating_sub(1);
            BatchFault::Delay(state.left.delay_for)
        })
    }
}

impl Dice {
    fn lets_pass(&self, from: &str, tuples: usize) -> bool {
        match self.batch() {
            None => true,
            Some(BatchFault::Delay(pause)) => {
                tracing::info!(from, tuples, ?pause, "chaos: a batch is late");
                std::thread::sleep(pause);
                true
            }
            Some(BatchFault::Drop) => {
                tracing::info!(from, tuples, "chaos: a batch is lost");
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_faults_as_planned_and_the_same_for_a_seed() {
        let plan = Plan {
            seed: 3,
            kill: 7,
            refuse_memory: 2,
            stall: 1,
            drop: 3,
            delay: 0,
            one_in: 5,
            ..Plan::default()
        };
        let drawn = |plan: &Plan| {
            let dice = Dice::new(plan.clone());
            (0..10_000).map(|_| dice.call()).collect::<Vec<_>>()
        };
        let all = drawn(&plan);
        let count = |f: &dyn Fn(&CallFault) -> bool| all.iter().flatten().filter(|fault| f(fault)).count();
        assert_eq!(count(&|f| matches!(f, CallFault::KillBefore | CallFault::KillAfter)), 7);
        assert_eq!(count(&|f| *f == CallFault::RefuseMemory), 2);
        assert_eq!(count(&|f| matches!(f, CallFault::Stall(_))), 1);
        assert_eq!(all, drawn(&plan));
        let dice = Dice::new(plan);
        assert_eq!((0..10_000).filter(|_| !dice.lets_pass("a", 1)).count(), 3);
    }
}
