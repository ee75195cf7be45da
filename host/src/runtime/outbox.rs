//! Batches on their way out of an executor: pushed while there is room, kept in order while there is none.
//!
//! Invariant: batches for one task leave in the order in which they were made; one full queue does not hold
//! up the batches for others.

use super::env::Env;
use super::inbox::{Inbox, Pushed};
use super::track::Tracker;
use crate::telemetry::bump;
use anchorbolt_core::batch::Batch;
use anchorbolt_core::failure::{Class, Cost, Failure};
use anchorbolt_core::ids::{RootId, TaskId};
use std::collections::VecDeque;
use std::sync::Arc;

/// The way out of one executor.
pub(crate) struct Outbox {
    component: String,
    batches: VecDeque<Batch>,
    /// By task id: whether the edge to it closes a cycle.
    cycle: Vec<bool>,
    blocked: Vec<TaskId>,
    /// The executor's own inbox: whoever makes room wakes it there.
    producer: Arc<Inbox>,
}

impl Outbox {
    /// The outbox of the executor that has this inbox.
    pub(crate) fn new(component: &str, cycle: Vec<bool>, producer: Arc<Inbox>) -> Outbox {
        let batches = VecDeque::new();
        Outbox { component: component.to_owned(), batches, cycle, blocked: vec![], producer }
    }

    /// Where tasks put what they emitted.
    pub(crate) fn batches(&mut self) -> &mut VecDeque<Batch> {
        &mut self.batches
    }

    /// Whether all has left.
    pub(crate) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Pushes what there is room for. True when all has left.
    pub(crate) fn push(&mut self, env: &Env, tracker: &Tracker) -> bool {
        self.blocked.clear();
        for _ in 0..self.batches.len() {
            let Some(batch) = self.batches.pop_front() else { break };
            if self.blocked.contains(&batch.task) {
                self.batches.push_back(batch);
                continue;
            }
            let task = batch.task;
            if env.filter.as_ref().is_some_and(|filter| !filter.lets_pass(&self.component, batch.len())) {
                env.pool.put(batch);
                continue;
            }
            let Some(Some(door)) = env.doors.get(task as usize) else { continue };
            let closes = self.cycle.get(task as usize).copied().unwrap_or(false);
            let pushed = if closes { door.push_cycle(batch) } else { door.push(batch, &self.producer) };
            match pushed {
                Pushed::Taken => {}
                Pushed::Full(batch) => {
                    self.blocked.push(task);
                    self.batches.push_back(batch);
                }
                Pushed::Overflow(batch) => self.overflow(env, tracker, batch),
            }
        }
        self.batches.is_empty()
    }

    /// A cycle grew over its bound: the trees of the batch fail, its untracked tuples are dropped.
    fn overflow(&self, env: &Env, tracker: &Tracker, mut batch: Batch) {
        let failure = Failure {
            class: Class::Overflow,
            cost: Cost::Fault,
            component: self.component.clone(),
            task: batch.source,
            reason: format!(
                "the queue to task {} closes a cycle and is over cycle-bytes: the cycle makes more than it uses up",
                batch.task
            ),
            output: String::new(),
            input: None,
        };
        env.failure(&failure);
        let mut roots: Vec<RootId> = vec![];
        let mut untracked = 0;
        for i in 0..batch.len() {
            let before = roots.len();
            roots.extend(batch.take_lineage(i).iter().map(|(root, _)| root));
            untracked += u64::from(roots.len() == before);
        }
        roots.sort_unstable();
        roots.dedup();
        bump(&env.untracked_dropped, untracked);
        tracker.fails(roots.into_iter().map(|root| (root, failure.clone())));
        env.pool.put(batch);
    }
}
