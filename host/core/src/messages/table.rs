//! The records of pending messages, by index, and the ids they are found by.
//!
//! In: an id. Out: a record with an index that stays until the message ends. Places are used again, last
//! ended first, with the buffers they have.
//!
//! Invariant: a [`MessageSlot`] reaches the message it was made for, or nothing.

use super::history::Attempt;
use super::rows::Rows;
use super::types::{MessageSlot, MessageState};
use crate::ack::Slots;
use crate::ids::{MessageId, Time};
use crate::retry::RetryState;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// One message.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) id: MessageId,
    /// When it was first emitted.
    pub(super) first: Time,
    /// When the current attempt began.
    pub(super) started: Time,
    /// The latest ack of the current attempt.
    pub(super) acked_at: Time,
    pub(super) state: MessageState,
    /// The newest tree of the current attempt; the others hang behind it.
    pub(super) trees: Option<u32>,
    /// Trees of the current attempt.
    pub(super) opened: u32,
    /// Those of them that have not ended.
    pub(super) open: u32,
    /// What it takes up of the limit: the most trees it ever had at once, at least 1.
    pub(super) places: u32,
    pub(super) attempt: u32,
    pub(super) retry: RetryState,
    pub(super) rows: Rows,
    pub(super) history: Vec<Attempt>,
    /// Counts the messages that had this place.
    age: u32,
    used: bool,
}

/// All pending messages of a spout task.
#[derive(Debug, Default)]
pub(super) struct Table {
    records: Vec<Message>,
    free: Vec<u32>,
    /// Indexes by id: of all messages, or only of those a spout with unique ids said it would emit again.
    ids: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Table {
    /// A new message in its first attempt. None when there are more than can be told apart.
    pub(super) fn insert(&mut self, id: MessageId, now: Time) -> Option<MessageSlot> {
        let index = match self.free.pop() {
            Some(index) => index,
            None => self.fresh()?,
        };
        let message = self.records.get_mut(index as usize)?;
        (message.id, message.first, message.started, message.acked_at) = (id, now, now, Time(0));
        (message.state, message.trees) = (MessageState::Emitted, None);
        (message.opened, message.open, message.places, message.attempt) = (0, 0, 1, 1);
        message.retry = RetryState::default();
        message.used = true;
        Some(MessageSlot { index, age: message.age })
    }

    /// Takes the message out; its place can be used again.
    pub(super) fn remove(&mut self, slot: MessageSlot) {
        self.forget_id(slot);
        let Some(message) = self.get_mut(slot) else { return };
        message.rows.clear();
        message.history = Vec::new();
        message.used = false;
        message.age = message.age.wrapping_add(1);
        self.free.push(slot.index);
    }

    #[inline]
    pub(super) fn get(&self, slot: MessageSlot) -> Option<&Message> {
        self.records.get(slot.index as usize).filter(|message| message.used && message.age == slot.age)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: MessageSlot) -> Option<&mut Message> {
        self.records.get_mut(slot.index as usize).filter(|message| message.used && message.age == slot.age)
    }

    /// The message that has this place now.
    #[inline]
    pub(super) fn at(&self, index: u32) -> Option<MessageSlot> {
        let message = self.records.get(index as usize).filter(|message| message.used)?;
        Some(MessageSlot { index, age: message.age })
    }

    pub(super) fn len(&self) -> usize {
        self.records.len() - self.free.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (MessageSlot, &Message)> {
        let slots = (0_u32..).zip(&self.records).filter(|(_, message)| message.used);
        slots.map(|(index, message)| (MessageSlot { index, age: message.age }, message))
    }

    /// From now on the message is found by its id.
    pub(super) fn remember_id(&mut self, slot: MessageSlot) {
        let Table { records, ids, hasher, .. } = self;
        let hash =
            |index: &u32| records.get(*index as usize).map_or(0, |message| hasher.hash_one(message.id));
        ids.insert_unique(hash(&slot.index), slot.index, hash);
    }

    /// It is not found by its id any more.
    pub(super) fn forget_id(&mut self, slot: MessageSlot) {
        if self.ids.is_empty() {
            return;
        }
        let Some(id) = self.get(slot).map(|message| message.id) else {
            return;
        };
        if let Ok(entry) = self.ids.find_entry(self.hasher.hash_one(id), |&index| index == slot.index) {
            entry.remove();
        }
    }

    /// The message with this id, among those that are remembered.
    #[inline]
    pub(super) fn find(&self, id: MessageId) -> Option<MessageSlot> {
        if self.ids.is_empty() {
            return None;
        }
        let is = |index: &u32| self.records.get(*index as usize).is_some_and(|message| message.id == id);
        self.ids.find(self.hasher.hash_one(id), is).and_then(|&index| self.at(index))
    }

    fn fresh(&mut self) -> Option<u32> {
        let index = u32::try_from(self.records.len()).ok().filter(|&index| index < Slots::MESSAGES_MAX)?;
        self.records.push(Message {
            id: MessageId(0),
            first: Time(0),
            started: Time(0),
            acked_at: Time(0),
            state: MessageState::Emitted,
            trees: None,
            opened: 0,
            open: 0,
            places: 1,
            attempt: 1,
            retry: RetryState::default(),
            rows: Rows::default(),
            history: Vec::new(),
            age: 0,
            used: false,
        });
        Some(index)
    }
}
