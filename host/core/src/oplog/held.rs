//! The tuples that a task holds: what each handle stands for.
//!
//! In: lineages of dequeued tuples. Out: the entry behind a handle, and for the diagnosis of a timeout which
//! trees are held, since when. The tuples of the call in progress lie in an array (`window`); what a call
//! leaves unsettled moves to a table (`kept`). Invariant: a handle is in at most one of the two, and none
//! that is live is given out again.

use crate::batch::Lineage;
use crate::ids::{Edge, Path, RootId, TaskId, Time};
use hashbrown::HashMap;

/// What became of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Neither acked nor failed.
    Open,
    /// Acked or failed.
    Settled,
}

/// A tuple that a handle stands for.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its trees.
    pub lineage: Lineage,
    /// The XOR of the edges of its children so far.
    pub children: Edge,
    /// Acked or failed, or not yet.
    pub state: State,
    /// The attempt of its message.
    pub attempt: u32,
    /// The task that emitted it.
    pub source: TaskId,
    /// The input it came over.
    pub input: u32,
    /// Which of its message's tuples it is.
    pub path: Path,
    /// How many emissions were anchored to it: the ordinals of its children.
    pub emitted: u32,
}

/// A tuple held since an earlier call.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The tuple.
    pub entry: Entry,
    /// When the task got it.
    pub since: Time,
}

/// What a handle turned out to be.
pub enum Found<'a> {
    /// A live tuple.
    Live(&'a mut Entry),
    /// It was settled before.
    Settled,
    /// It was never given out.
    Unknown,
}

/// The handles of one task.
#[derive(Debug)]
pub struct Held {
    base: u32,
    next: u32,
    wrapped: bool,
    window: Vec<Entry>,
    since: Time,
    reached: Option<u32>,
    kept: HashMap<u32, Kept>,
}

impl Default for Held {
    fn default() -> Held {
        Held::starting_at(1)
    }
}

impl Held {
    /// Handles count up from `first`; they begin at 1 but for tests of the wrap.
    pub fn starting_at(first: u32) -> Held {
        Held {
            base: first,
            next: first,
            wrapped: false,
            window: vec![],
            since: Time(0),
            reached: None,
            kept: HashMap::new(),
        }
    }

    /// Begins a call of at most `most` tuples: their handles are the returned number and those after it.
    pub fn begin(&mut self, most: u32, now: Time) -> u32 {
        self.window.clear();
        self.reached = None;
        self.since = now;
        self.base = self.free_run(most);
        self.next = self.base;
        self.base
    }

    /// Adds the next tuple of the call.
    #[inline]
    pub fn push(&mut self, lineage: Lineage, path: Path, attempt: u32, source: TaskId, input: u32) {
        let state = State::Open;
        self.next = self.next.wrapping_add(1);
        self.window.push(Entry { lineage, children: 0, state, attempt, source, input, path, emitted: 0 });
    }

    /// The first of `n` handles in a row that nothing live has.
    fn free_run(&mut self, n: u32) -> u32 {
        let mut first = self.next;
        loop {
            if first == 0 || first.checked_add(n).is_none() {
                first = 1;
                self.wrapped = true;
            }
            if !self.wrapped || self.kept.is_empty() {
                return first;
            }
            match (first..first + n).rev().find(|h| self.kept.contains_key(h)) {
                Some(taken) => first = taken.wrapping_add(1),
                None => return first,
            }
        }
    }

    /// Says that the call has come to its tuple `index`.
    pub fn reach(&mut self, index: u32) {
        self.reached = Some(index);
    }

