//! One task of a bolt: its instance, its handles, and what happens when a call ends well, badly or fatally.
//!
//! In: batches, and orders to tick or flush. Out: batches for other tasks in the outbox, effects on trees.
//! Invariant: a call happens or does not. The tuples of a call whose instance died run again one by one;
//! only the one that dies alone pays for it.

use super::choosing::Choosing;
use super::death::Rerun;
use super::env::Env;
use super::load::{Cursor, is_stale, load, push};
use super::shared::{Services, TaskShared};
use super::track::{Tracker, edge};
use crate::telemetry::{BoltCounters, bump};
use anchorbolt_core::batch::Batch;
use anchorbolt_core::failure::{Class, Cost};
use anchorbolt_core::ids::{TaskId, Time};
use anchorbolt_core::oplog::held::{Entry, State};
use anchorbolt_core::oplog::{Applier, Effects};
use anchorbolt_core::pace::{LARGEST_BATCH, Pace};
use anchorbolt_core::port::{Call, CallError, Context, Death, Instance, InstanceFactory, Tuples};
use anchorbolt_core::supervise::Supervisor;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// What a bolt task is made of.
pub(crate) struct TaskParts {
    /// Where the task finds itself.
    pub context: Context,
    /// Makes its instances.
    pub factory: Arc<dyn InstanceFactory>,
    /// What others may look at.
    pub shared: Arc<TaskShared>,
    /// Its answers to calls.
    pub services: Services,
    /// The custom groupings of its streams.
    pub choosing: Choosing,
    /// Its counts.
    pub counters: Arc<BoltCounters>,
    /// When to restart, and when to stop trying.
    pub supervisor: Supervisor,
    /// What to do when the circuit opens.
    pub on_circuit_open: anchorbolt_core::manifest::OnCircuitOpen,
    /// The deadline of a call.
    pub deadline: Duration,
    /// Most tuples a call; none: as pace decides.
    pub batch: Option<u32>,
    /// Most tuples held from earlier calls.
    pub held_max: usize,
    /// A lost instance loses nothing.
    pub stateless: bool,
    /// Memory at which an instance is replaced.
    pub recycle_at: Option<u64>,
    /// How often to tick.
    pub tick: Option<Duration>,
}

/// Whether a task takes tuples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Circuit {
    /// It does.
    Closed,
    /// From this moment on: the backoff after a death.
    Waiting(Time),
    /// No more, and its queue fills.
    Paused,
    /// Each fails at once.
    DeadLetter,
}

/// A bolt's task.
pub(crate) struct BoltTask {
    pub(super) parts: TaskParts,
    pub(super) instance: Option<Box<dyn Instance>>,
    pub(super) applier: Applier,
    pub(super) effects: Effects,
    pub(super) tuples: Tuples,
    pub(super) call: Call,
    pub(super) pace: Pace,
    pub(super) circuit: Circuit,
    pub(super) reruns: VecDeque<Rerun>,
    /// Of the re-run in progress: whether any tuple died alone.
    pub(super) rerun_blamed: bool,
    pub(super) rng: fastrand::Rng,
    cursor: Option<Cursor>,
    pub(super) next_tick: Option<Time>,
    /// Memory of the instance when it was prepared.
    pub(super) fresh_bytes: u64,
    over: Vec<Entry>,
}

impl BoltTask {
    /// A task without an instance.
    pub(crate) fn new(parts: TaskParts, rng: fastrand::Rng, now: Time) -> BoltTask {
        let streams = parts.context.inputs.iter().map(|i| format!("{}/{}", i.component, i.stream)).collect();
        let (component, task) = (parts.context.component.clone(), parts.context.task);
        let applier = Applier { component, task, streams };
        let call = Call { log: vec![], tuples: 1, services: None };
        BoltTask {
            applier,
            call,
            effects: Effects::default(),
            instance: None,
            tuples: Tuples { offsets: vec![0], ..Tuples::default() },
            pace: Pace::new(parts.batch.map_or(LARGEST_BATCH, |b| b as usize)),
            circuit: Circuit::Closed,
            reruns: VecDeque::new(),
            rerun_blamed: false,
            rng,
            cursor: None,
            next_tick: parts.tick.map(|t| now.after(t)),
            fresh_bytes: 0,
            over: vec![],
            parts,
        }
    }

    /// The task's id.
    pub(crate) fn id(&self) -> TaskId {
        self.applier.task
    }

    /// Makes and prepares the first instance.
    ///
    /// # Errors
    /// What `create` or `prepare` says.
    pub(crate) fn start(&mut self) -> Result<(), CallError> {
        let mut instance = self.parts.factory.create()?;
        instance.prepare(&self.parts.context)?;
        self.fresh_bytes = instance.memory_bytes();
        self.instance = Some(instance);
        Ok(())
    }

    /// Whether it has tuples in hand.
    pub(crate) fn has_work(&self) -> bool {
        self.cursor.is_some() || !self.reruns.is_empty()
    }

