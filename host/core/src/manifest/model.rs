//! What a manifest says, typed: every default filled in, every number within its range.
//!
//! Values that a later phase may complain about are [`Spanned`]; a program that builds a [`Manifest`]
//! itself leaves the spans out. Names are not resolved here: that is `plan`.

use super::diagnostic::{Span, Spanned};
use super::kinds::{SinkKind, SpoutKind};
use crate::port::DEFAULT_STREAM;
use crate::retry::RetryPolicy;
use std::time::Duration;

/// A whole manifest. Components come in the order of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// `[topology]`
    pub topology: Topology,
    /// Where `[topology]` stands: what concerns the whole is reported there.
    pub topology_span: Option<Span>,
    /// `[spouts.X]`
    pub spouts: Vec<Spout>,
    /// `[bolts.X]`
    pub bolts: Vec<Bolt>,
    /// Some components could not be read, which was reported: that one is missing says nothing.
    pub incomplete: bool,
    /// It was read with errors: good for finding more of them, never for a plan.
    pub faulty: bool,
}

/// `[topology]`: what holds for the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// `name`
    pub name: String,
    /// `message-timeout`
    pub message_timeout: Duration,
    /// `ackers`
    pub ackers: Ackers,
    /// `queue-tuples`: of each queue.
    pub queue_tuples: u32,
    /// `queue-bytes`: of each queue.
    pub queue_bytes: u64,
    /// `cycle-bytes`: of the queue of an edge that closes a cycle.
    pub cycle_bytes: u64,
    /// `max-tree-age`: how old `reset-timeout` may make a tree.
    pub max_tree_age: Duration,
    /// `drain-timeout`
    pub drain_timeout: Duration,
    /// `dead-letters.max-bytes`
    pub dead_letters_max_bytes: u64,
    /// `dead-letters.retention`; none: until they are purged or replayed.
    pub dead_letters_retention: Option<Duration>,
}

/// `ackers`: who keeps the ledgers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ackers {
    /// Each spout task its own; the default.
    PerSpout,
    /// Nobody: nothing is tracked (`ackers = 0`).
    Off,
    /// This many threads.
    Threads(u32),
}

/// `[spouts.X]`
#[derive(Clone, Debug, PartialEq)]
pub struct Spout {
    /// `X`
    pub name: Spanned<String>,
    /// `kind` with its own keys; none when it could not be read, which was reported.
    pub kind: Option<SpoutKind>,
    /// `executors`
    pub executors: u32,
    /// `tasks`, at least as many as executors.
    pub tasks: u32,
    /// `max-spout-pending`, of each task; the topology's unless set.
    pub max_pending: u32,
    /// `retry`
    pub retry: RetryPolicy,
    /// `limits.tuple-bytes`
    pub tuple_bytes_max: u64,
}

/// `[bolts.X]`
#[derive(Clone, Debug, PartialEq)]
pub struct Bolt {
    /// `X`
    pub name: Spanned<String>,
    /// `plugin` or `kind`; none when it could not be read, which was reported. Its span is that of the
    /// plugin's path or of the kind: what does not load is reported there.
    pub code: Option<Spanned<Code>>,
    /// `source`: the folder of the Cargo package, for `build`.
    pub source: Option<Spanned<String>>,
    /// `executors`
    pub executors: u32,
    /// `tasks`, at least as many as executors.
    pub tasks: u32,
    /// `inputs`
    pub inputs: Inputs,
    /// `tick`
    pub tick: Option<Duration>,
    /// `stateless`; none: as the plugin declares.
    pub stateless: Option<bool>,
    /// `recycle-at`, in bytes of memory.
    pub recycle_at: Option<Spanned<u64>>,
    /// `batch`: the most tuples a call.
    pub batch: Option<u32>,
    /// `config`, always an object.
    pub config: serde_json::Value,
    /// `limits`
    pub limits: Limits,
    /// `allow`
    pub allow: Allow,
    /// `restart`
    pub restart: Restart,
}

