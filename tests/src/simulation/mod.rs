//! A deterministic simulation: random topologies of the real runtime, without threads, on a clock and a disk of its own.
//!
//! In: a seed. Out: what the case came to, or the first [`Violation`], with the seed, the step and what led to it. The
//! executors, queues, ledgers, retries, checkpoints and the drain are the real ones; the seed chooses who takes the next
//! step, when time moves, what bolts do wrong, when the disk fails, and when the process is killed and starts again.
//!
//! Beside it an oracle keeps what is true of each message, told by the spouts and bolts themselves.
//!
//! Invariant: a seed gives the same steps on every machine and at every time.

#![allow(clippy::print_stdout, reason = "a trace, and the seed of a case that hangs, are printed at once")]

mod bolt;
mod case;
mod checks;
mod deeds;
#[path = "../../../host/tests/durable/disk.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "the tests of the disk's users need more of it")]
pub(crate) mod disk;
mod graph;
mod life;
mod oracle;
mod orders;
mod reading;
mod rows;
mod schedule;
mod search;
mod source;
mod spout;
mod trace;
mod trouble;
mod tuples;
mod turn;
mod world;

pub use case::{Done, Options, Violation, run};
pub use search::{Found, search};
