//! What a guest tells the world outside of tuples: log lines and figures.
//!
//! A hook of the embedder comes in; cleaned and limited events go out to it. The caps are per bolt, so
//! neither many tasks nor many restarts get round them. What is left out is counted and said.

use crate::text::{self, clean_to};
use anchorbolt_core::manifest::Limits;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

/// Where a guest printed a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    /// Its standard output.
    Out,
    /// Its standard error.
    Err,
}

/// One figure of a bolt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// Adds to a counter.
    Counter(u64),
    /// Sets a gauge.
    Gauge(f64),
    /// One value of a distribution.
    Histogram(f64),
}

/// Takes what the tasks of one bolt log and count. Called during guest calls, from any executor thread:
/// it must not block.
pub trait GuestEvents: Send + Sync {
    /// One line, cleaned, without a line break.
    fn log(&self, level: Level, line: &str);
    /// One line of what it printed, cleaned; goes to the log unless the hook wants it apart.
    fn print(&self, to: Printed, line: &str) {
        let _ = to;
        self.log(Level::Info, line);
    }
    /// One figure; the name is at most 128 bytes, and there are at most 1,000 of them.
    fn metric(&self, name: &str, value: Metric);
    /// Something outside of its grants was refused to it: what, and which line of `allow` would grant it. Each text
    /// comes once, and there are few of them.
    fn refused(&self, text: &str) {
        self.log(Level::Warn, text);
    }
}

/// Takes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl GuestEvents for Silent {
    fn log(&self, _: Level, _: &str) {}
    fn metric(&self, _: &str, _: Metric) {}
}

const METRIC_NAME_MAX: usize = 128;
const METRIC_NAMES_MAX: usize = 1000;
/// Different refusals that are told.
const REFUSALS_MAX: usize = 20;

/// The caps of one bolt in front of its hook.
pub(crate) struct Events {
    hook: Arc<dyn GuestEvents>,
    lines: Mutex<Rate>,
    names: Mutex<HashSet<String>>,
    refusals: Mutex<HashSet<String>>,
    limits: (u32, u64),
}

impl Events {
    pub(crate) fn new(hook: Arc<dyn GuestEvents>, limits: &Limits) -> Events {
        let lines =
            Rate::new(limits.log_lines_per_second.into(), limits.log_bytes_per_second, Instant::now());
        let limits = (limits.log_lines_per_second, limits.log_bytes_per_second);
        Events { hook, lines: Mutex::new(lines), names: Mutex::default(), refusals: Mutex::default(), limits }
    }

    /// Forwards one cleaned line, or counts it as left out.
    pub(crate) fn log(&self, level: Level, line: &str) {
        if self.passes(line) {
            self.hook.log(level, line);
        }
    }

    /// As [`Events::log`], for a line that was printed.
    pub(crate) fn print(&self, to: Printed, line: &str) {
        if self.passes(line) {
            self.hook.print(to, line);
        }
    }

    /// Whether a line is within the rate; says how many were not before it.
    fn passes(&self, line: &str) -> bool {
        let verdict =
            self.lines.lock().unwrap_or_else(PoisonError::into_inner).take(line.len(), Instant::now());
        if let Some(left_out) = verdict.filter(|left_out| *left_out > 0) {
            self.say_left_out(left_out);
        }
        verdict.is_some()
    }

    fn say_left_out(&self, lines: u64) {
        let (most, bytes) = (self.limits.0, text::size(self.limits.1));
        let what = if lines == 1 { "1 line was".to_owned() } else { format!("{lines} lines were") };
        self.hook.log(
            Level::Warn,
            &format!("{what} left out: the bolt logs more than {most} lines or {bytes} a second"),
        );
    }

    /// Tells of a refusal, unless it was told before.
    pub(crate) fn refused(&self, text: &str) {
        let mut told = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= REFUSALS_MAX || !told.insert(text.to_owned()) {
            return;
        }
        let last = told.len() == REFUSALS_MAX;
        drop(told);
        self.hook.refused(text);
        if last {
            self.hook.refused("further uses outside of `allow` are refused without a word");
        }
    }

    /// Forwards one figure, if its name is among the first thousand.
    pub(crate) fn metric(&self, name: &str, value: Metric) {
        let name = clean_to(name, METRIC_NAME_MAX);
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if !names.contains(&name) {
            if names.len() >= METRIC_NAMES_MAX {
                return;
            }
            names.insert(name.clone());
            if names.len() == METRIC_NAMES_MAX {
                let text = "the bolt has 1000 metrics: further names are left out";
                self.hook.log(Level::Warn, text);
            }
        }
        drop(names);
        self.hook.metric(&name, value);
    }

    /// Cleans a text that may have several lines and forwards each.
    pub(crate) fn log_text(&self, level: Level, text: &str) -> String {
        let text = text::clean(text);
        text.lines().for_each(|line| self.log(level, line));
        text
    }
}

impl Drop for Events {
    /// Lines may have been left out after which none came.
    fn drop(&mut self) {
        let left_out = self.lines.get_mut().unwrap_or_else(PoisonError::into_inner).left_out;
        if left_out > 0 {
            self.say_left_out(left_out);
        }
    }
}

/// Two token buckets of one second.
struct Rate {
    lines: Bucket,
    bytes: Bucket,
    at: Instant,
    left_out: u64,
}

struct Bucket {
    per_second: f64,
    left: f64,
}

impl Rate {
    fn new(lines: u64, bytes: u64, now: Instant) -> Rate {
        let full = |n: u64| Bucket { per_second: n as f64, left: n as f64 };
        Rate { lines: full(lines), bytes: full(bytes), at: now, left_out: 0 }
    }

    /// Whether a line of this length may pass, and how many were left out before it.
    fn take(&mut self, len: usize, now: Instant) -> Option<u64> {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.at = now;
        for bucket in [&mut self.lines, &mut self.bytes] {
            bucket.left = (bucket.left + passed * bucket.per_second).min(bucket.per_second);
        }
        if self.lines.left < 1.0 || self.bytes.left < len as f64 {
            self.left_out += 1;
            return None;
        }
        self.lines.left -= 1.0;
        self.bytes.left -= len as f64;
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_rate_passes_bursts_of_a_second_and_counts_the_rest() {
        let start = Instant::now();
        let mut rate = Rate::new(3, 100, start);
        assert_eq!([0; 3].map(|_| rate.take(10, start)), [Some(0); 3]);
        assert_eq!(rate.take(10, start), None);
        assert_eq!(rate.take(200, start + Duration::from_secs(1)), None, "longer than a second's bytes");
        assert_eq!(rate.take(10, start + Duration::from_secs(1)), Some(2));
    }
}
