//! The spout's side of its trees: it hands out root ids and remembers whose tree each is.
//!
//! In: a message that wants a tree. Out: a root id that no pending tree has, since a slot is handed out
//! once at a time and its generation moves on in between. Free slots are a stack, so that few pending
//! trees use the same few cache lines.
//!
//! Invariant: a slot is free, or belongs to one message, or is cancelled and waits for the ledger's word.

use super::{Generations, grow};
use crate::ids::RootId;
use std::sync::Arc;

/// The end of a list of slots.
const END: u32 = u32::MAX;
const INDEX_BITS: u32 = 26;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;
const ENDED: u32 = 1 << INDEX_BITS;
const STAMP_SHIFT: u32 = INDEX_BITS + 1;
/// In place of a message's index.
const FREE: u32 = INDEX_MASK;
const CANCELLED: u32 = INDEX_MASK - 1;

/// One slot, 8 bytes. Free slots are chained through `link`, and so are the trees of one message.
#[derive(Clone, Copy, Debug)]
struct Slot {
    link: u32,
    /// The message's index, whether the tree ended, and the last bits of its generation. The shared table
    /// is at this generation or, once the ledger ended the tree, at the next: the bits tell which.
    message: u32,
}

/// What a root id is to its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// A pending tree of this message (an index below [`Slots::MESSAGES_MAX`]).
    Open(u32),
    /// A tree of this message that has ended, while the message goes on.
    Ended(u32),
    /// Cancelled; the ledger has not said so yet.
    Cancelled,
    /// Not a root that this owner has handed out and not taken back.
    Unknown,
}

/// Root ids of one owner.
#[derive(Debug)]
pub struct Slots {
    owner: u32,
    table: Vec<Slot>,
    free: u32,
    used: u32,
    generations: Arc<Generations>,
}

impl Slots {
    /// How many messages can be told apart.
    pub const MESSAGES_MAX: u32 = CANCELLED;
    /// The bytes of one slot.
    pub const SLOT_BYTES: usize = size_of::<Slot>();

    /// No slots yet, for this owner.
    pub fn new(owner: u32, generations: Arc<Generations>) -> Slots {
        Slots { owner, table: Vec::new(), free: END, used: 0, generations }
    }

    /// A root for a new tree of `message`, in front of the message's list `*head`. None when all slots
    /// are in use.
    #[inline]
    pub fn allocate(&mut self, message: u32, head: &mut Option<u32>) -> Option<RootId> {
        let slot = if self.free == END { self.fresh()? } else { self.free };
        let entry = self.table.get_mut(slot as usize)?;
        self.free = entry.link;
        let generation = self.generations.current(slot);
        entry.link = head.unwrap_or(END);
        entry.message = (message & INDEX_MASK) | stamp(generation);
        *head = Some(slot);
        self.used += 1;
        Some(RootId::new(self.owner, slot, generation))
    }

    /// What this root is.
    #[inline]
    pub fn state(&self, root: RootId) -> SlotState {
        let Some(entry) = self.table.get(root.slot() as usize) else {
            return SlotState::Unknown;
        };
        if root.owner() != self.owner || root.generation() != self.generation(root.slot(), *entry) {
            return SlotState::Unknown;
        }
        match entry.message & INDEX_MASK {
            FREE => SlotState::Unknown,
            CANCELLED => SlotState::Cancelled,
            message if entry.message & ENDED != 0 => SlotState::Ended(message),
            message => SlotState::Open(message),
        }
    }

    /// This open tree has ended; the slot stays with its message until [`Slots::release_list`].
    #[inline]
    pub fn end(&mut self, root: RootId) {
        if let Some(entry) = self.table.get_mut(root.slot() as usize) {
            entry.message |= ENDED;
        }
    }

    /// The ledger has said that this cancelled tree is over: its slot is free.
    pub fn release_cancelled(&mut self, root: RootId) {
        if self.state(root) == SlotState::Cancelled {
            self.put_back(root.slot());
        }
    }

    /// Takes back all slots of a message: the ended ones are free, the open ones become cancelled and are
    /// handed to `cancel`.
    pub fn release_list(&mut self, head: Option<u32>, mut cancel: impl FnMut(RootId)) {
        let mut next = head.unwrap_or(END);
        while let Some(entry) = self.table.get_mut(next as usize) {
            let (slot, was) = (next, *entry);
            next = was.link;
            if was.message & ENDED != 0 {
                self.put_back(slot);
                continue;
            }
            entry.message = (was.message & !INDEX_MASK) | CANCELLED;
            cancel(RootId::new(self.owner, slot, self.generation(slot, was)));
        }
    }

    /// The roots of a message's open trees.
    pub fn open_roots(&self, head: Option<u32>) -> impl Iterator<Item = RootId> + '_ {
        let mut next = head.unwrap_or(END);
        std::iter::from_fn(move || {
            let slot = next;
            let entry = self.table.get(slot as usize)?;
            next = entry.link;
            Some((slot, *entry))
        })
        .filter(|(_, entry)| entry.message & ENDED == 0)
        .map(|(slot, entry)| RootId::new(self.owner, slot, self.generation(slot, entry)))
    }

    /// How many slots are not free.
    pub fn used(&self) -> usize {
        self.used as usize
    }

    /// How many slots wait for the ledger's word. Walks them all: for tests.
    pub fn cancelled(&self) -> usize {
        self.table.iter().filter(|entry| entry.message & INDEX_MASK == CANCELLED).count()
    }

    /// The bytes that the table takes.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.table.capacity() * Self::SLOT_BYTES
    }

    fn fresh(&mut self) -> Option<u32> {
        let slot = u32::try_from(self.table.len()).ok().filter(|&slot| slot < RootId::SLOTS_MAX)?;
        self.generations.ensure(slot);
        grow(&mut self.table, slot as usize + 1, Slot { link: END, message: FREE });
        Some(slot)
    }

    /// The generation that a slot was handed out with. The ledger may have ended the tree while its word is
    /// on the way; then the table is one ahead, as the stamp tells.
    #[inline]
    fn generation(&self, slot: u32, entry: Slot) -> u32 {
        let current = self.generations.current(slot);
        if (entry.message ^ stamp(current)) >> STAMP_SHIFT == 0 {
            current
        } else if current == 1 {
            RootId::GENERATION_MAX
        } else {
            current - 1
        }
    }

    #[inline]
    fn put_back(&mut self, slot: u32) {
        if let Some(entry) = self.table.get_mut(slot as usize) {
            *entry = Slot { link: self.free, message: FREE };
            self.free = slot;
            self.used -= 1;
        }
    }
}

#[inline]
fn stamp(generation: u32) -> u32 {
    generation << STAMP_SHIFT
}
