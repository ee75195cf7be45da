//! The router of one task: rows in, batches for other tasks out.
//!
//! Rows are checked once (structure and arity, in the same pass that hashes the fields of a grouping) and
//! copied once, into the batch of each receiver. Batches stay here until [`Router::take`]; a call that dies
//! is undone by [`Router::discard`].

use super::route::{Picked, Route};
use crate::batch::{Batch, Lineage};
use crate::ids::{Edge, RootId, TaskId};
use crate::plan::Plan;
use anchorbolt_row::{RowError, check_row, key_hash};

/// A batch is sealed at this many tuples, or [`SEAL_BYTES`]: receivers start while the call's rest is routed.
const SEAL_TUPLES: usize = 1024;
const SEAL_BYTES: usize = 1 << 20;

/// Why a row can't be routed. The text names what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowFault {
    /// No such output stream.
    #[error("stream index {index} is not declared: there are {declared} output streams")]
    Stream {
        /// The index that was given.
        index: u32,
        /// How many are declared.
        declared: usize,
    },
    /// Not a row of the stream.
    #[error("row on stream `{stream}`: {error}")]
    Row {
        /// The stream.
        stream: String,
        /// What is wrong with the row.
        error: RowError,
    },
    /// Larger than the limit.
    #[error("row on stream `{stream}` has {bytes} bytes, more than tuple-bytes = {limit}")]
    Size {
        /// The stream.
        stream: String,
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: u64,
    },
    /// The emission's target is not a task of a direct subscriber.
    #[error("task {task} takes nothing from stream `{stream}`")]
    Target {
        /// The stream.
        stream: String,
        /// The target.
        task: TaskId,
    },
}

/// What the children of an emission descend from.
pub enum Source<'a, 'b> {
    /// Nothing: untracked.
    None,
    /// One tree.
    One(RootId),
    /// Anchors, each with its trees. Every copy draws one edge for each anchor, which is XORed into the
    /// anchor's `children`.
    Anchors(&'a mut [Anchor<'b>]),
}

/// One anchor of an emission.
pub struct Anchor<'a> {
    /// The anchor's own lineage.
    pub lineage: &'a Lineage,
    /// The XOR of the edges of its children so far.
    pub children: u64,
}

struct Stream {
    name: String,
    arity: usize,
    direct: bool,
    routes: Vec<Route>,
}

/// The router of one task.
pub struct Router {
    task: TaskId,
    streams: Vec<Stream>,
    tuple_bytes_max: u64,
    seal_tuples: usize,
    /// The open batch for each task of the topology, by task id.
    open: Vec<Option<Batch>>,
    /// Tasks with an open batch, in the order in which they got one.
    dirty: Vec<TaskId>,
    sealed: Vec<Batch>,
    spare: Vec<Batch>,
    turns: Vec<u32>,
    /// The hash that each route of the row in hand needs; as long as the most routes of a stream.
    hashes: Vec<u64>,
}

impl Router {
    /// The router of task `index` of a component.
    pub fn new(plan: &Plan, component: usize, index: u32, tuple_bytes_max: u64) -> Router {
        let me = &plan.components[component];
        let streams = me.outputs.iter().map(|output| Stream {
            name: output.name.clone(),
            arity: output.fields.len(),
            direct: output.direct,
            routes: output
                .consumers
                .iter()
                .map(|&e| {
                    let edge = &plan.edges[e];
                    Route::new(&edge.grouping, plan.components[edge.to].tasks.clone(), edge.input, index)
                })
                .collect(),
        });
        let tasks = plan.components.iter().map(|c| c.tasks.end).max().unwrap_or(1);
        Router {
            task: me.tasks.start + index,
            hashes: vec![0; me.outputs.iter().map(|o| o.consumers.len()).max().unwrap_or(0)],
            streams: streams.collect(),
            tuple_bytes_max,
            seal_tuples: SEAL_TUPLES.min(plan.topology.queue_tuples.max(1) as usize),
            open: (0..tasks).map(|_| None).collect(),
            dirty: vec![],
            sealed: vec![],
            spare: vec![],
            turns: vec![],
        }
    }

