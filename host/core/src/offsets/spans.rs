//! The messages of one part of a source, from the lowest that is not done to the last that was read.
//!
//! In: [`Spans::read`] as messages are emitted, [`Spans::done`] as they end. Out: [`Spans::low`], snapshots.
//! Between open messages a whole run of done ones is one entry, so memory goes with the open messages and never
//! with how long one of them waits. A call costs the logarithm of the distance to the one before, which is small
//! since messages end about as they began; nothing is allocated in a steady state.
//!
//! Invariant: the first entry is open, and `done_runs` is the number of maximal runs of done entries.

use super::Snapshot;
use std::collections::VecDeque;
use std::ops::Range;

/// Fewer entries than this are not worth tidying.
const TIDY_AT_LEAST: usize = 64;

/// One open message, or done ones next to each other.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u64,
    end: u64,
    /// How many messages of this run of the host are done in it; [`OPEN`] if it is one that is not.
    done: u64,
}

const OPEN: u64 = u64::MAX;

impl Entry {
    fn is_open(&self) -> bool {
        self.done == OPEN
    }
}

/// How many of the messages read so far a snapshot knows as done. The default is that of no snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Known(pub u64);

/// What of one source part was read, and what of it is done.
#[derive(Clone, Debug)]
pub struct Spans {
    ranges_max: usize,
    entries: VecDeque<Entry>,
    /// Restored ranges that reading has not come to.
    ahead: VecDeque<Range<u64>>,
    /// All that begins below it was read, or was done before.
    end: u64,
    open: usize,
    done_runs: usize,
    /// Messages read, and those of them that lie below the first entry.
    read: u64,
    below: u64,
    /// Where the last one was found.
    hint: usize,
    tidy_at: usize,
}

impl Spans {
    /// Nothing read yet, from place 0 on. A snapshot holds at most `ranges_max` ranges (at least 1).
    pub fn new(ranges_max: usize) -> Spans {
        Spans {
            ranges_max: ranges_max.max(1),
            entries: VecDeque::new(),
            ahead: VecDeque::new(),
            end: 0,
            open: 0,
            done_runs: 0,
            read: 0,
            below: 0,
            hint: 0,
            tidy_at: TIDY_AT_LEAST,
        }
    }

    /// What a snapshot remembers. Reading is to go on at its `low`; what [`Spans::is_done`] knows is to be
    /// passed over.
    ///
    /// # Errors
    /// It is no snapshot: see [`Snapshot::normal`].
    pub fn restore(snapshot: Snapshot, ranges_max: usize) -> Result<Spans, String> {
        let Snapshot { low, ranges } = snapshot.normal()?;
        Ok(Spans { end: low, ahead: ranges.into(), ..Spans::new(ranges_max) })
    }

    /// A message at `start..end` was read and is emitted. False, and nothing happens, if it does not lie above
    /// all that was read before, if it is done already, or if it has no length.
    #[inline]
    pub fn read(&mut self, start: u64, end: u64) -> bool {
        if start < self.end || end <= start {
            return false;
        }
        if !self.ahead.is_empty() {
            if self.is_ahead(start) {
                return false;
            }
            self.pass(start);
        }
        self.entries.push_back(Entry { start, end, done: OPEN });
        self.end = end;
        self.open += 1;
        self.read += 1;
        if self.entries.len() >= self.tidy_at {
            self.tidy();
        }
        true
    }

    /// Reading has come to this place: below it no message begins that was not read, or done before.
    pub fn reached(&mut self, at: u64) {
        self.pass(at);
        self.end = self.end.max(at);
        self.absorb();
    }

    /// The message that begins here is done. False, and nothing happens, if it is unknown or was done before.
    #[inline]
    pub fn done(&mut self, start: u64) -> bool {
        let Some(at) = self.find(start) else { return false };
        let is_done = |entry: Option<&Entry>| entry.is_some_and(|entry| !entry.is_open());
        let before = at.checked_sub(1).is_some_and(|before| is_done(self.entries.get(before)));
        let after = is_done(self.entries.get(at + 1));
        match self.entries.get_mut(at) {
            Some(entry) if entry.is_open() && entry.start == start => entry.done = 1,
            _ => return false,
        }
        self.open -= 1;
        self.done_runs = self.done_runs + 1 - usize::from(before) - usize::from(after);
        self.hint = at + 1;
        if at == 0 {
            self.drop_done();
        }
        true
    }

    /// The lowest message that is not done; when all are, the end of the last that was read.
    pub fn low(&self) -> u64 {
        self.entries.front().map_or(self.end, |entry| entry.start)
    }

    /// The done ranges above [`Spans::low`], ascending.
    pub fn done_above(&self) -> Vec<Range<u64>> {
        self.above(usize::MAX).0
    }

    /// How many ranges [`Spans::done_above`] has.
    pub fn ranges(&self) -> usize {
        self.done_runs + self.ahead.len()
    }

    /// There are as many ranges as a snapshot may hold: read no more until open messages end. Never so when
    /// none is open.
    pub fn is_crowded(&self) -> bool {
        self.open > 0 && self.ranges() >= self.ranges_max
    }

