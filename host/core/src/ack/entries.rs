//! The table of pending trees with the list of their deadlines: links and no decisions.
//!
//! In: an index to put in or take out. Out: the entries, oldest deadline first. All trees of a table wait
//! equally long, so the order in which they were armed is the order in which they are due: a doubly linked
//! FIFO through the entries themselves does for a heap or a wheel.
//!
//! Invariant: along the list `armed` never falls.

use super::grow;
use crate::ids::Time;

/// The end of the list.
const END: u32 = u32::MAX;
/// In `next`: no tree is here.
const VACANT: u32 = u32::MAX - 1;
/// In `next`: a pending tree that is not in the list, since its deadline can't move any more.
const APART: u32 = u32::MAX - 2;

/// One pending tree, 32 bytes: two to a cache line, none across two. Its generation is not repeated here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// XOR of all edges made and all edges acked.
    pub(super) xor: u64,
    /// When it was registered.
    pub(super) started: Time,
    /// When its timeout began: at the registration, or at the last reset.
    pub(super) armed: Time,
    prev: u32,
    next: u32,
}

impl Entry {
    #[inline]
    pub(super) fn is_vacant(&self) -> bool {
        self.next == VACANT
    }

    #[inline]
    pub(super) fn is_apart(&self) -> bool {
        self.next == APART
    }
}

/// All entries of one ledger, by index.
#[derive(Debug)]
pub(super) struct Entries {
    table: Vec<Entry>,
    head: u32,
    tail: u32,
    pending: usize,
}

impl Entries {
    pub(super) fn new() -> Entries {
        Entries { table: Vec::new(), head: END, tail: END, pending: 0 }
    }

    #[inline]
    pub(super) fn get(&mut self, index: u32) -> Option<&mut Entry> {
        self.table.get_mut(index as usize).filter(|entry| !entry.is_vacant())
    }

    /// The entry whose deadline comes first.
    #[inline]
    pub(super) fn oldest(&self) -> Option<(u32, &Entry)> {
        self.table.get(self.head as usize).map(|entry| (self.head, entry))
    }

    /// Puts a tree at the end of the list. Times that go backwards are lifted, so that the list stays in
    /// order: the registration of a tree may be told a little later than the reset of another.
    #[inline]
    pub(super) fn insert(&mut self, index: u32, xor: u64, started: Time) {
        if index as usize >= self.table.len() {
            let vacant = Entry { xor: 0, started: Time(0), armed: Time(0), prev: END, next: VACANT };
            grow(&mut self.table, index as usize + 1, vacant);
        }
        if let Some(entry) = self.table.get_mut(index as usize) {
            *entry = Entry { xor, started, armed: started, prev: END, next: END };
            self.pending += 1;
            self.append(index, started);
        }
    }

    /// Takes a tree out and leaves its place vacant.
    #[inline]
    pub(super) fn remove(&mut self, index: u32) {
        self.unlink(index);
        if let Some(entry) = self.get(index) {
            entry.next = VACANT;
            self.pending -= 1;
        }
    }

    /// The tree's timeout starts again.
    pub(super) fn move_to_end(&mut self, index: u32, now: Time) {
        self.unlink(index);
        self.append(index, now);
    }

    /// Takes a pending tree out of the list only.
    pub(super) fn set_apart(&mut self, index: u32) {
        self.unlink(index);
        if let Some(entry) = self.get(index) {
            entry.next = APART;
        }
    }

    pub(super) fn pending(&self) -> usize {
        self.pending
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.table.capacity() * size_of::<Entry>()
    }

    #[inline]
    fn append(&mut self, index: u32, now: Time) {
        let tail = self.tail;
        let armed = self.table.get(tail as usize).map_or(now, |last| last.armed.max(now));
        match self.table.get_mut(tail as usize) {
            Some(last) => last.next = index,
            None => self.head = index,
        }
        if let Some(entry) = self.table.get_mut(index as usize) {
            (entry.armed, entry.prev, entry.next) = (armed, tail, END);
        }
        self.tail = index;
    }

