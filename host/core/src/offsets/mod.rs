//! How far a replayable source is done: what a checkpoint remembers, and what a restart skips.
//!
//! In: the messages of one part of a source (a file, a partition) as they are emitted, in ascending order, and
//! later, in any order, that one is done. Out: the lowest place that is not done, the done ranges above it
//! ([`Snapshot`]), and how much a restart from a snapshot would emit again ([`Spans::outstanding`]).
//!
//! Invariant: a place counts as done only if its message was said to be done, or if no message begins there.

mod snapshot;
mod spans;

pub use snapshot::Snapshot;
pub use spans::{Known, Spans};
