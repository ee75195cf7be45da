//! The counters of a bolt task: exact, written by its executor once for each call, read by anyone.

use anchorbolt_core::failure::Class;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Adds to a counter.
#[inline]
pub fn bump(counter: &AtomicU64, by: u64) {
    if by != 0 {
        counter.fetch_add(by, Relaxed);
    }
}

/// One bolt task's counts.
#[derive(Debug, Default)]
pub struct BoltCounters {
    /// Tuples that went into calls, re-runs included.
    pub executed: AtomicU64,
    /// Rows emitted.
    pub emitted: AtomicU64,
    /// Copies sent to tasks.
    pub transferred: AtomicU64,
    /// Tuples acked.
    pub acked: AtomicU64,
    /// Tuples failed.
    pub failed: AtomicU64,
    /// Tuples that killed an instance alone, or broke the contract: by class, see [`BoltCounters::fault`].
    pub faults: [AtomicU64; 5],
    /// Instances that died.
    pub deaths: AtomicU64,
    /// Instances made after a death, or in the place of one that was recycled.
    pub restarts: AtomicU64,
    /// Instances that took state with them.
    pub state_lost: AtomicU64,
    /// Tuples discarded because their trees were over.
    pub stale: AtomicU64,
    /// Tuples that a guest settled twice.
    pub repeated: AtomicU64,
    /// Tuples held from earlier calls, now.
    pub held: AtomicU64,
    /// Time in calls.
    pub execute_ns: AtomicU64,
    /// Memory of the instance, now.
    pub memory_bytes: AtomicU64,
    /// CPU time of the executor's thread, shared out to its tasks.
    pub cpu_ns: AtomicU64,
}

impl BoltCounters {
    /// The names of `faults`, in order.
    pub const FAULTS: [Class; 5] =
        [Class::Trap, Class::Deadline, Class::Memory, Class::Exit, Class::Protocol];

    /// Counts a tuple that is to blame.
    pub fn fault(&self, class: Class) {
        if let Some(i) = Self::FAULTS.iter().position(|c| *c == class) {
            bump(&self.faults[i], 1);
        }
    }

    /// Counts a tuple that was failed for what was emitted anchored to it: by the class of what its grouping died of,
    /// else as a breach of the contract. What a grouping declares is no fault.
    pub fn breach(&self, class: Class) {
        match class {
            Class::Failed => {}
            class if Self::FAULTS.contains(&class) => self.fault(class),
            _ => self.fault(Class::Protocol),
        }
    }
}
