//! How many tuples the next call should take.
//!
//! In: how long calls took, how much they emitted, and that one died. Out: the most tuples and bytes for a call,
//! and whether the guest should tell its progress. Large calls make the boundary cheap; but a call must end long
//! before its deadline, what it emits must fit into memory, and the larger a call that dies, the more is run again.
//!
//! Invariant: 1 <= answer <= the configured most; after a death it is at most half of what it was.

use crate::port::Output;
use std::time::Duration;

/// However many tuples a call has, it can't have more emissions, nor more anchors, than this, unless the limit of
/// one tuple is more: all of it lies in the host until the call returns.
pub const CALL_EMISSIONS_MAX: u64 = 1_000_000;
/// The same for emitted bytes.
pub const CALL_BYTES_MAX: u64 = 256 << 20;
/// The most tuples of a call unless the manifest says less: more does not make a tuple cheaper any more.
pub const MOST_TUPLES: usize = 256;
/// No configuration goes beyond this.
pub const LARGEST_BATCH: usize = 1024;
/// A call takes no further tuple once it has this many bytes.
pub const MOST_BYTES: usize = 1 << 20;
/// While nothing is known of a bolt, its first calls are small: so many tuples at their default limits emit no more
/// than a call can have.
const FIRST_BATCH: usize = 4;
/// A call's expected time is at most this part of its deadline.
const DEADLINE_PART: u32 = 4;
/// From here on telling the progress before each tuple costs little beside the tuple.
const STRIDE_FROM_NS: u64 = 10_000;

/// The pace of one task.
#[derive(Clone, Debug)]
pub struct Pace {
    most: usize,
    /// What calls are held to now: it falls by half and rises by quarters.
    cap: usize,
    /// Tuples that went well since `cap` last rose.
    since_rise: usize,
    /// Nanoseconds a tuple, averaged over about 8 calls.
    mean_ns: u64,
    /// Nanoseconds a tuple of the slowest recent call; an older one fades away over some 30 calls.
    peak_ns: u64,
    /// What a tuple of the recent call with the largest output emitted; it fades in the same way.
    peak_output: Output,
    /// How many tuples of that output are half of what a call can have.
    fits: usize,
    overran: bool,
}

impl Pace {
    /// A bolt of which nothing is known, with calls of at most `most` tuples.
    pub fn new(most: usize) -> Pace {
        let most = most.clamp(1, LARGEST_BATCH);
        let cap = most.min(FIRST_BATCH);
        let peak_output = Output::default();
        Pace { most, cap, since_rise: 0, mean_ns: 0, peak_ns: 0, peak_output, fits: most, overran: false }
    }

    /// The most tuples for a call that has this deadline.
    #[inline]
    pub fn batch_max(&self, deadline: Duration) -> usize {
        let expected = self.mean_ns.max(self.peak_ns);
        let budget = u64::try_from((deadline / DEADLINE_PART).as_nanos()).unwrap_or(u64::MAX);
        let in_time = budget.checked_div(expected).unwrap_or(u64::MAX);
        usize::try_from(in_time).unwrap_or(usize::MAX).clamp(1, self.cap.min(self.fits))
    }

    /// Whether a call that has `tuples` with `bytes` may take another.
    #[inline]
    pub fn has_room(&self, tuples: usize, bytes: usize, deadline: Duration) -> bool {
        tuples == 0 || (bytes < MOST_BYTES && tuples < self.batch_max(deadline))
    }