    /// Whether the emitter names the receivers on this stream.
    #[inline]
    pub fn direct(&self, stream: u32) -> bool {
        self.streams.get(stream as usize).is_some_and(|s| s.direct)
    }

    /// Routes a row to its receivers. Returns the XOR of the edges of its copies when the source is one
    /// tree, and how many copies there are.
    ///
    /// # Errors
    /// When the row is not one of the stream; nothing is routed then.
    #[inline]
    pub fn route(
        &mut self,
        stream: u32,
        target: TaskId,
        row: &[u8],
        attempt: u32,
        mut source: Source<'_, '_>,
        draw: &mut impl FnMut() -> Edge,
    ) -> Result<(u64, u32), RowFault> {
        self.check(stream, target, row)?;
        let routes = self.streams.get(stream as usize).map_or(0, |s| s.routes.len());
        let (mut xor, mut copies) = (0, 0);
        for r in 0..routes {
            let route = &mut self.streams[stream as usize].routes[r];
            let (input, tasks, hash) = (route.input, route.tasks(), self.hashes[r]);
            match route.pick(hash, target) {
                Picked::One(i) => {
                    xor ^= self.copy(tasks.start + i, input, row, attempt, &mut source, draw);
                    copies += 1;
                }
                Picked::All => {
                    copies += tasks.len() as u32;
                    for task in tasks {
                        xor ^= self.copy(task, input, row, attempt, &mut source, draw);
                    }
                }
                Picked::Nobody => {}
            }
        }
        Ok((xor, copies))
    }

    /// Draws the receivers of a row now and routes nothing: their task ids, in the order of the routes.
    ///
    /// # Errors
    /// As [`Router::route`].
    pub fn place(&mut self, stream: u32, target: TaskId, row: &[u8]) -> Result<Vec<TaskId>, RowFault> {
        self.check(stream, target, row)?;
        let mut out = vec![];
        let hashes = &self.hashes;
        for (r, route) in self.streams[stream as usize].routes.iter_mut().enumerate() {
            match route.pick(hashes[r], target) {
                Picked::One(i) => out.push(route.tasks().start + i),
                Picked::All => out.extend(route.tasks()),
                Picked::Nobody => {}
            }
        }
        Ok(out)
    }

    /// Routes a row to receivers that [`Router::place`] drew.
    ///
    /// # Errors
    /// As [`Router::route`].
    pub fn route_placed(
        &mut self,
        stream: u32,
        placed: &[TaskId],
        row: &[u8],
        attempt: u32,
        mut source: Source<'_, '_>,
        draw: &mut impl FnMut() -> Edge,
    ) -> Result<u32, RowFault> {
        // Receivers that a grouping picked are not targets that the emitter named.
        let target = if self.direct(stream) { placed.first().copied().unwrap_or(0) } else { 0 };
        self.check(stream, target, row)?;
        let mut rest = placed;
        for r in 0..self.streams[stream as usize].routes.len() {
            let route = &self.streams[stream as usize].routes[r];
            let (input, tasks) = (route.input, route.tasks());
            let many = if route.to_all() { tasks.len() } else { 1 };
            let (mine, others) = rest.split_at(many.min(rest.len()));
            rest = others;
            for &task in mine {
                self.copy(task, input, row, attempt, &mut source, draw);
            }
        }
        Ok(placed.len() as u32)
    }

    /// Everything routed since the last call of this, in order of each receiver.
    pub fn take(&mut self, out: &mut Vec<Batch>) {
        out.append(&mut self.sealed);
        for task in self.dirty.drain(..) {
            if let Some(batch) = self.open[task as usize].take() {
                out.push(batch);
            }
        }
    }

    /// Remembers whose turn it is, before a call.
    pub fn mark(&mut self) {
        self.turns.clear();
        self.turns.extend(self.streams.iter().flat_map(|s| s.routes.iter().map(Route::turn)));
    }

