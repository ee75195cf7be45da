//! What a store carries: the guest's WASI, its limits, and the call that is running.
//!
//! A call is put in before and taken out after; in between the imports write to it. Outside `execute`,
//! `tick` and `flush` no effects are taken: there is no log that they could go to.

use crate::budget::Budget;
use crate::deadline::Deadline;
use crate::death::Stop;
use crate::events::Events;
use crate::limits::Limiter;
use crate::listing::Listings;
use crate::output::Output;
use crate::refusal;
use crate::settings::Settings;
use crate::wasi::{Grants, HANDLES_MAX};
use anchorbolt_core::port::{Call, CallServices, Op};
use std::collections::HashMap;
use std::mem::take;
use std::sync::Arc;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// What all instances of one bolt share.
pub(crate) struct Bolt {
    pub(crate) settings: Settings,
    pub(crate) grants: Grants,
    pub(crate) events: Arc<Events>,
}

/// The data of one store.
pub(crate) struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    pub(crate) bolt: Arc<Bolt>,
    pub(crate) limiter: Limiter,
    pub(crate) output: Output,
    pub(crate) deadline: Arc<Deadline>,
    pub(crate) call: Running,
    /// Which granted folder an open descriptor lies in.
    pub(crate) folders: HashMap<u32, usize>,
    /// The listings of folders that are open.
    pub(crate) listings: Listings,
    /// The guest looked for its folders in this call, and has none.
    pub(crate) folderless: bool,
    /// It used the network in this call.
    pub(crate) networked: bool,
}

/// The call that is running.
pub(crate) struct Running {
    /// The export that was called.
    pub(crate) name: &'static str,
    /// Whether effects are taken.
    open: bool,
    /// How many tuples the batch has, for `progress`.
    batch: u32,
    pub(crate) log: Vec<Op>,
    pub(crate) services: Option<Box<dyn CallServices>>,
    pub(crate) budget: Budget,
    pub(crate) reached: Option<u32>,
}

impl State {
    pub(crate) fn new(bolt: Arc<Bolt>, deadline: Arc<Deadline>) -> std::io::Result<State> {
        let output = Output::new(bolt.events.clone());
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES_MAX);
        Ok(State {
            wasi: bolt.grants.context(&output, &bolt.events)?,
            folders: HashMap::new(),
            listings: Listings::default(),
            folderless: false,
            networked: false,
            table,
            limiter: Limiter::new(&bolt.settings.limits),
            output,
            deadline,
            call: Running {
                name: "instantiation",
                open: false,
                batch: 0,
                log: vec![],
                services: None,
                budget: Budget::default(),
                reached: None,
            },
            bolt,
        })
    }

    /// Makes ready for a call of this export; `call` is there when effects are taken.
    pub(crate) fn begin(&mut self, name: &'static str, batch: usize, call: Option<&mut Call>) {
        self.limiter.begin_call();
        self.output.begin_call();
        let running = &mut self.call;
        running.name = name;
        running.open = call.is_some();
        running.batch = u32::try_from(batch).unwrap_or(u32::MAX);
        running.reached = None;
        let tuples = call.as_ref().map_or(1, |call| call.tuples);
        running.budget.begin(tuples);
        if let Some(call) = call {
            running.log = take(&mut call.log);
            running.log.clear();
            running.services = call.services.take();
        }
        self.deadline.arm(self.bolt.settings.limits.deadline);
    }

    /// Hands the log and the services back.
    pub(crate) fn end(&mut self, call: Option<&mut Call>) {
        if let Some(call) = call {
            call.log = take(&mut self.call.log);
            call.services = self.call.services.take();
        }
        // On its way to the network a guest's library looks for files of names and ports by itself.
        let networked = take(&mut self.networked) | self.bolt.grants.has_addresses();
        if take(&mut self.folderless) && !networked {
            self.bolt.events.refused(&refusal::no_folder());
        }
        self.call.open = false;
    }
}

impl Running {
    /// Fails where the running export may not have effects.
    pub(crate) fn effects(&self, import: &str) -> Result<(), Stop> {
        if self.open {
            return Ok(());
        }
        Err(Stop::protocol(format!("{import} was called in {}: only execute, tick and flush may", self.name)))
    }

    /// `progress`: checks that the index rises and lies in the batch.
    pub(crate) fn advance(&mut self, index: u32) -> Result<(), Stop> {
        if index >= self.batch {
            let reason = format!("progress({index}) in {} of {} tuples", self.name, self.batch);
            return Err(Stop::protocol(reason));
        }
        if let Some(last) = self.reached.filter(|&last| index <= last) {
            let reason = format!("progress({index}) after progress({last}): indexes must rise");
            return Err(Stop::protocol(reason));
        }
        self.reached = Some(index);
        Ok(())
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}
