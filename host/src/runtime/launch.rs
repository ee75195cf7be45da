//! From a plan to threads: inboxes first, then bolts (made and prepared), then ackers, then spouts.
//!
//! Invariant: when it fails, no thread was started.

use super::acker::Acker;
use super::bolt_executor::BoltExecutor;
use super::bolt_task::{BoltTask, TaskParts};
use super::clock::Clock;
use super::env::{Directory, Env, Event, Holder};
use super::inbox::{Bounds, Inbox};
use super::native::text;
use super::outbox::Outbox;
use super::pool::Pool;
use super::running::{How, Running, Stopper, Watch, Worker};
use super::seat::{Seat, owners, seats_of, sit};
use super::shared::{Directories, Services, TaskShared};
use super::spout_cell::SpoutCell;
use super::spout_executor::SpoutExecutor;
use super::spout_task::{SpoutTask, SpoutTaskParts};
use super::track::{TrackMap, Tracker};
use crate::telemetry::{BoltCounters, Errors};
use anchorbolt_core::ack::{Generations, Ledger, LedgerSettings};
use anchorbolt_core::grouping::Router;
use anchorbolt_core::manifest::{Ackers, Restart};
use anchorbolt_core::plan::{BoltPlan, Plan, Role, SpoutPlan};
use anchorbolt_core::port::{CallError, Context, InstanceFactory, Spout, SpoutContext, SpoutError, Waker};
use anchorbolt_core::supervise::{RestartPolicy, Supervisor};
use crossbeam_utils::sync::Parker;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

/// Guests have up to 512 KiB of stack of their own on top of the host's.
const STACK_BYTES: usize = 4 << 20;

/// Makes the spout of a task, given its index among the spout's tasks.
pub type SpoutFactory = Box<dyn Fn(u32) -> Box<dyn Spout> + Send>;

/// The user code of a topology.
pub struct Parts {
    /// By bolt.
    pub bolts: BTreeMap<String, Arc<dyn InstanceFactory>>,
    /// By spout.
    pub spouts: BTreeMap<String, SpoutFactory>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// How the run is to end.
    pub how: How,
    /// When it began, for the report: RFC 3339.
    pub started: String,
}

/// Why a topology did not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// The plan names a component for which there are no parts.
    #[error("there is no code for component `{0}`")]
    Missing(String),
    /// A bolt could not be made or prepared.
    #[error("bolt `{component}` did not start: {reason}")]
    Bolt {
        /// Which.
        component: String,
        /// What it said.
        reason: String,
    },
    /// A spout could not be opened.
    #[error("spout `{component}` did not open: {}", spout_text(.error))]
    Spout {
        /// Which.
        component: String,
        /// What it said.
        error: SpoutError,
    },
    /// The system gave no thread.
    #[error("can't start a thread: {0}")]
    Thread(String),
}

fn spout_text(error: &SpoutError) -> &str {
    match error {
        SpoutError::Input(text) | SpoutError::Environment(text) => text,
    }
}

/// Starts a topology.
///
/// # Errors
/// When code is missing, a bolt does not prepare, or a spout does not open.
pub fn launch(plan: Plan, parts: Parts) -> Result<Running, LaunchError> {
    let plan = Arc::new(plan);
    let (sender, events) = channel();
    let launch = Launch::new(plan, parts, sender);
    launch.start(events)
}

struct Launch {
    plan: Arc<Plan>,
    parts: Parts,
    sender: Sender<Event>,
    bolt_seats: Vec<Seat>,
    spout_seats: Vec<Seat>,
    acker_seats: Vec<(Arc<Inbox>, Parker)>,
    track: TrackMap,
    generations: Vec<Arc<Generations>>,
    directories: Directories,
    /// Component index, task, counters.
    bolts: Vec<(usize, Arc<TaskShared>, Arc<BoltCounters>)>,
}