    /// Whether it takes tuples now; a wait that is over ends here.
    pub(crate) fn ready(&mut self, now: Time) -> bool {
        if matches!(self.circuit, Circuit::Waiting(until) if until <= now) {
            self.circuit = Circuit::Closed;
        }
        matches!(self.circuit, Circuit::Closed | Circuit::DeadLetter)
    }

    /// Whether it waits for the end of its backoff.
    pub(crate) fn is_backing_off(&self) -> bool {
        matches!(self.circuit, Circuit::Waiting(_))
    }

    /// When it has to be looked at again without a message: at the end of its backoff, else at its tick. A task that
    /// takes nothing does not tick either.
    pub(crate) fn next_due(&self) -> Option<Time> {
        match self.circuit {
            Circuit::Waiting(until) => Some(until),
            Circuit::Paused => None,
            Circuit::Closed | Circuit::DeadLetter => self.next_tick,
        }
    }

    /// Hands it a batch; only when it has none in hand.
    pub(crate) fn give(&mut self, batch: Batch) {
        self.cursor = Some(Cursor { batch, at: 0 });
    }

    /// The most tuples a call may have now.
    pub(crate) fn batch_max(&self) -> usize {
        self.pace.batch_max(self.parts.deadline)
    }

    /// Makes one call of what is in hand. `more` gives further batches for this task, to fill the call.
    pub(crate) fn work(
        &mut self,
        env: &Env,
        tracker: &mut Tracker,
        outbox: &mut VecDeque<Batch>,
        more: impl FnMut() -> Option<Batch>,
    ) {
        let now = env.clock.now();
        let rerun = self.reruns.pop_front();
        let again = rerun.is_some();
        match rerun {
            Some(rerun) => self.run_again(env, rerun, now),
            None => self.assemble(env, now, more),
        }
        if !self.tuples.is_empty() {
            if self.circuit == Circuit::DeadLetter {
                self.refuse_all();
            } else if self.instance.is_some() || self.revive(env, now) {
                self.execute(env);
            } else {
                self.put_back();
            }
        }
        if again && self.reruns.is_empty() {
            self.rerun_is_over(env, now);
        }
        self.finish(env, tracker, outbox);
    }

    /// Fills the columns from the batch in hand and those after it.
    fn assemble(&mut self, env: &Env, now: Time, mut more: impl FnMut() -> Option<Batch>) {
        let most = self.batch_max();
        let shared = self.parts.shared.clone();
        let mut held = shared.held.lock();
        self.tuples.clear();
        let base = held.begin(most as u32, now);
        let mut stale = 0;
        while let Some(mut cursor) = self.cursor.take() {
            let loaded = load(env, &mut cursor, &mut self.tuples, &mut held, most);
            stale += loaded.stale;
            if cursor.at < cursor.batch.len() {
                self.cursor = Some(cursor);
            } else {
                env.pool.put(cursor.batch);
            }
            if loaded.full || self.cursor.is_some() {
                break;
            }
            self.cursor = more().map(|batch| Cursor { batch, at: 0 });
        }
        (0..).zip(&mut self.tuples.ids).for_each(|(i, id)| *id = base + i);
        bump(&self.parts.counters.stale, stale);
    }

    /// Fills the columns with one tuple of a call that died.
    fn run_again(&mut self, env: &Env, rerun: Rerun, now: Time) {
        self.tuples.clear();
        if is_stale(env, &rerun.entry.lineage) {
            bump(&self.parts.counters.stale, 1);
        } else {
            let mut held = self.parts.shared.held.lock();
            let base = held.begin(1, now);
            push(&mut self.tuples, rerun.entry.input, &rerun.row);
            let Entry { lineage, path, attempt, source, input, .. } = rerun.entry;
            held.push(lineage, path, attempt, source, input);
            self.tuples.ids[0] = base;
        }
    }

    /// The tuples of the columns go back to wait for an instance.
    fn put_back(&mut self) {
        let window = self.parts.shared.held.lock().take_window();
        for (i, entry) in window.into_iter().enumerate().rev() {
            self.reruns.push_front(Rerun { entry, row: self.tuples.row(i).to_vec() });
        }
    }

    /// The circuit is open and says `dead-letter`.
    fn refuse_all(&mut self) {
        let reason = format!("the circuit of `{}` is open", self.applier.component);
        let mut failure = self.applier.failure(Class::Circuit, Cost::Final, reason);
        let mut held = self.parts.shared.held.lock();
        for (i, entry) in held.window().iter_mut().enumerate() {
            failure.input = self.applier.input(entry, Some(self.tuples.row(i)));
            self.effects.fail_entry(entry, &failure);
        }
        held.end(0, &mut self.over);
    }