    /// Looks a handle up.
    #[inline]
    pub fn find(&mut self, handle: u32) -> Found<'_> {
        let i = handle.wrapping_sub(self.base) as usize;
        if i < self.window.len() {
            let entry = &mut self.window[i];
            return if entry.state == State::Open { Found::Live(entry) } else { Found::Settled };
        }
        match self.kept.get_mut(&handle) {
            Some(kept) if kept.entry.state == State::Open => Found::Live(&mut kept.entry),
            Some(_) => Found::Settled,
            None if handle != 0 && (self.wrapped || handle < self.next) => Found::Settled,
            None => Found::Unknown,
        }
    }

    /// Whether the handle stands for an open tuple.
    pub fn is_live(&mut self, handle: u32) -> bool {
        matches!(self.find(handle), Found::Live(_))
    }

    /// The index in the call of a handle given out for it.
    pub fn index_in_call(&self, handle: u32) -> Option<usize> {
        let i = handle.wrapping_sub(self.base) as usize;
        (i < self.window.len()).then_some(i)
    }

    /// The tuples of the call.
    pub fn window(&mut self) -> &mut [Entry] {
        &mut self.window
    }

    /// The handle of the call's first tuple.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Takes the call's tuples back, as they were when it began: it died, and they run again.
    pub fn take_window(&mut self) -> Vec<Entry> {
        let mut window = std::mem::take(&mut self.window);
        for entry in &mut window {
            entry.children = 0;
            entry.emitted = 0;
            entry.state = State::Open;
        }
        window
    }

    /// Gives the buffer of [`Held::take_window`] back.
    pub fn put_window(&mut self, mut window: Vec<Entry>) {
        window.clear();
        self.window = window;
    }

    /// Ends the call: what is still open is held from now on. `over` gets the tuples beyond `kept_max`.
    pub fn end(&mut self, kept_max: usize, over: &mut Vec<Entry>) {
        let (base, since) = (self.base, self.since);
        for (i, entry) in self.window.drain(..).enumerate() {
            if entry.state != State::Open {
                continue;
            }
            if self.kept.len() >= kept_max {
                over.push(entry);
            } else {
                self.kept.insert(base + i as u32, Kept { entry, since });
            }
        }
        self.reached = None;
    }

    /// Forgets the kept tuples that were settled. Called after a log was applied.
    pub fn sweep(&mut self, handles: &[u32]) {
        for handle in handles {
            self.kept.remove(handle);
        }
    }

    /// Takes all tuples kept from earlier calls, by handle: their instance died, and what its last call settled does
    /// not count.
    pub fn take_kept(&mut self) -> Vec<Kept> {
        let mut kept: Vec<(u32, Kept)> = self.kept.drain().collect();
        kept.sort_unstable_by_key(|(handle, _)| *handle);
        kept.into_iter().map(|(_, kept)| kept).collect()
    }

    /// How many tuples are kept from earlier calls.
    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Since when a tuple of this tree is held: kept from an earlier call, or reached by the call in
    /// progress. A tuple that the call has not reached counts as queued.
    pub fn holds(&self, root: RootId) -> Option<Time> {
        let has = |entry: &Entry| entry.state == State::Open && entry.lineage.iter().any(|(r, _)| r == root);
        let reached = self.reached.map_or(0, |r| r as usize + 1).min(self.window.len());
        if self.window[..reached].iter().any(has) {
            return Some(self.since);
        }
        self.kept.values().filter(|k| has(&k.entry)).map(|k| k.since).min()
    }

    /// Every tree that [`Held::holds`] finds, with the time since when, for one look at many.
    pub fn for_each_held(&self, mut f: impl FnMut(RootId, Time)) {
        let reached = self.reached.map_or(0, |r| r as usize + 1).min(self.window.len());
        let window = self.window[..reached].iter().map(|e| (e, self.since));
        let kept = self.kept.values().map(|k| (&k.entry, k.since));
        for (entry, since) in window.chain(kept).filter(|(e, _)| e.state == State::Open) {
            for (root, _) in entry.lineage.iter() {
                f(root, since);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(held: &mut Held, n: u32) -> u32 {
        let base = held.begin(n, Time(5));
        (0..n).for_each(|i| held.push(Lineage::One(RootId::new(0, i, 1), 9), 0, 1, 1, 0));
        base
    }

    #[test]
    fn live_handles_are_skipped_when_numbers_wrap() {
        let mut held = Held::starting_at(u32::MAX - 3);
        let base = call(&mut held, 2);
        held.end(10, &mut vec![]);
        assert!(held.is_live(base) && held.is_live(base + 1));
        assert_eq!(call(&mut held, 4), 1, "four in a row don't fit below the end");
        held.end(10, &mut vec![]);
        held.next = u32::MAX - 5;
        assert_eq!(call(&mut held, 2), u32::MAX - 5);
        assert!(held.window.len() == 2 && held.kept() == 6);
        held.end(10, &mut vec![]);
        assert_eq!(call(&mut held, 3), 5, "behind the four that are kept from 1");
    }

    #[test]
    fn a_handle_is_live_settled_or_unknown() {
        let mut held = Held::default();
        let base = call(&mut held, 2);
        held.window()[0].state = State::Settled;
        assert!(matches!(held.find(base), Found::Settled));
        assert!(matches!(held.find(base + 1), Found::Live(_)));
        assert!(matches!(held.find(base + 2), Found::Unknown));
        assert!(matches!(held.find(0), Found::Unknown));
        held.end(10, &mut vec![]);
        assert!(matches!(held.find(base), Found::Settled));
        assert!(held.is_live(base + 1));
    }

    #[test]
    fn tuples_not_reached_count_as_queued() {
        let mut held = Held::default();
        call(&mut held, 3);
        assert_eq!(held.holds(RootId::new(0, 0, 1)), None);
        held.reach(1);
        assert_eq!(held.holds(RootId::new(0, 1, 1)), Some(Time(5)));
        assert_eq!(held.holds(RootId::new(0, 2, 1)), None);
        let mut over = vec![];
        held.end(2, &mut over);
        assert_eq!((held.kept(), over.len()), (2, 1));
        assert_eq!(held.holds(RootId::new(0, 1, 1)), Some(Time(5)));
    }
}
