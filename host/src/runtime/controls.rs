//! What the controller of a run looks at and speaks to.
//!
//! In: the inboxes of all executors, the figures of all tasks. Out: sums, and answers to "is anything still on its
//! way?". Invariant: looking changes nothing.

use super::env::{Event, Flushing};
use super::inbox::{Command, Inbox, is_among};
use super::keep::Keep;
use super::running::Watch;
use super::seating::Seating;
use crate::telemetry::SpoutFigures;
use anchorbolt_core::ids::Time;
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// The inbox of an executor.
pub(super) struct Post {
    pub(super) inbox: Arc<Inbox>,
    /// The component; none for an acker and for the keeper.
    pub(super) component: Option<usize>,
}

/// Everything that a controller needs.
pub(super) struct Controls {
    pub(super) watch: Watch,
    pub(super) posts: RwLock<Vec<Post>>,
    pub(super) seating: Seating,
    pub(super) keep: Option<Arc<Keep>>,
    pub(super) drain_timeout: Duration,
    /// To the controller itself.
    pub(super) events: Sender<Event>,
}

impl Controls {
    pub(super) fn now(&self) -> Time {
        self.watch.env.clock.now()
    }

    pub(super) fn spout_tasks(&self) -> usize {
        self.watch.spouts.len()
    }

    pub(super) fn stages(&self) -> &[Vec<usize>] {
        &self.watch.plan.stages
    }

    /// Tells the executors of all spouts.
    pub(super) fn tell_spouts(&self, command: &Command) {
        let is_spout = |c: usize| self.watch.spouts.iter().any(|(s, _)| *s == c);
        for post in self.posts.read().iter().filter(|post| post.component.is_some_and(is_spout)) {
            post.inbox.command(command.clone());
        }
    }

    /// Calls `f` with the inbox of each executor of a component, and says how many there are.
    pub(super) fn each_of(&self, component: usize, f: impl Fn(&Inbox)) -> usize {
        let posts = self.posts.read();
        let its = posts.iter().filter(|post| post.component == Some(component));
        its.inspect(|post| f(&post.inbox)).count()
    }

    /// A component has other executors from now on.
    pub(super) fn replace(
        &self,
        component: usize,
        old: &[Arc<Inbox>],
        new: impl Iterator<Item = Arc<Inbox>>,
    ) {
        let is_old = |inbox: &Arc<Inbox>| is_among(inbox, old);
        let mut posts = self.posts.write();
        let mut bolts = self.watch.env.bolt_inboxes.write();
        let of_bolt = bolts.iter().any(is_old);
        posts.retain(|post| !is_old(&post.inbox));
        bolts.retain(|inbox| !is_old(inbox));
        for inbox in new {
            if of_bolt {
                bolts.push(inbox.clone());
            }
            posts.push(Post { inbox, component: Some(component) });
        }
    }

    /// Tells the executors of a stage to flush.
    pub(super) fn flush(&self, stage: &[usize], number: u64) {
        let flushing = Arc::new(Flushing { number, events: self.events.clone() });
        let posts = self.posts.read();
        for post in posts.iter().filter(|post| post.component.is_some_and(|c| stage.contains(&c))) {
            post.inbox.command(Command::Flush(flushing.clone()));
        }
    }

    fn sum(&self, f: impl Fn(&SpoutFigures) -> u64) -> u64 {
        self.watch.spouts.iter().map(|(_, cell)| f(&cell.figures())).sum()
    }

    /// What has come to an end: trees and messages.
    pub(super) fn settled(&self) -> u64 {
        self.sum(|f| {
            let trees = f.trees_acked + f.trees_failed + f.trees_timed_out + f.replayed;
            trees + f.untracked + f.dead_lettered
        })
    }

    /// Messages that have come to an end.
    pub(super) fn ended(&self) -> u64 {
        self.sum(|f| f.completed + f.untracked + f.dead_lettered + f.dropped + f.handed_back)
    }

    pub(super) fn pending(&self) -> u64 {
        self.sum(|f| f.pending)
    }

    /// Whether tuples wait for a bolt.
    pub(super) fn queued(&self) -> bool {
        self.watch.env.bolt_inboxes.read().iter().any(|inbox| inbox.queued() > 0)
    }

    /// Whether tuples wait or are worked on. Those outside every tree are in no other figure.
    pub(super) fn on_their_way(&self) -> bool {
        self.watch.env.bolt_inboxes.read().iter().any(|inbox| !inbox.is_idle())
    }

    /// Whether something will move by itself: a retry that waits, a letter to be written, tuples or acks on their
    /// way. In the order in which they travel, so that nothing slips by.
    pub(super) fn more_to_come(&self) -> bool {
        let busy = |post: &Post| !post.inbox.is_idle();
        let posts = self.posts.read();
        self.on_their_way()
            || posts.iter().filter(|post| post.component.is_none()).any(busy)
            || posts.iter().any(busy)
            || self.watch.spouts.iter().any(|(_, cell)| cell.waits_for_retry())
            || self.keep.as_ref().is_some_and(|keep| keep.is_blocked())
    }

    /// Whether checkpoints or dead letters can't be written, so that spouts may wait for that.
    pub(super) fn is_unwritable(&self) -> bool {
        self.keep.as_ref().is_some_and(|keep| keep.problem().is_some())
    }
}
