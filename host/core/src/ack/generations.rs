//! Which use of each slot is the current one.
//!
//! In: the ledger's word that a tree is over. Out: for anyone, on any thread, whether a tuple's tree is.
//! One relaxed load, since nothing hangs on it: who sees an old value only does work that is then refused
//! by the ledger. Written by the ledger of the slot alone.
//!
//! Generations start again after 2^28 uses of a slot. A tuple that is held through all of them and is then
//! settled in that very one could disturb a tree: it would time out and be replayed, not be completed.
//!
//! Invariant: an entry never moves, and only ever goes to the next generation.

use crate::ids::RootId;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Slots `0..BASE/4` are the first chunk, and each doubling of the table comes in four chunks.
const BASE_BITS: u32 = 10;
const BASE: u32 = 1 << BASE_BITS;
const SPLIT_BITS: u32 = 2;
const CHUNKS: usize = (((27 - BASE_BITS) << SPLIT_BITS) + 1) as usize;

/// The current generation of each slot of one owner; it grows, and is shared as `Arc<Generations>`.
///
/// The table is a few chunks that are made when first needed, so growth never moves what others read.
/// Chunks are a quarter of what is there already: at most a fifth of the table is unused.
#[derive(Debug)]
pub struct Generations {
    chunks: [OnceLock<Box<[AtomicU32]>>; CHUNKS],
}

impl Default for Generations {
    fn default() -> Self {
        Generations { chunks: [const { OnceLock::new() }; CHUNKS] }
    }
}

impl Generations {
    /// An empty table.
    pub fn new() -> Generations {
        Generations::default()
    }

    /// Whether the tree of a tuple is over, so that nobody waits for the tuple. Untracked tuples have none,
    /// and it is never over; a root that was never handed out counts as over.
    #[inline]
    pub fn is_over(&self, root: RootId) -> bool {
        root != RootId::NONE && self.current(root.slot()) != root.generation()
    }

    /// The current generation of a slot; 0, which no root has, where there is none yet.
    #[inline]
    pub fn current(&self, slot: u32) -> u32 {
        self.entry(slot).map_or(0, |entry| entry.load(Relaxed))
    }

    /// The generation that follows.
    #[inline]
    pub fn following(generation: u32) -> u32 {
        if generation >= RootId::GENERATION_MAX { 1 } else { generation + 1 }
    }

    /// The bytes that the table takes.
    pub fn memory_bytes(&self) -> usize {
        let used = |chunk: &OnceLock<Box<[AtomicU32]>>| chunk.get().map_or(0, |c| c.len());
        size_of::<Self>() + self.chunks.iter().map(used).sum::<usize>() * size_of::<AtomicU32>()
    }

    /// The current use of the slot is over. For the slot's ledger alone: it is the only writer.
    #[inline]
    pub(super) fn advance(&self, slot: u32) {
        if let Some(entry) = self.entry(slot) {
            entry.store(Self::following(entry.load(Relaxed)), Relaxed);
        }
    }

    /// Makes the slot's entry, at generation 1, unless it is there.
    pub(super) fn ensure(&self, slot: u32) {
        let (chunk, _, len) = place(slot);
        if let Some(cell) = self.chunks.get(chunk) {
            cell.get_or_init(|| (0..len).map(|_| AtomicU32::new(1)).collect());
        }
    }

    /// Sets a generation, to try what happens when they start again.
    #[cfg(test)]
    pub(super) fn set(&self, slot: u32, generation: u32) {
        self.ensure(slot);
        self.entry(slot).expect("just made").store(generation, Relaxed);
    }

    #[inline]
    fn entry(&self, slot: u32) -> Option<&AtomicU32> {
        let (chunk, index, _) = place(slot);
        self.chunks.get(chunk)?.get()?.get(index)
    }
}

/// The chunk of a slot, its index there, and the chunk's length.
#[inline]
fn place(slot: u32) -> (usize, usize, usize) {
    // With `BASE` added all doublings look alike: the top bit says which, the next two bits which quarter.
    let n = (slot & (RootId::SLOTS_MAX - 1)) + BASE;
    let top = n.ilog2();
    let part_bits = top - SPLIT_BITS;
    let quarter = (n >> part_bits) & ((1 << SPLIT_BITS) - 1);
    let chunk = ((top - BASE_BITS) << SPLIT_BITS) + quarter;
    let len = 1_usize << part_bits;
    (chunk as usize, n as usize & (len - 1), len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_a_place_of_its_own() {
        let mut expected = (0, 0);
        for slot in 0..300_000 {
            let (chunk, index, len) = place(slot);
            assert_eq!((chunk, index), expected, "slot {slot}");
            expected = if index + 1 == len { (chunk + 1, 0) } else { (chunk, index + 1) };
        }
        let last = place(RootId::SLOTS_MAX - 1).0;
        assert!((last..last + 5).contains(&(CHUNKS - 1)), "chunk {last} is the last of {CHUNKS}");
    }

    #[test]
    fn generations_start_again_after_the_last() {
        let table = Generations::new();
        table.set(7, RootId::GENERATION_MAX);
        let last = RootId::new(0, 7, RootId::GENERATION_MAX);
        assert!(!table.is_over(last));
        table.advance(7);
        assert!(table.is_over(last));
        assert_eq!(table.current(7), 1);
    }

    #[test]
    fn an_untracked_tuple_is_never_over_and_an_unknown_root_is() {
        let table = Generations::new();
        assert!(!table.is_over(RootId::NONE));
        assert!(table.is_over(RootId::new(0, 5, 1)));
        table.ensure(5);
        assert!(!table.is_over(RootId::new(0, 5, 1)));
        assert!(table.is_over(RootId::new(0, 5, 2)));
    }
}
