//! A running topology: what can be asked of it, and how it ends.

use super::conductor::{Conductor, Turn};
use super::controls::Controls;
use super::door::Door;
use super::drain::{Outcome, Wait};
use super::env::{Env, Event};
use super::inbox::{Command, Inbox, distinct, is_among};
use super::launch::spawn;
use super::orders::Control;
use super::rebalance::Reseated;
use super::spout_cell::SpoutCell;
use crate::telemetry::{BoltCounters, BoltFigures, Report, SpoutFigures};
use anchorbolt_core::ids::Time;
use anchorbolt_core::plan::Plan;
use anchorbolt_core::port::SpoutError;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;

/// When a run ends by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct How {
    /// When every spout is finite and done, and all of its messages have come to an end.
    pub until_drained: bool,
    /// When this many messages were read, over all spouts, and have come to an end.
    pub limit: Option<u64>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The figures.
    pub report: Report,
    /// Messages without an end were left at their sources.
    pub unfinished: bool,
    /// `stop` of a policy ended it: the text.
    pub stopped: Option<String>,
    /// A spout could not go on.
    pub spout_error: Option<SpoutError>,
    /// The host itself broke: the text.
    pub broken: Option<String>,
    /// A checkpoint or dead letters could not be written at the end: the text.
    pub unwritten: Option<String>,
}

impl Ended {
    /// The exit code of `contract.md`.
    pub fn exit_code(&self) -> u8 {
        let totals = self.report.totals();
        let state_lost = self.report.bolts.iter().any(|(_, b)| b.state_lost > 0);
        let lost = totals.dead_lettered + totals.dropped > 0 || state_lost;
        match (&self.broken, &self.spout_error) {
            (Some(_), _) | (None, Some(SpoutError::Environment(_))) => 3,
            _ if self.unwritten.is_some() => 3,
            (None, Some(SpoutError::Input(_))) => 2,
            _ if lost || self.unfinished || self.stopped.is_some() => 1,
            _ => 0,
        }
    }
}

/// A few figures of a running topology, cheap to ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Messages read so far.
    pub read: u64,
    /// Messages completed, or emitted untracked.
    pub completed: u64,
    /// Messages without an end yet.
    pub pending: u64,
    /// Trees failed or timed out.
    pub failed: u64,
}

/// What can be seen of a running topology, from any thread.
#[derive(Clone)]
pub struct Watch {
    pub(super) env: Arc<Env>,
    pub(super) plan: Arc<Plan>,
    /// Component index, cell of the task.
    pub(super) spouts: Vec<(usize, Arc<SpoutCell>)>,
    /// Component index, counters of the task.
    pub(super) bolts: Vec<(usize, Arc<BoltCounters>)>,
    pub(super) plugins: Vec<(String, String)>,
    pub(super) started: String,
    pub(super) began: Time,
}

impl Watch {
    /// A few figures.
    pub fn progress(&self) -> Progress {
        let mut sum = SpoutFigures::default();
        self.spouts.iter().for_each(|(_, cell)| sum.add(&cell.figures()));
        Progress {
            read: sum.read,
            completed: sum.completed + sum.untracked,
            pending: sum.pending,
            failed: sum.trees_failed + sum.trees_timed_out,
        }
    }

    /// Whether spouts read: see [`super::Order::Deactivate`].
    pub fn is_active(&self) -> bool {
        self.env.active.load(Relaxed)
    }

    /// The report so far.
    pub fn report(&self) -> Report {
        let names = self.plan.components.iter().map(|c| c.name.clone());
        let mut report = Report {
            topology: self.env.topology.clone(),
            started: self.started.clone(),
            elapsed: self.env.clock.now().since(self.began),
            plugins: self.plugins.clone(),
            latency: SpoutCell::latency(self.spouts.iter().map(|(_, cell)| &**cell)),
            errors: self.env.errors.lines(),
            ..Report::default()
        };
        for (i, name) in names.enumerate() {
            let mut spout = SpoutFigures::default();
            let mut bolt = BoltFigures::default();
            self.spouts.iter().filter(|(c, _)| *c == i).for_each(|(_, cell)| spout.add(&cell.figures()));
            self.bolts.iter().filter(|(c, _)| *c == i).for_each(|(_, counters)| bolt.add(counters));
            if self.spouts.iter().any(|(c, _)| *c == i) {
                report.spouts.push((name, spout));
            } else {
                bolt.queued = self.queued(i);
                report.bolts.push((name, bolt));
            }
        }
        report
    }

