//! The ack path between threads: what bolts tell ledgers, and ledgers on other threads tell spouts.
//!
//! In: effects of calls, by tree. Out: one message for each ledger that is concerned. Invariant: a tree's
//! registration and its acks travel through one FIFO, so no ack precedes its tree.

use super::door::Door;
use super::keep::{Job, Kept};
use anchorbolt_core::ack::{Ledger, TreeEvent};
use anchorbolt_core::failure::Failure;
use anchorbolt_core::ids::{Edge, RootId, Time};
use anchorbolt_core::oplog::Effects;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Between two messages of resets of one executor.
const RESETS_PAUSE: Duration = Duration::from_millis(1);
/// And for each reset in the first of them: ten times what a ledger needs for it.
const RESET_COST: Duration = Duration::from_micros(1);

/// A tracking message.
#[derive(Debug)]
pub(crate) enum Track {
    /// Trees and the XOR of settled edges; when they were settled.
    Acks(Time, Vec<(RootId, Edge)>),
    /// Trees that failed.
    Fails(Vec<(RootId, Failure)>),
    /// Trees whose timeout starts again, and from when.
    Resets(Vec<(RootId, Time)>),
    /// To a ledger on a thread of its own: trees that begin, with the XOR of their first edges.
    Begin(Time, Vec<(RootId, Edge)>),
    /// To a ledger on a thread of its own: trees that are given up.
    Cancel(Vec<RootId>),
    /// From a ledger on a thread of its own: trees that ended.
    Ended(Vec<TreeEvent>),
    /// To the keeper: something to write.
    Job(Job),
    /// From the keeper, to the spout task with this owner number.
    Kept(u32, Kept),
}

impl Track {
    /// The owner of the trees it is about: those of one message have one, unless it is for an acker.
    pub(crate) fn owner(&self) -> Option<u32> {
        let first = match self {
            Track::Acks(_, list) | Track::Begin(_, list) => list.first().map(|(root, _)| *root),
            Track::Resets(list) => list.first().map(|(root, _)| *root),
            Track::Fails(list) => list.first().map(|(root, _)| *root),
            Track::Cancel(list) => list.first().copied(),
            Track::Ended(events) => events.first().map(|event| event.root),
            Track::Kept(owner, _) => return Some(*owner),
            Track::Job(_) => None,
        };
        first.map(RootId::owner)
    }

    /// Applies it to the ledgers it concerns; `place` says which ledger a tree is in. What is not for
    /// ledgers is handed back.
    pub(crate) fn apply(
        self,
        ledgers: &mut [Ledger],
        place: impl Fn(RootId) -> usize,
    ) -> Option<Vec<TreeEvent>> {
        if let (Track::Acks(at, list), [ledger]) = (&self, &mut *ledgers) {
            ledger.ack_batch(list, *at);
            return None;
        }
        let mut with = |root: RootId, f: &mut dyn FnMut(&mut Ledger)| {
            if let Some(ledger) = ledgers.get_mut(place(root)) {
                f(ledger);
            }
        };
        match self {
            Track::Acks(at, list) => {
                list.iter().for_each(|(root, xor)| with(*root, &mut |l| l.ack(*root, *xor, at)));
            }
            Track::Fails(list) => {
                for (root, failure) in list {
                    with(root, &mut |l| l.fail(root, failure.clone()));
                }
            }
            Track::Begin(at, list) => {
                list.iter().for_each(|(root, xor)| with(*root, &mut |l| l.register(*root, *xor, at)));
            }
            Track::Cancel(list) => list.iter().for_each(|root| with(*root, &mut |l| l.cancel(*root))),
            Track::Resets(list) => {
                list.iter().for_each(|(root, at)| with(*root, &mut |l| l.reset_timeout(*root, *at)));
            }
            Track::Ended(events) => return Some(events),
            // Neither is about trees.
            Track::Job(_) | Track::Kept(..) => {}
        }
        None
    }
}

/// Where the ledger of each tree is.
#[derive(Clone)]
pub(crate) struct TrackMap {
    /// Where the executor of each spout task is found, by owner.
    pub spouts: Arc<[Door]>,
    /// Where acker threads are found; none: each spout task has its own ledger.
    pub ackers: Arc<[Door]>,
}

impl TrackMap {
    /// The index of the door behind which the ledger is.
    pub(crate) fn place(&self, root: RootId) -> usize {
        match self.ackers.len() {
            0 => root.owner() as usize,
            n => root.slot() as usize % n,
        }
    }

