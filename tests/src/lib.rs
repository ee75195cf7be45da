//! What the suites share: real plugins, real topologies, native spouts and bolts that keep a journal.
//!
//! In: a manifest's text and, where a suite needs them, native components. Out: how the run ended, with the
//! sums of its report checked. Invariant: every run that is waited for here ends, or the test says what it hung on.

pub mod artifacts;
pub mod fuzz;
pub mod native;
pub mod options;
pub mod pipeline;
pub mod simulation;
pub mod text;
pub mod topology;
pub mod witness;

pub use artifacts::{binary, guest};
pub use native::{Entry, Feed, Journal, Sink};
pub use pipeline::{Pipeline, Setup, plain, with};
pub use topology::{Topology, bolt, check_flawless, check_sums, error, wait};
pub use witness::{Seen, Witness};
