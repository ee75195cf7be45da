//! The checked graph that the runtime is built from: indexes instead of names, nothing unresolved.
//!
//! Invariants: components are in name order and their task ids follow on from 1; an edge is in exactly one
//! output's `consumers` and one component's `inputs`; without the edges that close a cycle the graph has
//! none.

use crate::ids::TaskId;
use crate::manifest::{Allow, Limits, Restart, SpoutKind, Topology};
use crate::retry::RetryPolicy;
use std::ops::Range;
use std::time::Duration;

/// A topology that can run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What holds for the whole.
    pub topology: Topology,
    /// In name order.
    pub components: Vec<Component>,
    /// In the order of the consumer, then of its inputs.
    pub edges: Vec<Edge>,
    /// Indexes of components in the order of a drain: all spouts first, then bolts, each after those it
    /// takes from. The bolts of a cycle are one stage; every other bolt is a stage of its own.
    pub stages: Vec<Vec<usize>>,
}

impl Plan {
    /// One more than the highest task id: the length of a table of all tasks.
    pub fn tasks_end(&self) -> TaskId {
        self.components.iter().map(|component| component.tasks.end).max().unwrap_or(1)
    }
}

/// A spout or a bolt.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// Which of the two it is.
    pub role: Role,
    /// Its task ids.
    pub tasks: Range<TaskId>,
    /// How many threads share its tasks; never more than there are tasks.
    pub executors: u32,
    /// Its streams, in the order that emissions index them.
    pub outputs: Vec<Output>,
    /// Indexes of edges; the place in this list is the index into [`crate::port::Context::inputs`]. A
    /// stream that is taken twice, by two groupings, is two inputs.
    pub inputs: Vec<usize>,
}

/// What a component is.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// A source of messages.
    Spout(SpoutPlan),
    /// Takes tuples.
    Bolt(Box<BoltPlan>),
}

/// What a spout is built from.
#[derive(Clone, Debug, PartialEq)]
pub struct SpoutPlan {
    /// Which native spout.
    pub kind: SpoutKind,
    /// How many messages each task may have pending.
    pub max_pending: u32,
    /// How failed messages are tried again.
    pub retry: RetryPolicy,
    /// A larger message is a dead letter.
    pub tuple_bytes_max: u64,
}

/// What a bolt is built from.
#[derive(Clone, Debug, PartialEq)]
pub struct BoltPlan {
    /// What it runs.
    pub code: Code,
    /// How often it is ticked.
    pub tick: Option<Duration>,
    /// It loses nothing with an instance.
    pub stateless: bool,
    /// Memory at which an instance is replaced, in bytes; only with `stateless`.
    pub recycle_at: Option<u64>,
    /// The most tuples a call; none: as pace decides. One when the bolt has effects outside, unless set.
    pub batch: Option<u32>,
    /// Its own configuration, always an object.
    pub config: serde_json::Value,
    /// What a call may cost.
    pub limits: Limits,
    /// What it may reach.
    pub allow: Allow,
    /// What becomes of an instance that keeps dying.
    pub restart: Restart,
}

pub use crate::manifest::Code;

/// One output stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its fields, in the order of the row.
    pub fields: Vec<String>,
    /// The emitter names the receiving task.
    pub direct: bool,
    /// Indexes of the edges that take it.
    pub consumers: Vec<usize>,
}

/// One stream on its way to one bolt.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The component that emits.
    pub from: usize,
    /// Which of its outputs.
    pub output: usize,
    /// The component that takes.
    pub to: usize,
    /// Which of its inputs.
    pub input: u32,
    /// Which task gets a tuple.
    pub grouping: Grouping,
    /// It leads back: its queue is bounded in bytes and never blocks.
    pub closes_cycle: bool,
}

/// Which task gets a tuple, with fields by their place in the row.
#[derive(Clone, Debug, PartialEq)]
pub enum Grouping {
    /// Evenly, one after the other.
    Shuffle,
    /// Equal fields, same task.
    Fields(Vec<usize>),
    /// Every task.
    All,
    /// The task with the lowest id.
    Global,
    /// As shuffle.
    None,
    /// The emitter names it.
    Direct,
    /// As shuffle: all tasks are in one process.
    LocalOrShuffle,
    /// The less used one of two candidates by key.
    PartialKey(Vec<usize>),
    /// A plugin chooses.
    Plugin {
        /// The file, relative to the manifest.
        path: String,
        /// Its configuration, always an object.
        config: serde_json::Value,
    },
}