impl Launch {
    fn new(plan: Arc<Plan>, parts: Parts, sender: Sender<Event>) -> Launch {
        let t = &plan.topology;
        let bounds = Bounds {
            tuples: t.queue_tuples.max(1) as usize,
            bytes: t.queue_bytes.max(1),
            cycle_bytes: t.cycle_bytes.max(1),
        };
        let seats = |spouts: bool| -> Vec<Seat> {
            let wanted = plan.components.iter().enumerate();
            let wanted = wanted.filter(|(_, c)| matches!(c.role, Role::Spout(_)) == spouts);
            wanted.flat_map(|(i, c)| seats_of(i, c.tasks.len() as u32, c.executors, bounds)).collect()
        };
        let (bolt_seats, spout_seats) = (seats(false), seats(true));
        let ackers = if let Ackers::Threads(n) = t.ackers { n } else { 0 };
        let acker_seats: Vec<_> = (0..ackers).map(|_| sit(bounds)).collect();
        let track = TrackMap {
            spouts: owners(&spout_seats)
                .into_iter()
                .map(|(seat, _)| spout_seats[seat].inbox.clone())
                .collect(),
            ackers: acker_seats.iter().map(|(inbox, _)| inbox.clone()).collect(),
        };
        let generations = track.spouts.iter().map(|_| Arc::new(Generations::new())).collect();
        let directories = Arc::new(OnceLock::new());
        let bolts = bolt_tasks(&plan, &bolt_seats);
        Launch {
            plan,
            parts,
            sender,
            bolt_seats,
            spout_seats,
            acker_seats,
            track,
            generations,
            directories,
            bolts,
        }
    }

    fn start(self, events: std::sync::mpsc::Receiver<Event>) -> Result<Running, LaunchError> {
        let env = self.env();
        let began = env.clock.now();
        let mut bolts = self.make_bolts(&env)?;
        let (spouts, cells) = self.make_spouts(&env)?;
        let directories = cells.iter().map(|(_, cell)| cell.clone() as Arc<dyn Directory>).collect();
        if self.directories.set(directories).is_err() {
            tracing::error!("the spouts were registered before");
        }
        let mut workers = vec![];
        for (seat, tasks) in self.bolt_seats.into_iter().zip(bolts.drain(..)) {
            let outbox = outbox(&self.plan, seat.component, &seat.inbox);
            let (inbox, tracker) = (seat.inbox.clone(), Tracker::new(self.track.clone()));
            let run = BoltExecutor::new(env.clone(), inbox, seat.parker, tasks, outbox, tracker);
            let name = &self.plan.components[seat.component].name;
            let thread = spawn(&env, name, move || run.run())?;
            workers.push(Worker { inbox: seat.inbox, thread, component: Some(seat.component) });
        }
        for (i, (inbox, parker)) in self.acker_seats.into_iter().enumerate() {
            let ledgers =
                spouts.iter().flatten().map(|task| task.shard(self.track.ackers.len() as u32, i as u32));
            let run =
                Acker::new(env.clone(), inbox.clone(), parker, ledgers.collect(), self.track.spouts.clone());
            let thread = spawn(&env, "acker", move || run.run())?;
            workers.push(Worker { inbox, thread, component: None });
        }
        for (seat, tasks) in self.spout_seats.into_iter().zip(spouts) {
            let outbox = outbox(&self.plan, seat.component, &seat.inbox);
            let (inbox, tracker) = (seat.inbox.clone(), Tracker::new(self.track.clone()));
            let run = SpoutExecutor::new(env.clone(), inbox, seat.parker, tasks, outbox, tracker);
            let name = &self.plan.components[seat.component].name;
            let thread = spawn(&env, name, move || run.run())?;
            workers.push(Worker { inbox: seat.inbox, thread, component: Some(seat.component) });
        }
        let watch = Watch {
            env,
            spouts: cells,
            bolts: self.bolts.iter().map(|(c, _, counters)| (*c, counters.clone())).collect(),
            plugins: plugins(&self.parts.bolts),
            started: self.parts.started.clone(),
            began,
            plan: self.plan.clone(),
        };
        let drain_timeout = self.plan.topology.drain_timeout;
        Ok(Running { watch, workers, events, stopper: Stopper(self.sender), drain_timeout })
    }

