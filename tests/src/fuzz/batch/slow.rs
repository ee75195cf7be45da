//! What a call comes to, by slow and obvious code.
//!
//! In: the same tuples and logs that the host gets. Out: what is settled, and which copies go to which task. Of the host
//! it uses the plan and the hash of a key, which another target looks at. Invariant: a breach changes nothing that
//! counts.

use super::super::model;
use super::{INDEX, ROW_BYTES_MAX};
use anchorbolt_core::failure::{Class, Cost};
use anchorbolt_core::grouping::candidates;
use anchorbolt_core::ids::RootId;
use anchorbolt_core::plan::{Grouping, Plan};
use anchorbolt_core::port::{Emissions, FailKind, Op};
use anchorbolt_row::key_hash;
use std::collections::{BTreeMap, BTreeSet};

/// A tuple that the task has.
pub(super) struct Tuple {
    pub(super) lineage: BTreeMap<RootId, u64>,
    pub(super) attempt: u32,
    pub(super) children: u64,
    pub(super) live: bool,
}

/// A tuple on its way.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Copy {
    pub(super) input: u32,
    pub(super) row: Vec<u8>,
    pub(super) attempt: u32,
    pub(super) lineage: BTreeMap<RootId, u64>,
}

/// What a call did.
#[derive(Debug, Default)]
pub(super) struct Settled {
    pub(super) acks: BTreeMap<RootId, u64>,
    pub(super) fails: Vec<(RootId, Class, Cost)>,
    pub(super) resets: Vec<RootId>,
    pub(super) copies: BTreeMap<u32, Vec<Copy>>,
    /// The trees of all tuples that the log names.
    pub(super) named: BTreeSet<RootId>,
    blamed: BTreeSet<u32>,
    emitted: u64,
    transferred: u64,
    acked: u64,
    failed: u64,
    repeated: u64,
    breaches: u64,
}

impl Settled {
    pub(super) fn counts(&self) -> [u64; 6] {
        [self.emitted, self.transferred, self.acked, self.failed, self.repeated, self.breaches]
    }
}

/// The task as it should be.
pub(super) struct Slow<'p> {
    plan: &'p Plan,
    work: usize,
    pub(super) tuples: BTreeMap<u32, Tuple>,
    /// Handles that were ever given out.
    pub(super) given: BTreeSet<u32>,
    next: u32,
    wrapped: bool,
    /// Whose turn it is, for each edge of the plan.
    pub(super) turns: BTreeMap<usize, u32>,
    /// How often each task was picked by a partial key, for each edge and task.
    pub(super) used: BTreeMap<(usize, u32), u64>,
    pub(super) edge: u64,
}

/// A breach that no tuple can be blamed for.
pub(super) type Breach = String;

enum Handle {
    Live,
    Settled,
    Unknown,
}

