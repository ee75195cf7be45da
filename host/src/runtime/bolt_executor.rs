//! The executor that runs tasks of a bolt.
//!
//! In: its inbox. Out: its outbox and the ack path. Invariant: while something waits in the outbox no new
//! tuple is taken, so back-pressure reaches the spout; an executor with nothing to do waits.

use super::bolt_task::BoltTask;
use super::env::{Env, Flushing};
use super::executor::{Executor, Step};
use super::inbox::{Command, Inbox};
use super::outbox::Outbox;
use super::track::Tracker;
use anchorbolt_core::batch::Batch;
use anchorbolt_core::ids::Time;
use std::sync::Arc;
use std::time::Duration;

/// How many calls lie between two looks at memory and CPU time.
const PUBLISH_CALLS: u32 = 256;

/// A thread's worth of bolt tasks.
pub(crate) struct BoltExecutor {
    env: Arc<Env>,
    inbox: Arc<Inbox>,
    tasks: Vec<BoltTask>,
    outbox: Outbox,
    tracker: Tracker,
    /// A batch that was taken for a task which could not have it yet.
    stash: Option<Batch>,
    /// A drain waits for the tasks to be flushed.
    flush: Option<Arc<Flushing>>,
    /// They were; a drain waits for what they emitted to leave.
    flushed: Option<Arc<Flushing>>,
    closing: bool,
    calls: u32,
}

impl BoltExecutor {
    /// An executor of these tasks, which have their first instances.
    pub(crate) fn new(
        env: Arc<Env>,
        inbox: Arc<Inbox>,
        tasks: Vec<BoltTask>,
        outbox: Outbox,
        tracker: Tracker,
    ) -> BoltExecutor {
        BoltExecutor {
            env,
            inbox,
            tasks,
            outbox,
            tracker,
            stash: None,
            flush: None,
            flushed: None,
            closing: false,
            calls: 0,
        }
    }

    /// One call, if there is anything to call with.
    fn call(&mut self) -> bool {
        let now = self.now_if_timed();
        for i in 0..self.tasks.len() {
            if let Some(now) = now {
                self.tasks[i].tick(&self.env, &mut self.tracker, self.outbox.batches());
                if !self.outbox.is_empty() {
                    return true;
                }
                if !self.tasks[i].ready(now) {
                    continue;
                }
            } else if !self.tasks[i].ready(Time(0)) {
                continue;
            }
            if self.tasks[i].has_work() {
                self.work(i);
                return true;
            }
        }
        let Some(batch) = self.stash.take().or_else(|| self.inbox.take_batch()) else { return false };
        match self.tasks.iter().position(|task| task.id() == batch.task) {
            Some(i) if !self.tasks[i].has_work() && self.is_ready(i) => {
                self.tasks[i].give(batch);
                self.work(i);
                true
            }
            Some(_) => {
                self.stash = Some(batch);
                false
            }
            None => true,
        }
    }

    fn is_ready(&mut self, i: usize) -> bool {
        let now = self.env.clock.now();
        self.tasks[i].ready(now)
    }

    /// The time, when a task waits for a moment: reading the clock is not free.
    fn now_if_timed(&self) -> Option<Time> {
        self.tasks.iter().any(|t| t.next_due().is_some()).then(|| self.env.clock.now())
    }

    fn work(&mut self, i: usize) {
        let (inbox, stash) = (&self.inbox, &mut self.stash);
        let id = self.tasks[i].id();
        let more = || {
            let batch = stash.take().or_else(|| inbox.take_batch())?;
            if batch.task == id {
                return Some(batch);
            }
            *stash = Some(batch);
            None
        };
        self.tasks[i].work(&self.env, &mut self.tracker, self.outbox.batches(), more);
        self.calls += 1;
        if self.calls.is_multiple_of(PUBLISH_CALLS) {
            self.publish();
        }
    }

    /// Obeys the next command. A flush waits until all before it is done and sent.
    fn command(&mut self, pushed: bool) -> bool {
        if pushed && !self.backing_off() && self.flush.is_some() {
            for task in &mut self.tasks {
                task.flush(&self.env, &mut self.tracker, self.outbox.batches());
            }
            self.flushed = self.flush.take();
            return true;
        }
        match self.inbox.take_command() {
            Some(Command::Flush(done)) => self.flush = Some(done),
            Some(Command::Close) => self.closing = true,
            Some(Command::StopReading) => {}
            None => return false,
        }
        true
    }

    /// Whether a task will go on by itself.
    fn backing_off(&self) -> bool {
        self.tasks.iter().any(BoltTask::is_backing_off)
    }

    fn wait(&self, pushed: bool) -> Step {
        let takes_data = pushed && self.stash.is_none();
        let holding = !takes_data || self.tasks.iter().any(BoltTask::has_work);
        if !self.inbox.may_park(takes_data, holding) {
            return Step::Again;
        }
        self.publish();
        // With something in the outbox nothing is due before there is room for it, which wakes.
        let dues = self.tasks.iter().filter_map(BoltTask::next_due);
        Step::Wait(dues.min().filter(|_| pushed))
    }

    fn close(&mut self) {
        self.publish();
        let env = self.env.clone();
        self.tasks.iter_mut().for_each(|task| task.close(&env));
    }

    fn publish(&self) {
        let share = thread_cpu() / self.tasks.len().max(1) as u32;
        self.tasks.iter().for_each(|task| task.publish(share));
    }
}

impl Executor for BoltExecutor {
    fn step(&mut self) -> Step {
        if self.closing {
            self.close();
            return Step::Closed;
        }
        let pushed = self.outbox.push(&self.env, &self.tracker);
        if pushed {
            self.flushed = None;
        }
        let worked = pushed && self.call();
        if worked || self.command(pushed) { Step::Again } else { self.wait(pushed) }
    }
}

/// CPU time of this thread so far.
pub(crate) fn thread_cpu() -> Duration {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(t.tv_sec).unwrap_or(0), u32::try_from(t.tv_nsec).unwrap_or(0))
}
