//! What is counted, and the report made of it. A leaf: it knows the core's words and nothing of the host.

mod counters;
mod errors;
mod report;

pub use counters::{BoltCounters, bump};
pub use errors::{ErrorLine, Errors};
pub use report::{BoltFigures, LatencyFigures, Report, SpoutFigures};
