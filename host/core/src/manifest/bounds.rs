//! `retry`, `limits` and `restart`: tables of numbers that bound something.

use super::codes;
use super::defaults;
use super::diagnostic::Diagnostic;
use super::model::{Limits, OnCircuitOpen, Restart};
use super::reader::{Field, Reader};
use super::topology::{ANY_SIZE, Shared, set};
use super::units::show_duration;
use super::values::{duration, integer, or_word, size, word};
use crate::retry::{OnExhausted, RetryPolicy};

const COUNT_MAX: u32 = 1_000_000_000;
/// One page of WebAssembly memory is the least that anything can run in.
const MEMORY: std::ops::RangeInclusive<u64> = 64 << 10..=1 << 40;
/// Offsets into a batch have 32 bits.
const TUPLE_BYTES: std::ops::RangeInclusive<u64> = 1..=1 << 30;

/// Reads a spout's `retry`.
pub(super) fn retry(field: Option<Field<'_>>, out: &mut Vec<Diagnostic>) -> RetryPolicy {
    let mut retry = RetryPolicy::default();
    let help = "write `retry = { max-faults = 5 }`";
    let Some(mut t) = field.and_then(|field| Reader::open(field, help, out)) else {
        return retry;
    };
    set(&mut retry.max_faults, t.read("max-faults", or_word("none", integer(1..=COUNT_MAX))));
    set(&mut retry.give_up_after, t.read("give-up-after", or_word("never", duration)));
    set(&mut retry.max_attempts, t.read("max-attempts", or_word("none", integer(1..=COUNT_MAX))));
    let backoff = t.read("backoff", duration);
    let max_backoff = t.read("max-backoff", duration);
    set(&mut retry.backoff, backoff);
    // A longer first wait that is set alone lifts the bound with it.
    let lifted = retry.max_backoff.max(retry.backoff);
    retry.max_backoff = max_backoff.unwrap_or(lifted);
    if let (true, Some(field)) = (retry.max_backoff < retry.backoff, t.peek("max-backoff")) {
        let (low, high) = (show_duration(retry.backoff), show_duration(retry.max_backoff));
        let message = format!("`{}` ({high}) is below `backoff` ({low})", field.path);
        let mistake = field.error(codes::CONTRADICTION, message).help(format!("make it at least \"{low}\""));
        let other = t.peek("backoff").map(|field| field.node.span);
        t.out.push(mistake.related(other, "the first wait"));
        retry.max_backoff = retry.backoff;
    }
    set(&mut retry.on_exhausted, t.read("on-exhausted", word(ON_EXHAUSTED)));
    t.finish();
    retry
}

const ON_EXHAUSTED: &[(&str, OnExhausted)] =
    &[("dead-letter", OnExhausted::DeadLetter), ("drop", OnExhausted::Drop), ("stop", OnExhausted::Stop)];

/// Reads a spout's `limits`: only the size of a message.
pub(super) fn spout_limits(field: Option<Field<'_>>, out: &mut Vec<Diagnostic>) -> u64 {
    let help = "write `limits = { tuple-bytes = \"16MiB\" }`";
    let Some(mut t) = field.and_then(|field| Reader::open(field, help, out)) else {
        return defaults::TUPLE_BYTES;
    };
    let bytes = t.read("tuple-bytes", size(TUPLE_BYTES)).unwrap_or(defaults::TUPLE_BYTES);
    t.finish();
    bytes
}

/// Reads a bolt's `limits`.
pub(super) fn limits(field: Option<Field<'_>>, shared: &Shared, out: &mut Vec<Diagnostic>) -> Limits {
    let timeout = shared.message_timeout.as_ref().map_or(defaults::MESSAGE_TIMEOUT, |t| t.value);
    let mut limits = Limits::new(timeout);
    let help = "write `limits = { memory = \"64MiB\", deadline = \"1s\" }`";
    let Some(mut t) = field.and_then(|field| Reader::open(field, help, out)) else {
        return limits;
    };
    let count = || integer(1..=COUNT_MAX);
    set(&mut limits.memory_bytes, t.read("memory", size(MEMORY)));
    if let Some(deadline) = t.read("deadline", duration) {
        limits.deadline = deadline;
        check_deadline(&mut t, &limits, shared);
    }
    set(&mut limits.table_elements, t.read("table-elements", count()));
    set(&mut limits.emissions_per_tuple, t.read("emissions-per-tuple", count()));
    set(&mut limits.emitted_bytes_per_tuple, t.read("emitted-bytes-per-tuple", size(ANY_SIZE)));
    set(&mut limits.anchors_per_tuple, t.read("anchors-per-tuple", count()));
    set(&mut limits.held_tuples, t.read("held-tuples", count()));
    set(&mut limits.tuple_bytes, t.read("tuple-bytes", size(TUPLE_BYTES)));
    set(&mut limits.log_bytes_per_second, t.read("log-bytes-per-second", size(ANY_SIZE)));
    set(&mut limits.log_lines_per_second, t.read("log-lines-per-second", count()));
    t.finish();
    limits
}

/// A tuple that may run as long as its tree may live would time out in place of being cut off.
fn check_deadline(t: &mut Reader<'_, '_>, limits: &Limits, shared: &Shared) {
    let (Some(field), Some(timeout)) = (t.peek("deadline"), &shared.message_timeout) else {
        return;
    };
    if limits.deadline < timeout.value {
        return;
    }
    let (deadline, limit) = (show_duration(limits.deadline), show_duration(timeout.value));
    let message = format!("`{}` ({deadline}) is not below the message timeout ({limit})", field.path);
    let help =
        format!("make it shorter than \"{limit}\", or `topology.message-timeout` longer than \"{deadline}\"");
    let mistake = field.error(codes::DEADLINE_TOO_LONG, message).help(help);
    t.out.push(mistake.related(timeout.span, "the message timeout"));
}

/// Reads a bolt's `restart`.
pub(super) fn restart(field: Option<Field<'_>>, out: &mut Vec<Diagnostic>) -> Restart {
    const WORDS: &[(&str, OnCircuitOpen)] = &[
        ("pause", OnCircuitOpen::Pause),
        ("dead-letter", OnCircuitOpen::DeadLetter),
        ("stop", OnCircuitOpen::Stop),
    ];
    let mut restart = Restart::default();
    let help = "write `restart = { budget = 10, window = \"1m\" }`";
    let Some(mut t) = field.and_then(|field| Reader::open(field, help, out)) else {
        return restart;
    };
    set(&mut restart.backoff, t.read("backoff", duration));
    set(&mut restart.budget, t.read("budget", integer(0..=COUNT_MAX)));
    set(&mut restart.window, t.read("window", duration));
    set(&mut restart.on_circuit_open, t.read("on-circuit-open", word(WORDS)));
    t.finish();
    restart
}
