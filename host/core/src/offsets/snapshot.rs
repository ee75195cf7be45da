//! What is remembered of a source's part: all below one place, and ranges above it.
//!
//! In: a [`Snapshot`] of [`super::Spans`], or one read back from a checkpoint. Out: whether a place is done, and
//! snapshots joined or cut. Invariant: what [`Snapshot::normal`] gives is ascending and disjoint, and no range of
//! it touches `low`.

use std::ops::Range;

/// The places that are done: those below `low`, and those in `ranges`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Everything below it is done. Reading goes on from here.
    pub low: u64,
    /// What is done above it, ascending and disjoint.
    pub ranges: Vec<Range<u64>>,
}

impl Snapshot {
    /// The same places in their shortest form.
    ///
    /// # Errors
    /// A range is empty, or not above the one before it: no snapshot of this program is so.
    pub fn normal(mut self) -> Result<Snapshot, String> {
        let mut above = 0;
        for range in &self.ranges {
            let Range { start, end } = *range;
            if end <= start {
                return Err(format!("the range {start} to {end} is empty"));
            }
            if start < above {
                return Err(format!("the range {start} to {end} begins before {above}, where another ends"));
            }
            above = end;
        }
        self.absorb();
        Ok(self)
    }

    /// Whether a message that begins at this place is done.
    pub fn is_done(&self, start: u64) -> bool {
        let at = self.ranges.partition_point(|range| range.end <= start);
        start < self.low || self.ranges.get(at).is_some_and(|range| range.start <= start)
    }

    /// What is done in either. Both must be in normal form.
    #[must_use]
    pub fn union(self, other: Snapshot) -> Snapshot {
        let low = self.low.max(other.low);
        let mut all = self.ranges;
        all.extend(other.ranges);
        all.sort_unstable_by_key(|range| range.start);
        let mut ranges: Vec<Range<u64>> = Vec::with_capacity(all.len());
        for range in all {
            match ranges.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => ranges.push(range),
            }
        }
        let mut union = Snapshot { low, ranges };
        union.absorb();
        union
    }

    /// Forgets that anything at this place or above it is done.
    pub fn cut(&mut self, at: u64) {
        self.low = self.low.min(at);
        self.ranges.retain(|range| range.start < at);
        if let Some(last) = self.ranges.last_mut() {
            last.end = last.end.min(at);
        }
    }

    /// The place behind everything that is done.
    pub fn end(&self) -> u64 {
        self.ranges.last().map_or(self.low, |range| range.end.max(self.low))
    }

    /// Takes the ranges that begin at or below `low` into it.
    fn absorb(&mut self) {
        let mut passed = 0;
        for range in &self.ranges {
            if range.start > self.low {
                break;
            }
            self.low = self.low.max(range.end);
            passed += 1;
        }
        self.ranges.drain(..passed);
    }
}