    fn execute(&mut self, env: &Env) {
        let n = self.tuples.len();
        self.tuples.stride = u32::from(self.pace.stride());
        let result = self.enter(env, n as u32, |instance, tuples, call| instance.execute(tuples, call));
        let now = env.clock.now();
        bump(&self.parts.counters.executed, n as u64);
        let took = result.1;
        bump(&self.parts.counters.execute_ns, took.as_nanos() as u64);
        match result.0 {
            Err(CallError::Died(death)) => self.died(env, death, now),
            other => {
                self.pace.on_call(n, took, self.call.output());
                self.settle(env, other.err(), n, now);
            }
        }
    }

    /// Calls the instance: lends it the columns and the services.
    pub(super) fn enter(
        &mut self,
        env: &Env,
        n: u32,
        f: impl FnOnce(&mut dyn Instance, &mut Tuples, &mut Call) -> Result<(), CallError>,
    ) -> (Result<(), CallError>, Duration) {
        let Some(instance) = self.instance.as_mut() else {
            let death = Death::new(Class::Host, "the task has no instance");
            return (Err(CallError::Died(death)), Duration::ZERO);
        };
        self.parts.shared.router.lock().mark();
        self.call.log.clear();
        self.call.tuples = n.max(1);
        if self.call.services.is_none() {
            self.call.services = Some(Box::new(self.parts.services.clone()));
        }
        let began = env.clock.now();
        let result = f(instance.as_mut(), &mut self.tuples, &mut self.call);
        (result, env.clock.now().since(began))
    }

    /// Applies what the call did. `error`: it returned one, so what it left unsettled fails.
    pub(super) fn settle(&mut self, env: &Env, error: Option<CallError>, n: usize, now: Time) {
        self.parts.choosing.ask_log(&self.call.log);
        let shared = self.parts.shared.clone();
        let mut held = shared.held.lock();
        let mut router = shared.router.lock();
        self.parts.choosing.exchange(&mut router);
        let rng = &mut self.rng;
        let mut draw = || edge(rng);
        let log = &mut self.call.log;
        let applied =
            self.applier.apply(log, &self.tuples, &mut held, &mut router, &mut self.effects, &mut draw);
        self.parts.choosing.exchange(&mut router);
        if let Err(violation) = applied {
            drop((held, router));
            let crowded = violation.crowded && n > 1;
            let death = Death::new(Class::Protocol, format!("broke the contract: {violation}"));
            return self.died(env, Death { crowded, ..death }, now);
        }
        if let Some(CallError::Declared(text)) = error {
            self.fail_open(held.window(), &text, n);
        }
        held.end(self.parts.held_max, &mut self.over);
        let (most, held_now) = (self.parts.held_max, self.parts.held_max + self.over.len());
        let reason = format!("held-tuples limit reached: {held_now} held by the task, at most {most}");
        for entry in &mut self.over {
            let failure = self.applier.failure(Class::Overflow, Cost::Fault, reason.clone());
            self.effects.fail_entry(entry, &failure);
        }
        self.over.clear();
        let kept = held.kept();
        self.parts.counters.held.store(kept as u64, Relaxed);
        if n > 0 {
            self.parts.supervisor.on_success();
        }
        drop((held, router));
        if kept == 0 {
            self.recycle(env);
        }
    }

    /// The call returned an error: what it did not settle fails; for nothing, unless it was alone.
    fn fail_open(&mut self, window: &mut [Entry], text: &str, n: usize) {
        let cost = if n == 1 { Cost::Fault } else { Cost::Free };
        let mut failure = self.applier.failure(Class::Failed, cost, text.to_owned());
        for (i, entry) in window.iter_mut().enumerate().filter(|(_, e)| e.state == State::Open) {
            failure.input = self.applier.input(entry, Some(self.tuples.row(i)));
            self.effects.fail_entry(entry, &failure);
        }
    }

    /// Counts and sends what was applied.
    pub(super) fn finish(&mut self, env: &Env, tracker: &mut Tracker, outbox: &mut VecDeque<Batch>) {
        self.tuples.clear();
        let (e, c) = (&mut self.effects, &self.parts.counters);
        bump(&c.emitted, e.emitted);
        bump(&c.transferred, e.transferred);
        bump(&c.acked, e.acked);
        bump(&c.failed, e.failed);
        bump(&c.repeated, e.repeated);
        for failure in e.breaches.drain(..) {
            c.breach(failure.class);
            env.failure(&failure);
        }
        for text in e.errors.drain(..) {
            env.error(&self.applier.component, Class::Failed, &text);
        }
        tracker.send(e, env.clock.now());
        e.clear();
        let mut router = self.parts.shared.router.lock();
        let before = outbox.len();
        let out = outbox;
        let mut batches = vec![];
        router.take(&mut batches);
        out.extend(batches);
        let used = out.len() - before;
        if used > 0 && router.spare() < used {
            let mut spare = vec![];
            env.pool.take(used, &mut spare);
            router.lend(&mut spare);
        }
    }
}
