//! Partial key grouping: each key has two candidates, and the one that this producer used less gets the row.
//!
//! In: the hash of a key. Out: a task's index. Storm's `PartialKeyGrouping`; the method and its proof are in Nasir et
//! al., "The Power of Both Choices" (ICDE 2015). Counts are of the producer alone, without talking to others, which
//! suffices for balance. Invariant: a key's candidates never change, and they are two tasks where there are two.

/// The counts of one producer on one edge.
#[derive(Clone, Debug)]
pub(super) struct PartialKey {
    used: Vec<u64>,
    /// Picks since the last mark, once there was one: a call that dies takes them back.
    journal: Vec<u32>,
    journaled: bool,
}

impl PartialKey {
    /// Nothing used, of so many tasks.
    pub(super) fn new(tasks: u32) -> PartialKey {
        PartialKey { used: vec![0; tasks as usize], journal: vec![], journaled: false }
    }

    /// The task of a row with a key of this hash; of two used alike the first candidate.
    #[inline(never)]
    pub(super) fn pick(&mut self, hash: u64) -> u32 {
        let (first, second) = candidates(hash, self.used.len() as u32);
        let used = |task: u32| self.used.get(task as usize).copied().unwrap_or(0);
        let task = if used(second) < used(first) { second } else { first };
        if let Some(count) = self.used.get_mut(task as usize) {
            *count += 1;
        }
        if self.journaled {
            self.journal.push(task);
        }
        task
    }

    /// Picks from here on can be taken back.
    pub(super) fn mark(&mut self) {
        self.journaled = true;
        self.journal.clear();
    }

    /// Takes back the picks since the mark.
    pub(super) fn discard(&mut self) {
        for task in self.journal.drain(..) {
            if let Some(count) = self.used.get_mut(task as usize) {
                *count -= 1;
            }
        }
    }
}

/// The two candidates of a key with this hash among so many tasks, two at least: the first as in a fields grouping, the
/// second by a hash of the hash among the others.
#[inline]
pub fn candidates(hash: u64, tasks: u32) -> (u32, u32) {
    if tasks < 2 {
        return (0, 0);
    }
    let first = (hash % u64::from(tasks)) as u32;
    let step = 1 + (mix(hash) % u64::from(tasks - 1)) as u32;
    (first, ((u64::from(first) + u64::from(step)) % u64::from(tasks)) as u32)
}

/// The finalizer of SplitMix64: what `hash % tasks` leaves out decides here.
fn mix(hash: u64) -> u64 {
    let mut z = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