    fn env(&self) -> Arc<Env> {
        let tasks = self.plan.components.iter().map(|c| c.tasks.end).max().unwrap_or(1);
        let mut inboxes: Vec<Option<Arc<Inbox>>> = (0..tasks).map(|_| None).collect();
        for seat in &self.bolt_seats {
            let first = self.plan.components[seat.component].tasks.start;
            for task in &seat.tasks {
                inboxes[(first + task) as usize] = Some(seat.inbox.clone());
            }
        }
        Arc::new(Env {
            topology: self.plan.topology.name.clone(),
            clock: self.parts.clock.clone(),
            generations: self.generations.clone(),
            inboxes,
            bolt_inboxes: self.bolt_seats.iter().map(|s| s.inbox.clone()).collect(),
            holders: self.bolts.iter().map(|(_, shared, _)| shared.clone() as Arc<dyn Holder>).collect(),
            pool: Pool::default(),
            errors: Errors::default(),
            events: self.sender.clone(),
            watched: false.into(),
            quota: AtomicU64::new(self.parts.how.limit.unwrap_or(u64::MAX)),
            to_read: AtomicU64::new(self.parts.how.limit.unwrap_or(u64::MAX)),
            untracked_dropped: AtomicU64::new(0),
        })
    }

    fn make_bolts(&self, env: &Arc<Env>) -> Result<Vec<Vec<BoltTask>>, LaunchError> {
        let mut all = self.bolts.iter();
        let mut seats = vec![];
        for seat in &self.bolt_seats {
            let component = &self.plan.components[seat.component];
            let Role::Bolt(bolt) = &component.role else { continue };
            let factory = self.parts.bolts.get(&component.name);
            let factory = factory.ok_or_else(|| LaunchError::Missing(component.name.clone()))?;
            let mut tasks = vec![];
            for &index in &seat.tasks {
                let Some((_, shared, counters)) = all.next() else { continue };
                let context = self.plan.context(seat.component, index).unwrap_or_default();
                let parts = self.task_parts(bolt, context, factory, shared, counters);
                let mut task = BoltTask::new(parts, env.clock.now());
                task.start().map_err(|e| not_started(&component.name, &e))?;
                tasks.push(task);
            }
            seats.push(tasks);
        }
        Ok(seats)
    }

    fn task_parts(
        &self,
        bolt: &BoltPlan,
        context: Context,
        factory: &Arc<dyn InstanceFactory>,
        shared: &Arc<TaskShared>,
        counters: &Arc<BoltCounters>,
    ) -> TaskParts {
        let clock = self.parts.clock.clone();
        TaskParts {
            context,
            factory: factory.clone(),
            shared: shared.clone(),
            services: Services { shared: shared.clone(), spouts: self.directories.clone(), clock },
            counters: counters.clone(),
            supervisor: Supervisor::new(restart_policy(&bolt.restart)),
            on_circuit_open: bolt.restart.on_circuit_open,
            deadline: bolt.limits.deadline,
            batch: bolt.batch,
            held_max: bolt.limits.held_tuples as usize,
            stateless: bolt.stateless,
            tick: bolt.tick,
        }
    }

    #[allow(clippy::type_complexity, reason = "tasks by seat, and their cells by owner")]
    fn make_spouts(
        &self,
        env: &Arc<Env>,
    ) -> Result<(Vec<Vec<SpoutTask>>, Vec<(usize, Arc<SpoutCell>)>), LaunchError> {
        let mut seats: Vec<Vec<SpoutTask>> = self.spout_seats.iter().map(|_| vec![]).collect();
        let mut cells = vec![];
        for (owner, (seat, index)) in owners(&self.spout_seats).into_iter().enumerate() {
            let component = self.spout_seats[seat].component;
            let name = &self.plan.components[component].name;
            let Role::Spout(spout) = &self.plan.components[component].role else { continue };
            let make = self.parts.spouts.get(name).ok_or_else(|| LaunchError::Missing(name.clone()))?;
            let inbox = self.spout_seats[seat].inbox.clone();
            let waker = Waker::new(move || inbox.poke());
            let context =
                SpoutContext { context: self.plan.context(component, index).unwrap_or_default(), waker };
            let mut code = make(index);
            code.open(context)
                .and_then(|()| code.activate())
                .map_err(|error| LaunchError::Spout { component: name.clone(), error })?;
            let parts = self.spout_parts(owner as u32, spout, component, index);
            let task = SpoutTask::new(env.clone(), parts, code, self.acker_seats.len());
            cells.push((component, task.cell()));
            seats[seat].push(task);
        }
        Ok((seats, cells))
    }

