//! Ledgers on executors of their own (`ackers = n`), as Storm's acker bolts.
//!
//! In: registrations, acks and failures, in one FIFO for each producer. Out: the ends of trees, to the spout
//! that owns them. Invariant: slot s of every owner is with acker s mod n.

use super::door::Door;
use super::env::Env;
use super::executor::{Executor, Step};
use super::inbox::{Command, Inbox};
use super::track::Track;
use anchorbolt_core::ack::{Ledger, TreeEvent};
use std::sync::Arc;

/// An acker.
pub(crate) struct Acker {
    env: Arc<Env>,
    inbox: Arc<Inbox>,
    /// By owner.
    ledgers: Vec<Ledger>,
    spouts: Arc<[Door]>,
    events: Vec<TreeEvent>,
    tracks: Vec<Track>,
}

impl Acker {
    /// An acker with one ledger for each owner; `spouts` is where the owners are found.
    pub(crate) fn new(env: Arc<Env>, inbox: Arc<Inbox>, ledgers: Vec<Ledger>, spouts: Arc<[Door]>) -> Acker {
        Acker { env, inbox, ledgers, spouts, events: vec![], tracks: vec![] }
    }

    /// Sends the ends of trees to their owners.
    fn tell(&mut self) -> bool {
        let mut told = false;
        for (ledger, spout) in self.ledgers.iter_mut().zip(self.spouts.iter()) {
            ledger.drain(&mut self.events);
            if !self.events.is_empty() {
                told = true;
                spout.track(Track::Ended(std::mem::take(&mut self.events)));
            }
        }
        told
    }
}

impl Executor for Acker {
    fn step(&mut self) -> Step {
        self.inbox.take_tracks(&mut self.tracks);
        let idle = self.tracks.is_empty();
        for track in self.tracks.drain(..) {
            track.apply(&mut self.ledgers, |root| root.owner() as usize);
        }
        let now = self.env.clock.now();
        let deadlines_run = self.env.deadlines_run();
        if deadlines_run {
            self.ledgers.iter_mut().for_each(|ledger| ledger.expire(now));
        }
        let told = self.tell();
        match self.inbox.take_command() {
            Some(Command::Close) => Step::Closed,
            None if idle && !told && self.inbox.may_park(false, false) => {
                let due = self.ledgers.iter().filter_map(Ledger::next_deadline).min();
                Step::Wait(due.filter(|_| deadlines_run))
            }
            _ => Step::Again,
        }
    }
}
