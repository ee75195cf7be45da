//! Messages that wait for their next attempt, by time.
//!
//! In: a message and when it is due. Out: the next. What does not wait any more is left in the heap until
//! it comes to the front, and is dropped there.
//!
//! Invariant: after [`Due::tidy`] the front waits, if there is one.

use super::types::MessageSlot;
use crate::ids::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The waiting messages; of those with one time, the one that failed first comes first.
#[derive(Debug, Default)]
pub(super) struct Due {
    heap: BinaryHeap<Reverse<(Time, u64, MessageSlot)>>,
    pushed: u64,
}

impl Due {
    pub(super) fn push(&mut self, m: MessageSlot, at: Time) {
        self.pushed += 1;
        self.heap.push(Reverse((at, self.pushed, m)));
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, _, _))| *at)
    }

    /// The front, if its time has come.
    pub(super) fn take(&mut self, now: Time) -> Option<MessageSlot> {
        self.next().filter(|&at| at <= now)?;
        self.heap.pop().map(|Reverse((_, _, m))| m)
    }

    /// Drops from the front what does not wait for its time any more.
    pub(super) fn tidy(&mut self, waits: impl Fn(MessageSlot, Time) -> bool) {
        while self.heap.peek().is_some_and(|Reverse((at, _, m))| !waits(*m, *at)) {
            self.heap.pop();
        }
    }
}
