//! The controller: waits for a reason to end, then drains.
//!
//! In: events of executors. Out: commands, and how the run ended. A drain goes through the topology in
//! stages: each bolt empties its queue, then flushes; passes repeat, since retries refill the queues, until
//! nothing is pending, or a pass settles nothing and nothing is to come.
//!
//! Invariant: a turn never blocks; it says what it waits for.

use super::controls::Controls;
use super::env::Event;
use super::inbox::Command;
use super::running::How;
use anchorbolt_core::ids::Time;
use anchorbolt_core::port::SpoutError;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Where nothing is told of what is waited for, how often it is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// How far a drain goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Every message comes to an end, retries and timeouts included.
    ToTheEnd,
    /// `drain-timeout` bounds it, and it ends when nothing moves.
    Bounded,
}

/// Where the controller is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing says that the run is to end.
    Running,
    /// A pass through the stages.
    Pass {
        /// What had been settled before it.
        before: u64,
        /// The stage that is being flushed.
        stage: usize,
        /// It is.
        flushed: bool,
    },
    /// A pass settled nothing: the next begins when something has happened.
    Between,
    /// All is over.
    Over,
}

/// What the controller waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Nothing: take another turn.
    No,
    /// An event, or so long.
    Event(Option<Duration>),
    /// The run is over.
    Over,
}

/// How a run ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Messages without an end were left.
    pub unfinished: bool,
    /// A policy's `stop`.
    pub stopped: Option<String>,
    /// A spout's error.
    pub spout_error: Option<SpoutError>,
    /// The host's own fault.
    pub broken: Option<String>,
}

/// The end of a run.
pub(crate) struct Drain {
    controls: Arc<Controls>,
    how: How,
    phase: Phase,
    /// Flushes so far.
    flushes: u64,
    exhausted: usize,
    mode: Option<Mode>,
    deadline: Option<Time>,
    paused: bool,
    /// When a message last came to its end while something could not go on, and how many had.
    moved_at: Option<Time>,
    ended_before: u64,
    outcome: Outcome,
}

impl Drain {
    /// A controller of this run.
    pub(super) fn new(controls: Arc<Controls>, how: How) -> Drain {
        Drain {
            controls,
            how,
            phase: Phase::Running,
            flushes: 0,
            exhausted: 0,
            mode: None,
            deadline: None,
            paused: false,
            moved_at: None,
            ended_before: 0,
            outcome: Outcome::default(),
        }
    }

    /// How it ended.
    pub(crate) fn outcome(self) -> Outcome {
        self.outcome
    }

    /// Does what there is to do.
    pub(crate) fn turn(&mut self) -> Wait {
        if self.outcome.broken.is_some() {
            self.phase = Phase::Over;
        }
        match self.phase {
            Phase::Running if self.mode.is_some() => self.begin_pass(),
            Phase::Running => self.go_on(),
            Phase::Between => self.begin_pass(),
            Phase::Pass { before, stage, flushed: true } => self.next_stage(before, stage + 1),
            Phase::Pass { before, .. } if self.is_late() => self.end_pass(before, false),
            Phase::Pass { .. } => Wait::Event(Some(LOOK)),
            Phase::Over => Wait::Over,
        }
    }

    /// Nothing says that the run is to end; unless it can't go on.
    fn go_on(&mut self) -> Wait {
        if !self.is_stuck() {
            return self.wait();
        }
        self.deadline = Some(self.controls.now());
        self.stop_reading();
        Wait::No
    }

    /// Takes an event in.
    pub(crate) fn hear(&mut self, event: Event) {
        match event {
            Event::Settled | Event::Unwritable | Event::Ordered(..) | Event::Yielded => {}
            Event::Flushed(number) => {
                if let Phase::Pass { flushed, .. } = &mut self.phase
                    && number == self.flushes
                {
                    *flushed = true;
                }
            }
            Event::Exhausted => {
                self.exhausted += 1;
                let all = self.exhausted >= self.controls.spout_tasks();
                if all && self.ends_by_itself() && self.mode.is_none() {
                    self.mode = Some(Mode::ToTheEnd);
                }
            }
            Event::LimitReached => {
                self.mode.get_or_insert(Mode::ToTheEnd);
            }
            Event::Paused(text) => {
                tracing::error!("{text}");
                self.paused = true;
            }
            Event::Interrupted => self.stop_reading(),
            Event::OutputClosed => {
                // What is in flight can't get out any more.
                self.deadline = Some(self.controls.now());
                self.stop_reading();
            }
            Event::Stop(text) => {
                self.outcome.stopped.get_or_insert(text);
                self.stop_reading();
            }
            Event::SpoutFailed(error) => {
                self.outcome.spout_error.get_or_insert(error);
                self.stop_reading();
            }
            Event::Broken(text) => {
                self.outcome.broken.get_or_insert(text);
            }
        }
    }

