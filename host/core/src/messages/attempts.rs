//! From one attempt of a message to the next, and out.
//!
//! In: the time, and who replays. Out: messages to emit again.
//!
//! Invariant: what waits does so under the limit, and before new messages.

use super::Messages;
use super::types::{Fate, MessageSlot, MessageState};
use crate::ids::Time;

impl Messages {
    /// When the next message is due again, unless as much is under way as the limit allows: then the end
    /// of some tree comes first.
    pub fn next_due(&self) -> Option<Time> {
        if self.is_full() { None } else { self.due.next() }
    }

    /// A message to emit again now: its next attempt has begun. Before new ones, and only as many as the
    /// effective limit lets be under way.
    pub fn take_due(&mut self, now: Time) -> Option<MessageSlot> {
        if self.is_full() {
            return None;
        }
        let slot = self.due.take(now)?;
        self.start_attempt(slot, now);
        self.tidy_due();
        Some(slot)
    }

    /// The spout said that it replays this message itself, when it was told of the failure: the host lets
    /// go of the rows and waits for the id to be emitted.
    pub fn hand_to_spout(&mut self, m: MessageSlot) {
        let Some(message) = self.table.get_mut(m) else {
            return;
        };
        if !matches!(message.state, MessageState::Waiting(_)) {
            return;
        }
        message.state = MessageState::WithSpout;
        message.rows.clear();
        self.places.owed += 1;
        if self.settings.unique_ids {
            self.table.remember_id(m);
        }
        self.tidy_due();
    }

    /// The message is over without completing. Its open trees are cancelled, whatever state it is in. A
    /// dead letter must be durable before this.
    pub fn close(&mut self, m: MessageSlot, fate: Fate) {
        if self.table.get(m).is_none() {
            return;
        }
        self.stop_attempt(m);
        match fate {
            Fate::DeadLettered => self.counts.dead_lettered += 1,
            Fate::Dropped => self.counts.dropped += 1,
            Fate::HandedBack => self.counts.handed_back += 1,
        }
        self.remove(m);
        self.tidy_due();
    }

    fn is_full(&self) -> bool {
        self.places.emitted >= self.limit.effective()
    }

    /// A row of a pending message came: the next attempt, if the spout owed it.
    pub(super) fn resume(&mut self, m: MessageSlot, now: Time) {
        if self.table.get(m).is_none_or(|message| message.state != MessageState::WithSpout) {
            return;
        }
        self.places.owed -= 1;
        if self.settings.unique_ids {
            self.table.forget_id(m);
        }
        self.start_attempt(m, now);
    }

    fn start_attempt(&mut self, m: MessageSlot, now: Time) {
        let Some(message) = self.table.get_mut(m) else {
            return;
        };
        message.state = MessageState::Emitted;
        message.attempt = message.attempt.saturating_add(1);
        (message.started, message.acked_at) = (now, Time(0));
        self.places.emitted += message.places as usize;
    }

    /// Drops what is in front of the due list and not due any more.
    pub(super) fn tidy_due(&mut self) {
        let table = &self.table;
        let waits = |m, at| table.get(m).is_some_and(|message| message.state == MessageState::Waiting(at));
        self.due.tidy(waits);
    }
}
