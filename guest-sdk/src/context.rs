//! Where a task finds itself, and what it shares with the tuples it was given.
//!
//! In: the host's `context`. Out: [`Context`] for the author and [`Task`] for the SDK. Invariant: a task is shared
//! by the collector and by every held tuple, so one that is dropped anywhere is still reported.

use std::cell::RefCell;

use crate::bindings::exports::anchorbolt::bolt::guest as wit;
use crate::{Config, Error, Input, Output, StreamRef};

/// Where a task finds itself: its topology, its place, its inputs and outputs, its settings.
#[derive(Debug)]
pub struct Context {
    raw: wit::Context,
    config: Config,
}

impl Context {
    pub(crate) fn new(mut raw: wit::Context) -> Self {
        let config = Config::new(std::mem::take(&mut raw.config));
        Self { raw, config }
    }

    /// The name of the topology.
    pub fn topology(&self) -> &str {
        &self.raw.topology
    }

    /// The name of this bolt.
    pub fn component(&self) -> &str {
        &self.raw.component
    }

    /// This task's place among the bolt's tasks, from 0.
    pub fn task_index(&self) -> u32 {
        self.raw.task_index
    }

    /// This task's id in the topology, from 1.
    pub fn task_id(&self) -> u32 {
        self.raw.task_id
    }

    /// How many tasks the bolt has.
    pub fn task_count(&self) -> u32 {
        self.raw.task_count
    }

    /// The component, stream and fields of each input.
    pub fn inputs(&self) -> &[Input] {
        &self.raw.inputs
    }

    /// The declared streams and who takes them.
    pub fn outputs(&self) -> &[Output] {
        &self.raw.outputs
    }

    /// The bolt's settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// A declared stream, to keep instead of looking its name up at each emission.
    ///
    /// # Errors
    /// When the bolt does not declare it.
    pub fn stream(&self, name: &str) -> Result<StreamRef, Error> {
        let found = self.outputs().iter().position(|output| output.stream == name);
        found.map(|index| StreamRef(index as u32)).ok_or_else(|| self.no_stream(name))
    }

    #[cold]
    fn no_stream(&self, name: &str) -> Error {
        let names: Vec<_> = self.outputs().iter().map(|o| format!("`{}`", o.stream)).collect();
        let declared = if names.is_empty() { "none".into() } else { names.join(", ") };
        Error::fail(format!("no stream `{name}`: this bolt declares {declared}"))
    }
}

/// One task: its context, and the tuples that were dropped before they were settled.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) context: Context,
    dropped: RefCell<Vec<Dropped>>,
}

/// A tuple that can no longer be settled by its owner.
#[derive(Clone, Debug)]
pub(crate) struct Dropped {
    pub(crate) handle: u32,
    pub(crate) reason: String,
}

impl Task {
    pub(crate) fn new(context: Context) -> Self {
        Self { context, dropped: RefCell::default() }
    }

    /// Called as a tuple is dropped unsettled. A panic has its own text, and its call is discarded.
    #[cold]
    pub(crate) fn record_drop(&self, handle: u32, input: Option<&Input>) {
        if std::thread::panicking() {
            return;
        }
        let (component, stream) = input.map_or(("?", "?"), |i| (&i.component, &i.stream));
        let reason =
            format!("tuple {handle} from `{component}` (stream `{stream}`) was dropped without ack or fail");
        self.dropped.borrow_mut().push(Dropped { handle, reason });
    }

    /// Forgets that a tuple was dropped; was it?
    pub(crate) fn forget_drop(&self, handle: u32) -> bool {
        let mut dropped = self.dropped.borrow_mut();
        let found = dropped.iter().rposition(|d| d.handle == handle);
        found.map(|index| dropped.swap_remove(index)).is_some()
    }

    /// Takes all that were dropped.
    pub(crate) fn take_drops(&self) -> Vec<Dropped> {
        std::mem::take(&mut *self.dropped.borrow_mut())
    }

    /// Those that were dropped since the last call, left in place.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn drops(&self) -> Vec<Dropped> {
        self.dropped.borrow().clone()
    }
}
