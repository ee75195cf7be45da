//! What moves from executors to others: tasks with all that is theirs, and what waits for them.
//!
//! In: what the old executors handed over, and what was in their inboxes. Out: the part of each new one. Invariant: what
//! is for one task, and what comes from one task, keeps its order.

use super::bolt_task::BoltTask;
use super::env::Flushing;
use super::inbox::{Command, Waiting};
use super::spout_task::SpoutTask;
use super::track::Track;
use anchorbolt_core::batch::Batch;
use anchorbolt_core::ids::TaskId;
use std::collections::VecDeque;
use std::sync::Arc;

/// What an executor hands over as it ends.
#[derive(Default)]
pub(crate) struct Handed {
    /// Its tasks, if it is one of a bolt.
    pub bolts: Vec<BoltTask>,
    /// Its tasks, if it is one of a spout.
    pub spouts: Vec<SpoutTask>,
    /// What they emitted and what has not left.
    pub out: VecDeque<Batch>,
    /// Taken from the inbox for a task that could not have it yet.
    pub taken: VecDeque<Batch>,
    /// Flushes that it had not finished.
    pub flushes: Vec<Arc<Flushing>>,
}

impl Handed {
    /// Takes another's in.
    pub(crate) fn add(&mut self, other: Handed) {
        let Handed { bolts, spouts, out, taken, flushes } = other;
        self.bolts.extend(bolts);
        self.spouts.extend(spouts);
        self.out.extend(out);
        self.taken.extend(taken);
        self.flushes.extend(flushes);
    }
}

/// The tasks of one executor.
pub(super) struct Whose {
    /// Their ids.
    pub(super) ids: Vec<TaskId>,
    /// The owner numbers of those that are spouts'.
    pub(super) owners: Vec<u32>,
}

impl Whose {
    fn has(&self, task: TaskId) -> bool {
        self.ids.contains(&task)
    }
}

/// All that moves.
pub(super) struct Cargo {
    handed: Handed,
    waiting: Waiting,
}

impl Cargo {
    /// What executors handed over, and what was in their inboxes.
    pub(super) fn new(mut handed: Handed, inboxes: impl Iterator<Item = Waiting>) -> Cargo {
        let mut waiting = Waiting::default();
        // What was begun comes before what is still in an inbox.
        waiting.commands.extend(handed.flushes.drain(..).map(Command::Flush));
        inboxes.for_each(|inbox| waiting.add(inbox));
        Cargo { handed, waiting }
    }

    /// What waits for these tasks. Commands are for everyone.
    pub(super) fn waiting(&mut self, whose: &Whose) -> Waiting {
        let all = &mut self.waiting;
        let mine = |track: &mut Track| track.owner().is_some_and(|owner| whose.owners.contains(&owner));
        Waiting {
            data: part(&mut all.data, |batch| whose.has(batch.task)),
            cycle: part(&mut all.cycle, |batch| whose.has(batch.task)),
            tracks: all.tracks.extract_if(.., mine).collect(),
            commands: all.commands.clone(),
        }
    }

    /// These tasks, and what they emitted.
    pub(super) fn handed(&mut self, whose: &Whose) -> Handed {
        let all = &mut self.handed;
        Handed {
            bolts: all.bolts.extract_if(.., |task| whose.has(task.id())).collect(),
            spouts: all.spouts.extract_if(.., |task| whose.owners.contains(&task.owner())).collect(),
            out: part(&mut all.out, |batch| whose.has(batch.source)),
            taken: part(&mut all.taken, |batch| whose.has(batch.task)),
            ..Handed::default()
        }
    }
}

/// Takes the batches out that `mine` says, in order.
fn part(batches: &mut VecDeque<Batch>, mine: impl Fn(&Batch) -> bool) -> VecDeque<Batch> {
    let (taken, left) = std::mem::take(batches).into_iter().partition(mine);
    *batches = left;
    taken
}
