//! What can be asked of the table: for the runtime, for reports, for tools that explain.
//!
//! In: a message, a root, an id. Out: copies and borrows; nothing changes here, but that rows can be lent.
//!
//! Invariant: a view is of pending messages only.

use super::table::Message;
use super::types::{Counts, MessageSlot, PendingMessage};
use super::{Attempt, MessageState, Messages, Places, Rows};
use crate::ack::SlotState;
use crate::ids::{MessageId, RootId};

impl Messages {
    /// The message's id.
    pub fn id(&self, m: MessageSlot) -> Option<MessageId> {
        self.table.get(m).map(|message| message.id)
    }

    /// The message's current attempt, from 1; 0 when it has ended.
    #[inline]
    pub fn attempt(&self, m: MessageSlot) -> u32 {
        self.table.get(m).map_or(0, |message| message.attempt)
    }

    /// The rows that are kept of the message, each with its stream.
    pub fn rows(&self, m: MessageSlot) -> impl Iterator<Item = (u32, &[u8])> {
        self.table.get(m).into_iter().flat_map(|message| message.rows.iter())
    }

    /// Takes the rows out, to open trees while they are read. They must be put back.
    pub fn lend_rows(&mut self, m: MessageSlot) -> Rows {
        self.table.get_mut(m).map(|message| std::mem::take(&mut message.rows)).unwrap_or_default()
    }

    /// Puts lent rows back.
    pub fn return_rows(&mut self, m: MessageSlot, rows: Rows) {
        if let Some(message) = self.table.get_mut(m).filter(|message| message.rows.is_empty()) {
            message.rows = rows;
        }
    }

    /// How the message's attempts failed, oldest first; of many, the first and the last few.
    pub fn history(&self, m: MessageSlot) -> &[Attempt] {
        self.table.get(m).map_or(&[], |message| &message.history)
    }

    /// All pending messages, in no order.
    pub fn pending(&self) -> impl Iterator<Item = PendingMessage<'_>> {
        self.table.iter().map(|(slot, message)| view(slot, message))
    }

    /// A pending message.
    pub fn message(&self, m: MessageSlot) -> Option<PendingMessage<'_>> {
        self.table.get(m).map(|message| view(m, message))
    }

    /// The message whose open tree this is, also when the ledger has ended the tree and its word is not
    /// taken in yet.
    pub fn message_of(&self, root: RootId) -> Option<PendingMessage<'_>> {
        match self.slots.state(root) {
            SlotState::Open(index) => self.message(self.table.at(index)?),
            _ => None,
        }
    }

    /// The pending message with this id. Slow for a spout with unique ids, which has no table of them.
    pub fn find(&self, id: MessageId) -> Option<MessageSlot> {
        self.table.find(id).or_else(|| {
            let unique = self.settings.unique_ids;
            self.table.iter().find(|(_, message)| unique && message.id == id).map(|(slot, _)| slot)
        })
    }

    /// The roots of the message's open trees.
    pub fn open_roots(&self, m: MessageSlot) -> impl Iterator<Item = RootId> + '_ {
        self.slots.open_roots(self.table.get(m).and_then(|message| message.trees))
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        Counts { pending: self.table.len() as u64, ..self.counts }
    }

    /// How much may be under way now: `max_pending`, or less after timeouts in queues.
    pub fn effective_limit(&self) -> usize {
        self.limit.effective()
    }

    /// Slots that can't be handed out: of open trees, of ended ones whose message goes on, and of cancelled
    /// ones that the ledger has not confirmed.
    pub fn slots_in_use(&self) -> usize {
        self.slots.used()
    }

    /// The bytes that trees take here: slots, without the messages and their rows.
    pub fn tree_memory_bytes(&self) -> usize {
        self.slots.memory_bytes()
    }

    /// Checks that all that is counted twice agrees. For tests.
    #[doc(hidden)]
    pub fn self_check(&self) -> Result<(), String> {
        let c = self.counts();
        let ended = c.completed + c.untracked + c.dead_lettered + c.dropped + c.handed_back;
        if c.read != ended + c.pending {
            return Err(format!("messages do not add up: {c:?}"));
        }
        if c.trees_emitted != c.trees_acked + c.trees_failed + c.trees_timed_out + c.trees_pending {
            return Err(format!("trees do not add up: {c:?}"));
        }
        let mut places = Places::default();
        for (_, message) in self.table.iter() {
            let n = message.places as usize;
            places.all += n;
            places.emitted += if message.state == MessageState::Emitted { n } else { 0 };
            places.owed += usize::from(message.state == MessageState::WithSpout);
        }
        if places != self.places {
            return Err(format!("{places:?} are taken, {:?} counted", self.places));
        }
        let mut slots = self.slots.cancelled();
        for (slot, message) in self.table.iter() {
            let open = self.slots.open_roots(message.trees).count();
            if open != message.open as usize {
                return Err(format!("{slot:?} has {open} open trees, not {}", message.open));
            }
            if message.state != MessageState::Emitted && message.trees.is_some() {
                return Err(format!("{slot:?} has trees and is {:?}", message.state));
            }
            slots += message.opened as usize;
        }
        let used = self.slots.used();
        if slots != used { Err(format!("{slots} slots have an owner, {used} are in use")) } else { Ok(()) }
    }
}

fn view(slot: MessageSlot, message: &Message) -> PendingMessage<'_> {
    PendingMessage {
        slot,
        id: message.id,
        attempt: message.attempt,
        state: message.state,
        open_trees: message.open,
        first: message.first,
        started: message.started,
        history: &message.history,
    }
}
