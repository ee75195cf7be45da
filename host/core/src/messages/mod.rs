//! The messages of one spout task that are not yet done, and what each still waits for.
//!
//! A message is what a spout emits with an id; each of its rows has a tree in the ledger. It is completed
//! when all its trees are acked; one failure ends the attempt, cancels the other trees and replays all of
//! it by the spout's [policy](crate::retry), until it completes or is exhausted. Nothing leaves in silence:
//! an exhausted message stays until the caller says what became of it.
//!
//! In: rows as they are read ([`Messages::begin`]), the ends of trees ([`Messages::tree_event`]), the time.
//! Out: roots for trees, [`MessageEvent`]s, roots to cancel, messages that are due again. It works the same
//! whether the ledger is beside it or on another thread. One loop of the caller, in this order:
//!
//! 1. take the ledger's events in: [`Messages::tree_event`] for each;
//! 2. [`Messages::drain_cancels`] to the ledger, [`Messages::drain_events`] to the spout and the report;
//! 3. while [`Messages::take_due`] gives a message, emit its rows: [`Messages::open_tree`] for each;
//! 4. ask the spout for up to [`Messages::room`] messages: `begin`, `keep_row`, `open_tree` for each row.
//!
//! Each root that `open_tree` gave must be registered in the ledger, once. An attempt that loses a tuple on
//! the way is ended like any other, by a failure told to the ledger.
//!
//! Invariant: a message completes only through acks of all trees of its current attempt. The counts of
//! [`Counts`] add up after every call.

mod attempts;
mod due;
mod history;
mod limit;
mod rows;
mod table;
mod trees;
mod types;
mod views;

pub use history::Attempt;
pub use rows::Rows;
pub use types::{
    Counts, Fate, MessageEvent, MessageSlot, MessageState, MessagesSettings, PendingMessage, TreeEnd,
};

use crate::ack::{Generations, Slots};
use crate::failure::{Class, Cost, Failure};
use crate::ids::{MessageId, RootId, Time};
use due::Due;
use limit::Limit;
use std::sync::Arc;
use table::Table;

/// The pending messages of one spout task.
#[derive(Debug)]
pub struct Messages {
    settings: MessagesSettings,
    table: Table,
    slots: Slots,
    due: Due,
    limit: Limit,
    places: Places,
    counts: Counts,
    /// The message that was begun last, for rows of one message next to each other.
    last: Option<MessageSlot>,
    last_untracked: Option<MessageId>,
    cancels: Vec<RootId>,
    events: Vec<MessageEvent>,
}

/// Places of the limit that are taken: one for each row of a message, at least one a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Places {
    /// By all pending messages.
    all: usize,
    /// By messages whose trees are under way.
    emitted: usize,
    /// Messages, not places: those that the spout said it would emit again.
    owed: usize,
}

impl Messages {
    /// An empty table.
    pub fn new(settings: MessagesSettings, generations: Arc<Generations>) -> Messages {
        Messages {
            slots: Slots::new(settings.owner, generations),
            limit: Limit::new(settings.max_pending),
            settings,
            table: Table::default(),
            due: Due::default(),
            places: Places::default(),
            counts: Counts::default(),
            last: None,
            last_untracked: None,
            cancels: Vec::new(),
            events: Vec::new(),
        }
    }

    /// How many messages the spout may emit now: the effective limit less what is pending, those that wait
    /// for their retry included. A message of several rows takes as many places.
    ///
    /// A spout that replays by itself must be asked even at the limit, or the messages it owes never come:
    /// then the room is what it owes, until there are twice as many messages as the limit, through new ones that it
    /// emitted in their stead. Rows don't count for that: what is owed may fill the limit many times with them.
    pub fn room(&self) -> usize {
        match self.limit.effective().saturating_sub(self.places.all) {
            0 => self.places.owed.min((2 * self.limit.most()).saturating_sub(self.table.len())),
            room => room,
        }
    }

