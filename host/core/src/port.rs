//! The ports: what spouts, bolts and instances look like to the runtime, and the plain data between them.
//!
//! [`Spout`] and [`Bolt`] are for whoever embeds the host and writes native components. [`Instance`] is the
//! lower port that a WebAssembly instance (or the adapter round a native bolt) implements: it works on
//! columns and may die.

use crate::failure::{Class, Failure};
use crate::ids::{MessageId, TaskId};
use std::sync::Arc;
use std::time::Duration;

/// The stream that is meant when none is named.
pub const DEFAULT_STREAM: &str = "default";

/// One output stream that a component declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamDeclaration {
    /// Its name.
    pub name: String,
    /// Its fields, in the order of the row.
    pub fields: Vec<String>,
    /// The emitter names the receiving task of each tuple.
    pub direct: bool,
}

/// What a component says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declaration {
    /// Output streams, in the order that emissions index them.
    pub outputs: Vec<StreamDeclaration>,
    /// It keeps nothing between calls that a fresh instance would miss.
    pub stateless: bool,
}

impl Declaration {
    /// A declaration of one stream, `default`, with these fields.
    pub fn fields<S: Into<String>>(fields: impl IntoIterator<Item = S>) -> Declaration {
        Declaration { outputs: vec![], stateless: false }.stream(DEFAULT_STREAM, fields)
    }

    /// Adds a stream.
    #[must_use]
    pub fn stream<S: Into<String>>(mut self, name: &str, fields: impl IntoIterator<Item = S>) -> Declaration {
        let fields = fields.into_iter().map(Into::into).collect();
        self.outputs.push(StreamDeclaration { name: name.to_owned(), fields, direct: false });
        self
    }
}

/// One input of a bolt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextInput {
    /// The component that emits it.
    pub component: String,
    /// The stream of that component.
    pub stream: String,
    /// Its fields, in the order of the row.
    pub fields: Vec<String>,
    /// The ids of the component's tasks.
    pub tasks: Vec<TaskId>,
}

/// One output of a component with those who take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextOutput {
    /// Its name.
    pub stream: String,
    /// Name and task ids of each consumer.
    pub consumers: Vec<(String, Vec<TaskId>)>,
}

/// Where a task finds itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The topology's name.
    pub topology: String,
    /// The component's name.
    pub component: String,
    /// This task's place among the component's tasks, from 0.
    pub task_index: u32,
    /// This task's id in the topology, from 1.
    pub task: TaskId,
    /// How many tasks the component has.
    pub task_count: u32,
    /// What it takes; none for a spout.
    pub inputs: Vec<ContextInput>,
    /// What it emits.
    pub outputs: Vec<ContextOutput>,
    /// `config` of the manifest, as a JSON object.
    pub config: String,
}

/// The input of one call in columns, as `wit/` describes it: n tuples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tuples {
    /// n handles.
    pub ids: Vec<u32>,
    /// n indexes into [`Context::inputs`].
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
        match (self.offsets.get(i), self.offsets.get(i + 1)) {
            (Some(&a), Some(&z)) => self.data.get(a as usize..z as usize).unwrap_or_default(),
            _ => &[],
        }
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
}

/// One living bolt as the runtime drives it: a WebAssembly instance or a native bolt in its adapter.
///
/// `declare` belongs to the factory. Calls come one at a time. After [`CallError::Died`] only `drop` follows.
pub trait Instance: Send {
    /// Makes it ready; once, first.
    fn prepare(&mut self, context: &Context) -> Result<(), CallError>;
    /// Works on a batch. The columns are lent: they come back unchanged.
    fn execute(&mut self, tuples: &mut Tuples, call: &mut Call) -> Result<(), CallError>;
    /// The manifest's tick.
    fn tick(&mut self, call: &mut Call) -> Result<(), CallError>;
    /// Emit and settle what is held, if it can be.
    fn flush(&mut self, call: &mut Call) -> Result<(), CallError>;
    /// The last call.
    fn cleanup(&mut self) -> Result<(), CallError>;
    /// Memory in use, in bytes; 0 when unknown.
    fn memory_bytes(&self) -> u64 {
        0
    }
}

