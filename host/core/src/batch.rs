//! A batch: encoded tuples on their way from one task to another, in columns.
//!
//! In: rows and lineages from a router. Out: the columns of a guest's call and the lineages that its
//! handles stand for. Invariant: `roots`, `edges` and the rows of `offsets` have one length; `attempts` and
//! `paths` are empty or have it too.

use crate::ids::{Edge, Path, RootId, TaskId};
use crate::port::row_at;

/// Which trees a tuple belongs to, with the edge that it is in each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lineage {
    /// Outside every tree.
    #[default]
    None,
    /// In one tree, as nearly always.
    One(RootId, Edge),
    /// In several trees, each at most once.
    Many(Box<[(RootId, Edge)]>),
}

impl Lineage {
    /// The trees and edges, as a slice would give them.
    pub fn iter(&self) -> impl Iterator<Item = (RootId, Edge)> + '_ {
        let (one, many) = match self {
            Lineage::None => (None, &[][..]),
            Lineage::One(root, edge) => (Some((*root, *edge)), &[][..]),
            Lineage::Many(list) => (None, &list[..]),
        };
        one.into_iter().chain(many.iter().copied())
    }

    /// Several trees with their edges, in any order; edges in one tree are XORed.
    pub fn of(mut list: Vec<(RootId, Edge)>) -> Lineage {
        list.sort_unstable_by_key(|(root, _)| *root);
        list.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 ^= next.1;
            }
            same
        });
        match list[..] {
            [] => Lineage::None,
            [(root, edge)] => Lineage::One(root, edge),
            _ => Lineage::Many(list.into_boxed_slice()),
        }
    }

    /// How many trees it is in, if it is in several; 0 otherwise.
    #[inline]
    pub fn several(&self) -> usize {
        if let Lineage::Many(list) = self { list.len() } else { 0 }
    }

    /// Adds an edge in a tree; edges in one tree are XORed, as Storm does for an anchor used twice.
    pub fn add(&mut self, root: RootId, edge: Edge) {
        *self = match std::mem::take(self) {
            Lineage::None => Lineage::One(root, edge),
            Lineage::One(r, e) if r == root => Lineage::One(r, e ^ edge),
            Lineage::One(r, e) => Lineage::Many(Box::new([(r, e), (root, edge)])),
            Lineage::Many(mut list) => match list.iter_mut().find(|(r, _)| *r == root) {
                Some((_, e)) => {
                    *e ^= edge;
                    Lineage::Many(list)
                }
                None => {
                    let mut list = list.into_vec();
                    list.push((root, edge));
                    Lineage::Many(list.into_boxed_slice())
                }
            },
        };
    }
}

/// The lineage of a tuple in several trees, with the tuple's index in its batch.
pub type Many = (u32, Box<[(RootId, Edge)]>);

/// Tuples that go from one task to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The receiving task.
    pub task: TaskId,
    /// The emitting task.
    pub source: TaskId,
    /// Runs of tuples that came over one input: the receiver's input index, and where its run ends.
    pub inputs: Vec<(u32, u32)>,
    /// The tree of each tuple; [`RootId::NONE`] outside every tree, [`RootId::MANY`] for an entry in `many`.
    pub roots: Vec<RootId>,
    /// The edge of each tuple in its tree.
    pub edges: Vec<Edge>,
    /// The path of each tuple; empty where nobody asks for identities.
    pub paths: Vec<Path>,
    /// The lineages of tuples in several trees, by index, ascending.
    pub many: Vec<Many>,
    /// The attempt of each tuple's message; empty when all are first attempts.
    pub attempts: Vec<u32>,
    /// One more than there are tuples: offsets into `data`.
    pub offsets: Vec<u32>,
    /// Encoded rows.
    pub data: Vec<u8>,
    /// Entries of `many`, all together.
    trees: usize,
}

impl Batch {
    /// An empty batch between two tasks.
    pub fn new(source: TaskId, task: TaskId) -> Batch {
        Batch { task, source, offsets: vec![0], ..Batch::default() }
    }

    /// How many tuples it has.
    #[inline]
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// What it costs a queue, in bytes: rows, columns and lineages.
    pub fn bytes(&self) -> u64 {
        (self.heavy_bytes() + self.len() * 20 + self.paths.len() * 8) as u64
    }

    /// The bytes of what may be long: rows, and lineages of several trees.
    #[inline]
    pub(crate) fn heavy_bytes(&self) -> usize {
        self.data.len() + self.trees * size_of::<(RootId, Edge)>()
    }

    /// Removes all tuples, keeps the buffers, and addresses it anew.
    pub fn reset(&mut self, source: TaskId, task: TaskId) {
        self.task = task;
        self.source = source;
        self.inputs.clear();
        self.roots.clear();
        self.edges.clear();
        self.paths.clear();
        self.many.clear();
        self.trees = 0;
        self.attempts.clear();
        self.offsets.clear();
        self.offsets.push(0);
        self.data.clear();
    }

