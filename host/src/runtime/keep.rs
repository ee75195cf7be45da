//! What of a run outlives the process, and the messages to and from the one who writes it.
//!
//! In: an open data folder, or parts of one that a test made. Out: what spouts saved before, and the places that have
//! their dead letter. Invariant: a message counts as dead-lettered only after [`Kept::Buried`].

use crate::durable::letter::wall;
use crate::durable::{Checkpoints, DataDir, DeadLetters, DurableError, Filter, Letter, SystemFiles};
use anchorbolt_core::ids::Time;
use anchorbolt_core::manifest::Topology;
use anchorbolt_core::messages::MessageSlot;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;

/// What of a run outlives the process.
pub struct Keep {
    /// None: nothing is restored or saved, as in a replay of dead letters.
    pub(super) checkpoints: Option<Checkpoints>,
    pub(super) letters: Arc<Mutex<DeadLetters>>,
    /// Messages that have a dead letter are passed over.
    pass_over: bool,
    /// Letters are kept so long; none: until they are purged or replayed.
    retention: Option<Duration>,
    /// The wall clock at the run's time 0.
    pub(super) started: OffsetDateTime,
    /// The data folder, held until the run is over.
    _folder: Option<DataDir>,
    problems: Mutex<Problems>,
}

/// What can't be written now, with the text.
#[derive(Debug, Default)]
struct Problems {
    letters: Option<String>,
    /// By spout task.
    checkpoints: BTreeMap<u32, String>,
}

impl Keep {
    /// What is kept in this folder. After `--reset` messages are read again although they have a dead letter.
    ///
    /// # Errors
    /// The dead letters can't be opened.
    pub fn open(folder: DataDir, topology: &Topology, reset: bool) -> Result<Keep, DurableError> {
        let files = Arc::new(SystemFiles);
        let letters = DeadLetters::open(
            files.clone(),
            &folder.layout().dead_letters(),
            topology.dead_letters_max_bytes,
        )?;
        let checkpoints = Checkpoints::new(files, folder.layout().checkpoints());
        let keep = Keep::over(Some(checkpoints), Arc::new(Mutex::new(letters)), OffsetDateTime::now_utc());
        let retention = topology.dead_letters_retention;
        Ok(Keep { pass_over: !reset, retention, _folder: Some(folder), ..keep })
    }

    /// The same over parts of one's own. Without `checkpoints` it is a replay of dead letters: those that fail again
    /// replace the ones before.
    pub fn over(
        checkpoints: Option<Checkpoints>,
        letters: Arc<Mutex<DeadLetters>>,
        started: OffsetDateTime,
    ) -> Keep {
        Keep {
            pass_over: checkpoints.is_some(),
            checkpoints,
            letters,
            retention: None,
            started,
            _folder: None,
            problems: Mutex::default(),
        }
    }

    /// What the tasks of a spout have saved, by task.
    pub(super) fn restore(&self, spout: &str) -> Result<Vec<(u32, Vec<u8>)>, DurableError> {
        self.checkpoints.as_ref().map_or(Ok(vec![]), |checkpoints| checkpoints.load(spout))
    }

    /// Calls `f` with the position and bytes of each message of a spout that has a dead letter.
    pub(super) fn each_dead(&self, spout: &str, f: impl FnMut(&Value, &[u8])) -> Result<(), DurableError> {
        if self.pass_over { self.letters.lock().letters().positions(spout, f) } else { Ok(()) }
    }

    /// Whether letters are not kept for ever.
    pub(super) fn expires(&self) -> bool {
        self.retention.is_some()
    }

    /// Does away with letters that were kept long enough; answers how many.
    pub(super) fn expire(&self, now: Time) -> Result<usize, DurableError> {
        let Some(retention) = self.retention else { return Ok(0) };
        let now = wall(self.started, now);
        let Some(until) = time::Duration::try_from(retention).ok().and_then(|kept| now.checked_sub(kept))
        else {
            return Ok(0);
        };
        self.letters.lock().purge(&Filter { until: Some(until), ..Filter::default() }, now)
    }

    /// Whether dead letters can't be written now.
    pub fn is_blocked(&self) -> bool {
        self.problems.lock().letters.is_some()
    }

    /// What could not be written when it was last tried.
    pub fn problem(&self) -> Option<String> {
        let problems = self.problems.lock();
        problems.letters.clone().or_else(|| problems.checkpoints.values().next().cloned())
    }

    pub(super) fn letters_are(&self, problem: Option<String>) {
        self.problems.lock().letters = problem;
    }

    pub(super) fn checkpoint_is(&self, owner: u32, problem: Option<String>) {
        let problems = &mut self.problems.lock().checkpoints;
        match problem {
            Some(text) => problems.insert(owner, text),
            None => problems.remove(&owner),
        };
    }
}

/// What a spout task asks the keeper to write.
#[derive(Debug)]
pub(crate) enum Job {
    /// What its spout is to know after a restart.
    Save(u32, Vec<u8>),
    /// Letters of its messages that have failed for good.
    Bury(u32, Vec<(MessageSlot, Letter)>),
}

/// What the keeper answers.
#[derive(Debug)]
pub(crate) enum Kept {
    /// The last snapshot is durable.
    Saved,
    /// It could not be written.
    NotSaved,
    /// These messages have their letters.
    Buried(Vec<MessageSlot>),
    /// Letters can't be written for now; they wait.
    Unwritable,
}