    /// A call of so many tuples came back after this time, with this output.
    #[inline]
    pub fn on_call(&mut self, tuples: usize, took: Duration, output: Output) {
        let Ok(tuples_u64 @ 1..) = u64::try_from(tuples) else {
            return;
        };
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX) / tuples_u64;
        self.mean_ns = if self.mean_ns == 0 { ns } else { self.mean_ns - self.mean_ns / 8 + ns / 8 };
        self.peak_ns = ns.max(self.peak_ns - self.peak_ns / 32);
        self.learn(tuples_u64, output);
        self.since_rise += tuples;
        if self.cap < self.most && self.since_rise >= self.cap {
            self.since_rise = 0;
            self.cap = (self.cap + (self.cap / 4).max(1)).min(self.most);
        }
    }

    /// How many tuples fit into a call by what they emit.
    #[inline]
    fn learn(&mut self, tuples: u64, output: Output) {
        let peak = &mut self.peak_output;
        peak.rows = output.rows.div_ceil(tuples).max(peak.rows - peak.rows / 32);
        peak.bytes = output.bytes.div_ceil(tuples).max(peak.bytes - peak.bytes / 32);
        let by_rows = (CALL_EMISSIONS_MAX / 2).checked_div(peak.rows).unwrap_or(u64::MAX);
        let by_bytes = (CALL_BYTES_MAX / 2).checked_div(peak.bytes).unwrap_or(u64::MAX);
        self.fits = usize::try_from(by_rows.min(by_bytes)).unwrap_or(usize::MAX).max(1);
    }

    /// The instance died in a call; `overran` says that it was over its deadline.
    pub fn on_death(&mut self, overran: bool) {
        self.cap = (self.cap / 2).max(1);
        self.since_rise = 0;
        self.overran |= overran;
    }

    /// Whether the guest should tell its progress before each tuple, so that the deadline is a tuple's.
    #[inline]
    pub fn stride(&self) -> bool {
        self.overran || self.mean_ns > STRIDE_FROM_NS
    }

    /// Nanoseconds a tuple, as learned; 0 at first.
    pub fn ns_per_tuple(&self) -> u64 {
        self.mean_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn paced(ns: u64, calls: usize) -> Pace {
        let mut pace = Pace::new(MOST_TUPLES);
        for _ in 0..calls {
            let tuples = pace.batch_max(SECOND);
            pace.on_call(tuples, Duration::from_nanos(ns * tuples as u64), Output::default());
        }
        pace
    }

    #[test]
    fn fast_tuples_come_to_full_batches_and_slow_ones_to_what_fits_the_deadline() {
        assert_eq!(paced(100, 50).batch_max(SECOND), MOST_TUPLES);
        assert_eq!(paced(10_000_000, 50).batch_max(SECOND), 25);
        assert_eq!(paced(10_000_000_000, 50).batch_max(SECOND), 1);
        assert_eq!(paced(10_000_000, 50).batch_max(SECOND / 5), 5);
    }

    #[test]
    fn the_first_calls_are_small() {
        assert_eq!(Pace::new(MOST_TUPLES).batch_max(SECOND), FIRST_BATCH);
        assert_eq!(Pace::new(1).batch_max(SECOND), 1);
        assert_eq!(Pace::new(0).batch_max(SECOND), 1);
        assert_eq!(Pace::new(1 << 30).most, LARGEST_BATCH);
    }

    #[test]
    fn one_slow_call_is_remembered_for_a_while() {
        let mut pace = paced(100, 50);
        pace.on_call(1, Duration::from_millis(100), Output::default());
        assert!(pace.batch_max(SECOND) <= 2);
        for _ in 0..1000 {
            pace.on_call(16, Duration::from_nanos(1600), Output::default());
        }
        assert_eq!(pace.batch_max(SECOND), MOST_TUPLES);
    }

    #[test]
    fn a_death_halves_and_success_brings_it_back_in_steps() {
        let mut pace = paced(100, 50);
        pace.on_death(false);
        assert_eq!(pace.batch_max(SECOND), MOST_TUPLES / 2);
        for _ in 0..20 {
            pace.on_death(false);
        }
        assert_eq!(pace.batch_max(SECOND), 1);
        let mut calls = 0;
        while pace.batch_max(SECOND) < MOST_TUPLES {
            let before = pace.batch_max(SECOND);
            pace.on_call(before, Duration::from_nanos(100), Output::default());
            assert!(pace.batch_max(SECOND) <= before + (before / 4).max(1));
            calls += 1;
        }
        assert!((10..60).contains(&calls), "{calls}");
    }

    #[test]
    fn a_bolt_that_emits_much_never_gets_more_tuples_than_a_call_can_emit() {
        for (rows, bytes) in [(100_000, 0), (0, 64 << 20), (5_000, 1 << 20), (1, 10), (100_000, 64 << 20)] {
            let mut pace = Pace::new(LARGEST_BATCH);
            for _ in 0..100 {
                let tuples = pace.batch_max(SECOND) as u64;
                let output = Output { rows: rows * tuples, bytes: bytes * tuples };
                let fits = output.rows <= CALL_EMISSIONS_MAX && output.bytes <= CALL_BYTES_MAX;
                assert!(fits || tuples == 1, "{tuples} tuples of {rows} rows and {bytes} bytes");
                pace.on_call(tuples as usize, Duration::from_nanos(tuples), output);
            }
            let most = pace.batch_max(SECOND) as u64;
            let used = most * (2 * rows).max(2 * bytes * CALL_EMISSIONS_MAX / CALL_BYTES_MAX);
            assert!(most == LARGEST_BATCH as u64 || used + 2 * rows.max(bytes) > CALL_EMISSIONS_MAX);
        }
    }

    #[test]
    fn progress_is_told_by_slow_bolts_and_by_those_that_once_overran() {
        assert!(!paced(9_000, 50).stride());
        assert!(paced(11_000, 50).stride());
        let mut pace = paced(100, 50);
        pace.on_death(false);
        assert!(!pace.stride());
        pace.on_death(true);
        assert!(pace.stride());
    }

    #[test]
    fn a_call_is_bounded_in_bytes_but_takes_at_least_one() {
        let pace = paced(100, 50);
        assert!(pace.has_room(0, 1 << 30, SECOND));
        assert!(pace.has_room(1, MOST_BYTES - 1, SECOND));
        assert!(!pace.has_room(1, MOST_BYTES, SECOND));
        assert!(!pace.has_room(MOST_TUPLES, 0, SECOND));
    }
}