    /// The doors of all ledgers.
    pub(crate) fn doors(&self) -> &[Door] {
        if self.ackers.is_empty() { &self.spouts } else { &self.ackers }
    }
}

/// Sorts the effects of a call by ledger and sends them.
pub(crate) struct Tracker {
    map: TrackMap,
    acks: Vec<Vec<(RootId, Edge)>>,
    /// Resets that were not sent yet, the last of each tree.
    resets: HashMap<RootId, Time>,
    /// They are sent from then on: not more often than ledgers can take.
    resets_due: Time,
}

impl Tracker {
    /// A tracker for one executor.
    pub(crate) fn new(map: TrackMap) -> Tracker {
        let acks = map.doors().iter().map(|_| Vec::new()).collect();
        Tracker { map, acks, resets: HashMap::new(), resets_due: Time(0) }
    }

    /// Where the ledgers are.
    pub(crate) fn map(&self) -> &TrackMap {
        &self.map
    }

    /// Sends what a call did to the trees.
    pub(crate) fn send(&mut self, effects: &mut Effects, at: Time) {
        if !effects.acks.is_empty() {
            self.send_acks(effects, at);
        }
        if !effects.fails.is_empty() {
            self.fails(effects.fails.drain(..));
        }
        if !effects.resets.is_empty() {
            self.resets.extend(effects.resets.drain(..).map(|root| (root, at)));
            self.send_resets(at);
        }
    }

    /// When resets wait to be sent, and until when.
    #[inline]
    pub(crate) fn resets_due(&self) -> Option<Time> {
        if self.resets.is_empty() { None } else { Some(self.resets_due) }
    }

    /// Sends the resets that wait, when it is time. A bolt may ask for many each millisecond; a ledger gets no more of
    /// them than it can work off, and of each tree the last one.
    pub(crate) fn send_resets(&mut self, now: Time) {
        if self.resets.is_empty() || now < self.resets_due {
            return;
        }
        self.resets_due = now.after(RESETS_PAUSE + RESET_COST * self.resets.len() as u32);
        let mut by_ledger: Vec<Vec<(RootId, Time)>> = self.acks.iter().map(|_| Vec::new()).collect();
        for (root, at) in self.resets.drain() {
            if let Some(list) = by_ledger.get_mut(self.map.place(root)) {
                list.push((root, at));
            }
        }
        for (door, mut list) in self.map.doors().iter().zip(by_ledger) {
            if !list.is_empty() {
                list.sort_unstable();
                door.track(Track::Resets(list));
            }
        }
    }

    /// Sends failures of trees.
    pub(crate) fn fails(&self, fails: impl Iterator<Item = (RootId, Failure)>) {
        let mut by_ledger: Vec<Vec<(RootId, Failure)>> = self.acks.iter().map(|_| Vec::new()).collect();
        for (root, failure) in fails {
            if let Some(list) = by_ledger.get_mut(self.map.place(root)) {
                list.push((root, failure));
            }
        }
        for (door, list) in self.map.doors().iter().zip(by_ledger) {
            if !list.is_empty() {
                door.track(Track::Fails(list));
            }
        }
    }

    fn send_acks(&mut self, effects: &mut Effects, at: Time) {
        if let [door] = self.map.doors() {
            let room = effects.acks.len();
            let list = std::mem::replace(&mut effects.acks, Vec::with_capacity(room));
            door.track(Track::Acks(at, list));
            return;
        }
        for (root, xor) in effects.acks.drain(..) {
            if let Some(list) = self.acks.get_mut(self.map.place(root)) {
                list.push((root, xor));
            }
        }
        for (door, list) in self.map.doors().iter().zip(&mut self.acks) {
            if !list.is_empty() {
                let room = list.len();
                door.track(Track::Acks(at, std::mem::replace(list, Vec::with_capacity(room))));
            }
        }
    }
}

/// A random name for a tuple within its tree; 0 is none.
#[inline]
pub(crate) fn edge(rng: &mut fastrand::Rng) -> Edge {
    loop {
        let edge = rng.u64(..);
        if edge != 0 {
            return edge;
        }
    }
}

#[cfg(test)]
mod tests {
    /// STORM-17: a tree whose only edge were 0 would be complete at once.
    #[test]
    fn an_edge_is_never_0() {
        // Such a generator adds this to its state first, and makes 0 of 0.
        let about_to_draw_0 = || fastrand::Rng::with_seed(0_u64.wrapping_sub(0x2d35_8dcc_aa6c_78a5));
        assert_eq!(about_to_draw_0().u64(..), 0, "another generator: find its seed");
        assert_ne!(super::edge(&mut about_to_draw_0()), 0);
    }
}
