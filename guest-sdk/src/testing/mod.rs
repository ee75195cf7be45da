//! Unit tests of a bolt or a grouping, natively and without a host.
//!
//! In: rows, ticks, flushes. Out: what the bolt emitted, settled, logged and counted. Invariant: what the host would
//! refuse (a wrong arity, an anchor that is not live) makes the test panic.

mod grouping;
mod harness;
mod record;
pub(crate) mod stand_in;

pub use grouping::GroupingHarness;
pub use harness::{Harness, Setup};
pub use record::{Emission, Failed, OwnedRow};
