//! A bolt's own figures, shown beside the host's.
//!
//! In: a name and a number. Out: one host call each, so count per batch where it is hot.

use crate::host::metrics;

/// Adds to a counter.
pub fn counter(name: &str, delta: u64) {
    metrics::counter_add(name, delta);
}

/// Sets a gauge.
pub fn gauge(name: &str, value: f64) {
    metrics::gauge_set(name, value);
}

/// Records one value of a distribution.
pub fn histogram(name: &str, value: f64) {
    metrics::histogram_record(name, value);
}
