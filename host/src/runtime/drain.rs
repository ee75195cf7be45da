//! The controller: waits for a reason to end, then drains.
//!
//! In: events of executors. Out: commands, and how the run ended. A drain goes through the topology in
//! stages: each bolt empties its queue, then flushes; passes repeat, since retries refill the queues, until
//! nothing is pending, or a pass settles nothing and nothing is to come.

use super::env::Event;
use super::inbox::{Command, Inbox};
use super::running::{How, Running};
use anchorbolt_core::ids::Time;
use anchorbolt_core::port::SpoutError;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// While a pass waits for an executor, how often it looks at what else happened.
const LOOK: Duration = Duration::from_millis(50);

/// How far a drain goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Every message comes to an end, retries and timeouts included.
    ToTheEnd,
    /// `drain-timeout` bounds it, and it ends when nothing moves.
    Bounded,
}

/// The end of a run.
pub(crate) struct Drain<'a> {
    running: &'a Running,
    how: How,
    exhausted: usize,
    mode: Option<Mode>,
    deadline: Option<Time>,
    paused: bool,
    /// Someone may mend the paused bolt until the deadline.
    patient: bool,
    stopped: Option<String>,
    spout_error: Option<SpoutError>,
    broken: Option<String>,
    unfinished: bool,
}

/// How a run ended: unfinished, stopped by a policy, a spout's error, the host's own fault.
pub(crate) type Result = (bool, Option<String>, Option<SpoutError>, Option<String>);

impl<'a> Drain<'a> {
    /// A controller of this run.
    pub(crate) fn new(running: &'a Running, how: How) -> Drain<'a> {
        Drain {
            running,
            how,
            exhausted: 0,
            mode: None,
            deadline: None,
            paused: false,
            patient: false,
            stopped: None,
            spout_error: None,
            broken: None,
            unfinished: false,
        }
    }

    /// Waits for the end and drains.
    pub(crate) fn run(&mut self) {
        while self.mode.is_none() && self.broken.is_none() {
            match self.running.events.recv() {
                Ok(event) => self.hear(event),
                Err(_) => return,
            }
        }
        while self.broken.is_none() && self.another_pass() {}
    }

    /// How it ended.
    pub(crate) fn result(self) -> Result {
        (self.unfinished, self.stopped, self.spout_error, self.broken)
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::Settled => {}
            Event::Exhausted => {
                self.exhausted += 1;
                let all = self.exhausted >= self.running.watch.spouts.len();
                let ends = self.how.until_drained || self.how.limit.is_some();
                if all && ends && self.mode.is_none() {
                    self.mode = Some(Mode::ToTheEnd);
                    self.bound_if_paused();
                }
            }
            Event::LimitReached => {
                if self.mode.is_none() {
                    self.mode = Some(Mode::ToTheEnd);
                    self.bound_if_paused();
                }
            }
            Event::Paused(text) => {
                tracing::error!("{text}");
                self.paused = true;
                self.bound_if_paused();
            }
            Event::Interrupted => {
                self.patient = false;
                self.stop_reading();
            }
            Event::OutputClosed => {
                // What is in flight can't get out any more.
                self.deadline = Some(self.now());
                self.stop_reading();
            }
            Event::Stop(text) => {
                self.stopped.get_or_insert(text);
                self.stop_reading();
            }
            Event::SpoutFailed(error) => {
                self.spout_error.get_or_insert(error);
                self.stop_reading();
            }
            Event::Broken(text) => {
                self.broken.get_or_insert(text);
            }
        }
    }

    /// Under a paused circuit a run that would end by itself ends after `drain-timeout`.
    fn bound_if_paused(&mut self) {
        let ends = self.how.until_drained || self.how.limit.is_some();
        if self.paused && ends && self.deadline.is_none() {
            self.patient = true;
            self.stop_reading();
        }
    }