    /// Forgets what was routed since [`Router::mark`], turns included.
    pub fn discard(&mut self) {
        let mut gone = vec![];
        self.take(&mut gone);
        self.spare.append(&mut gone);
        let routes = self.streams.iter_mut().flat_map(|s| s.routes.iter_mut());
        for (route, &turn) in routes.zip(&self.turns) {
            route.set_turn(turn);
        }
    }

    /// Lends empty batches whose buffers can be used again.
    pub fn lend(&mut self, spare: &mut Vec<Batch>) {
        self.spare.append(spare);
    }

    /// How many spare batches there are.
    pub fn spare(&self) -> usize {
        self.spare.len()
    }

    #[inline]
    fn check(&mut self, stream: u32, target: TaskId, row: &[u8]) -> Result<(), RowFault> {
        let Some(s) = self.streams.get(stream as usize) else {
            return Err(RowFault::Stream { index: stream, declared: self.streams.len() });
        };
        if row.len() as u64 > self.tuple_bytes_max {
            let (bytes, limit) = (row.len(), self.tuple_bytes_max);
            return Err(RowFault::Size { stream: s.name.clone(), bytes, limit });
        }
        if (s.direct || target != 0) && !s.routes.iter().any(|r| r.direct() && r.tasks().contains(&target)) {
            return Err(RowFault::Target { stream: s.name.clone(), task: target });
        }
        hash_keys(s, row, &mut self.hashes).map_err(|error| RowFault::Row { stream: s.name.clone(), error })
    }

    #[inline]
    fn copy(
        &mut self,
        task: TaskId,
        input: u32,
        row: &[u8],
        attempt: u32,
        source: &mut Source<'_, '_>,
        draw: &mut impl FnMut() -> Edge,
    ) -> u64 {
        let mut xor = 0;
        if self.open[task as usize].is_none() {
            self.open_batch(task);
        }
        let Some(batch) = &mut self.open[task as usize] else { return 0 };
        match source {
            Source::None => batch.push_one(input, RootId::NONE, 0, attempt, row),
            Source::One(root) => {
                xor = draw();
                batch.push_one(input, *root, xor, attempt, row);
            }
            Source::Anchors(anchors) => batch.push(input, descend(anchors, draw), attempt, row),
        }
        let full = batch.len() >= self.seal_tuples || batch.data.len() >= SEAL_BYTES;
        if full {
            self.seal(task);
        }
        xor
    }

    fn open_batch(&mut self, task: TaskId) {
        let mut batch = self.spare.pop().unwrap_or_default();
        batch.reset(self.task, task);
        self.dirty.push(task);
        self.open[task as usize] = Some(batch);
    }

    #[cold]
    fn seal(&mut self, task: TaskId) {
        if let Some(batch) = self.open[task as usize].take() {
            self.sealed.push(batch);
        }
        self.dirty.retain(|&t| t != task);
    }
}

/// One edge for each anchor; the child's edges of a shared root are XORed.
fn descend(anchors: &mut [Anchor<'_>], draw: &mut impl FnMut() -> Edge) -> Lineage {
    let mut child = Lineage::None;
    for anchor in anchors {
        let edge = draw();
        anchor.children ^= edge;
        for (root, _) in anchor.lineage.iter() {
            child.add(root, edge);
        }
    }
    child
}

/// Checks the row and fills in the hash that each route needs.
#[inline]
fn hash_keys(stream: &Stream, row: &[u8], hashes: &mut [u64]) -> Result<(), RowError> {
    let mut checked = false;
    for (route, hash) in stream.routes.iter().zip(hashes) {
        if let (Some(fields), true) = (route.key(), route.tasks().len() > 1) {
            checked = true;
            *hash = key_hash(row, stream.arity, fields)?;
        }
    }
    if checked { Ok(()) } else { check_row(row, stream.arity) }
}