    /// Appends a tuple of at most one tree.
    #[inline]
    pub fn push_one(&mut self, input: u32, root: RootId, edge: Edge, attempt: u32, row: &[u8]) {
        if attempt != 1 || !self.attempts.is_empty() {
            self.attempts.resize(self.len(), 1);
            self.attempts.push(attempt);
        }
        self.roots.push(root);
        self.edges.push(edge);
        self.data.extend_from_slice(row);
        self.offsets.push(self.data.len() as u32);
        let end = self.roots.len() as u32;
        match self.inputs.last_mut() {
            Some((i, e)) if *i == input => *e = end,
            _ => self.inputs.push((input, end)),
        }
    }

    /// Appends a tuple.
    #[inline]
    pub fn push(&mut self, input: u32, lineage: Lineage, attempt: u32, row: &[u8]) {
        match lineage {
            Lineage::None => self.push_one(input, RootId::NONE, 0, attempt, row),
            Lineage::One(root, edge) => self.push_one(input, root, edge, attempt, row),
            Lineage::Many(list) => {
                self.trees += list.len();
                self.many.push((self.len() as u32, list));
                self.push_one(input, RootId::MANY, 0, attempt, row);
            }
        }
    }

    /// The lineage of tuple `i`; a lineage of several trees is moved out.
    #[inline]
    pub fn take_lineage(&mut self, i: usize) -> Lineage {
        match (self.roots.get(i), self.edges.get(i)) {
            (Some(&RootId::MANY), _) => self.take_many(i as u32),
            (Some(&root), Some(&edge)) if root != RootId::NONE => Lineage::One(root, edge),
            _ => Lineage::None,
        }
    }

    fn take_many(&mut self, i: u32) -> Lineage {
        match self.many.binary_search_by_key(&i, |(at, _)| *at) {
            Ok(k) => Lineage::Many(std::mem::take(&mut self.many[k].1)),
            Err(_) => Lineage::None,
        }
    }

    /// The path of tuple `i`; 0 where none are kept.
    #[inline]
    pub fn path(&self, i: usize) -> Path {
        self.paths.get(i).copied().unwrap_or(0)
    }

    /// The attempt of tuple `i`.
    #[inline]
    pub fn attempt(&self, i: usize) -> u32 {
        self.attempts.get(i).copied().unwrap_or(1)
    }

    /// The encoded row of tuple `i`.
    pub fn row(&self, i: usize) -> &[u8] {
        row_at(&self.offsets, &self.data, i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_a_shared_root_are_xored() {
        let (a, b) = (RootId::new(0, 1, 1), RootId::new(0, 2, 1));
        let mut l = Lineage::None;
        for (r, e) in [(a, 5), (b, 6), (a, 3), (b, 6), (a, 5)] {
            l.add(r, e);
        }
        assert_eq!(l.iter().collect::<Vec<_>>(), [(a, 3), (b, 0)]);
    }

    #[test]
    fn columns_keep_their_lengths() {
        let (a, b) = (RootId::new(0, 1, 1), RootId::new(0, 2, 1));
        let mut batch = Batch::new(1, 2);
        batch.push(0, Lineage::One(a, 9), 1, b"x");
        batch.push(0, Lineage::Many(Box::new([(a, 1), (b, 2)])), 3, b"yy");
        batch.push(1, Lineage::None, 1, b"");
        assert_eq!((batch.len(), batch.attempts.clone()), (3, vec![1, 3, 1]));
        assert_eq!(batch.inputs, [(0, 2), (1, 3)]);
        assert_eq!([batch.row(0), batch.row(1), batch.row(2), batch.row(3)], [&b"x"[..], b"yy", b"", b""]);
        assert_eq!(batch.take_lineage(1), Lineage::Many(Box::new([(a, 1), (b, 2)])));
        assert_eq!(batch.take_lineage(2), Lineage::None);
    }

    #[test]
    fn a_list_of_edges_is_what_adding_them_one_by_one_would_be() {
        let mut rng = fastrand::Rng::with_seed(7);
        for n in 0..200 {
            let list: Vec<(RootId, Edge)> =
                (0..n).map(|_| (RootId::new(0, rng.u32(0..20), 1), rng.u64(..))).collect();
            let mut slow = Lineage::None;
            list.iter().for_each(|(root, edge)| slow.add(*root, *edge));
            let sorted = |lineage: &Lineage| {
                let mut all: Vec<_> = lineage.iter().collect();
                all.sort_unstable();
                all
            };
            assert_eq!(sorted(&Lineage::of(list)), sorted(&slow));
        }
    }
}
