//! The plain data of tracking: what a ledger is told, what it tells, what it counts.

use crate::failure::Failure;
use crate::ids::{RootId, Time};
use std::time::Duration;

/// The end of one tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEvent {
    /// The tree, with the generation it had.
    pub root: RootId,
    /// When it was registered.
    pub started: Time,
    /// How it ended.
    pub kind: TreeEventKind,
}

/// How a tree ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeEventKind {
    /// Everything of it is acked.
    Acked {
        /// When the last ack was made, as its maker says: a queue's delay is not the tree's latency.
        at: Time,
    },
    /// A tuple of it failed.
    Failed(Box<Failure>),
    /// Its deadline passed.
    TimedOut,
    /// Its owner did not want it any more. Told all the same, so that the owner can use the slot again.
    Cancelled,
}

/// What a ledger is told once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerSettings {
    /// The spout task whose trees these are.
    pub owner: u32,
    /// Which of the owner's ledgers this is.
    pub shard: u32,
    /// How many ledgers the owner has; at least 1.
    pub shards: u32,
    /// How long a tree may take from its registration or its last reset.
    pub timeout: Duration,
    /// How long a tree may take in all, however often its timeout is reset.
    pub max_tree_age: Duration,
}

/// What was refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Another owner's or shard's root, or a slot that was never handed out.
    pub unknown: u64,
    /// A generation that the slot has not come to.
    pub early: u64,
    /// The current generation, but nobody registered the tree.
    pub unregistered: u64,
    /// A tree that is registered already.
    pub twice: u64,
}

/// What happened so far. `registered = acked + failed + timed_out + cancelled + pending`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerCounts {
    /// Trees registered.
    pub registered: u64,
    /// Trees acked.
    pub acked: u64,
    /// Trees failed.
    pub failed: u64,
    /// Trees whose deadline passed.
    pub timed_out: u64,
    /// Trees cancelled.
    pub cancelled: u64,
    /// Trees not yet at an end.
    pub pending: u64,
    /// Words about trees that were over: normal after a failure or a timeout.
    pub late: u64,
    /// Words that can't be right.
    pub refused: Refused,
}
