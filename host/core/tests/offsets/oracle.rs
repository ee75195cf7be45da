//! Offsets as a child would keep them: every message in a map, every question a walk over all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

#[derive(Clone, Default)]
pub(crate) struct Oracle {
    /// Each message read, and each restored range that reading has passed: where it begins, where it ends.
    known: BTreeMap<u64, u64>,
    /// Restored ranges that reading has not come to.
    ahead: BTreeMap<u64, u64>,
    open: BTreeSet<u64>,
    /// Messages that were read in this run.
    read: BTreeSet<u64>,
    reached: u64,
}

impl Oracle {
    pub(crate) fn restore(low: u64, ranges: &[Range<u64>]) -> Oracle {
        let ahead = ranges.iter().map(|range| (range.start, range.end)).collect();
        Oracle { ahead, reached: low, ..Oracle::default() }
    }

    fn pass(&mut self, at: u64) {
        let passed: Vec<(u64, u64)> = self.ahead.range(..at).map(|(start, end)| (*start, *end)).collect();
        for (start, end) in passed {
            self.ahead.remove(&start);
            self.known.insert(start, end);
        }
    }

    pub(crate) fn read(&mut self, start: u64, end: u64) -> bool {
        let covered = self.ahead.iter().any(|(from, to)| (*from..*to).contains(&start));
        if start < self.end() || end <= start || covered {
            return false;
        }
        self.pass(start);
        self.known.insert(start, end);
        self.open.insert(start);
        self.read.insert(start);
        true
    }

    pub(crate) fn reached(&mut self, at: u64) {
        self.pass(at);
        self.reached = self.reached.max(at);
    }

    pub(crate) fn done(&mut self, start: u64) -> bool {
        self.open.remove(&start)
    }

    fn end(&self) -> u64 {
        let mut end = self.known.values().copied().max().unwrap_or(0).max(self.reached);
        if self.open.is_empty() {
            while let Some(to) = self.ahead.iter().find(|(from, to)| (**from..**to).contains(&end)) {
                end = *to.1;
            }
        }
        end
    }

    pub(crate) fn low(&self) -> u64 {
        self.open.first().copied().unwrap_or_else(|| self.end())
    }

    pub(crate) fn done_above(&self) -> Vec<Range<u64>> {
        let (low, mut ranges, mut joined) = (self.low(), Vec::<Range<u64>>::new(), false);
        for (start, end) in self.known.range(low..) {
            if self.open.contains(start) {
                joined = false;
                continue;
            }
            match ranges.last_mut() {
                Some(last) if joined => last.end = *end,
                _ => ranges.push(*start..*end),
            }
            joined = true;
        }
        ranges.extend(self.ahead.range(low..).map(|(start, end)| *start..*end));
        ranges
    }

    pub(crate) fn is_done(&self, start: u64) -> bool {
        start < self.low() || self.done_above().iter().any(|range| range.contains(&start))
    }

    /// How many of the messages read are done according to a snapshot.
    pub(crate) fn known_by(&self, low: u64, ranges: &[Range<u64>]) -> u64 {
        let is_done = |start: &u64| *start < low || ranges.iter().any(|range| range.contains(start));
        self.read.iter().filter(|start| is_done(start)).count() as u64
    }

    pub(crate) fn open(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn messages(&self) -> u64 {
        self.read.len() as u64
    }

    /// Some open message.
    pub(crate) fn pick(&self, number: usize) -> Option<u64> {
        self.open.iter().nth(number % self.open.len().max(1)).copied()
    }
}
