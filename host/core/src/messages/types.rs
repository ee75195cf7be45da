//! The plain data of the table of messages: what goes in and what comes out.

use super::Attempt;
use crate::ack::{TreeEvent, TreeEventKind};
use crate::failure::Failure;
use crate::ids::{MessageId, RootId, Time};
use crate::retry::{OnExhausted, RetryPolicy};
use std::sync::Arc;

/// What a spout task's table is told once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagesSettings {
    /// The spout task, counted from 0 over all spout tasks.
    pub owner: u32,
    /// `max-spout-pending`.
    pub max_pending: u32,
    /// The spout's policy.
    pub retry: RetryPolicy,
    /// Each id is emitted once, its rows next to each other: no table of ids is kept.
    pub unique_ids: bool,
}

/// A message in the table. One that has ended is recognised and refused everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageSlot {
    pub(super) index: u32,
    pub(super) age: u32,
}

/// The end of one tree, with what the ledger can't know filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeEnd {
    /// All of it is acked.
    Acked {
        /// When the last ack was made.
        at: Time,
    },
    /// A tuple of it failed.
    Failed(Box<Failure>),
    /// It ran into its deadline. The failure says whether a bolt held it ([`Cost::Patience`]) or it was in a
    /// queue ([`Cost::Free`], which halves the effective limit); its class is `timeout`.
    ///
    /// [`Cost::Patience`]: crate::failure::Cost::Patience
    /// [`Cost::Free`]: crate::failure::Cost::Free
    TimedOut(Box<Failure>),
    /// The ledger has cancelled it.
    Cancelled,
}

impl TreeEnd {
    /// A ledger's event; `explain` is asked for the failure of a tree that timed out.
    pub fn of(event: TreeEvent, explain: impl FnOnce(RootId, Time) -> Failure) -> (RootId, TreeEnd) {
        let end = match event.kind {
            TreeEventKind::Acked { at } => TreeEnd::Acked { at },
            TreeEventKind::Failed(failure) => TreeEnd::Failed(failure),
            TreeEventKind::TimedOut => TreeEnd::TimedOut(Box::new(explain(event.root, event.started))),
            TreeEventKind::Cancelled => TreeEnd::Cancelled,
        };
        (event.root, end)
    }
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageEvent {
    /// All its trees are acked; it is out of the table.
    Completed {
        /// The message.
        id: MessageId,
        /// When it was first emitted.
        first: Time,
        /// When the attempt that completed began.
        started: Time,
        /// When its last ack was made.
        at: Time,
        /// The attempt that completed, from 1.
        attempt: u32,
    },
    /// An attempt failed and there will be another: by the host, unless the spout is asked and
    /// [`super::Messages::hand_to_spout`] is called.
    Failed {
        /// Its place.
        slot: MessageSlot,
        /// The message.
        id: MessageId,
        /// How.
        failure: Arc<Failure>,
        /// The attempt that failed, from 1.
        attempt: u32,
        /// When it is due again.
        retry_at: Time,
    },
    /// It has failed for good. It stays pending until [`super::Messages::close`].
    Exhausted {
        /// Its place.
        slot: MessageSlot,
        /// The message.
        id: MessageId,
        /// What the policy wants.
        action: OnExhausted,
        /// How the last attempt failed.
        failure: Arc<Failure>,
    },
}

/// How a message ends that does not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its dead letter is durable.
    DeadLettered,
    /// The policy drops it.
    Dropped,
    /// Its source gave it to another process.
    HandedBack,
}

/// Where a pending message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageState {
    /// It is being emitted, or its trees are under way.
    Emitted,
    /// The host emits it again at this time.
    Waiting(Time),
    /// The spout said it would emit it again.
    WithSpout,
    /// It has failed for good, and [`super::Messages::close`] is awaited.
    Exhausted,
}

/// A pending message, for tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingMessage<'a> {
    /// Its place.
    pub slot: MessageSlot,
    /// The message.
    pub id: MessageId,
    /// The current attempt, from 1; of a message that waits, the one that failed.
    pub attempt: u32,
    /// Where it is.
    pub state: MessageState,
    /// Trees that have not ended.
    pub open_trees: u32,
    /// When it was first emitted.
    pub first: Time,
    /// When the current attempt began.
    pub started: Time,
    /// Failed attempts, oldest first.
    pub history: &'a [Attempt],
}

/// Exact counts of one spout task.
///
/// `read = completed + untracked + dead_lettered + dropped + handed_back + pending` and
/// `trees_emitted = trees_acked + trees_failed + trees_timed_out + trees_pending`, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages that the spout emitted, each id once.
    pub read: u64,
    /// Messages whose trees were all acked.
    pub completed: u64,
    /// Messages that nobody waits for.
    pub untracked: u64,
    /// Messages kept as dead letters.
    pub dead_lettered: u64,
    /// Messages dropped by policy.
    pub dropped: u64,
    /// Messages that another process has now.
    pub handed_back: u64,
    /// Messages not yet at an end.
    pub pending: u64,
    /// Trees opened.
    pub trees_emitted: u64,
    /// Trees acked.
    pub trees_acked: u64,
    /// Trees failed, or cancelled because another of the message was.
    pub trees_failed: u64,
    /// Trees that ran into their deadline.
    pub trees_timed_out: u64,
    /// Trees under way.
    pub trees_pending: u64,
    /// Of the trees opened, those of a second or later attempt.
    pub trees_replayed: u64,
    /// Ends of trees that were not open here: a fault of the host, or a second word about one tree.
    pub refused: u64,
}
