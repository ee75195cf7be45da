//! When is a failed message tried again, and when has it failed for good?
//!
//! Storm leaves this to each spout (`storm-kafka-client` has a retry service of its own); here the host
//! does it for all. In: the policy, what the message has spent so far, the failure, the time and a random
//! number. Out: a [`Verdict`].
//!
//! Who pays is in the failure's [`Cost`]: a message's own faults are counted, an outage is only waited for,
//! what others caused is free, and what can never work is over at once.
//!
//! Invariant: faults and outages end in exhaustion unless the policy says for ever, and no
//! sequence of failures of any kind makes a loop without a pause.

use crate::failure::{Cost, Failure};
use crate::ids::Time;
use std::time::Duration;

/// What becomes of a message that has failed for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnExhausted {
    /// Its bytes and its failures are kept.
    #[default]
    DeadLetter,
    /// It is only counted.
    Drop,
    /// It is kept, and the run ends.
    Stop,
}

/// How often and how long a spout's messages are tried; `retry` in the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The most faults of its own that a message can have: the fault with this number exhausts it, so a
    /// message that fails whenever it is tried is emitted this many times. (Storm's Kafka spout counts the
    /// retries after the first emission instead: its `maxRetries = n` is `max_faults = n + 1` here.) None:
    /// for ever, as Storm's core does.
    pub max_faults: Option<u32>,
    /// How long an outage is waited for, from the first failure that it caused. None: for ever.
    pub give_up_after: Option<Duration>,
    /// The most attempts, the first included, whatever ended them.
    pub max_attempts: Option<u32>,
    /// The pause after the first failure; it doubles with each further one.
    pub backoff: Duration,
    /// The longest pause.
    pub max_backoff: Duration,
    /// What becomes of an exhausted message.
    pub on_exhausted: OnExhausted,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            max_faults: Some(5),
            give_up_after: Some(Duration::from_secs(15 * 60)),
            max_attempts: None,
            backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(10),
            on_exhausted: OnExhausted::DeadLetter,
        }
    }
}

/// What one message has spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryState {
    /// Attempts that failed, whatever the cost.
    pub failures: u32,
    /// Faults of its own.
    pub faults: u32,
    /// Failures that an outage caused.
    pub waits: u32,
    /// Failures in a row that were free.
    free_in_a_row: u32,
    /// When the outage caused its first failure; means nothing while `waits` is 0.
    waits_since: Time,
}

/// What to do with a failed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Emit it again, not before this time.
    ReplayAt(Time),
    /// It has failed for good.
    Exhausted,
}

/// So many free replays in a row are at once; after that each waits, so that a death that repeats can't
/// keep a spout busy with one message.
const FREE_AT_ONCE: u32 = 3;
/// The pause of the first free replay that waits; it doubles up to `max_backoff`.
const FREE_BACKOFF: Duration = Duration::from_millis(1);

/// Decides about one failed attempt and charges it. `jitter` is any random number: a pause is between half
/// of what it is to be and all of it, so that messages that failed together do not come back together.
pub fn decide(
    policy: &RetryPolicy,
    state: &mut RetryState,
    failure: &Failure,
    now: Time,
    jitter: u64,
) -> Verdict {
    state.failures = state.failures.saturating_add(1);
    let pause = match failure.cost {
        Cost::Final => return Verdict::Exhausted,
        Cost::Fault => fault(policy, state),
        Cost::Patience => patience(policy, state, now),
        Cost::Free => Some(free(policy, state)),
    };
    if failure.cost != Cost::Free {
        state.free_in_a_row = 0;
    }
    let spent = policy.max_attempts.is_some_and(|most| state.failures >= most);
    let Some(pause) = pause.filter(|_| !spent) else {
        return Verdict::Exhausted;
    };
    let at = now.after(jittered(pause, jitter));
    let last = if failure.cost == Cost::Patience { patience_end(policy, state) } else { None };
    Verdict::ReplayAt(last.map_or(at, |last| at.min(last)))
}

/// Charges a fault: the pause, or none when there have been too many.
fn fault(policy: &RetryPolicy, state: &mut RetryState) -> Option<Duration> {
    state.faults = state.faults.saturating_add(1);
    let left = policy.max_faults.is_none_or(|most| state.faults < most);
    left.then(|| doubled(policy.backoff, state.faults - 1, policy.max_backoff))
}

/// Charges an outage: the pause, or none when it has lasted too long. The last try is at the very end of
/// the patience, however long the pauses have become.
fn patience(policy: &RetryPolicy, state: &mut RetryState, now: Time) -> Option<Duration> {
    if state.waits == 0 {
        state.waits_since = now;
    }
    state.waits = state.waits.saturating_add(1);
    let left = patience_end(policy, state).is_none_or(|end| now < end);
    left.then(|| doubled(policy.backoff, state.waits - 1, policy.max_backoff))
}

fn patience_end(policy: &RetryPolicy, state: &RetryState) -> Option<Time> {
    policy.give_up_after.map(|patience| state.waits_since.after(patience))
}

/// Charges nothing, and pauses only when it repeats.
fn free(policy: &RetryPolicy, state: &mut RetryState) -> Duration {
    state.free_in_a_row = state.free_in_a_row.saturating_add(1);
    match state.free_in_a_row.checked_sub(FREE_AT_ONCE + 1) {
        None => Duration::ZERO,
        Some(times) => doubled(FREE_BACKOFF, times, policy.max_backoff.max(FREE_BACKOFF)),
    }
}

fn doubled(pause: Duration, times: u32, most: Duration) -> Duration {
    2_u32.checked_pow(times).and_then(|factor| pause.checked_mul(factor)).map_or(most, |long| long.min(most))
}

fn jittered(pause: Duration, jitter: u64) -> Duration {
    let ns = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
    let half = ns / 2;
    // The upper half of a product of 64 bits each: `jitter` scaled to 0..=half.
    let extra = (u128::from(jitter) * (u128::from(half) + 1)) >> 64;
    Duration::from_nanos(ns - half + extra as u64)
}

#[cfg(test)]
mod tests;
