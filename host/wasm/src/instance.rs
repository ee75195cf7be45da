//! One living instance, and the one way in which anything of it is called.
//!
//! Columns and a call come in; the call's log comes back full, or empty with a death. The invariant: after
//! a death the store is gone, so nothing of a broken guest is ever run again. What is called (a bolt here, a grouping
//! in [`crate::grouping`]) is a type parameter: the bindings of its world.

use crate::bindings::{self, guest, types};
use crate::budget::hostcall_fuel;
use crate::deadline::{Deadline, drive};
use crate::death::{self, Stop};
use crate::engine::Engine;
use crate::state::{Bolt, State};
use crate::text;
use anchorbolt_core::failure::Class;
use anchorbolt_core::port::{Call, CallError, Context, Death, Instance, Tuples};
use std::sync::Arc;
use wasmtime::{Store, UpdateDeadline};

/// Handles of resources that a guest may make for itself; bolts of Rust make none.
const COMPONENT_HANDLES_MAX: usize = 10_000;

/// An instance of a plugin; `B` are the bindings of its world.
pub(crate) struct Guest<B> {
    engine: Engine,
    deadline: Arc<Deadline>,
    /// None after a death.
    alive: Option<(Store<State>, B)>,
    fuel: usize,
}

impl<B> Guest<B> {
    /// Makes a store and instantiates under the deadline: a start function can loop.
    pub(crate) fn new(
        engine: &Engine,
        bolt: Arc<Bolt>,
        instantiate: impl AsyncFnOnce(&mut Store<State>) -> wasmtime::Result<B>,
    ) -> Result<Guest<B>, CallError> {
        let engine = engine.clone();
        let fuel = hostcall_fuel(&bolt.settings.limits, 1);
        let deadline = Arc::new(Deadline::new());
        let mut store = new_store(&engine, bolt, deadline.clone(), fuel)?;
        store.data_mut().begin("instantiation", 0, None);
        let outcome = {
            let _running = engine.ticker().enter();
            drive(engine.timers(), &deadline, instantiate(&mut store))
        };
        match outcome {
            Some(Ok(bindings)) => Ok(Guest { engine, deadline, alive: Some((store, bindings)), fuel }),
            Some(Err(error)) => Err(CallError::Died(death::of_error(&error, store.data()))),
            None => Err(CallError::Died(death::of_deadline(store.data()))),
        }
    }

    /// Calls an export: begins, runs it under its deadline, and takes what it did, or buries it.
    pub(crate) fn call<T>(
        &mut self,
        name: &'static str,
        batch: usize,
        mut call: Option<&mut Call>,
        run: impl AsyncFnOnce(&B, &mut Store<State>) -> wasmtime::Result<Result<T, String>>,
    ) -> Result<T, CallError> {
        let Some((store, bindings)) = self.alive.as_mut() else {
            return Err(CallError::Died(Death::new(Class::Host, format!("{name} of a dead instance"))));
        };
        store.data_mut().begin(name, batch, call.as_deref_mut());
        let outcome = {
            let _running = self.engine.ticker().enter();
            drive(self.engine.timers(), &self.deadline, run(bindings, store))
        };
        store.data_mut().end(call.as_deref_mut());
        match outcome {
            Some(Ok(Ok(value))) => Ok(value),
            Some(Ok(Err(text))) => Err(CallError::Declared(text::clean(&text))),
            Some(Err(error)) => Err(self.bury(call, |state| death::of_error(&error, state))),
            None => Err(self.bury(call, death::of_deadline)),
        }
    }

    /// How many bytes each exchange of the calls that follow may lift.
    pub(crate) fn set_fuel(&mut self, fuel: usize) {
        if let Some((store, _)) = self.alive.as_mut().filter(|_| fuel != self.fuel) {
            store.set_hostcall_fuel(fuel);
            self.fuel = fuel;
        }
    }

    /// Nothing of the call counts, and the store goes.
    fn bury(&mut self, call: Option<&mut Call>, death: impl FnOnce(&State) -> Death) -> CallError {
        if let Some(call) = call {
            call.log.clear();
        }
        let death = match self.alive.take() {
            Some((store, _)) => death(store.data()),
            None => Death::new(Class::Host, "a dead instance died again"),
        };
        CallError::Died(death)
    }
}

fn new_store(
    engine: &Engine,
    bolt: Arc<Bolt>,
    deadline: Arc<Deadline>,
    fuel: usize,
) -> Result<Store<State>, CallError> {
    let state = State::new(bolt, deadline);
    let state = state.map_err(|e| CallError::Died(Death::new(Class::Host, e.to_string())))?;
    let mut store = Store::new(engine.wasmtime(), state);
    store.limiter(|state| &mut state.limiter);
    store.set_hostcall_fuel(fuel);
    store.set_max_component_handles(COMPONENT_HANDLES_MAX);
    // Each tick asks the clock: whoever moved the deadline need not know of epochs.
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|store| {
        if store.data().deadline.passed() {
            Err(Stop::deadline().into())
        } else {
            Ok(UpdateDeadline::Continue(1))
        }
    });
    Ok(store)
}

/// An instance of a bolt.
pub(crate) struct BoltGuest(Guest<bindings::Bolt>);

impl BoltGuest {
    pub(crate) fn new(
        engine: &Engine,
        pre: &bindings::BoltPre<State>,
        bolt: Arc<Bolt>,
    ) -> Result<BoltGuest, CallError> {
        Guest::new(engine, bolt, async |store| pre.instantiate_async(store).await).map(BoltGuest)
    }

    /// As [`Guest::call`], of an export of interface `guest`.
    pub(crate) fn call<T>(
        &mut self,
        name: &'static str,
        batch: usize,
        call: Option<&mut Call>,
        run: impl AsyncFnOnce(&guest::Guest, &mut Store<State>) -> wasmtime::Result<Result<T, String>>,
    ) -> Result<T, CallError> {
        if let Some((store, _)) = &self.0.alive {
            let tuples = call.as_ref().map_or(1, |call| call.tuples.max(1));
            let fuel = hostcall_fuel(&store.data().bolt.settings.limits, tuples);
            self.0.set_fuel(fuel);
        }
        self.0.call(name, batch, call, async |bolt, store| run(bolt.anchorbolt_bolt_guest(), store).await)
    }
}

impl Instance for BoltGuest {
    fn prepare(&mut self, context: &Context) -> Result<(), CallError> {
        let context = bindings::context(context);
        self.call("prepare", 0, None, async |guest, store| guest.call_prepare(store, &context).await)
    }

    fn execute(&mut self, tuples: &mut Tuples, call: &mut Call) -> Result<(), CallError> {
        let lent: types::Tuples = bindings::lend(tuples);
        let n = lent.ids.len();
        let done =
            self.call("execute", n, Some(call), async |guest, store| guest.call_execute(store, &lent).await);
        bindings::give_back(lent, tuples);
        done
    }

    fn tick(&mut self, call: &mut Call) -> Result<(), CallError> {
        self.call("tick", 0, Some(call), async |guest, store| guest.call_tick(store).await)
    }

    fn flush(&mut self, call: &mut Call) -> Result<(), CallError> {
        self.call("flush", 0, Some(call), async |guest, store| guest.call_flush(store).await)
    }

    fn cleanup(&mut self) -> Result<(), CallError> {
        self.call("cleanup", 0, None, async |guest, store| guest.call_cleanup(store).await)
    }

    fn memory_bytes(&self) -> u64 {
        self.0.alive.as_ref().map_or(0, |(store, _)| store.data().limiter.memory_bytes())
    }
}