    fn stop_reading(&mut self) {
        self.mode = Some(Mode::Bounded);
        let deadline = self.now().after(self.running.drain_timeout);
        self.deadline.get_or_insert(deadline);
        self.tell_spouts(|| Command::StopReading);
    }

    fn tell_spouts(&self, command: impl Fn() -> Command) {
        for worker in &self.running.workers {
            let is_spout =
                worker.component.is_some_and(|c| self.running.watch.spouts.iter().any(|(s, _)| *s == c));
            if is_spout {
                worker.inbox.command(command());
            }
        }
    }

    /// One pass through the stages. True when another is due.
    fn another_pass(&mut self) -> bool {
        let env = &self.running.watch.env;
        env.watched.store(true, Relaxed);
        let before = self.settled();
        let complete = self.pass();
        if self.pending() == 0 && complete {
            return false;
        }
        if self.is_late() {
            self.unfinished = true;
            return false;
        }
        if self.settled() != before || !complete {
            return true;
        }
        if self.mode == Some(Mode::Bounded) && !self.more_to_come() {
            // Acks that were on their way when the figures were read have arrived by now.
            let (left, moved) = (self.pending() > 0, self.settled() != before);
            self.unfinished = left && !moved;
            return left && moved;
        }
        self.wait_for_event();
        true
    }

    fn now(&self) -> Time {
        self.running.watch.env.clock.now()
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|d| d <= self.now())
    }

    /// Waits until something was settled, or the drain has lasted too long, or it is time to look again.
    fn wait_for_event(&mut self) {
        let event = match self.deadline {
            // Bolts that become idle say nothing, so a bounded drain looks now and then.
            Some(_) => self.running.events.recv_timeout(LOOK).ok(),
            None => self.running.events.recv().ok(),
        };
        if let Some(event) = event {
            self.hear(event);
        }
    }

    /// Every stage empties its queues, then flushes. False when the drain was cut short.
    fn pass(&mut self) -> bool {
        let stages = self.running.watch.plan.stages.clone();
        stages.iter().all(|stage| self.flush(stage))
    }

    fn flush(&mut self, stage: &[usize]) -> bool {
        let (done, flushed) = std::sync::mpsc::channel();
        for worker in &self.running.workers {
            if worker.component.is_some_and(|c| stage.contains(&c)) {
                worker.inbox.command(Command::Flush(done.clone()));
            }
        }
        drop(done);
        loop {
            match flushed.recv_timeout(LOOK) {
                Err(RecvTimeoutError::Disconnected) => return true,
                Ok(()) | Err(RecvTimeoutError::Timeout) => {}
            }
            while let Ok(event) = self.running.events.try_recv() {
                self.hear(event);
            }
            if self.is_late() || self.broken.is_some() {
                return false;
            }
        }
    }

    fn settled(&self) -> u64 {
        let watch = &self.running.watch;
        let spouts = watch.spouts.iter().map(|(_, cell)| {
            let f = cell.figures();
            f.trees_acked + f.trees_failed + f.trees_timed_out + f.untracked + f.replayed
        });
        spouts.sum()
    }

    fn pending(&self) -> u64 {
        self.running.watch.spouts.iter().map(|(_, cell)| cell.figures().pending).sum()
    }

    /// Whether something will move by itself: a retry that waits, tuples or acks on their way. In the order in
    /// which they travel, so that nothing slips by.
    fn more_to_come(&self) -> bool {
        let running = self.running;
        let busy = |inbox: &Inbox| !inbox.is_idle();
        let ackers = running.workers.iter().filter(|w| w.component.is_none());
        self.patient
            || running.watch.env.bolt_inboxes.iter().any(|inbox| busy(inbox))
            || ackers.into_iter().any(|w| busy(&w.inbox))
            || running.workers.iter().any(|w| busy(&w.inbox))
            || running.watch.spouts.iter().any(|(_, cell)| cell.waits_for_retry())
    }
}
