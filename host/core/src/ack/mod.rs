//! Tracking of tuple trees: when is everything that came of a tuple done?
//!
//! The algorithm is Storm's (`org.apache.storm.daemon.Acker`): each tuple of a tree has a random 64-bit
//! edge, and the tree keeps one number, the XOR of all edges ever made and all edges ever acked. Each edge
//! goes in twice, so the number is 0 when, and but for a chance of 2^-64 a partial tree only when, all are
//! acked. What is different: Storm finds a tree by its random root id in a map that rotates; here a
//! [`RootId`](crate::ids::RootId) says where the tree is and which use of that place it is, so nothing is
//! hashed, roots are unique by construction, an ack of a finished tree is recognised and leaves nothing
//! behind, and timeouts are exact.
//!
//! In: registrations, acks, failures, cancellations, the time. Out: [`TreeEvent`]s, drained.
//!
//! - [`Slots`] is the spout's side: it hands out root ids.
//! - [`Ledger`] is the tracker: local to the spout's task, or on an acker thread, where each of `n`
//!   ledgers has the slots `s` with `s % n == shard`.
//! - [`Generations`] is what both share with the executors: which use of each slot is the current one.
//!
//! Invariant: **each registered root ends in exactly one event** (acked, failed, timed out or cancelled),
//! its generation advances at that moment and at no other, and its slot is handed out again only after the
//! spout's side took that event. So no order of messages between the two can mix up two uses of a slot.

mod entries;
mod generations;
mod ledger;
mod slots;
mod types;

pub use generations::Generations;
pub use ledger::Ledger;
pub use slots::{SlotState, Slots};
pub use types::{LedgerCounts, LedgerSettings, Refused, TreeEvent, TreeEventKind};

/// Makes room for index `len - 1` in steps of a sixteenth: a table of a million trees must not waste as
/// much again, as doubling would, and a step still costs nothing per tree.
fn grow<T: Clone>(table: &mut Vec<T>, len: usize, vacant: T) {
    if len > table.capacity() {
        let step = (table.len() / 16).max(64);
        table.reserve_exact(len.saturating_sub(table.len()).max(step));
    }
    if len > table.len() {
        table.resize(len, vacant);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_grows_in_few_steps_and_wastes_little() {
        let (mut table, mut steps) = (Vec::new(), 0);
        for len in 1..=100_000 {
            let before = table.capacity();
            grow(&mut table, len, 0_u64);
            steps += usize::from(table.capacity() != before);
            assert_eq!(table.len(), len);
            let spare = table.capacity() - len;
            assert!(spare < (len / 16).max(64), "{spare} spare places at {len}");
        }
        assert!(steps < 200, "{steps} steps, each of which copies the table");
    }
}
