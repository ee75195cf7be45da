//! The clock that the runtime is given, so that tests can move time themselves.
//!
//! In: nothing. Out: [`Time`] since the host started, and sleeps that end at a moment or when woken.
//! Invariant: nothing else in the host asks the system what time it is, reports' wall clock apart.

use anchorbolt_core::ids::Time;
use crossbeam_utils::sync::{Parker, Unparker};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A source of time.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Time;
    /// Sleeps until woken through the parker's unparker, or until `until`.
    fn park(&self, parker: &Parker, until: Option<Time>);
}

/// The machine's monotonic clock.
#[derive(Debug)]
pub struct SystemClock(Instant);

impl SystemClock {
    /// A clock that starts now.
    pub fn start() -> Arc<SystemClock> {
        Arc::new(SystemClock(Instant::now()))
    }
}

impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> Time {
        Time(self.0.elapsed().as_nanos() as u64)
    }

    fn park(&self, parker: &Parker, until: Option<Time>) {
        match until {
            None => parker.park(),
            Some(until) => {
                let left = until.since(self.now());
                if !left.is_zero() {
                    parker.park_timeout(left);
                }
            }
        }
    }
}

/// A clock that stands still until it is moved.
#[derive(Debug, Default)]
pub struct ManualClock {
    state: Mutex<ManualState>,
}

#[derive(Debug, Default)]
struct ManualState {
    now: Time,
    sleepers: Vec<(Time, Unparker)>,
}

impl ManualClock {
    /// A clock at zero.
    pub fn new() -> Arc<ManualClock> {
        Arc::new(ManualClock::default())
    }

    /// Moves time on to this moment, unless that is past, and wakes those whose moment has come.
    pub fn advance_to(&self, to: Time) {
        self.advance(to.since(self.now()));
    }

    /// Moves time on and wakes those whose moment has come.
    pub fn advance(&self, by: Duration) {
        let mut state = self.state.lock();
        state.now = state.now.after(by);
        let now = state.now;
        state.sleepers.retain(|(until, unparker)| {
            let due = *until <= now;
            if due {
                unparker.unpark();
            }
            !due
        });
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Time {
        self.state.lock().now
    }

    fn park(&self, parker: &Parker, until: Option<Time>) {
        if let Some(until) = until {
            let mut state = self.state.lock();
            if until <= state.now {
                return;
            }
            // A sleeper that is woken early leaves its entry; it is woken once too often later, no more.
            state.sleepers.push((until, parker.unparker().clone()));
        }
        parker.park();
    }
}
