//! From a plan to executors: inboxes first, then bolts (made and prepared), then spouts; ackers and the keeper.
//!
//! In: a plan and the code of its components. Out: executors on threads ([`launch`]), or without ([`launch_stepped`]).
//! Invariant: when it fails, no thread was started.

use super::acker::Acker;
use super::bolt_task::BoltTask;
use super::cargo::Handed;
use super::clock::Clock;
use super::conductor::Conductor;
use super::controls::{Controls, Post};
use super::crew::{bolt_tasks, describes, plugins};
use super::door::Door;
use super::env::{BatchFilter, Directory, Env, Event};
use super::executor::{self, Executor};
use super::inbox::{Bounds, Inbox};
use super::keep::Keep;
use super::keeper::{Keeper, Owner};
use super::native::text;
use super::running::{How, Running, Stopper, Threaded, Watch};
use super::seat::{Seat, owners, seats_of, sit};
use super::seating::Seating;
use super::shared::{Directories, TaskShared};
use super::spout_task::SpoutTask;
use super::stepped::{Patience, Seated, Stepped};
use super::track::TrackMap;
use crate::durable::DurableError;
use crate::telemetry::{BoltCounters, Errors};
use anchorbolt_core::ack::Generations;
use anchorbolt_core::grouping::GroupingFactories;
use anchorbolt_core::manifest::Ackers;
use anchorbolt_core::plan::{Plan, Role};
use anchorbolt_core::port::{InstanceFactory, Spout, SpoutError};
use crossbeam_utils::sync::Parker;
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};

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
    /// Custom groupings, by the index of their edge in the plan.
    pub groupings: GroupingFactories,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// How the run is to end.
    pub how: How,
    /// Spouts read only when they are told to.
    pub inactive: bool,
    /// When it began, for the report: RFC 3339.
    pub started: String,
    /// What outlives the process. None: nothing is restored or saved, and messages that have failed for good are
    /// dropped.
    pub keep: Option<Keep>,
    /// Loses or holds up batches between tasks, in a run under chaos.
    pub filter: Option<Arc<dyn BatchFilter>>,
    /// What all random numbers begin with; none: with something else each time.
    pub seed: Option<u64>,
    /// The errors of the run: of what code tells by another way than a call, too.
    pub errors: Arc<Errors>,
}

impl Parts {
    /// No code yet. Nothing outlives the process, nothing is filtered, and random numbers differ each time.
    pub fn new(how: How, clock: Arc<dyn Clock>) -> Parts {
        Parts {
            bolts: BTreeMap::new(),
            spouts: BTreeMap::new(),
            groupings: GroupingFactories::new(),
            clock,
            how,
            inactive: false,
            started: String::new(),
            keep: None,
            filter: None,
            seed: None,
            errors: Arc::default(),
        }
    }
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
    /// A custom grouping is missing or could not be prepared. The text names its edge.
    #[error("{0}")]
    Grouping(String),
    /// A spout could not be opened.
    #[error("spout `{component}` did not open: {}", spout_text(.error))]
    Spout {
        /// Which.
        component: String,
        /// What it said.
        error: SpoutError,
    },
    /// What an earlier run saved can't be used.
    #[error(transparent)]
    Keep(#[from] DurableError),
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
    let (sender, events) = channel();
    let Built { controls, crew } = Launch::new(Arc::new(plan), parts, sender.clone()).build()?;
    let env = controls.watch.env.clone();
    let threads = crew.into_iter().map(|member| spawn(&env, member)).collect::<Result<_, _>>()?;
    Ok(Running { controls, threads, events, stopper: Stopper(sender) })
}

/// Builds a topology that moves only when it is told to: for simulations and for tests in virtual time.
///
/// # Errors
/// As [`launch`].
pub fn launch_stepped(plan: Plan, parts: Parts) -> Result<Stepped, LaunchError> {
    let (sender, events) = channel();
    let how = parts.how;
    let Built { controls, crew } = Launch::new(Arc::new(plan), parts, sender).build()?;
    let conductor = Conductor::new(controls.clone(), how);
    let seated = crew.into_iter().map(Seated::new).collect();
    Ok(Stepped { controls, seated, events, conductor, patience: Patience::default() })
}

/// An executor with its place, not yet on a thread.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) component: Option<usize>,
    pub(super) inbox: Arc<Inbox>,
    pub(super) parker: Parker,
    pub(super) executor: Box<dyn Executor>,
}