    fn spout_parts(&self, owner: u32, spout: &SpoutPlan, component: usize, index: u32) -> SpoutTaskParts {
        let t = &self.plan.topology;
        SpoutTaskParts {
            owner,
            name: self.plan.components[component].name.clone(),
            tracking: t.ackers != Ackers::Off,
            own_ledger: t.ackers == Ackers::PerSpout,
            max_pending: spout.max_pending,
            retry: spout.retry.clone(),
            message_timeout: t.message_timeout,
            max_tree_age: t.max_tree_age,
            generations: self.generations[owner as usize].clone(),
            // The spout itself measures messages; their rows may be longer. This is a backstop.
            router: Router::new(&self.plan, component, index, spout.tuple_bytes_max.saturating_mul(8)),
        }
    }
}

fn restart_policy(restart: &Restart) -> RestartPolicy {
    RestartPolicy { backoff: restart.backoff, budget: restart.budget, window: restart.window }
}

/// Settings of a ledger; one place, so that ackers and spouts agree.
pub(super) fn ledger(parts: &SpoutTaskParts, shards: u32, shard: u32) -> Ledger {
    let settings = LedgerSettings {
        owner: parts.owner,
        shards,
        shard,
        timeout: parts.message_timeout,
        max_tree_age: parts.max_tree_age,
    };
    Ledger::new(settings, parts.generations.clone())
}

type BoltTasks = Vec<(usize, Arc<TaskShared>, Arc<BoltCounters>)>;

fn bolt_tasks(plan: &Plan, seats: &[Seat]) -> BoltTasks {
    let mut tasks = vec![];
    for seat in seats {
        let component = &plan.components[seat.component];
        let Role::Bolt(bolt) = &component.role else { continue };
        for &index in &seat.tasks {
            let router = Router::new(plan, seat.component, index, bolt.limits.tuple_bytes);
            let shared = TaskShared::new(&component.name, component.tasks.start + index, router);
            tasks.push((seat.component, shared, Arc::default()));
        }
    }
    tasks
}

fn outbox(plan: &Plan, component: usize, inbox: &Arc<Inbox>) -> Outbox {
    let tasks = plan.components.iter().map(|c| c.tasks.end).max().unwrap_or(1);
    let mut cycle = vec![false; tasks as usize];
    for edge in plan.edges.iter().filter(|e| e.from == component && e.closes_cycle) {
        plan.components[edge.to].tasks.clone().for_each(|task| cycle[task as usize] = true);
    }
    Outbox::new(&plan.components[component].name, cycle, inbox.clone())
}

fn not_started(component: &str, error: &CallError) -> LaunchError {
    let reason = match error {
        CallError::Declared(text) => text.clone(),
        CallError::Died(death) if death.output.trim().is_empty() => death.reason.clone(),
        CallError::Died(death) => format!("{}; it printed: {}", death.reason, death.output.trim()),
    };
    LaunchError::Bolt { component: component.to_owned(), reason }
}

fn plugins(bolts: &BTreeMap<String, Arc<dyn InstanceFactory>>) -> Vec<(String, String)> {
    bolts.iter().filter_map(|(name, f)| Some((name.clone(), f.sha256()?.to_owned()))).collect()
}

/// A thread whose panic ends the run instead of going unseen.
fn spawn(
    env: &Arc<Env>,
    name: &str,
    run: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, LaunchError> {
    let (env, owned) = (env.clone(), name.to_owned());
    let body = move || {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
            env.tell(Event::Broken(format!("the executor of `{owned}` panicked: {}", text(&*panic))));
        }
    };
    let builder = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
    builder.spawn(body).map_err(|e| LaunchError::Thread(e.to_string()))
}
