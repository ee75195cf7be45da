//! One tuple through one fresh instance of a bolt, and what came of it: a debugger for poison messages.
//!
//! In: a plan, what makes the bolt's instances, and a [`Tuple`] (`choose` takes one from a dead letter). Out: an
//! [`Outcome`]: what the bolt emitted and how it settled, as the runtime would have taken it. The same checks hold:
//! rows and handles go through the same log and router as in a run, and then nowhere.
//!
//! Invariant: nothing outside of the instance is changed, but by what its own grants let it do.

mod choose;
mod emitted;

pub use choose::{NoTuple, choose};
pub use emitted::Emission;

use anchorbolt_core::batch::Lineage;
use anchorbolt_core::failure::{Class, Cost};
use anchorbolt_core::grouping::Router;
use anchorbolt_core::ids::{Edge, RootId, TaskId, Time};
use anchorbolt_core::oplog::held::{Found, Held};
use anchorbolt_core::oplog::{Applier, Effects};
use anchorbolt_core::plan::{Plan, Role};
use anchorbolt_core::port::{
    Call, CallError, CallServices, Context, Death, Emissions, InstanceFactory, TupleInfo, Tuples,
};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The edge of the tuple in its tree.
const EDGE: Edge = 1;

/// What the bolt is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuple {
    /// Which of the bolt's inputs it comes over, as in [`Context::inputs`].
    pub input: u32,
    /// The encoded row.
    pub row: Vec<u8>,
    /// The message that it descends from, as `SPOUT@POSITION`.
    pub message_id: String,
    /// The attempt that the bolt is told.
    pub attempt: u32,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Where the task found itself: what the instance was prepared with.
    pub context: Context,
    /// How the tuple ended.
    pub end: End,
    /// The error that the call returned, if it did; what it settled before counts all the same.
    pub error: Option<String>,
    /// What it emitted, in order; nothing if it died.
    pub emitted: Vec<Emission>,
    /// Errors that it reported without failing a tuple.
    pub reported: Vec<String>,
    /// It restarted the message's timeout.
    pub reset_timeout: bool,
    /// How long making and preparing the instance took.
    pub prepared_in: Duration,
    /// How long the call took.
    pub took: Duration,
    /// Its memory after the call, in bytes; 0 when unknown.
    pub memory_bytes: u64,
}

/// How the tuple ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The bolt is done with it.
    Acked,
    /// The bolt failed it, or what it emitted for it was wrong.
    Failed {
        /// The class that the failure has in reports.
        class: Class,
        /// Who pays: a fault, patience with what is outside, or never again.
        cost: Cost,
        /// The text for a person.
        reason: String,
    },
    /// The instance died.
    Died(Death),
    /// The bolt holds it for a later call.
    Held,
}

/// The instance did not get as far as the tuple.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// There is no such bolt.
    #[error("there is no bolt of this number in the plan")]
    NoBolt,
    /// It could not be made, or did not prepare.
    #[error("it does not prepare: {}", text(.0))]
    Prepare(CallError),
}

fn text(error: &CallError) -> String {
    match error {
        CallError::Declared(text) => text.clone(),
        CallError::Died(death) => format!("{} ({})", death.reason, death.class),
    }
}

/// Makes an instance of the bolt with this number, prepares it as its first task, and has it work on one tuple.
///
/// # Errors
/// It can't be made or does not prepare.
pub fn run(
    plan: &Plan,
    bolt: usize,
    factory: &dyn InstanceFactory,
    tuple: &Tuple,
) -> Result<Outcome, NotReady> {
    let Some((context, Role::Bolt(parts))) =
        plan.context(bolt, 0).zip(plan.components.get(bolt).map(|c| &c.role))
    else {
        return Err(NotReady::NoBolt);
    };
    let began = Instant::now();
    let mut instance = factory.create().map_err(NotReady::Prepare)?;
    instance.prepare(&context).map_err(NotReady::Prepare)?;
    let prepared_in = began.elapsed();
    let desk = Arc::new(Desk::new(&context, Router::new(plan, bolt, 0, parts.limits.tuple_bytes), tuple));
    let mut tuples = desk.tuples(tuple);
    let mut call = Call { log: vec![], tuples: 1, services: Some(Box::new(Answers(desk.clone()))) };
    let began = Instant::now();
    let result = instance.execute(&mut tuples, &mut call);
    let took = began.elapsed();
    let memory_bytes = instance.memory_bytes();
    let emitted = emitted::of(&call.log, &plan.components[bolt].outputs);
    let end = desk.settle(&mut call, &tuples, &result, &context);
    let mut outcome = Outcome {
        end: End::Held,
        error: None,
        emitted,
        reported: vec![],
        reset_timeout: false,
        prepared_in,
        took,
        memory_bytes,
        context,
    };
    match end {
        Err(death) => {
            outcome.end = End::Died(death);
            outcome.emitted.clear();
        }
        Ok((end, effects)) => {
            outcome.end = end;
            outcome.error = result.err().map(|error| text(&error));
            (outcome.reported, outcome.reset_timeout) = (effects.errors, !effects.resets.is_empty());
        }
    }
    Ok(outcome)
}

