//! Applies the log of one call.
//!
//! Emissions go to the router, settlements to [`Effects`], in the order of the log. What can be blamed on
//! live tuples fails them; what can't is a [`Violation`], and the caller treats the call as dead: it
//! discards the router's open batches and runs the tuples again one by one.

use super::Effects;
use super::columns::check_columns;
use super::held::{Entry, Found, Held};
use crate::batch::Lineage;
use crate::failure::{Class, Cost, FailedInput, Failure};
use crate::grouping::{Anchor, Router, RowFault, Source};
use crate::ids::{Edge, Path, Paths, TaskId};
use crate::port::{Emissions, FailKind, Op, Tuples};

/// A breach of the contract that can't be blamed on a tuple. It costs the call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Violation {
    /// What was done, for a person.
    pub reason: String,
    /// The call has more of something than any call may have: one of fewer tuples may not.
    pub crowded: bool,
}

impl Violation {
    pub(super) fn new(reason: impl Into<String>) -> Violation {
        Violation { reason: reason.into(), crowded: false }
    }

    /// The tuples that the call emits or resets are in too many trees.
    fn trees(what: &str, trees: u64) -> Violation {
        let reason = format!(
            "{what}: the tuples of the call belong to {trees} trees in all, at most {CALL_TREES_MAX}: \
             anchor to fewer tuples, or to such that come of fewer messages"
        );
        Violation { reason, crowded: true }
    }
}

/// How many trees the tuples that a call emits, and those that it resets, may belong to, each counted for itself. A tuple
/// that came of a thousand messages counts a thousand times: so often its edge has to be kept.
const CALL_TREES_MAX: u64 = 4_000_000;
/// A failure keeps the row of its tuple up to this size.
const INPUT_BYTES_MAX: usize = 64 << 10;

/// Applies logs for one task: who it is, for the failures it writes.
pub struct Applier {
    /// The bolt.
    pub component: String,
    /// The task.
    pub task: TaskId,
    /// Its input streams, each as `component/stream`.
    pub streams: Vec<String>,
}

/// What settlements work on: what the task holds, what they come to, and the tuples of the call.
struct Ends<'a> {
    held: &'a mut Held,
    effects: &'a mut Effects,
    tuples: &'a Tuples,
}

impl Applier {
    /// Applies the log of a call that was made with these tuples.
    ///
    /// # Errors
    /// At the first breach that no live tuple can be blamed for. The router and `effects` then hold
    /// half of the call and must be discarded.
    pub fn apply(
        &self,
        log: &mut Vec<Op>,
        tuples: &Tuples,
        held: &mut Held,
        router: &mut Router,
        effects: &mut Effects,
        draw: &mut impl FnMut() -> Edge,
    ) -> Result<(), Violation> {
        // The number of the next emission, as custom groupings were asked.
        let mut number = 0;
        for op in log.drain(..) {
            let mut ends = Ends { held, effects, tuples };
            match op {
                Op::Emit(e) => {
                    self.emit(&e, Given::Number(number), &mut ends, router, draw)?;
                    number += e.streams.len() as u32;
                }
                Op::EmitPlaced(e, placed) => {
                    self.emit(&e, Given::Places(&placed), &mut ends, router, draw)?
                }
                Op::Ack(ids) => ack(&ids, held, effects)?,
                Op::Fail(list) => self.fail(list, &mut ends)?,
                Op::ResetTimeout(ids) => reset(&ids, held, effects)?,
                Op::ReportError(text) => effects.errors.push(text),
            }
        }
        held.sweep(&effects.settled_kept);
        effects.resets.sort_unstable();
        effects.resets.dedup();
        Ok(())
    }

    /// A failure of this task's.
    pub fn failure(&self, class: Class, cost: Cost, reason: String) -> Failure {
        let (component, output) = (self.component.clone(), String::new());
        Failure { class, cost, component, task: self.task, reason, output, input: None }
    }

