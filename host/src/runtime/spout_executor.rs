//! The executor that runs tasks of a spout.
//!
//! In: acks, commands, the spout's own waker. Out: batches. Invariant: acks never wait behind data. While a
//! queue is full, acks are taken and deadlines kept; with nothing to do, it waits.

use super::bolt_executor::{thread_cpu, yielded};
use super::cargo::Handed;
use super::diagnosis;
use super::env::{Env, Flushing};
use super::executor::{Executor, Step};
use super::inbox::{Command, Inbox};
use super::outbox::Outbox;
use super::spout_task::{SpoutTask, Turn};
use super::track::{Track, Tracker};
use anchorbolt_core::failure::Class;
use anchorbolt_core::ids::Time;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// How long all must have been still before it is looked at whether it can ever move again.
const STILL: Duration = Duration::from_millis(100);

/// A thread's worth of spout tasks.
pub(crate) struct SpoutExecutor {
    env: Arc<Env>,
    inbox: Arc<Inbox>,
    tasks: Vec<SpoutTask>,
    outbox: Outbox,
    tracker: Tracker,
    tracks: Vec<Track>,
    mine: Vec<Vec<Track>>,
    flush: Option<Arc<Flushing>>,
    closing: bool,
    /// Since when nothing moved while there was no room; none once that was looked at.
    still: Option<Time>,
}

impl SpoutExecutor {
    /// An executor of these tasks, whose spouts are open.
    pub(crate) fn new(
        env: Arc<Env>,
        inbox: Arc<Inbox>,
        tasks: Vec<SpoutTask>,
        outbox: Outbox,
        tracker: Tracker,
    ) -> SpoutExecutor {
        SpoutExecutor {
            env,
            inbox,
            mine: tasks.iter().map(|_| vec![]).collect(),
            tasks,
            outbox,
            tracker,
            tracks: vec![],
            flush: None,
            closing: false,
            still: None,
        }
    }

    /// A turn of each task.
    fn turn(&mut self) -> Turn {
        if self.inbox.was_poked() {
            self.tasks.iter_mut().for_each(SpoutTask::nudge);
        }
        self.inbox.take_tracks(&mut self.tracks);
        let only = self.tasks.len() == 1;
        for track in self.tracks.drain(..) {
            let owner = track.owner();
            let at = self.tasks.iter().position(|task| only || Some(task.owner()) == owner);
            if let Some(list) = at.and_then(|i| self.mine.get_mut(i)) {
                list.push(track);
            }
        }
        let emit = self.outbox.is_empty();
        let mut all = Turn::default();
        for (task, tracks) in self.tasks.iter_mut().zip(&mut self.mine) {
            let turn = task.turn(tracks, self.tracker.map(), emit, self.outbox.batches());
            all.worked |= turn.worked;
            all.full |= turn.full;
            all.due = [all.due, turn.due].into_iter().flatten().min();
            all.emit_due = [all.emit_due, turn.emit_due].into_iter().flatten().min();
        }
        all
    }

    fn command(&mut self, pushed: bool) -> bool {
        if pushed && self.flush.take().is_some() {
            return true;
        }
        match self.inbox.take_command() {
            Some(Command::Flush(done)) => self.flush = Some(done),
            Some(Command::StopReading) => self.tasks.iter_mut().for_each(SpoutTask::stop_reading),
            Some(Command::Activate(_obeyed)) => self.tasks.iter_mut().for_each(SpoutTask::activate),
            Some(Command::Deactivate(_obeyed)) => self.tasks.iter_mut().for_each(SpoutTask::deactivate),
            Some(Command::Close) => self.closing = true,
            None => return false,
        }
        true
    }

    /// Hands the tasks over, with all that is theirs.
    fn hand_over(&mut self, to: &Sender<Handed>) {
        let handed = Handed {
            spouts: std::mem::take(&mut self.tasks),
            out: std::mem::take(self.outbox.batches()),
            flushes: self.flush.take().into_iter().collect(),
            ..Handed::default()
        };
        yielded(&self.env, handed, to);
    }

    fn wait(&mut self, turn: Turn, pushed: bool) -> Step {
        let still = if turn.full && pushed { self.watch_stillness() } else { None };
        let emit_due = turn.emit_due.filter(|_| pushed);
        let due = [turn.due, emit_due, still].into_iter().flatten().min();
        if self.inbox.may_park(false, !pushed) { Step::Wait(due) } else { Step::Again }
    }

    /// All that may be pending is: when nothing moved for a while, says who holds it. Returns when to look.
    fn watch_stillness(&mut self) -> Option<Time> {
        let look = self.still?.after(STILL);
        if self.env.clock.now() < look {
            return Some(look);
        }
        self.still = None;
        let (bolt, held) = diagnosis::stalled(&self.env)?;
        let text = format!(
            "holds {held} tuples while every queue is empty and max-spout-pending lets no more come: \
             it waits for more than it can get; raise max-spout-pending, or let it wait for fewer"
        );
        self.env.error(&bolt, Class::Timeout, &text);
        None
    }
}

impl Executor for SpoutExecutor {
    fn step(&mut self) -> Step {
        if let Some(to) = self.inbox.take_yield() {
            self.hand_over(&to);
            return Step::Closed;
        }
        if self.closing {
            self.tasks.iter_mut().for_each(SpoutTask::close);
            tracing::debug!(cpu = ?thread_cpu(), "spout executor ended");
            return Step::Closed;
        }
        let turn = self.turn();
        let blocked = !self.outbox.is_empty() && !turn.worked;
        let pushed = self.outbox.push(&self.env, &self.tracker);
        if turn.worked {
            self.still = Some(self.env.clock.now());
        }
        // What was blocked has left: the next turn may emit again.
        let goes_on = pushed && (turn.worked || blocked);
        if self.command(pushed) || goes_on { Step::Again } else { self.wait(turn, pushed) }
    }
}
