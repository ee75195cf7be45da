//! The executor that runs tasks of a bolt.
//!
//! In: its inbox. Out: its outbox and the ack path. Invariant: while something waits in the outbox no new
//! tuple is taken, so back-pressure reaches the spout; an executor with nothing to do waits.

use super::bolt_task::BoltTask;
use super::cargo::Handed;
use super::env::{Env, Event, Flushing};
use super::executor::{Executor, Step};
use super::inbox::{Command, Inbox};
use super::outbox::Outbox;
use super::track::Tracker;
use anchorbolt_core::batch::Batch;
use anchorbolt_core::ids::Time;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::Sender;
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
    /// Batches that were taken for tasks which could not have them yet. There is one, but where executors became one;
    /// until it is gone nothing is taken, so that nothing overtakes it.
    stash: VecDeque<Batch>,
    /// A drain waits for the tasks to be flushed.
    flush: Option<Arc<Flushing>>,
    /// They were; a drain waits for what they emitted to leave.
    flushed: Option<Arc<Flushing>>,
    calls: u32,
    /// CPU time of the thread that was published.
    cpu: Duration,
}

impl BoltExecutor {
    /// An executor of these tasks, which have their first instances; `stash` was taken for them elsewhere.
    pub(crate) fn new(
        env: Arc<Env>,
        inbox: Arc<Inbox>,
        tasks: Vec<BoltTask>,
        outbox: Outbox,
        tracker: Tracker,
        stash: VecDeque<Batch>,
    ) -> BoltExecutor {
        BoltExecutor {
            env,
            inbox,
            tasks,
            outbox,
            tracker,
            stash,
            flush: None,
            flushed: None,
            calls: 0,
            cpu: Duration::ZERO,
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
        if self.stash.is_empty() {
            self.stash.extend(self.inbox.take_batch());
        }
        for at in 0..self.stash.len() {
            let task = self.stash[at].task;
            let Some(i) = self.tasks.iter().position(|t| t.id() == task) else { continue };
            if self.is_ready(i)
                && let Some(batch) = self.stash.remove(at)
            {
                self.tasks[i].give(batch);
                self.work(i);
                return true;
            }
        }
        false
    }

    /// Whether a task can have a batch.
    fn is_ready(&mut self, i: usize) -> bool {
        let now = self.env.clock.now();
        !self.tasks[i].has_work() && self.tasks[i].ready(now)
    }

    /// The time, when a task waits for a moment: reading the clock is not free.
    fn now_if_timed(&self) -> Option<Time> {
        self.tasks.iter().any(|t| t.next_due().is_some()).then(|| self.env.clock.now())
    }

    fn work(&mut self, i: usize) {
        let (inbox, stash) = (&self.inbox, &mut self.stash);
        let id = self.tasks[i].id();
        let more = || {
            if stash.is_empty() {
                stash.extend(inbox.take_batch());
            }
            let at = stash.iter().position(|batch| batch.task == id)?;
            stash.remove(at)
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
            Some(Command::Close | Command::StopReading | Command::Activate(_) | Command::Deactivate(_)) => {}
            None => return false,
        }
        true
    }

    /// Whether a task will go on by itself.
    fn backing_off(&self) -> bool {
        self.tasks.iter().any(BoltTask::is_backing_off)
    }

    fn wait(&mut self, pushed: bool) -> Step {
        let takes_data = pushed && self.stash.is_empty();
        let holding = !takes_data || self.tasks.iter().any(BoltTask::has_work);
        if !self.inbox.may_park(takes_data, holding) {
            return Step::Again;
        }
        self.publish();
        // With something in the outbox nothing is due before there is room for it, which wakes.
        let dues = self.tasks.iter().filter_map(BoltTask::next_due);
        let due = dues.min().filter(|_| pushed);
        Step::Wait([due, self.tracker.resets_due()].into_iter().flatten().min())
    }

    fn close(&mut self) {
        self.publish();
        let env = self.env.clone();
        self.tasks.iter_mut().for_each(|task| task.close(&env));
    }

    /// Hands the tasks over, with all that is theirs.
    fn hand_over(&mut self, to: &Sender<Handed>) {
        self.publish();
        let handed = Handed {
            bolts: std::mem::take(&mut self.tasks),
            out: std::mem::take(self.outbox.batches()),
            taken: std::mem::take(&mut self.stash),
            flushes: self.flush.take().into_iter().chain(self.flushed.take()).collect(),
            ..Handed::default()
        };
        yielded(&self.env, handed, to);
    }

    fn publish(&mut self) {
        let now = thread_cpu();
        let share =
            now.saturating_sub(std::mem::replace(&mut self.cpu, now)) / self.tasks.len().max(1) as u32;
        self.tasks.iter().for_each(|task| task.publish(share));
    }
}

impl Executor for BoltExecutor {
    fn step(&mut self) -> Step {
        if let Some(to) = self.inbox.take_yield() {
            self.hand_over(&to);
            return Step::Closed;
        }
        // What is left is left at its source: the drain is over.
        if self.inbox.is_to_close() {
            self.close();
            return Step::Closed;
        }
        if self.tracker.resets_due().is_some() {
            self.tracker.send_resets(self.env.clock.now());
        }
        let pushed = self.outbox.push(&self.env, &self.tracker);
        if pushed {
            self.flushed = None;
        }
        let worked = pushed && self.call();
        if worked || self.command(pushed) { Step::Again } else { self.wait(pushed) }
    }
}

/// Sends what an executor hands over.
pub(crate) fn yielded(env: &Env, handed: Handed, to: &Sender<Handed>) {
    if to.send(handed).is_err() {
        tracing::error!("the tasks of an executor were asked for, and nobody takes them");
    }
    env.tell(Event::Yielded);
}

/// CPU time of this thread so far.
pub(crate) fn thread_cpu() -> Duration {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(t.tv_sec).unwrap_or(0), u32::try_from(t.tv_nsec).unwrap_or(0))
}
