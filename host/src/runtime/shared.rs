//! The part of a bolt task that others may look at, and the answers it gives while a call runs.
//!
//! Invariant: neither lock is held while a guest runs, so nobody waits for user code here.

use super::clock::Clock;
use super::env::{Directory, Holder};
use anchorbolt_core::grouping::Router;
use anchorbolt_core::ids::{Path, RootId, TaskId, Time};
use anchorbolt_core::oplog::held::{Found, Held};
use anchorbolt_core::port::{CallServices, Emissions, TupleInfo};
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

/// A bolt task's handles and its router.
pub(crate) struct TaskShared {
    component: String,
    task: TaskId,
    /// What it holds.
    pub held: Mutex<Held>,
    /// Where its rows go.
    pub router: Mutex<Router>,
}

impl TaskShared {
    /// A task that holds nothing yet.
    pub(crate) fn new(component: &str, task: TaskId, router: Router) -> Arc<TaskShared> {
        let (held, router) = (Mutex::default(), Mutex::new(router));
        Arc::new(TaskShared { component: component.to_owned(), task, held, router })
    }
}

impl TaskShared {
    /// The task's id.
    pub(crate) fn id(&self) -> TaskId {
        self.task
    }
}

impl Holder for TaskShared {
    fn name(&self) -> (&str, TaskId) {
        (&self.component, self.task)
    }

    fn for_each_held(&self, f: &mut dyn FnMut(RootId, Time)) {
        self.held.lock().for_each_held(f);
    }
}

/// The spouts, once they are there: bolts start first.
pub(crate) type Directories = Arc<OnceLock<Vec<Arc<dyn Directory>>>>;

/// The answers to a running call.
#[derive(Clone)]
pub(crate) struct Services {
    /// The task.
    pub shared: Arc<TaskShared>,
    /// The spouts by owner.
    pub spouts: Directories,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// What is known of a tuple, its first tree, and its path.
type Described = (TupleInfo, Option<RootId>, Path);

impl Services {
    fn describe_one(&self, held: &mut Held, handle: u32) -> Result<Described, String> {
        match held.find(handle) {
            Found::Live(entry) => {
                let root = entry.lineage.iter().map(|(root, _)| root).next();
                let info =
                    TupleInfo { source_task: entry.source, attempt: entry.attempt, ..TupleInfo::default() };
                Ok((info, root, entry.path))
            }
            Found::Settled => Err(format!("describe: tuple {handle} was settled before")),
            Found::Unknown => Err(format!("describe: handle {handle} was never given to this task")),
        }
    }
}

impl CallServices for Services {
    fn place(&mut self, e: &Emissions) -> Result<Vec<Vec<TaskId>>, String> {
        let mut router = self.shared.router.lock();
        let mut out = Vec::with_capacity(e.streams.len());
        for (i, &stream) in e.streams.iter().enumerate() {
            let row =
                e.row(i).ok_or_else(|| format!("emit-placed: offsets of emission {i} are out of range"))?;
            let target = e.targets.get(i).copied().unwrap_or(0);
            out.push(router.place(stream, target, row).map_err(|f| format!("emission {i}: {f}"))?);
        }
        Ok(out)
    }

    fn describe(&mut self, ids: &[u32]) -> Result<Vec<TupleInfo>, String> {
        let found: Result<Vec<_>, String> = {
            let mut held = self.shared.held.lock();
            ids.iter().map(|&id| self.describe_one(&mut held, id)).collect()
        };
        let now = self.clock.now();
        let spouts = self.spouts.get().map_or(&[][..], |s| &s[..]);
        let tell = |(mut info, root, path): Described| {
            let known = root.and_then(|r| spouts.get(r.owner() as usize)?.message(r));
            if let Some((id, began)) = known {
                info.age = now.since(began);
                info.identity = format!("{id}/{path:016x}");
                info.message_id = Some(id);
            }
            info
        };
        Ok(found?.into_iter().map(tell).collect())
    }

    fn progress(&mut self, index: u32) {
        self.shared.held.lock().reach(index);
    }
}
