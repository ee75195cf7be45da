//! The ports: what spouts, bolts and instances look like to the runtime, and the plain data between them.
//!
//! [`Spout`] and [`Bolt`] are for whoever embeds the host and writes native components. [`Instance`] is the
//! lower port that a WebAssembly instance (or the adapter round a native bolt) implements: it works on
//! columns and may die. [`CustomGrouping`] is the same for a grouping that is a plugin.

mod bolt;
mod call;
mod declaration;
mod grouping;
mod instance;
mod kept_rows;
mod spout;

pub use bolt::{Bolt, Collector};
pub(crate) use call::row_at;
pub use call::{Call, CallError, CallServices, Death, Emissions, FailKind, Op, Output, TupleInfo, Tuples};
pub use declaration::{Context, ContextInput, ContextOutput, DEFAULT_STREAM, Declaration, StreamDeclaration};
pub use grouping::{CustomGrouping, GroupingFactory};
pub use instance::{Instance, InstanceFactory};
pub use kept_rows::{decode_rows, encode_rows, read_rows};
pub use spout::{Next, Replay, Spout, SpoutContext, SpoutError, SpoutOutput, Waker};
