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

    /// How many trees the current attempt has opened: the ordinal of its latest row.
    #[inline]
    pub fn opened(&self, m: MessageSlot) -> u32 {
        self.table.get(m).map_or(0, |message| message.opened)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::Generations;
    use crate::failure::{Class, Cost, Failure};
    use crate::ids::Time;
    use crate::messages::{Fate, MessagesSettings, TreeEnd};
    use crate::retry::RetryPolicy;
    use std::sync::Arc;

    fn failure() -> Box<Failure> {
        let (component, reason, output) = ("bolt".to_owned(), "why".to_owned(), String::new());
        let (class, cost) = (Class::Failed, Cost::Fault);
        Box::new(Failure { class, cost, component, task: 2, reason, output, input: None })
    }

    /// A new message with so many trees.
    fn emit(messages: &mut Messages, id: u128, trees: usize) -> (MessageSlot, Vec<RootId>) {
        let slot = messages.begin(MessageId(id), Time(0)).expect("room");
        (slot, (0..trees).map(|_| messages.open_tree(slot, Time(0)).expect("a slot")).collect())
    }

    /// Several messages that ended in each way, and one in each state: 100 with open trees and one that ended,
    /// 101 that waits, 102 with its spout, 103 that is exhausted.
    fn some() -> Messages {
        let settings =
            MessagesSettings { owner: 0, max_pending: 64, retry: RetryPolicy::default(), unique_ids: false };
        let mut messages = Messages::new(settings, Arc::new(Generations::new()));
        for id in 0..2 {
            let root = emit(&mut messages, id, 1).1[0];
            messages.tree_event(root, TreeEnd::Acked { at: Time(1) }, Time(1), 0);
        }
        for _ in 0..3 {
            messages.untracked(None);
        }
        for (id, fate) in [
            (10, Fate::DeadLettered),
            (11, Fate::DeadLettered),
            (12, Fate::Dropped),
            (13, Fate::Dropped),
            (14, Fate::Dropped),
            (15, Fate::HandedBack),
            (16, Fate::HandedBack),
        ] {
            let slot = emit(&mut messages, id, 1).0;
            messages.close(slot, fate);
        }
        let root = emit(&mut messages, 100, 3).1[1];
        messages.tree_event(root, TreeEnd::Acked { at: Time(1) }, Time(1), 0);
        for id in [101, 102] {
            let root = emit(&mut messages, id, 2).1[0];
            messages.tree_event(root, TreeEnd::TimedOut(failure()), Time(1), 0);
        }
        messages.hand_to_spout(slot_of(&messages, 102));
        messages.refuse(MessageId(103), *failure(), Time(1));
        assert_eq!(messages.self_check(), Ok(()));
        messages
    }

    fn slot_of(messages: &Messages, id: u128) -> MessageSlot {
        messages.find(MessageId(id)).expect("it is pending")
    }

    /// What is wrong, and how it comes to be.
    type Damage = (&'static str, fn(&mut Messages));

    #[test]
    fn the_check_finds_whatever_does_not_add_up() {
        fn message(messages: &mut Messages, id: u128) -> &mut Message {
            let slot = slot_of(messages, id);
            messages.table.get_mut(slot).expect("it is pending")
        }
        let damage: [Damage; 10] = [
            ("a message read twice", |m| m.counts.read += 1),
            ("a message that ended twice", |m| m.counts.dropped += 1),
            ("a tree opened twice", |m| m.counts.trees_emitted += 1),
            ("a tree that ended twice", |m| m.counts.trees_timed_out += 1),
            ("a place of nobody", |m| m.places.all += 1),
            ("a place of nobody under way", |m| m.places.emitted += 1),
            ("a message that the spout does not owe", |m| m.places.owed += 1),
            ("an open tree that is none", |m| message(m, 100).open += 1),
            ("an opened tree that is none", |m| message(m, 100).opened += 1),
            ("trees of a message that waits", |m| {
                message(m, 101).trees = message(m, 100).trees.take();
                (message(m, 101).open, message(m, 100).open) = (2, 0);
            }),
        ];
        for (what, break_it) in damage {
            let mut messages = some();
            break_it(&mut messages);
            assert!(messages.self_check().is_err(), "{what}");
        }
    }
}