/// A topology before anything moves.
struct Built {
    controls: Arc<Controls>,
    /// In the order in which they are closed.
    crew: Vec<Member>,
}

/// What is made on the way.
pub(super) struct Launch {
    pub(super) plan: Arc<Plan>,
    pub(super) parts: Parts,
    pub(super) sender: Sender<Event>,
    pub(super) bolt_seats: Vec<Seat>,
    pub(super) spout_seats: Vec<Seat>,
    pub(super) acker_seats: Vec<(Arc<Inbox>, Parker)>,
    pub(super) keeper_inbox: Arc<Inbox>,
    pub(super) keeper_parker: Option<Parker>,
    pub(super) bounds: Bounds,
    pub(super) track: TrackMap,
    pub(super) generations: Vec<Arc<Generations>>,
    pub(super) directories: Directories,
    /// Component index, task, counters.
    pub(super) bolts: Vec<(usize, Arc<TaskShared>, Arc<BoltCounters>)>,
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
        let (keeper_inbox, keeper_parker) = sit(bounds);
        let acker_seats: Vec<_> = (0..ackers).map(|_| sit(bounds)).collect();
        let track = TrackMap {
            spouts: owners(&spout_seats)
                .into_iter()
                .map(|(seat, _)| Door::new(spout_seats[seat].inbox.clone()))
                .collect(),
            ackers: acker_seats.iter().map(|(inbox, _)| Door::new(inbox.clone())).collect(),
        };
        let generations = track.spouts.iter().map(|_| Arc::new(Generations::new())).collect();
        let directories = Arc::new(OnceLock::new());
        let bolts = bolt_tasks(&plan, &bolt_seats, describes(&parts));
        Launch {
            plan,
            parts,
            sender,
            bolt_seats,
            spout_seats,
            acker_seats,
            keeper_inbox,
            keeper_parker: Some(keeper_parker),
            bounds,
            track,
            generations,
            directories,
            bolts,
        }
    }

    fn build(mut self) -> Result<Built, LaunchError> {
        let env = self.env();
        let began = env.clock.now();
        let keep = self.parts.keep.take().map(Arc::new);
        let bolts = self.make_bolts(&env)?;
        let (spouts, cells) = self.make_spouts(&env, keep.as_ref())?;
        let directories = cells.iter().map(|(_, cell)| cell.clone() as Arc<dyn Directory>).collect();
        if self.directories.set(directories).is_err() {
            tracing::error!("the spouts were registered before");
        }
        let watch = Watch {
            env: env.clone(),
            spouts: cells,
            bolts: self.bolts.iter().map(|(c, _, counters)| (*c, counters.clone())).collect(),
            plugins: plugins(&self.parts.bolts),
            started: self.parts.started.clone(),
            began,
            plan: self.plan.clone(),
        };
        let (drain_timeout, events) = (self.plan.topology.drain_timeout, self.sender.clone());
        let seating = self.seating();
        let crew = self.crew(&env, &seating, bolts, spouts, keep.clone());
        let posts = crew.iter().map(|m| Post { inbox: m.inbox.clone(), component: m.component }).collect();
        let posts = RwLock::new(posts);
        Ok(Built {
            controls: Arc::new(Controls { watch, posts, seating, keep, drain_timeout, events }),
            crew,
        })
    }

    fn seating(&self) -> Seating {
        let component = |(seat, index): (usize, u32)| (self.spout_seats[seat].component, index);
        Seating {
            plan: self.plan.clone(),
            bounds: self.bounds,
            track: self.track.clone(),
            owners: owners(&self.spout_seats).into_iter().map(component).collect(),
        }
    }

    /// All executors, in the order in which they are closed: spouts before bolts, so that nothing is emitted into
    /// closed ones; the keeper last.
    fn crew(
        mut self,
        env: &Arc<Env>,
        seating: &Seating,
        bolts: Vec<Vec<BoltTask>>,
        spouts: Vec<Vec<SpoutTask>>,
        keep: Option<Arc<Keep>>,
    ) -> Vec<Member> {
        let ackers = self.ackers(env, &spouts);
        let keeper = keep.and_then(|keep| self.keeper(env, keep));
        let Launch { plan, bolt_seats, spout_seats, .. } = self;
        let mut crew = vec![];
        for (seat, bolts) in bolt_seats.into_iter().zip(bolts) {
            crew.push(seating.member(env, seat, Handed { bolts, ..Handed::default() }));
        }
        for (seat, spouts) in spout_seats.into_iter().zip(spouts) {
            crew.push(seating.member(env, seat, Handed { spouts, ..Handed::default() }));
        }
        let stages: Vec<usize> = plan.stages.iter().flatten().copied().collect();
        crew.sort_by_key(|m| m.component.and_then(|c| stages.iter().position(|s| *s == c)));
        crew.extend(ackers);
        crew.extend(keeper);
        crew
    }

    fn ackers(&mut self, env: &Arc<Env>, spouts: &[Vec<SpoutTask>]) -> Vec<Member> {
        let n = self.acker_seats.len() as u32;
        let seats = (0..n).zip(std::mem::take(&mut self.acker_seats));
        seats
            .map(|(i, (inbox, parker))| {
                let ledgers = spouts.iter().flatten().map(|task| task.shard(n, i)).collect();
                let acker = Acker::new(env.clone(), inbox.clone(), ledgers, self.track.spouts.clone());
                Member::free("acker", inbox, parker, Box::new(acker))
            })
            .collect()
    }

    fn keeper(&mut self, env: &Arc<Env>, keep: Arc<Keep>) -> Option<Member> {
        let (inbox, parker) = (self.keeper_inbox.clone(), self.keeper_parker.take()?);
        let owners = owners(&self.spout_seats).into_iter().map(|(seat, index)| {
            let component = &self.plan.components[self.spout_seats[seat].component];
            let task = (index, component.tasks.len() as u32);
            Owner { spout: component.name.clone(), task }
        });
        let spouts = self.track.spouts.clone();
        let keeper = Keeper::new(env.clone(), inbox.clone(), keep, owners.collect(), spouts);
        Some(Member::free("keeper", inbox, parker, Box::new(keeper)))
    }
}

impl Member {
    /// One that is no component's.
    fn free(name: &str, inbox: Arc<Inbox>, parker: Parker, executor: Box<dyn Executor>) -> Member {
        Member { name: name.to_owned(), component: None, inbox, parker, executor }
    }
}

/// A thread whose panic ends the run instead of going unseen.
pub(super) fn spawn(env: &Arc<Env>, member: Member) -> Result<Threaded, LaunchError> {
    let (env, name, inbox) = (env.clone(), member.name.clone(), member.inbox.clone());
    let body = move || {
        let run = || executor::run(member.executor, &*env.clock, &member.parker);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
            env.tell(Event::Broken(format!("the executor of `{}` panicked: {}", member.name, text(&*panic))));
        }
    };
    let builder = std::thread::Builder::new().name(name).stack_size(STACK_BYTES);
    let thread = builder.spawn(body).map_err(|e| LaunchError::Thread(e.to_string()))?;
    Ok(Threaded { inbox, thread })
}
