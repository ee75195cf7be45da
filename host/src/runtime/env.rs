//! What all executors of a topology share.

use super::clock::Clock;
use super::door::Door;
use super::inbox::Inbox;
use super::orders::{Order, Reply};
use super::pool::Pool;
use crate::telemetry::Errors;
use anchorbolt_core::ack::Generations;
use anchorbolt_core::failure::{Class, Failure};
use anchorbolt_core::ids::{RootId, TaskId, Time};
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::Sender;

/// What executors tell the controller.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A spout task has come to the end of its source, or was told to stop.
    Exhausted,
    /// Something was settled while a drain watches.
    Settled,
    /// All that were told to flush, with this number, have done so.
    Flushed(u64),
    /// As many messages as the run may read were read.
    LimitReached,
    /// A checkpoint or dead letters can't be written for now.
    Unwritable,
    /// A spout task can't go on.
    SpoutFailed(anchorbolt_core::port::SpoutError),
    /// The run has to end: `on-exhausted` or `on-circuit-open` says `stop`, or the limit is read.
    Stop(String),
    /// A bolt's circuit opened, and its tasks pause.
    Paused(String),
    /// Standard output was closed by its reader.
    OutputClosed,
    /// The host itself broke: a thread panicked.
    Broken(String),
    /// The user asked for an end.
    Interrupted,
    /// The user gave an order, and waits for an answer.
    Ordered(Order, Reply),
    /// An executor has handed its tasks over.
    Yielded,
}

/// A stage that is being flushed: each of its executors has a reference, and lets go of it when it is done.
#[derive(Debug)]
pub(crate) struct Flushing {
    /// Which flush, counted up.
    pub number: u64,
    /// To the controller.
    pub events: Sender<Event>,
}

impl Drop for Flushing {
    fn drop(&mut self) {
        if self.events.send(Event::Flushed(self.number)).is_err() {
            tracing::trace!("the controller has ended");
        }
    }
}

/// Loses or holds up batches on their way from task to task, for runs under chaos.
pub trait BatchFilter: Send + Sync {
    /// Whether a batch of so many tuples, emitted by this component, goes on. It may take its time.
    fn lets_pass(&self, from: &str, tuples: usize) -> bool;
}

/// Finds what a spout knows of a tree.
pub(crate) trait Directory: Send + Sync {
    /// The message as `SPOUT@POSITION`, and when the tree began. None when the tree is over.
    fn message(&self, root: RootId) -> Option<(String, Time)>;
}

/// What a task shows to others: see [`super::shared::TaskShared`].
pub(crate) trait Holder: Send + Sync {
    /// The component's name and the task's id.
    fn name(&self) -> (&str, TaskId);
    /// Calls `f` with each tree that a tuple held by the task belongs to, and since when.
    fn for_each_held(&self, f: &mut dyn FnMut(RootId, Time));
}

/// Shared by all executors.
pub(crate) struct Env {
    /// The topology's name.
    pub topology: String,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Generations of trees, by owner.
    pub generations: Vec<Arc<Generations>>,
    /// Where the executor of each task is found, by task id; none for spouts' tasks.
    pub doors: Vec<Option<Door>>,
    /// The inbox of each executor of a bolt.
    pub bolt_inboxes: RwLock<Vec<Arc<Inbox>>>,
    /// Bolt tasks, for the diagnosis of timeouts.
    pub holders: Vec<Arc<dyn Holder>>,
    /// Spare batches.
    pub pool: Pool,
    /// The errors of the run.
    pub errors: Arc<Errors>,
    /// To the controller.
    pub events: Sender<Event>,
    /// The controller wants to know when something is settled.
    pub watched: AtomicBool,
    /// A bolt's circuit is open and it is paused: the deadlines of trees stand still, for nobody can work on those that
    /// wait for it.
    pub standing_still: AtomicBool,
    /// Spouts read: see [`Order::Deactivate`].
    pub active: AtomicBool,
    /// Messages that may still be claimed by a spout task, over all.
    pub quota: AtomicU64,
    /// Messages of the limit that were not read yet.
    pub to_read: AtomicU64,
    /// Untracked tuples that a cycle dropped.
    pub untracked_dropped: AtomicU64,
    /// Loses or holds up batches between tasks, in a run under chaos.
    pub filter: Option<Arc<dyn BatchFilter>>,
    /// What random numbers begin with; none: with something else each time.
    pub seed: Option<u64>,
}

impl Env {
    /// Whether a tuple's tree is over, so that working on it is waste.
    #[inline]
    pub(crate) fn is_over(&self, root: RootId) -> bool {
        self.generations.get(root.owner() as usize).is_some_and(|g| g.is_over(root))
    }

    /// Random numbers for one of those who draw them.
    pub(crate) fn rng(&self, who: u64) -> fastrand::Rng {
        let mix = |seed: u64| seed.wrapping_add(who.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        self.seed.map_or_else(fastrand::Rng::new, |seed| fastrand::Rng::with_seed(mix(seed)))
    }

    /// Tells the controller something. It may be gone at the very end.
    pub(crate) fn tell(&self, event: Event) {
        let gone = self.events.send(event).is_err();
        if gone {
            tracing::trace!("the controller has ended");
        }
    }

    /// Whether trees may run into their deadlines now.
    #[inline]
    pub(crate) fn deadlines_run(&self) -> bool {
        !self.standing_still.load(Relaxed)
    }

    /// Tells the controller, if it watches, that something was settled.
    pub(crate) fn settled(&self) {
        if self.watched.swap(false, Relaxed) {
            self.tell(Event::Settled);
        }
    }

    /// Counts an error and logs it the first time.
    pub(crate) fn error(&self, component: &str, class: Class, message: &str) {
        if self.errors.add(component, class, message) {
            tracing::warn!(component, %class, "{}", one_entry(message));
        }
    }

    /// As [`Env::error`], of a failure.
    pub(crate) fn failure(&self, failure: &Failure) {
        let text = match failure.output.trim() {
            "" => failure.reason.clone(),
            output => format!("{}; it printed: {output}", failure.reason),
        };
        self.error(&failure.component, failure.class, &text);
    }
}

/// A text as one entry of the log: a line that a guest began must not look like an entry of its own.
pub(crate) fn one_entry(text: &str) -> String {
    text.replace('\n', "\n    | ")
}

#[cfg(test)]
mod tests {
    use super::one_entry;

    #[test]
    fn a_text_of_several_lines_is_one_entry_of_the_log() {
        let forged = "x\n2026-12-01T00:00:00Z ERROR anchorbolt: all is lost";
        assert!(one_entry(forged).lines().skip(1).all(|line| line.starts_with("    | ")));
    }
}
