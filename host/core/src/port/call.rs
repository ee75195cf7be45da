//! One call of a bolt: columns in, an ordered log out, or a death.
//!
//! In: tuples, and the answers of the runtime while it runs. Out: what the call did. Invariant: the log takes
//! effect as a whole when the call returns, and not at all when it dies.

use crate::failure::Class;
use crate::ids::TaskId;
use std::time::Duration;

/// The input of one call in columns, as `wit/` describes it: n tuples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tuples {
    /// n handles.
    pub ids: Vec<u32>,
    /// n indexes into [`Context::inputs`](super::Context::inputs).
    pub inputs: Vec<u32>,
    /// n+1 offsets into `data`.
    pub offsets: Vec<u32>,
    /// Encoded rows.
    pub data: Vec<u8>,
    /// 0, or 1: the guest calls `progress` before each tuple.
    pub stride: u32,
}

impl Tuples {
    /// How many tuples there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The encoded row of tuple `i`; empty when the columns disagree.
    pub fn row(&self, i: usize) -> &[u8] {
        row_at(&self.offsets, &self.data, i)
    }

    /// Removes all tuples and keeps the buffers.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.inputs.clear();
        self.offsets.clear();
        self.offsets.push(0);
        self.data.clear();
        self.stride = 0;
    }
}

/// The output of a call in columns: m emissions. From a guest, every number is hostile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Emissions {
    /// m indexes into the declared output streams.
    pub streams: Vec<u32>,
    /// Empty, or m task ids for direct streams.
    pub targets: Vec<u32>,
    /// m+1 offsets into `anchors`.
    pub anchor_offsets: Vec<u32>,
    /// Handles.
    pub anchors: Vec<u32>,
    /// m+1 offsets into `data`.
    pub offsets: Vec<u32>,
    /// Encoded rows.
    pub data: Vec<u8>,
}

/// How much was emitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Emissions, or anchors if there are more of those.
    pub rows: u64,
    /// Bytes of encoded rows.
    pub bytes: u64,
}

/// The kinds of failure that a bolt can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailKind {
    /// This tuple's fault.
    Fail,
    /// Something outside is down.
    Retry,
    /// Never again.
    Reject,
}

/// One entry of a call's ordered log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Rows to send.
    Emit(Emissions),
    /// Rows whose targets were drawn during the call: the task ids of each.
    EmitPlaced(Emissions, Vec<Vec<TaskId>>),
    /// Tuples that are done.
    Ack(Vec<u32>),
    /// Tuples that failed: handle, kind, reason.
    Fail(Vec<(u32, FailKind, String)>),
    /// Trees whose timeout starts again.
    ResetTimeout(Vec<u32>),
    /// An error for the report that fails nothing.
    ReportError(String),
}

/// What `describe` tells of one tuple.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TupleInfo {
    /// The task that emitted it.
    pub source_task: TaskId,
    /// `SPOUT@POSITION`; none when untracked.
    pub message_id: Option<String>,
    /// 1 at the first attempt.
    pub attempt: u32,
    /// Since the message was emitted.
    pub age: Duration,
    /// The same over attempts: the message id and the path of emission ordinals.
    pub identity: String,
}

/// What the runtime answers while a call runs.
pub trait CallServices: Send {
    /// Draws the targets of emissions at once. An error is a violation that ends the call.
    fn place(&mut self, emissions: &Emissions) -> Result<Vec<Vec<TaskId>>, String>;
    /// Describes live handles. An error is a violation that ends the call.
    fn describe(&mut self, ids: &[u32]) -> Result<Vec<TupleInfo>, String>;
    /// The call has come to tuple `index`.
    fn progress(&mut self, index: u32);
}

/// What a call may use and what it leaves behind.
#[derive(Default)]
pub struct Call {
    /// What the call did, in order; applied when it returns, discarded when it dies.
    pub log: Vec<Op>,
    /// How many tuples the call may be charged for: its limits are those of one tuple times this (at
    /// least 1).
    pub tuples: u32,
    /// The runtime's answers; handed in and out of the instance by value.
    pub services: Option<Box<dyn CallServices>>,
}

impl Call {
    /// How much the call emitted so far.
    pub fn output(&self) -> Output {
        let mut output = Output::default();
        for op in &self.log {
            if let Op::Emit(rows) | Op::EmitPlaced(rows, _) = op {
                output.rows += rows.streams.len().max(rows.anchors.len()) as u64;
                output.bytes += rows.data.len() as u64;
            }
        }
        output
    }
}

/// How a call ended when it did not end well. The three are kept apart by type: a declared failure costs
/// tuples, a death costs the instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The component returned an error. What it settled counts.
    Declared(String),
    /// The instance is gone: nothing of the call counts, and it must not be called again.
    Died(Death),
}

/// The end of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// `Trap`, `Deadline`, `Memory`, `Exit`, `Protocol` or `Host`.
    pub class: Class,
    /// What happened, for a person, with both figures where a limit was hit.
    pub reason: String,
    /// The guest's last words.
    pub output: String,
    /// The tuple that `progress` had reached, when the call used it.
    pub reached: Option<u32>,
    /// The call was over what any call may have, and not over the limits of its tuples: with fewer it may live.
    pub crowded: bool,
}

impl Death {
    /// A death without a guest's words.
    pub fn new(class: Class, reason: impl Into<String>) -> Death {
        Death { class, reason: reason.into(), output: String::new(), reached: None, crowded: false }
    }
}

impl Emissions {
    /// The encoded row of emission `i`; none when its offsets are out of range.
    pub fn row(&self, i: usize) -> Option<&[u8]> {
        let (from, to) = self.offsets.get(i).zip(self.offsets.get(i + 1))?;
        self.data.get(*from as usize..*to as usize)
    }
}

/// The encoded row `i` of a column of rows; empty when the columns disagree.
#[inline]
pub(crate) fn row_at<'a>(offsets: &[u32], data: &'a [u8], i: usize) -> &'a [u8] {
    match (offsets.get(i), offsets.get(i + 1)) {
        (Some(&a), Some(&z)) => data.get(a as usize..z as usize).unwrap_or_default(),
        _ => &[],
    }
}