    #[inline]
    fn unlink(&mut self, index: u32) {
        let Some(entry) = self.table.get(index as usize) else {
            return;
        };
        let (prev, next) = (entry.prev, entry.next);
        if next == VACANT || next == APART {
            return;
        }
        match self.table.get_mut(prev as usize) {
            Some(before) => before.next = next,
            None => self.head = next,
        }
        match self.table.get_mut(next as usize) {
            Some(behind) => behind.prev = prev,
            None => self.tail = prev,
        }
    }

    /// Walks everything: the list is sound and in order, and holds all pending trees but those set apart.
    pub(super) fn self_check(&self) -> Result<(), String> {
        let (mut at, mut before, mut listed, mut armed) = (self.head, END, 0, Time(0));
        while let Some(entry) = self.table.get(at as usize) {
            if entry.prev != before || entry.armed < armed || entry.armed < entry.started {
                return Err(format!("entry {at} is out of order: {entry:?}"));
            }
            (before, at, armed, listed) = (at, entry.next, entry.armed, listed + 1);
            if listed > self.table.len() {
                return Err("the list of deadlines runs in a circle".to_owned());
            }
        }
        if at != END || self.tail != before {
            return Err(format!("the list ends at {at}, its tail is {}, not {before}", self.tail));
        }
        let apart = self.table.iter().filter(|entry| entry.is_apart()).count();
        let vacant = self.table.iter().filter(|entry| entry.is_vacant()).count();
        if listed + apart != self.pending || vacant + self.pending != self.table.len() {
            return Err(format!("{listed} listed, {apart} apart, {vacant} vacant, {} pending", self.pending));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_half_a_cache_line() {
        assert_eq!(size_of::<Entry>(), 32);
    }

    #[test]
    fn the_list_stays_in_order_when_times_go_backwards() {
        let mut entries = Entries::new();
        entries.insert(0, 1, Time(50));
        entries.insert(3, 1, Time(40));
        entries.move_to_end(0, Time(45));
        entries.self_check().expect("sound");
        assert_eq!(entries.oldest().map(|(i, e)| (i, e.armed, e.started)), Some((3, Time(50), Time(40))));
        entries.set_apart(3);
        entries.self_check().expect("sound");
        assert_eq!(entries.oldest().map(|(i, _)| i), Some(0));
        entries.remove(3);
        entries.remove(0);
        entries.self_check().expect("sound");
        assert_eq!(entries.pending(), 0);
    }

    /// In the list 0, 1, 2 and 5; 3 is apart, 4 is vacant.
    fn some() -> Entries {
        let mut entries = Entries::new();
        for (index, at) in [(0, 10), (1, 20), (2, 30), (3, 40), (5, 50)] {
            entries.insert(index, 1, Time(at));
        }
        entries.set_apart(3);
        entries.self_check().expect("sound");
        entries
    }

    /// What is wrong, and how it comes to be.
    type Damage = (&'static str, fn(&mut Entries));

    #[test]
    fn the_check_finds_whatever_is_unsound() {
        let damage: [Damage; 9] = [
            ("a link back that leads elsewhere", |e| e.table[1].prev = 2),
            ("a deadline before the one in front of it", |e| {
                (e.table[2].started, e.table[2].armed) = (Time(5), Time(15));
            }),
            ("armed before it was registered", |e| e.table[1].started = Time(25)),
            ("a circle", |e| e.table[5].next = 0),
            ("a list that ends outside of the table", |e| e.table[5].next = 77),
            ("a tail that is not the last", |e| e.tail = 2),
            ("a pending tree that is not in the list", |e| {
                (e.table[0].next, e.table[2].prev) = (2, 0);
            }),
            ("and is not counted either", |e| {
                (e.table[0].next, e.table[2].prev) = (2, 0);
                e.pending -= 1;
            }),
            ("a tree that is counted twice", |e| e.pending += 1),
        ];
        for (what, break_it) in damage {
            let mut entries = some();
            break_it(&mut entries);
            assert!(entries.self_check().is_err(), "{what}");
        }
    }
}
