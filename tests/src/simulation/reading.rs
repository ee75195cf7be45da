//! A part of a source as a spout's task reads it.
//!
//! In: what of it is done. Out: the next message that is not. Invariant: each is read once in a life.

use super::source::Part;
use anchorbolt_core::offsets::{Snapshot, Spans};

/// A part that a task reads.
pub(super) struct Reading {
    pub(super) number: usize,
    pub(super) part: Part,
    pub(super) at: usize,
    pub(super) spans: Spans,
}

impl Reading {
    /// From the beginning.
    pub(super) fn new(number: usize, part: &Part, ranges_max: usize) -> Reading {
        Reading { number, part: part.clone(), at: 0, spans: Spans::new(ranges_max) }
    }

    /// Goes on behind what is done.
    pub(super) fn restore(&mut self, known: Snapshot, ranges_max: usize) -> Result<(), String> {
        self.at = self.part.places.partition_point(|place| *place < known.low);
        self.spans = Spans::restore(known, ranges_max)?;
        Ok(())
    }

    pub(super) fn is_over(&self) -> bool {
        self.at >= self.part.places.len()
    }

    /// The next message that is not done.
    pub(super) fn next(&mut self) -> Option<usize> {
        while let Some(place) = self.part.places.get(self.at).copied() {
            self.at += 1;
            let is_new = self.spans.read(place, place + 1);
            if self.is_over() {
                self.spans.reached(self.part.end);
            }
            if is_new {
                return Some(self.part.first + self.at - 1);
            }
        }
        None
    }
}
