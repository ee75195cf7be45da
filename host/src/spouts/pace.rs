//! When the next made-up message is due.
//!
//! In: the rate, and how long it has been running, told by the caller. Out: how many messages may be emitted
//! now, and how long to wait. What could not be emitted in time is made up for at up to twice the rate.
//!
//! Invariant: never more at once than 10 ms are worth (but at least one), never more in all than are due.

use std::time::Duration;

/// The largest burst, in seconds of the rate.
const BURST_S: f64 = 0.010;
/// While behind, the allowance grows this much faster than the rate.
const CATCH_UP: f64 = 2.0;
/// Waking up more often than this costs more than it evens out.
const WAIT_MIN: Duration = Duration::from_micros(500);

/// One task's pace.
#[derive(Debug)]
pub(crate) struct Pace {
    rate: f64,
    emitted: u64,
    allowance: f64,
    last_s: f64,
}

impl Pace {
    /// So many messages a second; the first is due at once.
    pub(crate) fn new(rate: f64) -> Pace {
        Pace { rate, emitted: 0, allowance: 1.0, last_s: 0.0 }
    }

    /// How many may be emitted now.
    pub(crate) fn allowed(&mut self, running: Duration) -> u64 {
        let now = running.as_secs_f64();
        let grown = (now - self.last_s).max(0.0) * self.rate * CATCH_UP;
        self.allowance = (self.allowance + grown).min((self.rate * BURST_S).max(1.0));
        self.last_s = now;
        let due = (now * self.rate) as u64 + 1;
        (self.allowance as u64).min(due.saturating_sub(self.emitted))
    }

    /// So many were emitted.
    pub(crate) fn took(&mut self, messages: u64) {
        self.emitted += messages;
        self.allowance -= messages as f64;
    }

    /// How long from `running` until there is another.
    pub(crate) fn wait(&self, running: Duration) -> Duration {
        let due = self.emitted as f64 / self.rate - running.as_secs_f64();
        let allowed = (1.0 - self.allowance) / (self.rate * CATCH_UP);
        // A day is as good as for ever: whoever waits asks again.
        Duration::from_secs_f64(due.max(allowed).clamp(0.0, 86_400.0)).max(WAIT_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs in steps of `step_us`; answers the total and the largest burst.
    fn run(pace: &mut Pace, from_us: u64, to_us: u64, step_us: u64) -> (u64, u64) {
        let (mut total, mut most) = (0, 0);
        for us in (from_us..=to_us).step_by(step_us as usize) {
            let n = pace.allowed(Duration::from_micros(us));
            pace.took(n);
            total += n;
            most = most.max(n);
        }
        (total, most)
    }

    #[test]
    fn the_rate_is_kept_evenly() {
        // One more than a step is worth, since moments are rounded.
        for (rate, most) in [(10.0, 1), (1_000.0, 2), (100_000.0, 101)] {
            let (total, burst) = run(&mut Pace::new(rate), 0, 10_000_000, 1_000);
            assert!(total.abs_diff((rate * 10.0) as u64) <= 1 + burst, "{rate}: {total}");
            assert!(burst <= most, "{rate}: {burst}");
        }
    }

    #[test]
    fn a_standstill_is_made_up_for_without_a_burst() {
        let mut pace = Pace::new(10_000.0);
        let before = run(&mut pace, 0, 1_000_000, 1_000).0;
        let (after, burst) = run(&mut pace, 3_000_000, 6_000_000, 1_000);
        assert!((before + after).abs_diff(60_000) <= 10, "{before} + {after}");
        assert!(burst <= 100, "{burst}");
    }

    #[test]
    fn whoever_waits_as_told_keeps_the_rate() {
        for rate in [0.5, 3.0, 997.0, 250_000.0] {
            let mut pace = Pace::new(rate);
            let (mut now, mut total) = (Duration::ZERO, 0);
            while now < Duration::from_secs(20) {
                let n = pace.allowed(now);
                pace.took(n);
                total += n;
                now += pace.wait(now);
            }
            let want = rate * 20.0;
            assert!((total as f64 - want).abs() <= 2.0 + want * 0.001, "{rate}: {total}");
        }
    }
}
