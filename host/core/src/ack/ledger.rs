//! The ledger: pending trees by slot, and when each is due.
//!
//! In: what the runtime knows of trees, each with its time. Out: one [`TreeEvent`] a tree. An ack is an
//! index, a comparison of generations and an XOR. What can't be right is refused and counted, never
//! trusted: guests can't name a root, so a refusal is a fault of the host, and it must not make it worse.
//!
//! An ack that comes before [`Ledger::expire`] counts, whatever its time: to complete a tree is better
//! than to replay it. So the caller hands in acks first and expires after.
//!
//! Invariant: an entry is pending from its registration to its one event; nothing else is kept of a tree.

use super::entries::Entries;
use super::{Generations, LedgerCounts, LedgerSettings, TreeEvent, TreeEventKind};
use crate::failure::Failure;
use crate::ids::{RootId, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// The trees of one owner and shard.
#[derive(Debug)]
pub struct Ledger {
    settings: LedgerSettings,
    generations: Arc<Generations>,
    entries: Entries,
    /// Trees whose last reset was cut short by their age: their deadlines differ from the list's order.
    /// What ended meanwhile stays here until then and is told by its generation.
    aged: BinaryHeap<Reverse<(Time, RootId)>>,
    events: Vec<TreeEvent>,
    counts: LedgerCounts,
}

impl Ledger {
    /// An empty ledger.
    pub fn new(settings: LedgerSettings, generations: Arc<Generations>) -> Ledger {
        let settings = LedgerSettings { shards: settings.shards.max(1), ..settings };
        let counts = LedgerCounts::default();
        Ledger {
            settings,
            generations,
            entries: Entries::new(),
            aged: BinaryHeap::new(),
            events: vec![],
            counts,
        }
    }

    /// The tree exists from `now`; `xor` is over the edges of its first tuples. A tree without tuples (a
    /// stream that nobody takes) is acked at once.
    #[inline]
    pub fn register(&mut self, root: RootId, xor: u64, now: Time) {
        let Some(index) = self.current_index(root) else {
            return self.refuse_registration(root);
        };
        if self.entries.get(index).is_some() {
            self.counts.refused.twice += 1;
            return;
        }
        self.entries.insert(index, xor, now);
        self.counts.registered += 1;
        if xor == 0 {
            self.end(root, index, now, TreeEventKind::Acked { at: now });
        }
    }

    /// Edges of the tree were made and acked: `xor` is over all of them, in any number of tuples. `at` is
    /// when the acks were made.
    #[inline]
    pub fn ack(&mut self, root: RootId, xor: u64, at: Time) {
        let Some(index) = self.current_index(root) else {
            return self.refuse(root);
        };
        let Some(entry) = self.entries.get(index) else {
            return self.refuse(root);
        };
        entry.xor ^= xor;
        if entry.xor == 0 {
            let started = entry.started;
            self.end(root, index, started, TreeEventKind::Acked { at });
        }
    }

    /// [`Ledger::ack`] of many roots at one moment.
    #[inline]
    pub fn ack_batch(&mut self, acks: &[(RootId, u64)], at: Time) {
        for &(root, xor) in acks {
            self.ack(root, xor, at);
        }
    }

    /// A tuple of the tree failed, so the tree has.
    pub fn fail(&mut self, root: RootId, failure: Failure) {
        if let Some((index, started)) = self.pending_index(root) {
            self.end(root, index, started, TreeEventKind::Failed(Box::new(failure)));
        }
    }

    /// The owner does not wait for this tree any more.
    pub fn cancel(&mut self, root: RootId) {
        if let Some((index, started)) = self.pending_index(root) {
            self.end(root, index, started, TreeEventKind::Cancelled);
        }
    }

    /// The tree's timeout starts again at `now`, as Storm's `resetTimeout`, but its deadline does not pass
    /// the largest age.
    pub fn reset_timeout(&mut self, root: RootId, now: Time) {
        let Some((index, started)) = self.pending_index(root) else {
            return;
        };
        let oldest = started.after(self.settings.max_tree_age);
        if self.entries.get(index).is_none_or(|entry| entry.is_apart()) {
            return;
        }
        if now.after(self.settings.timeout) <= oldest {
            self.entries.move_to_end(index, now);
        } else {
            self.entries.set_apart(index);
            self.aged.push(Reverse((oldest, root)));
        }
    }

    /// Ends all trees whose deadline is at or before `now`.
    pub fn expire(&mut self, now: Time) {
        while let Some((index, entry)) = self.entries.oldest() {
            if entry.armed.after(self.settings.timeout) > now {
                break;
            }
            let (root, started) = (self.root(index), entry.started);
            self.end(root, index, started, TreeEventKind::TimedOut);
        }
        while let Some(&Reverse((deadline, root))) = self.aged.peek() {
            if deadline > now {
                break;
            }
            self.aged.pop();
            if let Some((index, started)) = self.find(root) {
                self.end(root, index, started, TreeEventKind::TimedOut);
            }
        }
    }

    /// When [`Ledger::expire`] should be called next. Never later than the first deadline.
    pub fn next_deadline(&self) -> Option<Time> {
        let listed = self.entries.oldest().map(|(_, entry)| entry.armed.after(self.settings.timeout));
        let aged = self.aged.peek().map(|Reverse((deadline, _))| *deadline);
        listed.into_iter().chain(aged).min()
    }

    /// Moves all events, in the order in which trees ended, behind what `into` holds.
    #[inline]
    pub fn drain(&mut self, into: &mut Vec<TreeEvent>) {
        into.append(&mut self.events);
    }

    /// What happened so far.
    pub fn counts(&self) -> LedgerCounts {
        LedgerCounts { pending: self.entries.pending() as u64, ..self.counts }
    }

    /// The bytes that the ledger takes, without the shared generations.
    pub fn memory_bytes(&self) -> usize {
        let aged = self.aged.capacity() * size_of::<Reverse<(Time, RootId)>>();
        let events = self.events.capacity() * size_of::<TreeEvent>();
        size_of::<Self>() + self.entries.memory_bytes() + aged + events
    }

    /// Walks the whole ledger and says what is wrong with it. For tests.
    #[doc(hidden)]
    pub fn self_check(&self) -> Result<(), String> {
        self.entries.self_check()?;
        let c = self.counts();
        let told = c.acked + c.failed + c.timed_out + c.cancelled + c.pending;
        if c.registered != told { Err(format!("{} registered, {told} told", c.registered)) } else { Ok(()) }
    }

    /// Ends a pending tree: at once nothing is left of it but its event.
    #[inline]
    fn end(&mut self, root: RootId, index: u32, started: Time, kind: TreeEventKind) {
        self.entries.remove(index);
        self.generations.advance(root.slot());
        match kind {
            TreeEventKind::Acked { .. } => self.counts.acked += 1,
            TreeEventKind::Failed(_) => self.counts.failed += 1,
            TreeEventKind::TimedOut => self.counts.timed_out += 1,
            TreeEventKind::Cancelled => self.counts.cancelled += 1,
        }
        self.events.push(TreeEvent { root, started, kind });
    }

    /// The index of a root that is the current use of one of this ledger's slots.
    #[inline]
    fn current_index(&self, root: RootId) -> Option<u32> {
        let (slot, shards) = (root.slot(), self.settings.shards);
        let current = self.generations.current(slot) == root.generation() && self.is_mine(root);
        current.then(|| if shards == 1 { slot } else { slot / shards })
    }

    /// The index and the start of a pending tree.
    #[inline]
    fn find(&mut self, root: RootId) -> Option<(u32, Time)> {
        let index = self.current_index(root)?;
        self.entries.get(index).map(|entry| (index, entry.started))
    }

    /// The same, and a root that is not pending is counted.
    fn pending_index(&mut self, root: RootId) -> Option<(u32, Time)> {
        let found = self.find(root);
        if found.is_none() {
            self.refuse(root);
        }
        found
    }

    #[inline]
    fn is_mine(&self, root: RootId) -> bool {
        let LedgerSettings { owner, shard, shards, .. } = self.settings;
        root.owner() == owner && root.generation() != 0 && (shards == 1 || root.slot() % shards == shard)
    }

    /// The pending tree at an index.
    fn root(&self, index: u32) -> RootId {
        let slot = index * self.settings.shards + self.settings.shard;
        RootId::new(self.settings.owner, slot, self.generations.current(slot))
    }

    /// Counts a word about a tree that is not pending: late when its generation lies behind, else it can't
    /// be right.
    #[cold]
    fn refuse(&mut self, root: RootId) {
        let current = self.generations.current(root.slot());
        let behind = current.wrapping_sub(root.generation()) & RootId::GENERATION_MAX;
        let known = current != 0 && self.is_mine(root);
        let refused = &mut self.counts.refused;
        match behind {
            _ if !known => refused.unknown += 1,
            0 => refused.unregistered += 1,
            _ if behind <= RootId::GENERATION_MAX / 2 => self.counts.late += 1,
            _ => refused.early += 1,
        }
    }

    /// Counts a registration that is refused. A tree is registered while it is current, so one that is over
    /// was registered before.
    #[cold]
    fn refuse_registration(&mut self, root: RootId) {
        let late = self.counts.late;
        self.refuse(root);
        self.counts.refused.twice += self.counts.late - late;
        self.counts.late = late;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_check_finds_an_end_that_was_not_told() {
        let (generations, timeout) = (Arc::new(Generations::new()), Duration::from_secs(1));
        let settings = LedgerSettings { owner: 0, shard: 0, shards: 1, timeout, max_tree_age: timeout };
        let mut ledger = Ledger::new(settings, Arc::clone(&generations));
        for slot in 0..5 {
            generations.ensure(slot);
            ledger.register(RootId::new(0, slot, 1), 1, Time(0));
        }
        ledger.ack(RootId::new(0, 0, 1), 1, Time(0));
        ledger.cancel(RootId::new(0, 1, 1));
        assert_eq!(ledger.self_check(), Ok(()));
        ledger.counts.acked -= 1;
        assert_eq!(ledger.self_check(), Err("5 registered, 4 told".to_owned()));
        ledger.counts.registered -= 1;
        assert_eq!(ledger.self_check(), Ok(()));
        ledger.entries.remove(3);
        assert!(ledger.self_check().is_err());
    }
}