    fn queued(&self, component: usize) -> u64 {
        let tasks = self.plan.components[component].tasks.clone();
        let doors = tasks.filter_map(|task| self.env.doors.get(task as usize)?.as_ref());
        distinct(doors.map(Door::inbox)).iter().map(|inbox| inbox.queued() as u64).sum()
    }
}

/// Ends a run from another thread, for example from a signal handler.
#[derive(Clone)]
pub struct Stopper(pub(super) Sender<Event>);

impl Stopper {
    /// Spouts stop reading, what is in flight is drained, then the run ends.
    pub fn stop(&self) {
        self.tell(Event::Interrupted);
    }

    /// As [`Stopper::stop`], because nobody reads standard output any more.
    pub fn output_closed(&self) {
        self.tell(Event::OutputClosed);
    }

    fn tell(&self, event: Event) {
        if self.0.send(event).is_err() {
            tracing::debug!("the run has ended already");
        }
    }
}

/// An executor on its thread.
pub(super) struct Threaded {
    pub(super) inbox: Arc<Inbox>,
    pub(super) thread: JoinHandle<()>,
}

/// A running topology.
pub struct Running {
    pub(super) controls: Arc<Controls>,
    /// The executors, in the order in which they are closed.
    pub(super) threads: Vec<Threaded>,
    pub(super) events: Receiver<Event>,
    pub(super) stopper: Stopper,
}

impl Running {
    /// A handle to look at it.
    pub fn watch(&self) -> Watch {
        self.controls.watch.clone()
    }

    /// A handle to end it.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// A handle to give it orders, which are carried out while somebody waits for it.
    pub fn control(&self) -> Control {
        Control(self.stopper.0.clone())
    }

    /// Waits until it ends, by itself or because it was told to, and cleans up.
    pub fn wait(mut self, how: How) -> Ended {
        let mut conductor = Conductor::new(self.controls.clone(), how);
        loop {
            let event = match conductor.turn() {
                Turn::Seat(reseated) => {
                    self.seat(reseated);
                    continue;
                }
                Turn::Wait(Wait::No) => continue,
                Turn::Wait(Wait::Over) => break,
                Turn::Wait(Wait::Event(None)) => {
                    self.events.recv().map_err(|_| RecvTimeoutError::Disconnected)
                }
                Turn::Wait(Wait::Event(Some(pause))) => self.events.recv_timeout(pause),
            };
            match event {
                Ok(event) => conductor.hear(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let outcome = conductor.outcome();
        if outcome.broken.is_none() {
            self.close();
        }
        ended(&self.controls, outcome)
    }

    /// Executors begin in the place of others, whose threads have come to their end.
    fn seat(&mut self, mut reseated: Reseated) {
        let env = &self.controls.watch.env;
        let is_old = |t: &Threaded| is_among(&t.inbox, &reseated.old);
        let at = self.threads.iter().position(is_old).unwrap_or(0);
        let (ended, rest) = std::mem::take(&mut self.threads).into_iter().partition(is_old);
        self.threads = rest;
        ended.into_iter().for_each(join);
        let mut begun = vec![];
        for member in std::mem::take(&mut reseated.new) {
            match spawn(env, member) {
                Ok(threaded) => begun.push(threaded),
                Err(error) => env.tell(Event::Broken(error.to_string())),
            }
        }
        self.threads.splice(at..at, begun);
        reseated.done();
    }

    /// Spouts first, so that nothing is emitted into closed bolts; then ackers, and the keeper last.
    fn close(&mut self) {
        for threaded in self.threads.drain(..) {
            threaded.inbox.command(Command::Close);
            join(threaded);
        }
    }
}

fn join(threaded: Threaded) {
    if threaded.thread.join().is_err() {
        tracing::error!("a thread of the topology panicked while it closed");
    }
}

/// How it ended, once all is closed.
pub(super) fn ended(controls: &Controls, outcome: Outcome) -> Ended {
    let Outcome { unfinished, stopped, spout_error, broken } = outcome;
    let unwritten = controls.keep.as_ref().and_then(|keep| keep.problem());
    let report = controls.watch.report();
    // A spout that had no turn before the drain was over has read until it was closed.
    let unfinished = unfinished || report.totals().pending > 0;
    Ended { report, unfinished, stopped, spout_error, broken, unwritten }
}