    /// Messages read that are not done.
    pub fn open(&self) -> usize {
        self.open
    }

    /// How many messages have been read.
    pub fn messages(&self) -> u64 {
        self.read
    }

    /// How many messages, of those read, a restart from a snapshot that knows this would emit again.
    pub fn outstanding(&self, durable: Known) -> u64 {
        self.read.saturating_sub(durable.0)
    }

    /// What a checkpoint is to remember, and how many of the messages read it knows as done. Ranges beyond
    /// `ranges_max`, the highest, are left out: a restart emits their messages again.
    pub fn snapshot(&self) -> (Snapshot, Known) {
        let (ranges, messages) = self.above(self.ranges_max);
        (Snapshot { low: self.low(), ranges }, Known(self.below + messages))
    }

    /// Whether a message that begins here was done, in this run or before.
    pub fn is_done(&self, start: u64) -> bool {
        if start < self.low() || self.is_ahead(start) {
            return true;
        }
        let entry = self.find(start).and_then(|at| self.entries.get(at));
        entry.is_some_and(|entry| !entry.is_open() && start < entry.end)
    }

    fn is_ahead(&self, start: u64) -> bool {
        let at = self.ahead.partition_point(|range| range.end <= start);
        self.ahead.get(at).is_some_and(|range| range.start <= start)
    }

    /// Reading passes the restored ranges that begin below `at`.
    fn pass(&mut self, at: u64) {
        while let Some(range) = self.ahead.front().filter(|range| range.start < at).cloned() {
            self.ahead.pop_front();
            // Restored ranges begin at `end` or above it.
            self.end = range.end;
            match self.entries.back_mut() {
                // Nothing is open: it lies below `low`.
                None => {}
                Some(last) if !last.is_open() => last.end = range.end,
                Some(_) => {
                    self.entries.push_back(Entry { start: range.start, end: range.end, done: 0 });
                    self.done_runs += 1;
                }
            }
        }
    }

    /// The first run is done: `low` moves past it.
    fn drop_done(&mut self) {
        while let Some(entry) = self.entries.front().filter(|entry| !entry.is_open()) {
            self.below += entry.done;
            self.entries.pop_front();
        }
        self.done_runs -= 1;
        self.hint = 0;
        self.absorb();
    }

    /// When nothing is open, restored ranges that follow without a gap lie below `low` too.
    fn absorb(&mut self) {
        while self.entries.is_empty() && self.ahead.front().is_some_and(|range| range.start <= self.end) {
            self.pass(self.end.saturating_add(1));
        }
    }

    /// The last entry that begins at or below `start`, looked for from where the last one was found.
    fn find(&self, start: u64) -> Option<usize> {
        let begins = |at: usize| self.entries.get(at).is_some_and(|entry| entry.start <= start);
        let (mut from, mut to) = (self.hint.min(self.entries.len().checked_sub(1)?), self.entries.len());
        let mut step = 1;
        if begins(from) {
            while begins(from + step) {
                from += step;
                step *= 2;
            }
            to = to.min(from + step);
        } else {
            while !begins(from) {
                to = from;
                from = from.checked_sub(step).or(if from > 0 { Some(0) } else { None })?;
                step *= 2;
            }
        }
        while to - from > 1 {
            let middle = from + (to - from) / 2;
            if begins(middle) {
                from = middle;
            } else {
                to = middle;
            }
        }
        Some(from)
    }

    /// The first `most` ranges above `low`, and how many messages of this run they hold.
    fn above(&self, most: usize) -> (Vec<Range<u64>>, u64) {
        let mut ranges: Vec<Range<u64>> = Vec::with_capacity(self.ranges().min(most));
        let (mut messages, mut joined) = (0, false);
        for entry in &self.entries {
            if entry.is_open() {
                joined = false;
                continue;
            }
            if !joined && ranges.len() == most {
                return (ranges, messages);
            }
            match ranges.last_mut() {
                Some(last) if joined => last.end = entry.end,
                _ => ranges.push(entry.start..entry.end),
            }
            messages += entry.done;
            joined = true;
        }
        let room = most - ranges.len();
        ranges.extend(self.ahead.iter().take(room).cloned());
        (ranges, messages)
    }

    /// Makes one entry of each run of done ones.
    fn tidy(&mut self) {
        let mut kept = 0_usize;
        for at in 0..self.entries.len() {
            let entry = self.entries[at];
            match kept.checked_sub(1).and_then(|last| self.entries.get_mut(last)) {
                Some(last) if !last.is_open() && !entry.is_open() => {
                    last.end = entry.end;
                    last.done += entry.done;
                }
                _ => {
                    self.entries[kept] = entry;
                    kept += 1;
                }
            }
        }
        self.entries.truncate(kept);
        self.tidy_at = TIDY_AT_LEAST.max(2 * kept);
        self.hint = self.hint.min(kept);
    }

    /// Entries in memory, for tests of its bound.
    #[doc(hidden)]
    pub fn entries(&self) -> usize {
        self.entries.len() + self.ahead.len()
    }
}