/// What a bolt runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// A WebAssembly component.
    Plugin {
        /// The file as written, relative to the manifest.
        path: String,
        /// 64 lower-case hex digits that the file must have.
        sha256: Option<String>,
    },
    /// A sink of the host.
    Native(SinkKind),
}

/// `inputs` of a bolt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs {
    /// The inputs that could be read.
    pub list: Vec<Input>,
    /// Some could not be read, which was reported: that the list is short says nothing.
    pub incomplete: bool,
}

/// One of a bolt's inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// `from`: a component.
    pub from: Spanned<String>,
    /// `stream`; without a span when the manifest does not name one.
    pub stream: Spanned<String>,
    /// `grouping`; none when it could not be read, which was reported.
    pub grouping: Option<Spanned<Grouping>>,
}

impl Input {
    /// The default stream of a component; for programs.
    pub fn new(from: impl Into<String>, grouping: Grouping) -> Input {
        Input {
            from: Spanned::bare(from.into()),
            stream: Spanned::bare(DEFAULT_STREAM.to_owned()),
            grouping: Some(Spanned::bare(grouping)),
        }
    }
}

/// Which task of a bolt gets a tuple, with fields by name.
#[derive(Clone, Debug, PartialEq)]
pub enum Grouping {
    /// `"shuffle"`
    Shuffle,
    /// `{ fields = [..] }`
    Fields(Vec<Spanned<String>>),
    /// `"all"`
    All,
    /// `"global"`
    Global,
    /// `"none"`
    None,
    /// `"direct"`
    Direct,
    /// `"local-or-shuffle"`
    LocalOrShuffle,
    /// `{ partial-key = [..] }`
    PartialKey(Vec<Spanned<String>>),
    /// `{ plugin = "..", config = {} }`
    Plugin {
        /// The file as written, relative to the manifest.
        path: String,
        /// Always an object.
        config: serde_json::Value,
    },
}

/// `[bolts.X.limits]`: what a call may cost. What is "per tuple" is multiplied by a call's tuples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `memory`: all memories together.
    pub memory_bytes: u64,
    /// `deadline`: of each tuple; always below the message timeout.
    pub deadline: Duration,
    /// `table-elements`
    pub table_elements: u32,
    /// `emissions-per-tuple`
    pub emissions_per_tuple: u32,
    /// `emitted-bytes-per-tuple`
    pub emitted_bytes_per_tuple: u64,
    /// `anchors-per-tuple`
    pub anchors_per_tuple: u32,
    /// `held-tuples`
    pub held_tuples: u32,
    /// `tuple-bytes`: the largest row it may emit.
    pub tuple_bytes: u64,
    /// `log-bytes-per-second`
    pub log_bytes_per_second: u64,
    /// `log-lines-per-second`
    pub log_lines_per_second: u32,
}

/// `[bolts.X.allow]`: what a plugin may reach; nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allow {
    /// `env`: names and values, in the order written.
    pub env: Vec<(String, String)>,
    /// `dirs`
    pub dirs: Vec<Dir>,
    /// `net`: `host:port` each.
    pub net: Vec<String>,
}

impl Allow {
    /// Whether a call can have effects outside that can't be discarded.
    pub fn effects(&self) -> bool {
        !self.net.is_empty() || self.dirs.iter().any(|dir| dir.write)
    }
}

/// A folder that a plugin may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dir {
    /// The folder as written, relative to the manifest.
    pub host: String,
    /// The absolute path that the plugin sees.
    pub guest: String,
    /// `access = "read-write"`
    pub write: bool,
}

/// `[bolts.X.restart]`: for deaths that no tuple is to blame for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restart {
    /// `backoff`
    pub backoff: Duration,
    /// `budget`: this many in a window are borne.
    pub budget: u32,
    /// `window`
    pub window: Duration,
    /// `on-circuit-open`
    pub on_circuit_open: OnCircuitOpen,
}

/// What happens when the restart budget is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnCircuitOpen {
    /// The bolt waits for `swap`, `ctl resume` or a restart.
    #[default]
    Pause,
    /// Its tuples become dead letters.
    DeadLetter,
    /// The topology stops.
    Stop,
}
