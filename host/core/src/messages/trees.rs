//! What the end of a tree means for its message.
//!
//! In: ends of trees. Out: completed messages, failed attempts with their siblings cancelled, exhausted
//! messages.
//!
//! Invariant: an attempt that has failed has no open tree left, so nothing that comes later of it can
//! touch the next.

use super::Messages;
use super::history::{self, Attempt};
use super::types::{MessageEvent, MessageSlot, MessageState, TreeEnd};
use crate::ack::SlotState;
use crate::failure::{Class, Cost, Failure};
use crate::ids::{RootId, Time};
use crate::retry::{Verdict, decide};
use std::sync::Arc;

impl Messages {
    /// The ledger has ended this tree. Each root's end must be told, cancelled ones included: it frees the
    /// slot. `jitter` is any random number.
    #[inline]
    pub fn tree_event(&mut self, root: RootId, end: TreeEnd, now: Time, jitter: u64) {
        let slot = match self.slots.state(root) {
            SlotState::Open(index) => self.table.at(index),
            SlotState::Cancelled => return self.slots.release_cancelled(root),
            SlotState::Ended(_) | SlotState::Unknown => None,
        };
        let Some(m) = slot else {
            self.counts.refused += 1;
            return;
        };
        self.slots.end(root);
        if let Some(message) = self.table.get_mut(m) {
            message.open -= 1;
        }
        self.counts.trees_pending -= 1;
        match end {
            TreeEnd::Acked { at } => {
                self.counts.trees_acked += 1;
                self.acked(m, at);
            }
            TreeEnd::Failed(failure) => {
                self.counts.trees_failed += 1;
                self.fail_attempt(m, *failure, now, jitter);
            }
            TreeEnd::TimedOut(failure) => {
                self.counts.trees_timed_out += 1;
                self.fail_attempt(m, *failure, now, jitter);
            }
            TreeEnd::Cancelled => {
                self.counts.trees_failed += 1;
                self.fail_attempt(m, cancelled_elsewhere(), now, jitter);
            }
        }
    }

    /// One more tree of the message is acked.
    #[inline]
    fn acked(&mut self, m: MessageSlot, at: Time) {
        let Some(message) = self.table.get_mut(m) else {
            return;
        };
        message.acked_at = message.acked_at.max(at);
        if message.open > 0 {
            return;
        }
        self.events.push(MessageEvent::Completed {
            id: message.id,
            first: message.first,
            started: message.started,
            at: message.acked_at,
            attempt: message.attempt,
        });
        let places = message.places;
        self.counts.completed += 1;
        self.stop_attempt(m);
        self.remove(m);
        self.limit.completed(places);
    }

    /// The message's attempt has failed: nothing of it counts any more.
    pub(super) fn fail_attempt(&mut self, m: MessageSlot, failure: Failure, now: Time, jitter: u64) {
        let Some(message) = self.table.get(m) else { return };
        if message.state == MessageState::Exhausted {
            return;
        }
        if failure.class == Class::Timeout && failure.cost == Cost::Free {
            self.limit.timed_out_in_queue(message.started, now);
        }
        self.stop_attempt(m);
        let Some(message) = self.table.get_mut(m) else {
            return;
        };
        let failure = Arc::new(failure);
        let attempt = message.attempt;
        let failed = Attempt { number: attempt, ended: now, failure: Arc::clone(&failure) };
        history::push(&mut message.history, failed);
        let id = message.id;
        match decide(&self.settings.retry, &mut message.retry, &failure, now, jitter) {
            Verdict::ReplayAt(retry_at) => {
                message.state = MessageState::Waiting(retry_at);
                self.due.push(m, retry_at);
                self.events.push(MessageEvent::Failed { slot: m, id, failure, attempt, retry_at });
            }
            Verdict::Exhausted => {
                message.state = MessageState::Exhausted;
                let action = self.settings.retry.on_exhausted;
                self.events.push(MessageEvent::Exhausted { slot: m, id, action, failure });
            }
        }
        self.tidy_due();
    }

    /// Takes the message's trees from it, those that are open to be cancelled, and gives up the places that
    /// belong to the state it is in. The caller sets the next state.
    pub(super) fn stop_attempt(&mut self, m: MessageSlot) {
        let Some(message) = self.table.get_mut(m) else {
            return;
        };
        let places = message.places as usize;
        match message.state {
            MessageState::Emitted => self.places.emitted -= places,
            MessageState::WithSpout => self.places.owed -= 1,
            MessageState::Waiting(_) | MessageState::Exhausted => {}
        }
        let open = u64::from(message.open);
        self.counts.trees_failed += open;
        self.counts.trees_pending -= open;
        let trees = message.trees.take();
        (message.open, message.opened) = (0, 0);
        let cancels = &mut self.cancels;
        self.slots.release_list(trees, |root| cancels.push(root));
    }

    /// Takes a message that has ended out of the table.
    pub(super) fn remove(&mut self, m: MessageSlot) {
        let places = self.table.get(m).map_or(0, |message| message.places);
        self.places.all -= places as usize;
        self.table.remove(m);
    }
}

/// Someone cancelled the tree at the ledger whom this table knows nothing of. The message is still wanted.
fn cancelled_elsewhere() -> Failure {
    Failure {
        class: Class::Host,
        cost: Cost::Free,
        component: String::new(),
        task: 0,
        reason: "its tree was cancelled".to_owned(),
        output: String::new(),
        input: None,
    }
}
