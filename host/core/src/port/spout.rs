//! Spouts: reliable sources, as Storm's `ISpout`, in batches.
//!
//! In: budgets, acks and failures. Out: rows with message ids, in columns. Invariant: a spout never blocks; what it
//! waits for is read on threads of its own.

use super::{Context, call::row_at, decode_rows, encode_rows};
use crate::failure::Failure;
use crate::ids::MessageId;
use std::sync::Arc;
use std::time::Duration;

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
        row_at(&self.offsets, &self.data, i)
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
    /// After `open` and before `activate`: goes on where the source stood. `saved` is what each of the spout's tasks,
    /// by its index, gave as a snapshot; all of them, since a source's parts may be dealt out otherwise now.
    ///
    /// # Errors
    /// The source is not the one that it was.
    fn restore(&mut self, saved: &[(u32, Vec<u8>)]) -> Result<(), SpoutError> {
        let _ = saved;
        Ok(())
    }
    /// After `restore` and before `activate`: the message at this position, which had these
    /// [bytes](Spout::source_bytes), is over, as its dead letter shows. One of another task's part of the source is
    /// nothing to this one, nor is one that has other bytes now: it is another message.
    fn pass_over(&mut self, position: &serde_json::Value, bytes: &[u8]) {
        let _ = (position, bytes);
    }
    /// What `restore` is to be given after a restart; none if the source can't be read again.
    fn snapshot(&mut self) -> Option<Vec<u8>> {
        None
    }
    /// What the last call of `snapshot` gave is durable.
    fn saved(&mut self) {}
    /// How many messages a restart from the last durable snapshot would emit again.
    fn outstanding(&self) -> u64 {
        0
    }
    /// So much is done out of order that no more is to be read until open messages end.
    fn is_crowded(&self) -> bool {
        false
    }
    /// The bytes of a pending message, for its dead letter: as they are in its source. `rows` is what is kept of it,
    /// with the streams it went to; a source without bytes of its own gives these in the form of [`encode_rows`].
    fn source_bytes(&self, id: MessageId, rows: &[(u32, &[u8])]) -> Vec<u8> {
        let _ = id;
        encode_rows(rows.iter().copied())
    }
    /// Emits the message that had these [bytes](Spout::source_bytes) again, from its dead letter. Needs no `open`.
    ///
    /// # Errors
    /// The bytes are not such; nothing was emitted then.
    fn revive(&mut self, id: MessageId, bytes: &[u8], out: &mut SpoutOutput) -> Result<(), String> {
        decode_rows(bytes, id, out)
    }
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
