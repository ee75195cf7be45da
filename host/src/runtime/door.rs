//! Where the executor of a task is found: its inbox, until the task moves to another executor.
//!
//! In: what is for the task. Out: it is in the inbox of whoever has the task now. Invariant: while a door is held nothing
//! gets in, so that what waits can move with the task, and nothing overtakes it.

use super::inbox::{Inbox, Pushed};
use super::track::Track;
use anchorbolt_core::batch::Batch;
use parking_lot::{RwLock, RwLockWriteGuard};
use std::sync::Arc;

/// The door of one task.
pub(crate) struct Door(RwLock<Arc<Inbox>>);

impl Door {
    /// A door to this inbox.
    pub(crate) fn new(inbox: Arc<Inbox>) -> Door {
        Door(RwLock::new(inbox))
    }

    /// As [`Inbox::push`].
    pub(crate) fn push(&self, batch: Batch, producer: &Arc<Inbox>) -> Pushed {
        self.0.read().push(batch, producer)
    }

    /// As [`Inbox::push_cycle`].
    pub(crate) fn push_cycle(&self, batch: Batch) -> Pushed {
        self.0.read().push_cycle(batch)
    }

    /// As [`Inbox::track`].
    pub(crate) fn track(&self, track: Track) {
        self.0.read().track(track);
    }

    /// As [`Inbox::poke`].
    pub(crate) fn poke(&self) {
        self.0.read().poke();
    }

    /// The inbox that it leads to now.
    pub(crate) fn inbox(&self) -> Arc<Inbox> {
        self.0.read().clone()
    }

    /// Keeps everything out until the guard is gone; it may lead elsewhere then.
    pub(crate) fn hold(&self) -> RwLockWriteGuard<'_, Arc<Inbox>> {
        self.0.write()
    }
}
