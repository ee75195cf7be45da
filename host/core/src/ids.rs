//! Names for the things that are counted: times, tasks, messages, trees.
//!
//! All are plain numbers in newtypes, so that one can't be passed for another.

use std::fmt;
use std::time::Duration;

/// A moment, in nanoseconds since the host started. The core never asks for it, it is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The moment `d` later, at most the end of time.
    pub fn after(self, d: Duration) -> Time {
        Time(self.0.saturating_add(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// How long it is since `earlier`; zero when that lies ahead.
    pub fn since(self, earlier: Time) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// A task of the topology. Task ids start at 1, in component name order; 0 is nobody.
pub type TaskId = u32;

/// What a spout calls a message: any 128 bits that are stable over a replay and, for a replayable
/// source, over a restart. [`crate::port::Spout::position`] turns it into what a person reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u128);

impl MessageId {
    /// An id of two numbers, for example a file and an offset.
    pub fn pair(high: u64, low: u64) -> MessageId {
        MessageId((u128::from(high) << 64) | u128::from(low))
    }

    /// The first number of [`MessageId::pair`].
    pub fn high(self) -> u64 {
        (self.0 >> 64) as u64
    }

    /// The second number of [`MessageId::pair`].
    pub fn low(self) -> u64 {
        self.0 as u64
    }
}

/// Which of the tuples of a message a tuple is: a hash over the ordinals of the emissions that led to it, so that it is the
/// same at each attempt. 0 for a tuple that is outside every tree.
pub type Path = u64;

/// The paths of the copies of one emission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paths {
    parent: Path,
    /// The emission's ordinal, and below it that of the next copy.
    next: u64,
}

impl Paths {
    /// Of the emission with this ordinal among those of one parent; 0 is the parent of a message's rows.
    #[inline]
    pub fn of(parent: Path, ordinal: u32) -> Paths {
        Paths { parent, next: u64::from(ordinal) << 32 }
    }

    /// Of an emission with several parents: each with its ordinal, in the order of the anchors.
    pub fn of_many(parents: impl Iterator<Item = (Path, u32)>) -> Paths {
        let joined = parents.fold(1, |path, (parent, ordinal)| fold(path ^ parent, u64::from(ordinal)));
        Paths { parent: joined, next: 0 }
    }

    /// The path of the next copy.
    #[inline]
    pub fn next_copy(&mut self) -> Path {
        let path = fold(self.parent, self.next);
        self.next += 1;
        path
    }
}

/// Two words to one: the halves of a 128-bit product, as wyhash mixes. The constants are digits of pi.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x243f_6a88_85a3_08d3) * u128::from(b ^ 0x1319_8a2e_0370_7344);
    (product as u64) ^ ((product >> 64) as u64)
}

/// One tree: who owns it, which slot of the owner's ledger it has, and which use of the slot it is.
///
/// A late ack of a finished tree carries an old generation, so it is recognised without a lookup. The
/// number 0 is no tree: generations start at 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RootId(pub u64);

const SLOT_BITS: u32 = 26;
const GENERATION_BITS: u32 = 28;

impl RootId {
    /// No tree: what an untracked tuple carries.
    pub const NONE: RootId = RootId(0);
    /// Marks a tuple of several trees in a column of root ids; never a tree's id.
    pub const MANY: RootId = RootId(u64::MAX);
    /// How many trees one owner can have pending.
    pub const SLOTS_MAX: u32 = 1 << SLOT_BITS;
    /// How many owners there can be (one less than fits, so that no id equals [`RootId::MANY`]).
    pub const OWNERS_MAX: u32 = (1 << (64 - SLOT_BITS - GENERATION_BITS)) - 1;
    /// Generations run from 1 to this and start again.
    pub const GENERATION_MAX: u32 = (1 << GENERATION_BITS) - 1;

    /// Packs the three parts; each must be within its bounds.
    #[inline]
    pub fn new(owner: u32, slot: u32, generation: u32) -> RootId {
        debug_assert!(owner < Self::OWNERS_MAX && slot < Self::SLOTS_MAX);
        debug_assert!((1..=Self::GENERATION_MAX).contains(&generation));
        RootId(
            u64::from(owner) << (SLOT_BITS + GENERATION_BITS)
                | u64::from(slot) << GENERATION_BITS
                | u64::from(generation),
        )
    }

    /// The spout task (counted from 0 over all spout tasks) whose tree this is.
    #[inline]
    pub fn owner(self) -> u32 {
        (self.0 >> (SLOT_BITS + GENERATION_BITS)) as u32
    }

    /// Its place in the owner's tables.
    #[inline]
    pub fn slot(self) -> u32 {
        (self.0 >> GENERATION_BITS) as u32 & (Self::SLOTS_MAX - 1)
    }

    /// Which use of the slot it is.
    #[inline]
    pub fn generation(self) -> u32 {
        self.0 as u32 & Self::GENERATION_MAX
    }
}

impl fmt::Debug for RootId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "root {}:{}:{}", self.owner(), self.slot(), self.generation())
    }
}

/// The random name of one tuple within its tree, never 0.
pub type Edge = u64;
