//! The batches that a router fills: one for each receiving task, in the order of its rows.
//!
//! In: copies of rows, with what they descend from. Out: batches. Invariant: what lies here was routed since the last take.

use crate::batch::{Batch, Lineage};
use crate::ids::{Edge, Paths, RootId, TaskId};

/// A batch is sealed at this many tuples, or [`SEAL_BYTES`]: receivers start while the call's rest is routed.
const SEAL_TUPLES: usize = 1024;
const SEAL_BYTES: usize = 1 << 20;
/// Up to so many trees in all, the tree of an edge is looked for among those before.
const SCANNED_MAX: usize = 32;

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

/// The open batches of one emitting task.
pub(super) struct Outgoing {
    task: TaskId,
    seal_tuples: usize,
    /// The open batch for each task of the topology, by task id.
    open: Vec<Option<Batch>>,
    /// Tasks with an open batch, in the order in which they got one.
    dirty: Vec<TaskId>,
    sealed: Vec<Batch>,
    spare: Vec<Batch>,
    /// Entries of lineages of several trees since this was last set to 0.
    pub(super) trees: u64,
    /// The paths of the copies of the emission in hand.
    paths: Paths,
    /// Some bolt of the topology may ask for identities.
    keeps_paths: bool,
}

impl Outgoing {
    /// None yet, from this task to any of so many.
    pub(super) fn new(task: TaskId, tasks: TaskId, queue_tuples: u32) -> Outgoing {
        Outgoing {
            task,
            seal_tuples: SEAL_TUPLES.min(queue_tuples.max(1) as usize),
            open: (0..tasks).map(|_| None).collect(),
            dirty: vec![],
            sealed: vec![],
            spare: vec![],
            trees: 0,
            paths: Paths::of(0, 0),
            keeps_paths: false,
        }
    }

    /// Tuples carry their paths from now on.
    pub(super) fn keep_paths(&mut self) {
        self.keeps_paths = true;
    }

    /// Whether they do.
    #[inline]
    pub(super) fn keeps_paths(&self) -> bool {
        self.keeps_paths
    }

    /// Says what the copies that come next descend from.
    #[inline]
    pub(super) fn descend(&mut self, paths: Paths) {
        self.paths = paths;
    }

    /// Takes all, in the order of each receiver.
    pub(super) fn take(&mut self, out: &mut Vec<Batch>) {
        out.append(&mut self.sealed);
        for task in self.dirty.drain(..) {
            if let Some(batch) = self.open[task as usize].take() {
                out.push(batch);
            }
        }
    }

    /// Lends empty batches whose buffers can be used again.
    pub(super) fn lend(&mut self, spare: &mut Vec<Batch>) {
        self.spare.append(spare);
    }

    /// How many spare batches there are.
    pub(super) fn spare(&self) -> usize {
        self.spare.len()
    }

    /// Adds a copy of a row to the batch for a task; its edge comes out when the source is one tree.
    #[inline]
    pub(super) fn copy(
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
            Source::Anchors(anchors) => {
                let lineage = descend(anchors, draw);
                self.trees += lineage.several() as u64;
                batch.push(input, lineage, attempt, row);
            }
        }
        if self.keeps_paths {
            batch.paths.push(self.paths.next_copy());
        }
        let full = batch.len() >= self.seal_tuples || batch.heavy_bytes() >= SEAL_BYTES;
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
    let several: usize = anchors.iter().map(|anchor| anchor.lineage.several()).sum();
    if several > SCANNED_MAX {
        return descend_widely(anchors, draw);
    }
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

/// As [`descend`], where looking for each root among those that are there would take too long.
#[cold]
fn descend_widely(anchors: &mut [Anchor<'_>], draw: &mut impl FnMut() -> Edge) -> Lineage {
    let mut all = vec![];
    for anchor in anchors {
        let edge = draw();
        anchor.children ^= edge;
        all.extend(anchor.lineage.iter().map(|(root, _)| (root, edge)));
    }
    Lineage::of(all)
}
