//! Tracking as a child would write it: for each tree the set of tuples it is known to have and the set of
//! those known to be done. No XOR, no slots, no lists; every question is a search.

use anchorbolt_core::ids::{RootId, Time};
use std::collections::HashSet;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum End {
    Acked(Time),
    Failed,
    TimedOut,
    Cancelled,
}

#[derive(Debug)]
struct Tree {
    root: RootId,
    started: Time,
    deadline: Time,
    made: HashSet<u64>,
    done: HashSet<u64>,
}

#[derive(Debug)]
pub(crate) struct Oracle {
    timeout: Duration,
    max_age: Duration,
    pending: Vec<Tree>,
    over: HashSet<RootId>,
    pub(crate) ended: Vec<(RootId, Time, End)>,
    pub(crate) late: u64,
    pub(crate) refused: u64,
}

impl Oracle {
    pub(crate) fn new(timeout: Duration, max_age: Duration) -> Oracle {
        let (pending, over, ended) = (vec![], HashSet::new(), vec![]);
        Oracle { timeout, max_age, pending, over, ended, late: 0, refused: 0 }
    }

    pub(crate) fn register(&mut self, root: RootId, edges: &[u64], now: Time) {
        if self.over.contains(&root) || self.pending.iter().any(|tree| tree.root == root) {
            self.refused += 1;
            return;
        }
        let (made, done) = (edges.iter().copied().collect(), HashSet::new());
        let deadline = now.after(self.timeout);
        self.pending.push(Tree { root, started: now, deadline, made, done });
        self.settle_if_done(root, now);
    }

    pub(crate) fn ack(&mut self, root: RootId, edges: &[u64], children: &[u64], at: Time) {
        if let Some(tree) = self.find(root) {
            tree.done.extend(edges);
            tree.made.extend(children);
            self.settle_if_done(root, at);
        }
    }

    pub(crate) fn end(&mut self, root: RootId, end: End) {
        if self.find(root).is_some() {
            self.settle(root, end);
        }
    }

    pub(crate) fn reset_timeout(&mut self, root: RootId, now: Time) {
        let (timeout, max_age) = (self.timeout, self.max_age);
        if let Some(tree) = self.find(root) {
            tree.deadline = now.after(timeout).min(tree.started.after(max_age));
        }
    }

    pub(crate) fn expire(&mut self, now: Time) {
        let due = |tree: &&Tree| tree.deadline <= now;
        let roots: Vec<RootId> = self.pending.iter().filter(due).map(|tree| tree.root).collect();
        for root in roots {
            self.settle(root, End::TimedOut);
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.pending.iter().map(|tree| tree.deadline).min()
    }

    pub(crate) fn pending(&self) -> usize {
        self.pending.len()
    }

    pub(crate) fn is_over(&self, root: RootId) -> bool {
        self.over.contains(&root)
    }

    /// The tree, or the word is counted: late when the tree was there once.
    fn find(&mut self, root: RootId) -> Option<&mut Tree> {
        let found = self.pending.iter().position(|tree| tree.root == root);
        if found.is_none() {
            let late = self.over.contains(&root);
            self.late += u64::from(late);
            self.refused += u64::from(!late);
        }
        self.pending.get_mut(found?)
    }

    fn settle_if_done(&mut self, root: RootId, at: Time) {
        if self.pending.iter().any(|tree| tree.root == root && tree.made == tree.done) {
            self.settle(root, End::Acked(at));
        }
    }

    fn settle(&mut self, root: RootId, end: End) {
        let Some(place) = self.pending.iter().position(|tree| tree.root == root) else {
            return;
        };
        let tree = self.pending.swap_remove(place);
        self.over.insert(root);
        self.ended.push((root, tree.started, end));
    }
}