    fn emit(
        &self,
        e: &Emissions,
        given: Given<'_>,
        ends: &mut Ends<'_>,
        router: &mut Router,
        draw: &mut impl FnMut() -> Edge,
    ) -> Result<(), Violation> {
        check_columns(e)?;
        for (i, &stream) in e.streams.iter().enumerate() {
            let row = &e.data[e.offsets[i] as usize..e.offsets[i + 1] as usize];
            let anchors = &e.anchors[e.anchor_offsets[i] as usize..e.anchor_offsets[i + 1] as usize];
            if ends.effects.all_blamed(anchors) {
                continue;
            }
            let target = e.targets.get(i).copied().unwrap_or(0);
            let to = match given {
                Given::Places(list) => To::Placed(list.get(i).map_or(&[], |l| &l[..])),
                Given::Number(first) => {
                    router.number(first + i as u32);
                    To::Grouping(target)
                }
            };
            let result = match anchors {
                [one] => emit_from_one(*one, stream, to, row, ends.held, router, draw)?,
                _ => emit_from_many(anchors, stream, to, row, ends.held, router, draw)?,
            };
            match result {
                Ok(copies) => {
                    ends.effects.emitted += 1;
                    ends.effects.transferred += u64::from(copies);
                    if router.trees() > CALL_TREES_MAX {
                        return Err(Violation::trees("emit", router.trees()));
                    }
                }
                Err(fault) => self.blame(i, anchors, &fault, ends)?,
            }
        }
        Ok(())
    }

    /// Fails the anchors of a bad emission.
    #[cold]
    fn blame(
        &self,
        i: usize,
        anchors: &[u32],
        fault: &RowFault,
        ends: &mut Ends<'_>,
    ) -> Result<(), Violation> {
        let custom = fault.custom();
        if anchors.is_empty() && custom.is_none() {
            return Err(Violation::new(format!("emission {i}: {fault}")));
        }
        // Without the index: the like of it are counted together.
        let cost = custom.map_or(Cost::Fault, |custom| custom.cost);
        let mut failure = self.failure(fault.class(), cost, fault.to_string());
        failure.output = custom.map_or_else(String::new, |custom| custom.output.clone());
        if anchors.is_empty() {
            // No fault of the bolt's, and nobody to replay it.
            failure.reason += " (the emission has no anchor: it is lost)";
            ends.effects.breaches.push(failure);
            return Ok(());
        }
        for &handle in anchors {
            if self.fail_one(handle, failure.clone(), ends) {
                ends.effects.breaches.push(failure.clone());
                ends.effects.blamed.push(handle);
            }
        }
        Ok(())
    }

    fn fail(&self, list: Vec<(u32, FailKind, String)>, ends: &mut Ends<'_>) -> Result<(), Violation> {
        for (handle, kind, reason) in list {
            let (class, cost) = match kind {
                FailKind::Fail => (Class::Failed, Cost::Fault),
                FailKind::Retry => (Class::Failed, Cost::Patience),
                FailKind::Reject => (Class::Rejected, Cost::Final),
            };
            if !self.fail_one(handle, self.failure(class, cost, reason), ends) {
                match ends.held.find(handle) {
                    Found::Unknown => return Err(unknown("fail", handle)),
                    _ => ends.effects.repeated += 1,
                }
            }
        }
        Ok(())
    }

    /// Fails a tuple, if it is live, with the row that the bolt had.
    fn fail_one(&self, handle: u32, mut failure: Failure, ends: &mut Ends<'_>) -> bool {
        let row = ends.held.index_in_call(handle).map(|i| ends.tuples.row(i));
        let Found::Live(entry) = ends.held.find(handle) else { return false };
        failure.input = self.input(entry, row);
        ends.effects.fail_entry(entry, &failure);
        ends.effects.settled_kept.push(handle);
        true
    }

    /// The row of a tuple as its failure keeps it. Of one held from an earlier call it is not known.
    pub fn input(&self, entry: &Entry, row: Option<&[u8]>) -> Option<FailedInput> {
        let row = row.filter(|row| row.len() <= INPUT_BYTES_MAX)?.to_vec();
        let stream = self.streams.get(entry.input as usize)?.clone();
        Some(FailedInput { stream, row })
    }
}

/// What is known beforehand of where the emissions of one entry go.
#[derive(Clone, Copy)]
enum Given<'a> {
    /// The number of the first, by which the router knows what custom groupings chose.
    Number(u32),
    /// What the groupings picked for each during the call.
    Places(&'a [Vec<TaskId>]),
}

/// Where an emission goes.
#[derive(Clone, Copy)]
enum To<'a> {
    /// To whom the groupings pick; the task a direct stream names.
    Grouping(TaskId),
    /// To whom they picked during the call.
    Placed(&'a [TaskId]),
}

type Routed = Result<Result<u32, RowFault>, Violation>;

