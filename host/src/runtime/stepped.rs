//! A topology without threads: whoever has it takes the steps of its executors, one at a time.
//!
//! In: a choice of the next executor, and a clock that the caller moves. Out: the same run that threads would make,
//! in the order of the caller's choice, so that a seed repeats it. Nothing sleeps and nothing races.
//!
//! Who keeps to [`Stepped::is_awake`] makes only steps that threads would make: a wake-up that is lost shows. The
//! caller may step others too, as a thread may wake for no reason.

use super::clock::{Clock, ManualClock};
use super::conductor::{Conductor, Turn};
use super::controls::Controls;
use super::drain::Wait;
use super::env::Event;
use super::executor::{Executor, Step};
use super::inbox::{Command, Inbox, is_among};
use super::launch::Member;
use super::orders::Control;
use super::rebalance::Reseated;
use super::running::{Ended, Watch, ended};
use crate::telemetry::SpoutFigures;
use anchorbolt_core::ids::Time;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// An executor and what it said last.
pub(super) struct Seated {
    pub(super) name: String,
    pub(super) executor: Box<dyn Executor>,
    pub(super) inbox: Arc<Inbox>,
    pub(super) state: Step,
}

/// A topology that moves only when it is told to.
pub struct Stepped {
    pub(super) controls: Arc<Controls>,
    pub(super) seated: Vec<Seated>,
    pub(super) events: Receiver<Event>,
    pub(super) conductor: Conductor,
    pub(super) patience: Patience,
}

/// What the controller waits for, and what it was told meanwhile.
#[derive(Default)]
pub(super) struct Patience {
    heard: VecDeque<Event>,
    /// Until when, if it waits.
    waits: Option<Option<Time>>,
}

/// A topology that stands still: nothing can move, and nothing is due. With its report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the topology stands still before its end; so far: {0}")]
pub struct Stalled(pub String);

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stepping {
    /// It may have more to do.
    Moved,
    /// It waits to be woken, or until this moment.
    Waits(Option<Time>),
    /// It has ended.
    Closed,
}

impl Seated {
    /// One that has not taken a step yet.
    pub(super) fn new(member: Member) -> Seated {
        let Member { name, inbox, executor, .. } = member;
        Seated { name, executor, inbox, state: Step::Again }
    }
}

impl Stepped {
    /// How many executors there are. Number `executors()` is the controller.
    pub fn executors(&self) -> usize {
        self.seated.len()
    }

    /// The component of an executor; `acker` and `keeper` for those.
    pub fn name(&self, executor: usize) -> &str {
        self.seated.get(executor).map_or("controller", |seated| &seated.name)
    }

    /// What can be seen of it.
    pub fn watch(&self) -> Watch {
        self.controls.watch.clone()
    }

    /// The messages and trees of all spouts.
    pub fn figures(&self) -> SpoutFigures {
        let mut sum = SpoutFigures::default();
        self.controls.watch.spouts.iter().for_each(|(_, cell)| sum.add(&cell.figures()));
        sum
    }

    /// How many tuples wait for an executor in its bounded queue, and in that of cycles.
    pub fn queued(&self, executor: usize) -> (usize, usize) {
        self.seated.get(executor).map_or((0, 0), |seated| seated.inbox.queues())
    }

    /// Whether a thread would take a step now: it has more to do, was woken, or its moment has come.
    pub fn is_awake(&mut self, executor: usize) -> bool {
        let now = self.controls.now();
        let is_due = |due: Option<Time>| due.is_some_and(|at| at <= now);
        let Some(seated) = self.seated.get(executor) else {
            self.patience.heard.extend(self.events.try_iter());
            return self.patience.waits.is_none_or(is_due) || !self.patience.heard.is_empty();
        };
        match seated.state {
            Step::Again => true,
            Step::Wait(due) => seated.inbox.is_woken() || is_due(due),
            Step::Closed => false,
        }
    }

    /// Until when an executor waits, if it waits for a moment.
    pub fn due(&self, executor: usize) -> Option<Time> {
        match self.seated.get(executor).map(|seated| seated.state) {
            Some(Step::Wait(due)) => due,
            Some(_) => None,
            None => self.patience.waits.flatten(),
        }
    }

