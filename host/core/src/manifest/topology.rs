//! `[topology]`: from its table to [`Topology`] and what spouts and bolts take over from it.

use super::codes;
use super::defaults;
use super::diagnostic::{Diagnostic, Spanned};
use super::model::{Ackers, Topology};
use super::names;
use super::reader::{Field, Parsed, Reader};
use super::units::show_duration;
use super::values::{duration, integer, size, text};
use crate::ids::RootId;
use std::time::Duration;

/// Sizes that only have to be above 0.
pub(super) const ANY_SIZE: std::ops::RangeInclusive<u64> = 1..=1 << 40;
const ACKERS_MAX: u32 = 256;
const QUEUE_TUPLES_MAX: u32 = 1 << 24;

/// What the tables of the components need to know of `[topology]`.
pub(super) struct Shared {
    /// `max-spout-pending`
    pub(super) max_pending: u32,
    /// `message-timeout`; none when what is written there is wrong, so that nothing can be compared to it.
    pub(super) message_timeout: Option<Spanned<Duration>>,
}

impl Shared {
    pub(super) fn new() -> Shared {
        Shared {
            max_pending: defaults::MAX_SPOUT_PENDING,
            message_timeout: Some(Spanned::bare(defaults::MESSAGE_TIMEOUT)),
        }
    }
}

/// Reads the table.
pub(super) fn read(field: Field<'_>, out: &mut Vec<Diagnostic>) -> (Topology, Shared) {
    let mut shared = Shared::new();
    let Some(mut t) = Reader::open(field, "write `[topology]` on a line of its own", out) else {
        return (Topology::default(), shared);
    };
    let name = t.require("name", "name = \"my-topology\"", text);
    if let Some(field) = t.peek("name").filter(|_| name.is_some()) {
        names::report("a topology", name.as_deref().unwrap_or_default(), field.node.span, t.out);
    }
    if let Some(field) = t.peek("message-timeout") {
        let read = t.read("message-timeout", duration);
        shared.message_timeout = read.map(|value| field.spanned(value));
    } else {
        t.field("message-timeout");
    }
    shared.max_pending = t.read("max-spout-pending", max_pending).unwrap_or(shared.max_pending);
    let timeout = shared.message_timeout.as_ref().map_or(defaults::MESSAGE_TIMEOUT, |t| t.value);
    let mut topology = Topology::new(name.unwrap_or_default(), timeout);
    read_rest(&mut t, &mut topology);
    check_tree_age(&mut t, &topology, &shared);
    t.finish();
    (topology, shared)
}

fn read_rest(t: &mut Reader<'_, '_>, topology: &mut Topology) {
    set(&mut topology.ackers, t.read("ackers", ackers));
    set(&mut topology.queue_tuples, t.read("queue-tuples", integer(1..=QUEUE_TUPLES_MAX)));
    set(&mut topology.queue_bytes, t.read("queue-bytes", size(ANY_SIZE)));
    set(&mut topology.cycle_bytes, t.read("cycle-bytes", size(ANY_SIZE)));
    set(&mut topology.max_tree_age, t.read("max-tree-age", duration));
    set(&mut topology.drain_timeout, t.read("drain-timeout", duration));
    if let Some(field) = t.field("dead-letters")
        && let Some(mut t) = Reader::open(field, "write `dead-letters = { max-bytes = \"1GiB\" }`", t.out)
    {
        set(&mut topology.dead_letters_max_bytes, t.read("max-bytes", size(ANY_SIZE)));
        topology.dead_letters_retention = t.read("retention", duration);
        t.finish();
    }
}

/// Overwrites a default with what was read.
pub(super) fn set<T>(place: &mut T, read: Option<T>) {
    if let Some(value) = read {
        *place = value;
    }
}

/// A task's bound of pending messages.
pub(super) fn max_pending(field: &Field<'_>) -> Parsed<u32> {
    integer(1..=RootId::SLOTS_MAX)(field)
}

fn ackers(field: &Field<'_>) -> Parsed<Ackers> {
    Ok(match integer(0..=ACKERS_MAX)(field)? {
        0 => Ackers::Off,
        n => Ackers::Threads(n),
    })
}

fn check_tree_age(t: &mut Reader<'_, '_>, topology: &Topology, shared: &Shared) {
    let (Some(field), Some(timeout)) = (t.peek("max-tree-age"), &shared.message_timeout) else {
        return;
    };
    if topology.max_tree_age >= timeout.value {
        return;
    }
    let (age, limit) = (show_duration(topology.max_tree_age), show_duration(timeout.value));
    let message = format!("`topology.max-tree-age` ({age}) is below the message timeout ({limit})");
    let mistake = field.error(codes::CONTRADICTION, message);
    t.out.push(
        mistake
            .help(format!("make it at least \"{limit}\", or leave it out: ten times the message timeout"))
            .related(timeout.span, "the message timeout"),
    );
}