    /// How many messages the spout said it would emit again and has not: no other bound than [`Messages::room`] may keep
    /// it from that, since what waits for them may be what makes room.
    pub fn owed(&self) -> usize {
        self.places.owed
    }

    /// The spout emitted a row with this id: its message, new or pending. Where ids repeat, the rows of one
    /// id join one message for as long as it is pending; a message that the spout emits again itself goes
    /// on with its next attempt and is not read again.
    ///
    /// None when there are more messages than can be told apart (2^26), which no spout comes to that keeps
    /// to its budget; nothing was read then.
    pub fn begin(&mut self, id: MessageId, now: Time) -> Option<MessageSlot> {
        if let Some(slot) = self.pending_with(id) {
            self.resume(slot, now);
            self.last = Some(slot);
            return Some(slot);
        }
        let slot = self.table.insert(id, now)?;
        if !self.settings.unique_ids {
            self.table.remember_id(slot);
        }
        self.counts.read += 1;
        self.places.all += 1;
        self.places.emitted += 1;
        self.last = Some(slot);
        Some(slot)
    }

    /// Keeps a row of the message, in case it must be replayed.
    #[inline]
    pub fn keep_row(&mut self, m: MessageSlot, stream: u32, row: &[u8]) {
        if let Some(message) = self.table.get_mut(m) {
            message.rows.push(stream, row);
        }
    }

    /// A new tree for one row of the message, to be registered before its tuples leave.
    ///
    /// None when the row must not leave now: the message waits for its retry, which emits the kept row too,
    /// or is exhausted. So it is when all slots are in use: that fails the attempt, as a fault.
    #[inline]
    pub fn open_tree(&mut self, m: MessageSlot, now: Time) -> Option<RootId> {
        let message = self.table.get_mut(m).filter(|message| message.state == MessageState::Emitted)?;
        let Some(root) = self.slots.allocate(m.index, &mut message.trees) else {
            self.fail_attempt(m, no_slot(), now, 0);
            return None;
        };
        message.open += 1;
        message.opened += 1;
        if message.opened > message.places {
            message.places += 1;
            self.places.all += 1;
            self.places.emitted += 1;
        }
        self.counts.trees_emitted += 1;
        self.counts.trees_pending += 1;
        self.counts.trees_replayed += u64::from(message.attempt > 1);
        Some(root)
    }

    /// The spout emitted a row that is outside every tree, or tracking is off. Rows with one id next to each
    /// other are one message. Says whether it is a new one.
    pub fn untracked(&mut self, id: Option<MessageId>) -> bool {
        if id.is_some() && id == self.last_untracked {
            return false;
        }
        self.last_untracked = id;
        self.counts.read += 1;
        self.counts.untracked += 1;
        true
    }

    /// The spout read a message that can't be emitted: it is exhausted at once, with what is kept of it.
    pub fn refuse(&mut self, id: MessageId, mut failure: Failure, now: Time) -> Option<MessageSlot> {
        let slot = self.begin(id, now)?;
        failure.cost = Cost::Final;
        self.fail_attempt(slot, failure, now, 0);
        Some(slot)
    }

    /// Moves out the roots that the ledger is to cancel. They are counted as failed already.
    pub fn drain_cancels(&mut self, into: &mut Vec<RootId>) {
        into.append(&mut self.cancels);
    }

    /// Moves out what became of messages, in order.
    pub fn drain_events(&mut self, into: &mut Vec<MessageEvent>) {
        into.append(&mut self.events);
    }

    /// The pending message that a row with this id belongs to.
    #[inline]
    fn pending_with(&self, id: MessageId) -> Option<MessageSlot> {
        if let Some(last) = self.last
            && self.table.get(last).is_some_and(|message| message.id == id)
        {
            return Some(last);
        }
        self.table.find(id)
    }
}

fn no_slot() -> Failure {
    Failure {
        class: Class::Overflow,
        cost: Cost::Fault,
        component: String::new(),
        task: 0,
        reason: format!("more than {} trees are pending", RootId::SLOTS_MAX),
        output: String::new(),
        input: None,
    }
}
