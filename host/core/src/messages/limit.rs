//! How much a spout may have in flight, as its queues bear it.
//!
//! In: what completed, and that something waited in a queue until its timeout. Out: the effective limit.
//! A tuple that waits too long is replayed, which is more work for the same queues: without an answer an
//! overload feeds itself. So a timeout in a queue halves the limit, and each round that completes without
//! one gives an eighth back, as a TCP sender does for a network it can't see into.
//!
//! Invariant: `1 <= limit <= the configured one`; what was emitted before a halving causes no other.

use crate::ids::Time;

/// The effective limit of one spout task.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    most: u32,
    now: u32,
    completed: u32,
    halved_at: Option<Time>,
}

impl Limit {
    pub(super) fn new(most: u32) -> Limit {
        let most = most.max(1);
        Limit { most, now: most, completed: 0, halved_at: None }
    }

    pub(super) fn most(&self) -> usize {
        self.most as usize
    }

    #[inline]
    pub(super) fn effective(&self) -> usize {
        self.now as usize
    }

    /// Something that was emitted at `started` waited in a queue until it timed out, at `now`.
    pub(super) fn timed_out_in_queue(&mut self, started: Time, now: Time) {
        // A queue that is too long times out all that is in it: that is one sign and not a thousand.
        if self.halved_at.is_none_or(|at| started >= at) {
            self.now = (self.now / 2).max(1);
            self.halved_at = Some(now);
            self.completed = 0;
        }
    }

    /// So many places became free because their messages completed.
    #[inline]
    pub(super) fn completed(&mut self, places: u32) {
        if self.now == self.most {
            return;
        }
        self.completed = self.completed.saturating_add(places);
        if self.completed >= self.now {
            self.completed = 0;
            self.now = self.now.saturating_add((self.now / 8).max(1)).min(self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_queue_that_times_out_halves_once() {
        let mut limit = Limit::new(1000);
        for tree in 0..1000 {
            limit.timed_out_in_queue(Time(tree), Time(5000));
        }
        assert_eq!(limit.effective(), 500);
        limit.timed_out_in_queue(Time(4999), Time(5001));
        assert_eq!(limit.effective(), 500);
        limit.timed_out_in_queue(Time(5000), Time(9000));
        assert_eq!(limit.effective(), 250);
    }

    #[test]
    fn it_never_falls_below_one_and_recovers_step_by_step() {
        let mut limit = Limit::new(64);
        for round in 0..20 {
            limit.timed_out_in_queue(Time(round * 10), Time(round * 10 + 1));
        }
        assert_eq!(limit.effective(), 1);
        let mut steps = vec![];
        while limit.effective() < 64 {
            let before = limit.effective();
            for _ in 0..before {
                assert_eq!(limit.effective(), before, "a whole round first");
                limit.completed(1);
            }
            steps.push(limit.effective() - before);
        }
        assert!(steps.iter().all(|&step| (1..=8).contains(&step)), "{steps:?}");
        limit.completed(1000);
        assert_eq!(limit.effective(), 64);
    }

    #[test]
    fn a_round_gives_an_eighth_back() {
        let mut limit = Limit::new(1000);
        limit.timed_out_in_queue(Time(0), Time(1));
        let mut found = vec![];
        for _ in 0..6 {
            limit.completed(limit.now);
            found.push(limit.effective());
        }
        assert_eq!(found, [562, 632, 711, 799, 898, 1000]);
    }
}
