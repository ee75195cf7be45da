//! Dead letters put through the topology again.
//!
//! In: a loaded topology, its data folder, which letters. Out: a run whose spouts are the letters. Messages that
//! complete lose their letter; for one that fails again a new letter, with all attempts, takes the place of the old.
//!
//! Invariant: a letter is over only after its message has completed.

use super::{Loaded, StartError};
use crate::durable::{DataDir, DeadLetters, DurableError, Filter, SystemFiles, Tombstone};
use crate::runtime::{Ended, How, Keep, Running, SpoutFactory, Stopper, Watch};
use crate::spouts::{LettersSpout, Mail};
use anchorbolt_core::plan::{Role, SpoutPlan};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use time::OffsetDateTime;

/// A replay that runs.
pub struct Replaying {
    running: Running,
    letters: Arc<Mutex<DeadLetters>>,
    completed: Arc<Mutex<Vec<String>>>,
    chosen: usize,
    /// Held until all is written.
    _folder: DataDir,
}

/// What a replay came to.
pub struct Replayed {
    /// How the run ended.
    pub ended: Ended,
    /// Letters that were put through again.
    pub chosen: usize,
    /// Of these, the ones whose messages completed: they are over.
    pub completed: usize,
}

impl Loaded {
    /// Puts the letters that the filter takes through the topology again, from the spouts that read them. Takes the
    /// data folder's lock: no host may run on it. Checkpoints are left as they are.
    ///
    /// # Errors
    /// As [`Loaded::start`]; or there are letters of spouts that the topology does not have.
    pub fn replay(mut self, data_dir: &Path, filter: &Filter) -> Result<Replaying, StartError> {
        let plan = self.plan.as_ref().ok_or(StartError::Mistakes)?;
        let folder = DataDir::take(data_dir)?;
        folder.bind(&plan.topology.name)?;
        let files = Arc::new(SystemFiles);
        let most = plan.topology.dead_letters_max_bytes;
        let letters = DeadLetters::open(files, &folder.layout().dead_letters(), most)?;
        let mut by_spout = BTreeMap::<String, Vec<String>>::new();
        letters.letters().visit(filter, |letter, _| {
            by_spout.entry(letter.spout.clone()).or_default().push(letter.id.clone());
            Ok(())
        })?;
        let chosen = by_spout.values().map(Vec::len).sum();
        let (letters, completed) = (Arc::new(Mutex::new(letters)), Arc::default());
        let components = plan.components.clone();
        for component in &components {
            let Role::Spout(spout) = &component.role else { continue };
            let ids = Arc::new(by_spout.remove(&component.name).unwrap_or_default());
            let mail = Mail { letters: Arc::clone(&letters), ids, completed: Arc::clone(&completed) };
            let factory = self.letters_factory(&component.name, spout, mail);
            self.native_spouts.insert(component.name.clone(), factory);
        }
        if !by_spout.is_empty() {
            return Err(StartError::NoSpout(by_spout.into_keys().collect()));
        }
        let keep = Keep::over(None, Arc::clone(&letters), OffsetDateTime::now_utc());
        let running = self.launch(HOW, Some(keep), false, None)?;
        Ok(Replaying { running, letters, completed, chosen, _folder: folder })
    }

    /// A spout of letters, which asks the spout that they came from what their bytes mean.
    fn letters_factory(&mut self, name: &str, spout: &SpoutPlan, mail: Mail) -> SpoutFactory {
        let readers = self.native_spouts.remove(name).unwrap_or_else(|| self.spout_factory(spout));
        Box::new(move |task| Box::new(LettersSpout::new(mail.clone(), readers(task))))
    }
}

/// How often letters whose messages completed are said to be over.
const PERIOD: Duration = Duration::from_secs(1);
/// A replay ends when all its letters have come to an end.
const HOW: How = How { until_drained: true, limit: None };

impl Replaying {
    /// A handle to look at it.
    pub fn watch(&self) -> Watch {
        self.running.watch()
    }

    /// A handle to end it.
    pub fn stopper(&self) -> Stopper {
        self.running.stopper()
    }

    /// Waits until it ends; letters whose messages completed are over then.
    ///
    /// # Errors
    /// That they are over can't be written: those messages would be replayed again.
    pub fn wait(self) -> Result<Replayed, DurableError> {
        let Replaying { running, letters, completed, chosen, _folder } = self;
        let retire = || {
            let ids = std::mem::take(&mut *completed.lock());
            letters.lock().retire(&ids, Tombstone::Replayed, OffsetDateTime::now_utc())
        };
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // Now and then, so that a replay that is killed has not all to do again.
            let retiring = scope.spawn(|| {
                let mut retired = Ok(0);
                while !over.load(Relaxed) {
                    std::thread::park_timeout(PERIOD);
                    retired = retired.and_then(|before| Ok(before + retire()?));
                }
                retired
            });
            let ended = running.wait(HOW);
            over.store(true, Relaxed);
            retiring.thread().unpark();
            let broken = || DurableError("the thread that writes what is over broke".to_owned());
            let before = retiring.join().map_err(|_| broken())??;
            Ok(Replayed { ended, chosen, completed: before + retire()? })
        })
    }
}