    fn ends_by_itself(&self) -> bool {
        self.how.until_drained || self.how.limit.is_some()
    }

    /// The run would end by itself, but a bolt is paused or dead letters can't be written, and no message has come
    /// to its end for `drain-timeout`: what is left waits for that.
    fn is_stuck(&mut self) -> bool {
        if !self.ends_by_itself() || !(self.paused || self.controls.is_unwritable()) {
            self.moved_at = None;
            return false;
        }
        let (now, ended) = (self.controls.now(), self.controls.ended());
        if std::mem::replace(&mut self.ended_before, ended) != ended {
            self.moved_at = None;
        }
        let since = *self.moved_at.get_or_insert(now);
        now.since(since) >= self.controls.drain_timeout
    }

    fn stop_reading(&mut self) {
        self.mode = Some(Mode::Bounded);
        let deadline = self.controls.now().after(self.controls.drain_timeout);
        self.deadline.get_or_insert(deadline);
        self.controls.tell_spouts(&Command::StopReading);
    }

    /// Whether the run comes to its end, so that spouts read no more.
    pub(super) fn has_begun(&self) -> bool {
        self.mode == Some(Mode::Bounded)
    }

    /// The host is broken: nothing more can come to a good end.
    pub(super) fn is_broken(&self) -> bool {
        self.outcome.broken.is_some()
    }

    /// As an interruption, with at most so long for what is in flight.
    pub(super) fn kill(&mut self, wait: Duration) {
        let end = self.controls.now().after(wait);
        self.deadline = Some(self.deadline.map_or(end, |deadline| deadline.min(end)));
        self.stop_reading();
    }

    /// Every stage empties its queues, then flushes.
    fn begin_pass(&mut self) -> Wait {
        self.controls.watch.env.watched.store(true, Relaxed);
        self.next_stage(self.controls.settled(), 0)
    }

    fn next_stage(&mut self, before: u64, stage: usize) -> Wait {
        let controls = self.controls.clone();
        let Some(components) = controls.stages().get(stage) else {
            return self.end_pass(before, true);
        };
        self.flushes += 1;
        self.phase = Phase::Pass { before, stage, flushed: false };
        controls.flush(components, self.flushes);
        Wait::No
    }

    /// A pass is over; `complete`: it was not cut short. Is another due?
    fn end_pass(&mut self, before: u64, complete: bool) -> Wait {
        self.phase = Phase::Between;
        let controls = self.controls.clone();
        if controls.pending() == 0 && complete && !controls.on_their_way() {
            self.phase = Phase::Over;
        } else if self.is_late() || self.is_stuck() {
            // An executor that is only about to sleep leaves nothing undone.
            self.outcome.unfinished = controls.queued() || controls.pending() > 0;
            self.phase = Phase::Over;
        } else if controls.settled() != before || !complete {
            return Wait::No;
        } else if self.mode == Some(Mode::Bounded) && !controls.more_to_come() {
            // Acks that were on their way when the figures were read have arrived by now.
            let (left, moved) = (controls.pending() > 0, controls.settled() != before);
            self.outcome.unfinished = left && !moved;
            self.phase = if left && moved { Phase::Between } else { Phase::Over };
        } else {
            // What was settled while `before` was read has been told already: ask to be told again, and look once more.
            controls.watch.env.watched.store(true, Relaxed);
            if controls.settled() == before {
                return self.wait();
            }
        }
        Wait::No
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|d| d <= self.controls.now())
    }

    /// Until something happened; now and then by itself where what is waited for says nothing.
    fn wait(&self) -> Wait {
        let drained = self.mode.is_some() && self.controls.pending() == 0;
        let looks = self.deadline.is_some() || self.paused || drained || self.controls.is_unwritable();
        Wait::Event(looks.then_some(LOOK))
    }
}
