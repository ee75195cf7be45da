//! A test kit for topologies, in virtual time: for authors of bolts and for embedders.
//!
//! In: a manifest with its real plugins, and rows in the place of each spout's source. Out: every row that each
//! component emitted, what became of each message, the report. Nothing sleeps: when all wait, the clock moves on to the
//! next moment at which something is due, so a timeout of 30 s is tested in no time. Native sinks of the manifest are
//! left out: they ack what they get and write nothing.
//!
//! ```no_run
//! use anchorbolt_host::testing::complete_topology;
//! use serde_json::json;
//!
//! let inputs = [("lines", vec![vec![json!("to be or")], vec![json!("not to be")]])];
//! let outputs = complete_topology("topology.toml".as_ref(), inputs)?;
//! assert_eq!(outputs["split"].len(), 6);
//! assert_eq!(outputs["split"][0], [json!("to")]);
//! # Ok::<(), anchorbolt_host::testing::TestError>(())
//! ```
//!
//! Invariant: a seed repeats a test, as far as the bolts themselves do.

mod capture;
mod complete;
mod feeder;

pub use complete::{Completed, TestError, TopologyTest, Values, complete_topology};
pub use feeder::{Feeder, Told, Tracker};
