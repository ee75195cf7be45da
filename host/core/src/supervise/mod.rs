//! What follows the death of an instance: a fresh one at once, one after a pause, or none.
//!
//! In: deaths with who is to blame, successes, the time. Out: an [`Action`]. A tuple that kills is the
//! tuple's affair ([`crate::retry`] bounds it) and its bolt goes on at once. What is charged to the bolt are
//! deaths that no tuple is to blame for, and tuples in a row that all kill: then it is likely the bolt that
//! is broken, and going on would turn every message into a dead letter.
//!
//! A call of many tuples that dies says nothing yet: the caller runs them again one by one and reports what
//! that shows, the tuple that killed alone or, when none did, a death that nobody is to blame for.
//!
//! Invariant: at most `budget` charged deaths in any `window` are followed by a fresh instance.

use crate::ids::Time;
use std::collections::VecDeque;
use std::time::Duration;

/// `restart` in the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestartPolicy {
    /// The pause after the first charged death; it doubles with each further one in the window.
    pub backoff: Duration,
    /// How many charged deaths a window bears.
    pub budget: u32,
    /// How long a charged death counts.
    pub window: Duration,
}

impl Default for RestartPolicy {
    fn default() -> Self {
        let (backoff, window) = (Duration::from_millis(100), Duration::from_secs(60));
        RestartPolicy { backoff, budget: 10, window }
    }
}

/// Who is to blame for a death.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// Nobody: it died without a tuple, or each of the call's tuples is innocent.
    Nobody,
    /// The one tuple it was called with.
    OneTuple,
    /// One of several tuples, if any: to be found out.
    Unknown,
}

/// What to do after a death.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Go on with a fresh instance.
    RestartNow,
    /// Go on with a fresh instance, not before this time.
    RestartAt(Time),
    /// Make no more: the circuit is open until [`Supervisor::close_circuit`].
    OpenCircuit,
}

/// Watches over the instances of one task.
#[derive(Clone, Debug)]
pub struct Supervisor {
    policy: RestartPolicy,
    /// Charged deaths of the window, at most `budget`.
    charged: VecDeque<Time>,
    killers_in_a_row: u32,
    open: bool,
}

impl Supervisor {
    /// A task that has never died.
    pub fn new(policy: RestartPolicy) -> Supervisor {
        Supervisor { policy, charged: VecDeque::new(), killers_in_a_row: 0, open: false }
    }

    /// The instance died.
    pub fn on_death(&mut self, blame: Blame, now: Time) -> Action {
        if self.open {
            return Action::OpenCircuit;
        }
        match blame {
            Blame::Unknown => Action::RestartNow,
            Blame::Nobody => self.charge(now),
            Blame::OneTuple => {
                self.killers_in_a_row = self.killers_in_a_row.saturating_add(1);
                // A few poison messages lie side by side now and then: that is no broken bolt.
                let free = self.killers_in_a_row <= self.policy.budget.max(1);
                if free { Action::RestartNow } else { self.charge(now) }
            }
        }
    }

    /// A call came back: the bolt can work. Deaths that were charged stay so until their window ends.
    #[inline]
    pub fn on_success(&mut self) {
        self.killers_in_a_row = 0;
    }

    /// Whether the circuit is open.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Someone mended the bolt (a swap) or wants it tried again: everything is forgiven.
    pub fn close_circuit(&mut self) {
        *self = Supervisor::new(self.policy);
    }

    fn charge(&mut self, now: Time) -> Action {
        while self.charged.front().is_some_and(|&death| now.since(death) >= self.policy.window) {
            self.charged.pop_front();
        }
        if self.charged.len() >= self.policy.budget as usize {
            self.open = true;
            return Action::OpenCircuit;
        }
        self.charged.push_back(now);
        Action::RestartAt(now.after(self.pause()))
    }

    /// The pause doubles, but only so far that the whole budget can be spent in one window: else a bolt that
    /// always dies would be tried for ever instead of opening its circuit.
    fn pause(&self) -> Duration {
        let RestartPolicy { backoff, budget, window } = self.policy;
        let most = (window / budget.saturating_mul(2).max(1)).max(backoff);
        let times = self.charged.len().saturating_sub(1) as u32;
        2_u32.checked_pow(times).and_then(|n| backoff.checked_mul(n)).map_or(most, |pause| pause.min(most))
    }
}

#[cfg(test)]
mod tests;
