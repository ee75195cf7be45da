//! What runs on a thread: something that takes one step at a time.
//!
//! In: its inbox. Out: whatever it makes. A thread loops over [`Executor::step`] and parks in between; a simulation
//! takes the steps of all executors itself, in an order of its choice. Invariant: a step never blocks.

use super::clock::Clock;
use anchorbolt_core::ids::Time;
use crossbeam_utils::sync::Parker;

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// There may be more to do: take another.
    Again,
    /// Nothing to do until it is woken, or until this moment.
    Wait(Option<Time>),
    /// It was told to close, and has.
    Closed,
}

/// A thread's worth of tasks.
pub(crate) trait Executor: Send {
    /// Does the next thing there is to do.
    fn step(&mut self) -> Step;
}

/// The loop of a thread.
pub(crate) fn run(mut executor: Box<dyn Executor>, clock: &dyn Clock, parker: &Parker) {
    loop {
        match executor.step() {
            Step::Again => {}
            Step::Wait(due) => clock.park(parker, due),
            Step::Closed => return,
        }
    }
}