/// Makes the instances of one bolt; shared by its tasks.
pub trait InstanceFactory: Send + Sync {
    /// What the bolt is.
    fn declaration(&self) -> &Declaration;
    /// A fresh instance, not yet prepared.
    fn create(&self) -> Result<Box<dyn Instance>, CallError>;
    /// sha256 of the plugin in hex; none for a native bolt.
    fn sha256(&self) -> Option<&str> {
        None
    }
}

/// A native bolt. Its effects, too, take place when the call returns; a panic is a death of the instance.
pub trait Bolt: Send {
    /// Makes it ready; once, first.
    fn prepare(&mut self, context: &Context) -> Result<(), String> {
        let _ = context;
        Ok(())
    }
    /// Works on a batch: settle each tuple with [`Collector::ack`] or [`Collector::fail`], now or later.
    /// An error fails all that the call did not settle.
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String>;
    /// The manifest's tick.
    fn tick(&mut self, out: &mut Collector<'_>) -> Result<(), String> {
        let _ = out;
        Ok(())
    }
    /// Emit and settle what is held, if it can be.
    fn flush(&mut self, out: &mut Collector<'_>) -> Result<(), String> {
        let _ = out;
        Ok(())
    }
    /// The last call.
    fn cleanup(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// Where a native bolt puts what it emits and settles.
pub struct Collector<'a> {
    call: &'a mut Call,
}

impl<'a> Collector<'a> {
    /// A collector that writes to a call's log.
    pub fn new(call: &'a mut Call) -> Collector<'a> {
        Collector { call }
    }

    /// Emits one encoded row on the declared stream with this index, anchored to these handles.
    pub fn emit(&mut self, stream: u32, anchors: &[u32], row: &[u8]) {
        if !matches!(self.call.log.last(), Some(Op::Emit(_))) {
            let offsets = vec![0];
            self.call.log.push(Op::Emit(Emissions {
                anchor_offsets: vec![0],
                offsets,
                ..Emissions::default()
            }));
        }
        if let Some(Op::Emit(e)) = self.call.log.last_mut() {
            e.streams.push(stream);
            e.anchors.extend_from_slice(anchors);
            e.anchor_offsets.push(e.anchors.len() as u32);
            e.data.extend_from_slice(row);
            e.offsets.push(e.data.len() as u32);
        }
    }

    /// These tuples are done.
    pub fn ack(&mut self, ids: &[u32]) {
        match self.call.log.last_mut() {
            Some(Op::Ack(list)) => list.extend_from_slice(ids),
            _ => self.call.log.push(Op::Ack(ids.to_vec())),
        }
    }

    /// This tuple failed.
    pub fn fail(&mut self, id: u32, kind: FailKind, reason: impl Into<String>) {
        match self.call.log.last_mut() {
            Some(Op::Fail(list)) => list.push((id, kind, reason.into())),
            _ => self.call.log.push(Op::Fail(vec![(id, kind, reason.into())])),
        }
    }

    /// Restarts the message timeout of the trees of these tuples.
    pub fn reset_timeout(&mut self, ids: &[u32]) {
        self.call.log.push(Op::ResetTimeout(ids.to_vec()));
    }

    /// Shows an error in the report without failing a tuple.
    pub fn report_error(&mut self, message: impl Into<String>) {
        self.call.log.push(Op::ReportError(message.into()));
    }
}

/// Wakes the executor of a spout that said [`Next::Idle`]. Cheap; may be called from any thread.
#[derive(Clone)]
pub struct Waker(Arc<dyn Fn() + Send + Sync>);

impl Waker {
    /// A waker that calls `f`.
    pub fn new(f: impl Fn() + Send + Sync + 'static) -> Waker {
        Waker(Arc::new(f))
    }

    /// Wakes the executor.
    pub fn wake(&self) {
        (self.0)();
    }
}

/// What a spout gets when it is opened.
#[derive(Clone)]
pub struct SpoutContext {
    /// Where the task finds itself.
    pub context: Context,
    /// Call it when there is something after `Idle`.
    pub waker: Waker,
}

/// What `next` leaves behind: rows in columns.
#[derive(Debug, Default)]
pub struct SpoutOutput {
    /// The message of each row; none when it is untracked.
    pub ids: Vec<Option<MessageId>>,
    /// The declared output stream of each row.
    pub streams: Vec<u32>,
    /// One more than there are rows: offsets into `data`.
    pub offsets: Vec<u32>,
    /// Encoded rows.
    pub data: Vec<u8>,
    /// Messages that can't be emitted at all (too large, not decodable), with the reason.
    pub refused: Vec<(MessageId, Failure)>,
}

impl SpoutOutput {
    /// An empty output.
    pub fn new() -> SpoutOutput {
        SpoutOutput { offsets: vec![0], ..SpoutOutput::default() }
    }

