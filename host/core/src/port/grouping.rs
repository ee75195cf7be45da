//! The port of custom groupings: an instance that chooses tasks for rows and may die, and what makes it.
//!
//! In: rows in columns. Out: the tasks of each, or how the call ended. Invariant: after a death only `drop` follows;
//! what an answer has to be like is checked by whoever asks.

use super::CallError;
use crate::ids::TaskId;

/// One living grouping (Storm's `CustomStreamGrouping`). Calls come one at a time.
pub trait CustomGrouping: Send {
    /// Makes it ready, once, first: the fields of the stream, the tasks to choose from, and its `config` as a JSON
    /// object.
    fn prepare(&mut self, fields: &[String], targets: &[TaskId], config: &str) -> Result<(), CallError>;
    /// The tasks that each row goes to: row i is `data[offsets[i]..offsets[i + 1]]`. Nothing of the answer is trusted.
    fn choose(&mut self, offsets: &[u32], data: &[u8]) -> Result<Vec<Vec<TaskId>>, CallError>;
}

/// Makes the instances of one custom grouping; shared by the tasks that emit to it.
pub trait GroupingFactory: Send + Sync {
    /// A fresh instance, not yet prepared.
    fn create(&self) -> Result<Box<dyn CustomGrouping>, CallError>;
}