/// The usual case: one anchor, and that of one tree. No list is built.
#[inline]
fn emit_from_one(
    handle: u32,
    stream: u32,
    to: To<'_>,
    row: &[u8],
    held: &mut Held,
    router: &mut Router,
    draw: &mut impl FnMut() -> Edge,
) -> Routed {
    let Found::Live(entry) = held.find(handle) else {
        return emit_from_many(&[handle], stream, to, row, held, router, draw);
    };
    if router.keeps_paths() {
        router.descend(Paths::of(entry.path, entry.emitted));
    }
    entry.emitted = entry.emitted.wrapping_add(1);
    let attempt = entry.attempt;
    if let (Lineage::One(root, _), To::Grouping(target)) = (&entry.lineage, to) {
        return Ok(router.route(stream, target, row, attempt, Source::One(*root), draw).map(
            |(xor, copies)| {
                entry.children ^= xor;
                copies
            },
        ));
    }
    let mut anchor = [Anchor { lineage: &entry.lineage, children: entry.children }];
    let routed = send(router, stream, to, row, attempt, Source::Anchors(&mut anchor), draw);
    let [Anchor { children, .. }] = anchor;
    entry.children = children;
    Ok(routed)
}

/// Several anchors, or none. Settled ones are left out; none but settled ones is a breach.
fn emit_from_many(
    handles: &[u32],
    stream: u32,
    to: To<'_>,
    row: &[u8],
    held: &mut Held,
    router: &mut Router,
    draw: &mut impl FnMut() -> Edge,
) -> Routed {
    if handles.is_empty() {
        return Ok(send(router, stream, to, row, 1, Source::None, draw));
    }
    let mut parents: Vec<(u32, Lineage, (Path, u32))> = Vec::with_capacity(handles.len());
    let (mut attempt, mut settled) = (1, None);
    for &handle in handles {
        match held.find(handle) {
            Found::Live(entry) => {
                attempt = attempt.max(entry.attempt);
                parents.push((handle, entry.lineage.clone(), (entry.path, entry.emitted)));
                entry.emitted = entry.emitted.wrapping_add(1);
            }
            Found::Settled => settled = Some(handle),
            Found::Unknown => return Err(unknown("emit", handle)),
        }
    }
    if let (true, Some(handle)) = (parents.is_empty(), settled) {
        return Err(Violation::new(format!("emit: anchored to tuple {handle}, which was settled before")));
    }
    let mut anchors: Vec<Anchor<'_>> =
        parents.iter().map(|(_, lineage, _)| Anchor { lineage, children: 0 }).collect();
    router.descend(Paths::of_many(parents.iter().map(|(.., place)| *place)));
    let routed = send(router, stream, to, row, attempt, Source::Anchors(&mut anchors), draw);
    let children: Vec<Edge> = anchors.iter().map(|a| a.children).collect();
    for ((handle, ..), xor) in parents.iter().zip(children) {
        if let Found::Live(entry) = held.find(*handle) {
            entry.children ^= xor;
        }
    }
    Ok(routed)
}

fn send(
    router: &mut Router,
    stream: u32,
    to: To<'_>,
    row: &[u8],
    attempt: u32,
    source: Source<'_, '_>,
    draw: &mut impl FnMut() -> Edge,
) -> Result<u32, RowFault> {
    match to {
        To::Grouping(target) => router.route(stream, target, row, attempt, source, draw).map(|(_, n)| n),
        To::Placed(tasks) => router.route_placed(stream, tasks, row, attempt, source, draw),
    }
}

#[inline]
fn ack(ids: &[u32], held: &mut Held, effects: &mut Effects) -> Result<(), Violation> {
    for &handle in ids {
        match held.find(handle) {
            Found::Live(entry) => effects.ack_entry(entry),
            Found::Settled => {
                effects.repeated += 1;
                continue;
            }
            Found::Unknown => return Err(unknown("ack", handle)),
        }
        if held.index_in_call(handle).is_none() {
            effects.settled_kept.push(handle);
        }
    }
    Ok(())
}

fn reset(ids: &[u32], held: &mut Held, effects: &mut Effects) -> Result<(), Violation> {
    for &handle in ids {
        match held.find(handle) {
            Found::Live(entry) => effects.resets.extend(entry.lineage.iter().map(|(root, _)| root)),
            Found::Settled => effects.repeated += 1,
            Found::Unknown => return Err(unknown("reset-timeout", handle)),
        }
        let trees = effects.resets.len() as u64;
        if trees > CALL_TREES_MAX {
            return Err(Violation::trees("reset-timeout", trees));
        }
    }
    Ok(())
}

fn unknown(what: &str, handle: u32) -> Violation {
    Violation::new(format!("{what}: handle {handle} was never given to this task"))
}