    /// Emits one encoded row reliably: its tree is tracked, and the message is replayed until it completes.
    /// Several rows with one id are one message, done when all their trees are.
    pub fn emit(&mut self, id: MessageId, stream: u32, row: &[u8]) {
        self.push(Some(id), stream, row);
    }

    /// Emits one encoded row outside every tree.
    pub fn emit_untracked(&mut self, stream: u32, row: &[u8]) {
        self.push(None, stream, row);
    }

    /// As [`SpoutOutput::emit`], with a function that writes the row into the buffer: no copy.
    pub fn emit_with(&mut self, id: MessageId, stream: u32, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.data);
        self.ids.push(Some(id));
        self.streams.push(stream);
        self.offsets.push(self.data.len() as u32);
    }

    /// A message that was read but can't be emitted: it ends as the failure says, and counts as read.
    pub fn refuse(&mut self, id: MessageId, failure: Failure) {
        self.refused.push((id, failure));
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are neither rows nor refusals.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.refused.is_empty()
    }

    /// The encoded row `i`.
    pub fn row(&self, i: usize) -> &[u8] {
        match (self.offsets.get(i), self.offsets.get(i + 1)) {
            (Some(&a), Some(&z)) => self.data.get(a as usize..z as usize).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Removes everything and keeps the buffers.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.streams.clear();
        self.offsets.clear();
        self.offsets.push(0);
        self.data.clear();
        self.refused.clear();
    }

    fn push(&mut self, id: Option<MessageId>, stream: u32, row: &[u8]) {
        self.data.extend_from_slice(row);
        self.ids.push(id);
        self.streams.push(stream);
        self.offsets.push(self.data.len() as u32);
    }
}

/// What a spout says after `next`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// There may be more: call again.
    More,
    /// Nothing now: call again after the waker was called, or after this time.
    Idle(Option<Duration>),
    /// The source has come to its end. `next` is called again only after a failure that the spout
    /// emits again itself.
    Done,
}

/// Who replays a failed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    /// The host: it kept the rows.
    Host,
    /// The spout emits it again itself, with the same id.
    Spout,
}

/// Why a spout can't go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpoutError {
    /// The user's input is wrong: a missing file, a folder in its place. Exit code 2.
    Input(String),
    /// The environment: an I/O error, a broker that is down. Exit code 3.
    Environment(String),
}

/// A reliable source, as Storm's `ISpout`, in batches. It never blocks: sources read on threads of their own.
pub trait Spout: Send {
    /// Gets ready; once, first.
    fn open(&mut self, context: SpoutContext) -> Result<(), SpoutError>;
    /// Messages are wanted from now on.
    fn activate(&mut self) -> Result<(), SpoutError> {
        Ok(())
    }
    /// Emits up to `budget` messages.
    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError>;
    /// These messages are complete (or, with tracking off, emitted).
    fn ack(&mut self, ids: &[MessageId]);
    /// This message failed for now. The answer says who replays it.
    fn fail(&mut self, id: MessageId, failure: &Failure) -> Replay {
        let _ = (id, failure);
        Replay::Host
    }
    /// This message is over without completing: it was dead-lettered or dropped.
    fn give_up(&mut self, id: MessageId) {
        self.ack(&[id]);
    }
    /// No messages are wanted for now.
    fn deactivate(&mut self) {}
    /// The last call.
    fn close(&mut self) {}
    /// A JSON value that names a message's place in its source, for people and dead letters.
    fn position(&self, id: MessageId) -> serde_json::Value {
        serde_json::Value::from(id.low())
    }
    /// Each id is emitted once, its rows next to each other: the host then needs no table of ids.
    fn unique_ids(&self) -> bool {
        false
    }
    /// It can end by itself ([`Next::Done`]).
    fn finite(&self) -> bool {
        false
    }
}