/// What the task of a run has: the handle of the tuple, and a router.
struct Desk {
    held: Mutex<Held>,
    router: Mutex<Router>,
    /// What `describe` tells.
    info: TupleInfo,
    base: u32,
}

impl Desk {
    fn new(context: &Context, router: Router, tuple: &Tuple) -> Desk {
        let input = context.inputs.get(tuple.input as usize);
        let source_task: TaskId = input.and_then(|input| input.tasks.first().copied()).unwrap_or(0);
        let mut held = Held::default();
        let base = held.begin(1, Time(0));
        held.push(Lineage::One(RootId::new(0, 0, 1), EDGE), 0, tuple.attempt, source_task, tuple.input);
        let info = TupleInfo {
            source_task,
            message_id: Some(tuple.message_id.clone()),
            attempt: tuple.attempt,
            age: Duration::ZERO,
            identity: tuple.message_id.clone(),
        };
        Desk { held: Mutex::new(held), router: Mutex::new(router), info, base }
    }

    fn tuples(&self, tuple: &Tuple) -> Tuples {
        Tuples {
            ids: vec![self.base],
            inputs: vec![tuple.input],
            offsets: vec![0, u32::try_from(tuple.row.len()).unwrap_or(u32::MAX)],
            data: tuple.row.clone(),
            stride: 0,
        }
    }

    /// Applies the call's log as the runtime does. A breach of the contract is a death.
    fn settle(
        &self,
        call: &mut Call,
        tuples: &Tuples,
        result: &Result<(), CallError>,
        context: &Context,
    ) -> Result<(End, Effects), Death> {
        if let Err(CallError::Died(death)) = result {
            return Err(death.clone());
        }
        // Whose row it was is known here.
        let applier = Applier { component: context.component.clone(), task: context.task, streams: vec![] };
        let (mut held, mut router) = (self.held.lock(), self.router.lock());
        let mut effects = Effects::default();
        let mut draw = || fastrand::u64(1..);
        applier
            .apply(&mut call.log, tuples, &mut held, &mut router, &mut effects, &mut draw)
            .map_err(|violation| Death::new(Class::Protocol, format!("broke the contract: {violation}")))?;
        let end = match (effects.fails.first(), result) {
            (Some((_, failure)), _) => {
                End::Failed { class: failure.class, cost: failure.cost, reason: failure.reason.clone() }
            }
            (None, _) if effects.acked > 0 => End::Acked,
            (None, Err(error)) => {
                End::Failed { class: Class::Failed, cost: Cost::Fault, reason: text(error) }
            }
            (None, Ok(())) => End::Held,
        };
        Ok((end, effects))
    }
}

/// The answers to the running call.
struct Answers(Arc<Desk>);

impl CallServices for Answers {
    fn place(&mut self, emissions: &Emissions) -> Result<Vec<Vec<TaskId>>, String> {
        let mut router = self.0.router.lock();
        let one = |(i, &stream): (usize, &u32)| {
            let row = emissions
                .row(i)
                .ok_or_else(|| format!("emit-placed: offsets of emission {i} are out of range"))?;
            let target = emissions.targets.get(i).copied().unwrap_or(0);
            router.place(stream, target, row).map_err(|fault| format!("emission {i}: {fault}"))
        };
        emissions.streams.iter().enumerate().map(one).collect()
    }

    fn describe(&mut self, ids: &[u32]) -> Result<Vec<TupleInfo>, String> {
        let mut held = self.0.held.lock();
        let one = |id: &u32| match held.find(*id) {
            Found::Live(_) => Ok(self.0.info.clone()),
            Found::Settled => Err(format!("describe: tuple {id} was settled before")),
            Found::Unknown => Err(format!("describe: handle {id} was never given to this task")),
        };
        ids.iter().map(one).collect()
    }

    fn progress(&mut self, _: u32) {}
}