impl<'p> Slow<'p> {
    pub(super) fn new(plan: &'p Plan, work: usize, first: u32) -> Slow<'p> {
        let (tuples, given) = (BTreeMap::new(), BTreeSet::new());
        Slow {
            plan,
            work,
            tuples,
            given,
            next: first,
            wrapped: false,
            turns: BTreeMap::new(),
            used: BTreeMap::new(),
            edge: 1 << 32,
        }
    }

    pub(super) fn draw(&mut self) -> u64 {
        self.edge += 1;
        self.edge
    }

    /// A call begins with so many handles from `base`.
    pub(super) fn begin(&mut self, base: u32, count: u32) {
        self.wrapped |= base < self.next;
        self.next = base + count;
        // What was settled and is given out again is another tuple now.
        self.tuples.retain(|_, tuple| tuple.live);
    }

    pub(super) fn push(&mut self, handle: u32, tuple: Tuple) {
        assert!(!self.tuples.contains_key(&handle), "handle {handle} is live and is given out again");
        self.given.insert(handle);
        self.tuples.insert(handle, tuple);
    }

    pub(super) fn live(&self) -> Vec<u32> {
        self.tuples.iter().filter(|(_, tuple)| tuple.live).map(|(handle, _)| *handle).collect()
    }

    /// Applies a log.
    pub(super) fn apply(&mut self, log: &[Op]) -> Result<Settled, Breach> {
        let mut done = Settled::default();
        for op in log {
            match op {
                Op::Emit(e) => self.emit(e, None, &mut done)?,
                Op::EmitPlaced(e, placed) => self.emit(e, Some(placed), &mut done)?,
                Op::Ack(ids) => ids.iter().try_for_each(|id| self.ack(*id, &mut done))?,
                Op::Fail(list) => {
                    list.iter().try_for_each(|(id, kind, _)| self.fail(*id, *kind, &mut done))?
                }
                Op::ResetTimeout(ids) => ids.iter().try_for_each(|id| self.reset(*id, &mut done))?,
                Op::ReportError(_) => {}
            }
        }
        Ok(done)
    }

    fn look(&self, handle: u32, done: &mut Settled) -> Handle {
        match self.tuples.get(&handle) {
            Some(tuple) => {
                done.named.extend(tuple.lineage.keys());
                if tuple.live { Handle::Live } else { Handle::Settled }
            }
            None if handle != 0 && (self.wrapped || handle < self.next) => Handle::Settled,
            None => Handle::Unknown,
        }
    }

    fn ack(&mut self, handle: u32, done: &mut Settled) -> Result<(), Breach> {
        match self.look(handle, done) {
            Handle::Unknown => return Err(format!("ack of {handle}")),
            Handle::Settled => done.repeated += 1,
            Handle::Live => {
                done.acked += 1;
                let Some(tuple) = self.tuples.get_mut(&handle) else { return Ok(()) };
                tuple.live = false;
                for (root, edge) in &tuple.lineage {
                    *done.acks.entry(*root).or_default() ^= edge ^ tuple.children;
                }
            }
        }
        Ok(())
    }

    fn fail(&mut self, handle: u32, kind: FailKind, done: &mut Settled) -> Result<(), Breach> {
        let (class, cost) = match kind {
            FailKind::Fail => (Class::Failed, Cost::Fault),
            FailKind::Retry => (Class::Failed, Cost::Patience),
            FailKind::Reject => (Class::Rejected, Cost::Final),
        };
        match self.look(handle, done) {
            Handle::Unknown => return Err(format!("fail of {handle}")),
            Handle::Settled => done.repeated += 1,
            Handle::Live => self.end(handle, class, cost, done),
        }
        Ok(())
    }

    /// A live tuple fails.
    fn end(&mut self, handle: u32, class: Class, cost: Cost, done: &mut Settled) {
        let Some(tuple) = self.tuples.get_mut(&handle) else { return };
        tuple.live = false;
        done.failed += 1;
        done.fails.extend(tuple.lineage.keys().map(|root| (*root, class, cost)));
    }

    fn reset(&self, handle: u32, done: &mut Settled) -> Result<(), Breach> {
        match self.look(handle, done) {
            Handle::Unknown => return Err(format!("reset of {handle}")),
            Handle::Settled => done.repeated += 1,
            Handle::Live => {
                done.resets.extend(self.tuples.get(&handle).into_iter().flat_map(|t| t.lineage.keys()))
            }
        }
        Ok(())
    }

    fn emit(&mut self, e: &Emissions, placed: Option<&[Vec<u32>]>, done: &mut Settled) -> Result<(), Breach> {
        columns(e)?;
        for i in 0..e.streams.len() {
            let row = &e.data[e.offsets[i] as usize..e.offsets[i + 1] as usize];
            let anchors = &e.anchors[e.anchor_offsets[i] as usize..e.anchor_offsets[i + 1] as usize];
            if !anchors.is_empty() && anchors.iter().all(|handle| done.blamed.contains(handle)) {
                continue;
            }
            let target = e.targets.get(i).copied().unwrap_or(0);
            self.emit_one(e.streams[i], target, placed.map(|all| &all[i][..]), row, anchors, done)?;
        }
        Ok(())
    }

    fn emit_one(
        &mut self,
        stream: u32,
        target: u32,
        placed: Option<&[u32]>,
        row: &[u8],
        anchors: &[u32],
        done: &mut Settled,
    ) -> Result<(), Breach> {
        let mut live = vec![];
        for &handle in anchors {
            match self.look(handle, done) {
                Handle::Live => live.push(handle),
                Handle::Settled => {}
                Handle::Unknown => return Err(format!("anchor {handle}")),
            }
        }
        if live.is_empty() && !anchors.is_empty() {
            return Err("settled anchors only".to_owned());
        }
        let receivers = match placed {
            Some(placed) => Ok(self.inputs_of(stream, placed)),
            None => self.receivers(stream, target, row),
        };
        let receivers = match receivers {
            Ok(receivers) => receivers,
            Err(_) if anchors.is_empty() => return Err("a bad row without an anchor".to_owned()),
            Err(class) => {
                for handle in live {
                    if done.blamed.insert(handle) {
                        self.end(handle, class, Cost::Fault, done);
                        done.breaches += 1;
                    }
                }
                return Ok(());
            }
        };
        done.emitted += 1;
        done.transferred += receivers.len() as u64;
        let attempt =
            live.iter().filter_map(|handle| Some(self.tuples.get(handle)?.attempt)).max().unwrap_or(1);
        for (task, input) in receivers {
            let mut lineage: BTreeMap<RootId, u64> = BTreeMap::new();
            for handle in &live {
                let edge = self.draw();
                let Some(tuple) = self.tuples.get_mut(handle) else { continue };
                tuple.children ^= edge;
                tuple.lineage.keys().for_each(|root| *lineage.entry(*root).or_default() ^= edge);
            }
            done.copies.entry(task).or_default().push(Copy { input, row: row.to_vec(), attempt, lineage });
        }
        Ok(())
    }

    /// The tasks that get a row, each with its input; or of what class the mistake is.
    pub(super) fn receivers(
        &mut self,
        stream: u32,
        target: u32,
        row: &[u8],
    ) -> Result<Vec<(u32, u32)>, Class> {
        let Some(output) = self.plan.components[self.work].outputs.get(stream as usize) else {
            return Err(Class::Protocol);
        };
        if row.len() as u64 > ROW_BYTES_MAX {
            return Err(Class::Size);
        }
        let edges: Vec<_> = output.consumers.iter().map(|e| (*e, &self.plan.edges[*e])).collect();
        let tasks = |to: usize| self.plan.components[to].tasks.clone();
        let named = edges
            .iter()
            .any(|(_, e)| matches!(e.grouping, Grouping::Direct) && tasks(e.to).contains(&target));
        if ((output.direct || target != 0) && !named) || model::row(row, output.fields.len()).is_none() {
            return Err(Class::Protocol);
        }
        let mut receivers = vec![];
        for (e, edge) in edges {
            let tasks = tasks(edge.to);
            let n = tasks.end - tasks.start;
            match &edge.grouping {
                Grouping::Fields(fields) => {
                    let hash = key_hash(row, output.fields.len(), fields).unwrap_or(0);
                    receivers.push((tasks.start + (hash % u64::from(n)) as u32, edge.input));
                }
                Grouping::All => receivers.extend(tasks.map(|task| (task, edge.input))),
                Grouping::Global => receivers.push((tasks.start, edge.input)),
                Grouping::Direct if tasks.contains(&target) => receivers.push((target, edge.input)),
                Grouping::Direct => {}
                Grouping::PartialKey(fields) => {
                    let hash = key_hash(row, output.fields.len(), fields).unwrap_or(0);
                    let (one, other) = candidates(hash, n);
                    let used = |task: u32| self.used.get(&(e, task)).copied().unwrap_or(0);
                    let task = if used(other) < used(one) { other } else { one };
                    *self.used.entry((e, task)).or_default() += 1;
                    receivers.push((tasks.start + task, edge.input));
                }
                _ => {
                    let turn = self.turns.entry(e).or_insert(INDEX % n);
                    receivers.push((tasks.start + *turn, edge.input));
                    *turn = (*turn + 1) % n;
                }
            }
        }
        Ok(receivers)
    }

    /// The inputs of tasks that were drawn before.
    fn inputs_of(&self, stream: u32, placed: &[u32]) -> Vec<(u32, u32)> {
        let consumers = self.plan.components[self.work].outputs.get(stream as usize).map(|o| &o.consumers);
        let input = |task: &u32| {
            let edges = consumers.into_iter().flatten().map(|e| &self.plan.edges[*e]);
            let mut to = edges.filter(|edge| self.plan.components[edge.to].tasks.contains(task));
            to.next().map_or(u32::MAX, |edge| edge.input)
        };
        placed.iter().map(|task| (*task, input(task))).collect()
    }
}

/// Lengths agree; offsets begin at 0, do not descend, and end within what they point into.
fn columns(e: &Emissions) -> Result<(), Breach> {
    let m = e.streams.len();
    let right = |offsets: &[u32], end: usize| {
        offsets.len() == m + 1 && offsets[0] == 0 && offsets.is_sorted() && offsets[m] as usize <= end
    };
    let targets = e.targets.is_empty() || e.targets.len() == m;
    match right(&e.offsets, e.data.len()) && right(&e.anchor_offsets, e.anchors.len()) && targets {
        true => Ok(()),
        false => Err("columns disagree".to_owned()),
    }
}
