//! Why a row can't be routed.
//!
//! In: what the router or a custom grouping found. Out: a text for a person, and the class and cost that a failure of
//! it has. Invariant: the text names the stream.

use crate::failure::{Class, Cost};
use crate::ids::TaskId;
use anchorbolt_row::RowError;

/// Why a row can't be routed. The text names what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowFault {
    /// No such output stream.
    #[error("stream index {index} is not declared: there are {declared} output streams")]
    Stream {
        /// The index that was given.
        index: u32,
        /// How many are declared.
        declared: usize,
    },
    /// Not a row of the stream.
    #[error("row on stream `{stream}`: {error}")]
    Row {
        /// The stream.
        stream: String,
        /// What is wrong with the row.
        error: RowError,
    },
    /// Larger than the limit.
    #[error("row on stream `{stream}` has {bytes} bytes, more than tuple-bytes = {limit}")]
    Size {
        /// The stream.
        stream: String,
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: u64,
    },
    /// The emission's target is not a task of a direct subscriber.
    #[error("task {task} takes nothing from stream `{stream}`")]
    Target {
        /// The stream.
        stream: String,
        /// The target.
        task: TaskId,
    },
    /// A direct stream, and no target.
    #[error("stream `{stream}` is direct: an emission on it names the task that it goes to")]
    NoTarget {
        /// The stream.
        stream: String,
    },
    /// Where a row goes was to be told at once, and a plugin chooses it after the call.
    #[error(
        "`emit-placed` on stream `{stream}`, which is taken by a grouping of a plugin: use `emit`, since where its rows \
         go is chosen after the call"
    )]
    Placed {
        /// The stream.
        stream: String,
    },
    /// A custom grouping failed on it.
    #[error("{}", .0.reason)]
    Custom(Box<GroupingFault>),
}

/// How a custom grouping failed on a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupingFault {
    /// What kind of failure.
    pub class: Class,
    /// Who pays: the row's own message, or nobody.
    pub cost: Cost,
    /// Which edge, which plugin, and what.
    pub reason: String,
    /// The guest's last words.
    pub output: String,
}

impl RowFault {
    /// The class of the failure that it is.
    pub fn class(&self) -> Class {
        match self {
            RowFault::Size { .. } => Class::Size,
            RowFault::Custom(fault) => fault.class,
            _ => Class::Protocol,
        }
    }

    /// What the custom grouping that failed says; none when the emitter itself is to blame.
    pub fn custom(&self) -> Option<&GroupingFault> {
        match self {
            RowFault::Custom(fault) => Some(fault),
            _ => None,
        }
    }
}