    /// A handle to give it orders, which the controller carries out in its steps.
    pub fn control(&self) -> Control {
        Control(self.controls.events.clone())
    }

    /// Spouts read no more, what is in flight is drained, then it ends.
    pub fn stop(&self) {
        if self.controls.events.send(Event::Interrupted).is_err() {
            tracing::debug!("the run has ended already");
        }
    }

    /// Takes one step of an executor, or of the controller.
    pub fn step(&mut self, executor: usize) -> Stepping {
        let Some(seated) = self.seated.get_mut(executor) else { return self.lead() };
        if seated.state == Step::Closed {
            return Stepping::Closed;
        }
        if matches!(seated.state, Step::Wait(_)) {
            seated.inbox.wake_is_taken();
        }
        seated.state = seated.executor.step();
        match seated.state {
            Step::Again => Stepping::Moved,
            Step::Wait(due) => Stepping::Waits(due),
            Step::Closed => Stepping::Closed,
        }
    }

    /// Takes rounds until the run is over.
    ///
    /// # Errors
    /// As [`Stepped::round`].
    pub fn run(mut self, clock: &ManualClock) -> Result<Ended, Stalled> {
        while !self.round(clock)? {}
        Ok(self.close())
    }

    /// Takes a step of each in turn; true when the run is over. When all wait, the clock moves on to the next moment at
    /// which something is due.
    ///
    /// # Errors
    /// All wait, and nothing is due: it would stand still for ever.
    pub fn round(&mut self, clock: &ManualClock) -> Result<bool, Stalled> {
        let (mut moved, mut due) = (false, None::<Time>);
        for executor in 0..=self.executors() {
            match self.step(executor) {
                Stepping::Moved => moved = true,
                Stepping::Waits(at) => due = [due, at].into_iter().flatten().min(),
                Stepping::Closed if executor == self.executors() => return Ok(true),
                Stepping::Closed => {}
            }
        }
        match due {
            _ if moved => {}
            Some(at) => clock.advance_to(at.max(clock.now().after(Duration::from_nanos(1)))),
            None => return Err(Stalled(format!("{:#}", self.watch().report().json()))),
        }
        Ok(false)
    }

    /// The end, once the controller says [`Stepping::Closed`]: every executor closes, in the order of the stages.
    pub fn close(mut self) -> Ended {
        let outcome = self.conductor.outcome();
        for seated in &mut self.seated {
            seated.inbox.command(Command::Close);
            while seated.executor.step() != Step::Closed {}
        }
        ended(&self.controls, outcome)
    }

    /// As the loop of [`super::Running::wait`]: one event after each wait.
    fn lead(&mut self) -> Stepping {
        self.patience.heard.extend(self.events.try_iter());
        if self.patience.waits.take().is_some()
            && let Some(event) = self.patience.heard.pop_front()
        {
            self.conductor.hear(event);
        }
        match self.conductor.turn() {
            Turn::Seat(reseated) => {
                self.seat(reseated);
                Stepping::Moved
            }
            Turn::Wait(Wait::No) => Stepping::Moved,
            Turn::Wait(Wait::Event(pause)) => {
                let due = pause.map(|pause| self.controls.now().after(pause));
                self.patience.waits = Some(due);
                self.patience.heard.extend(self.events.try_iter());
                // The next event is heard at once.
                if self.patience.heard.is_empty() { Stepping::Waits(due) } else { Stepping::Moved }
            }
            Turn::Wait(Wait::Over) => Stepping::Closed,
        }
    }

    /// Executors take the places of others, which have closed.
    fn seat(&mut self, mut reseated: Reseated) {
        let is_old = |s: &Seated| is_among(&s.inbox, &reseated.old);
        let at = self.seated.iter().position(is_old).unwrap_or(0);
        self.seated.retain(|seated| !is_old(seated));
        self.seated.splice(at..at, std::mem::take(&mut reseated.new).into_iter().map(Seated::new));
        reseated.done();
    }
}
