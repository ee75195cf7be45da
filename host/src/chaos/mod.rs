//! Faults on purpose: instances that die, calls that stall, batches that are late or lost.
//!
//! In: a [`Plan`]: how many faults of each kind, and the seed that says when. Out: bolts wrapped so that they die, and
//! a filter for batches, both for the runtime, which knows neither. A process that has used up its faults runs on
//! without any, so a run under chaos ends.
//!
//! Invariant: without a plan nothing of this is in the way of a tuple.

mod dice;
mod plan;
mod strike;

pub use dice::{Dice, Table};
pub use plan::{Plan, PlanError};
pub use strike::StruckFactory;
