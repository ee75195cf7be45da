//! A topology without threads: whoever has it takes the steps of its executors, one at a time.
//!
//! In: a choice of the next executor, and a clock that the caller moves. Out: the same run that threads would make,
//! in the order of the caller's choice, so that a seed repeats it. Nothing sleeps and nothing races.

use super::clock::{Clock, ManualClock};
use super::controls::Controls;
use super::drain::{Drain, Wait};
use super::env::Event;
use super::executor::{Executor, Step};
use super::inbox::{Command, Inbox};
use super::running::{Ended, Watch, ended};
use anchorbolt_core::ids::Time;
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
    pub(super) drain: Drain,
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

    /// Spouts read no more, what is in flight is drained, then it ends.
    pub fn stop(&self) {
        if self.controls.events.send(Event::Interrupted).is_err() {
            tracing::debug!("the run has ended already");
        }
    }

    /// Takes one step of an executor, or of the controller.
    pub fn step(&mut self, executor: usize) -> Stepping {
        let Some(seated) = self.seated.get_mut(executor) else { return self.control() };
        if seated.state == Step::Closed {
            return Stepping::Closed;
        }
        seated.state = seated.executor.step();
        match seated.state {
            Step::Again => Stepping::Moved,
            Step::Wait(due) => Stepping::Waits(due),
            Step::Closed => Stepping::Closed,
        }
    }

    /// Takes the steps of all in turn until the run is over. When all wait, the clock moves on to the next moment at
    /// which something is due.
    ///
    /// # Errors
    /// All wait, and nothing is due: it would stand still for ever.
    pub fn run(mut self, clock: &ManualClock) -> Result<Ended, Stalled> {
        loop {
            let (mut moved, mut due) = (false, None::<Time>);
            for executor in 0..=self.executors() {
                match self.step(executor) {
                    Stepping::Moved => moved = true,
                    Stepping::Waits(at) => due = [due, at].into_iter().flatten().min(),
                    Stepping::Closed if executor == self.executors() => return Ok(self.close()),
                    Stepping::Closed => {}
                }
            }
            match due {
                _ if moved => {}
                Some(at) => clock.advance_to(at.max(clock.now().after(Duration::from_nanos(1)))),
                None => return Err(Stalled(format!("{:#}", self.watch().report().json()))),
            }
        }
    }

    /// The end, once the controller says [`Stepping::Closed`]: every executor closes, in the order of the stages.
    pub fn close(mut self) -> Ended {
        let outcome = self.drain.outcome();
        for seated in &mut self.seated {
            seated.inbox.command(Command::Close);
            while seated.executor.step() != Step::Closed {}
        }
        ended(&self.controls, outcome)
    }

    fn control(&mut self) -> Stepping {
        while let Ok(event) = self.events.try_recv() {
            self.drain.hear(event);
        }
        match self.drain.turn() {
            Wait::No => Stepping::Moved,
            Wait::Event(pause) => Stepping::Waits(pause.map(|pause| self.controls.now().after(pause))),
            Wait::Over => Stepping::Closed,
        }
    }
}
