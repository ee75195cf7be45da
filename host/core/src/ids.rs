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
