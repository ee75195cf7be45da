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
    /// When a message last came to its end under a paused circuit, and how many had.
    moved_at: Time,
    ended_before: u64,
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
            moved_at: Time(0),
            ended_before: 0,
            stopped: None,
            spout_error: None,
            broken: None,
            unfinished: false,
        }
    }

    /// Waits for the end and drains.
    pub(crate) fn run(&mut self) {
        while self.mode.is_none() && self.broken.is_none() {
            if !self.wait_for_event() {
                return;
            }
            if self.is_stuck() {
                self.deadline = Some(self.now());
                self.stop_reading();
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
                self.moved_at = self.now();
            }
            Event::Interrupted => self.stop_reading(),
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

    fn ends_by_itself(&self) -> bool {
        self.how.until_drained || self.how.limit.is_some()
    }

    /// A bolt is paused, the run would end by itself, and no message has come to its end for `drain-timeout`:
    /// what is left waits for the paused bolt.
    fn is_stuck(&mut self) -> bool {
        if !self.paused || !self.ends_by_itself() {
            return false;
        }
        let (now, ended) = (self.now(), self.ended());
        if std::mem::replace(&mut self.ended_before, ended) != ended {
            self.moved_at = now;
        }
        now.since(self.moved_at) >= self.running.drain_timeout
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
        if self.pending() == 0 && complete && !self.on_their_way() {
            return false;
        }
        if self.is_late() || self.is_stuck() {
            // An executor that is only about to sleep leaves nothing undone.
            let queued = self.running.watch.env.bolt_inboxes.iter().any(|inbox| inbox.queued() > 0);
            self.unfinished = queued || self.pending() > 0;
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

    /// Waits until something happened; now and then looks by itself where what it waits for says nothing. False
    /// when nobody is left to tell anything.
    fn wait_for_event(&mut self) -> bool {
        let looks = self.deadline.is_some() || self.paused || (self.mode.is_some() && self.pending() == 0);
        if looks {
            match self.running.events.recv_timeout(LOOK) {
                Ok(event) => self.hear(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        } else {
            match self.running.events.recv() {
                Ok(event) => self.hear(event),
                Err(_) => return false,
            }
        }
        true
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

    /// Messages that have come to an end.
    fn ended(&self) -> u64 {
        let figures = self.running.watch.spouts.iter().map(|(_, cell)| cell.figures());
        figures.map(|f| f.completed + f.untracked + f.dead_lettered + f.dropped + f.handed_back).sum()
    }

    fn pending(&self) -> u64 {
        self.running.watch.spouts.iter().map(|(_, cell)| cell.figures().pending).sum()
    }

    /// Whether tuples wait or are worked on. Those outside every tree are in no other figure.
    fn on_their_way(&self) -> bool {
        self.running.watch.env.bolt_inboxes.iter().any(|inbox| !inbox.is_idle())
    }

    /// Whether something will move by itself: a retry that waits, tuples or acks on their way. In the order in
    /// which they travel, so that nothing slips by.
    fn more_to_come(&self) -> bool {
        let running = self.running;
        let busy = |inbox: &Inbox| !inbox.is_idle();
        let ackers = running.workers.iter().filter(|w| w.component.is_none());
        self.on_their_way()
            || ackers.into_iter().any(|w| busy(&w.inbox))
            || running.workers.iter().any(|w| busy(&w.inbox))
            || running.watch.spouts.iter().any(|(_, cell)| cell.waits_for_retry())
    }
}
