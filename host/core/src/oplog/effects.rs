//! What a call came to, until it is sent.
//!
//! In: settlements. Out: what ledgers are to be told, and counts. Invariant: neighbours of one tree are one entry.

use super::held::{Entry, State};
use crate::batch::Lineage;
use crate::failure::Failure;
use crate::ids::{Edge, RootId};

/// What a call did to the trees, and how much it did. Buffers are used again from call to call.
#[derive(Debug, Default)]
pub struct Effects {
    /// Settled edges: tree, and the XOR of a tuple's edge and its children's. Neighbours of one tree are
    /// coalesced.
    pub acks: Vec<(RootId, Edge)>,
    /// Trees that failed, each with its failure.
    pub fails: Vec<(RootId, Failure)>,
    /// Trees whose timeout starts again.
    pub resets: Vec<RootId>,
    /// Errors for the report.
    pub errors: Vec<String>,
    /// Rows that the guest emitted.
    pub emitted: u64,
    /// Copies that were sent to tasks.
    pub transferred: u64,
    /// Tuples acked.
    pub acked: u64,
    /// Tuples failed.
    pub failed: u64,
    /// Of those, the ones that a bad emission was anchored to, one failure each; and unanchored emissions that a custom
    /// grouping lost.
    pub breaches: Vec<Failure>,
    /// Settlements of tuples that were settled before: ignored.
    pub repeated: u64,
    /// Kept handles that were settled.
    pub(super) settled_kept: Vec<u32>,
    /// Handles that failed in this call for a bad emission.
    pub(super) blamed: Vec<u32>,
}

impl Effects {
    /// Empties it and keeps the buffers.
    pub fn clear(&mut self) {
        self.acks.clear();
        self.fails.clear();
        self.resets.clear();
        self.errors.clear();
        self.settled_kept.clear();
        self.blamed.clear();
        (self.emitted, self.transferred, self.acked, self.failed) = (0, 0, 0, 0);
        self.breaches.clear();
        self.repeated = 0;
    }

    /// Settles a tuple as done.
    #[inline]
    pub fn ack_entry(&mut self, entry: &mut Entry) {
        entry.state = State::Settled;
        self.acked += 1;
        match &entry.lineage {
            Lineage::None => {}
            Lineage::One(root, edge) => self.ack(*root, edge ^ entry.children),
            Lineage::Many(list) => list.iter().for_each(|(r, e)| self.ack(*r, e ^ entry.children)),
        }
    }

    /// Settles a tuple as failed: every tree it belongs to fails.
    pub fn fail_entry(&mut self, entry: &mut Entry, failure: &Failure) {
        entry.state = State::Settled;
        self.failed += 1;
        self.fails.extend(entry.lineage.iter().map(|(root, _)| (root, failure.clone())));
    }

    /// Whether these anchors, of which there are some, failed in this call already: then the guest could not
    /// know, and what it goes on to emit for them is left out.
    pub(super) fn all_blamed(&self, anchors: &[u32]) -> bool {
        !self.blamed.is_empty() && !anchors.is_empty() && anchors.iter().all(|a| self.blamed.contains(a))
    }

    #[inline]
    fn ack(&mut self, root: RootId, xor: Edge) {
        match self.acks.last_mut() {
            Some((r, x)) if *r == root => *x ^= xor,
            _ => self.acks.push((root, xor)),
        }
    }
}
