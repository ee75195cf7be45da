//! The tasks of a topology: made, prepared and opened before anything moves.
//!
//! In: a plan, the code of its components, what an earlier run saved. Out: bolt tasks with their first instances, spout
//! tasks whose spouts are restored and active.

use super::bolt_task::{BoltTask, TaskParts};
use super::choosing::Choosing;
use super::door::Door;
use super::env::{Env, Holder};
use super::keep::Keep;
use super::launch::{Launch, LaunchError, Parts};
use super::pool::Pool;
use super::seat::{Seat, owners};
use super::shared::{Services, TaskShared};
use super::spout_cell::SpoutCell;
use super::spout_keep::Keeping;
use super::spout_task::{SpoutTask, SpoutTaskParts};
use crate::telemetry::BoltCounters;
use anchorbolt_core::ack::{Ledger, LedgerSettings};
use anchorbolt_core::grouping::{CustomGroupings, Router};
use anchorbolt_core::manifest::{Ackers, Restart};
use anchorbolt_core::plan::{BoltPlan, Plan, Role, SpoutPlan};
use anchorbolt_core::port::{CallError, Context, InstanceFactory, Spout, SpoutContext, Waker};
use anchorbolt_core::supervise::{RestartPolicy, Supervisor};
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

impl Launch {
    pub(super) fn env(&self) -> Arc<Env> {
        let mut doors: Vec<Option<Door>> = (0..self.plan.tasks_end()).map(|_| None).collect();
        for seat in &self.bolt_seats {
            let first = self.plan.components[seat.component].tasks.start;
            for task in &seat.tasks {
                doors[(first + task) as usize] = Some(Door::new(seat.inbox.clone()));
            }
        }
        Arc::new(Env {
            topology: self.plan.topology.name.clone(),
            clock: self.parts.clock.clone(),
            generations: self.generations.clone(),
            doors,
            bolt_inboxes: RwLock::new(self.bolt_seats.iter().map(|s| s.inbox.clone()).collect()),
            holders: self.bolts.iter().map(|(_, shared, _)| shared.clone() as Arc<dyn Holder>).collect(),
            pool: Pool::default(),
            errors: self.parts.errors.clone(),
            events: self.sender.clone(),
            watched: false.into(),
            standing_still: false.into(),
            active: (!self.parts.inactive).into(),
            quota: AtomicU64::new(self.parts.how.limit.unwrap_or(u64::MAX)),
            to_read: AtomicU64::new(self.parts.how.limit.unwrap_or(u64::MAX)),
            untracked_dropped: AtomicU64::new(0),
            filter: self.parts.filter.clone(),
            seed: self.parts.seed,
        })
    }

    pub(super) fn make_bolts(&self, env: &Arc<Env>) -> Result<Vec<Vec<BoltTask>>, LaunchError> {
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
                let choosing = self.choosing(seat.component, bolt.limits.tuple_bytes)?;
                let parts = self.task_parts(bolt, context, factory, (shared, counters), choosing);
                let rng = env.rng(u64::from(shared.id()) << 32);
                let mut task = BoltTask::new(parts, rng, env.clock.now());
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
        (shared, counters): (&Arc<TaskShared>, &Arc<BoltCounters>),
        choosing: Choosing,
    ) -> TaskParts {
        let clock = self.parts.clock.clone();
        TaskParts {
            context,
            factory: factory.clone(),
            shared: shared.clone(),
            services: Services { shared: shared.clone(), spouts: self.directories.clone(), clock },
            counters: counters.clone(),
            choosing,
            supervisor: Supervisor::new(restart_policy(&bolt.restart)),
            on_circuit_open: bolt.restart.on_circuit_open,
            deadline: bolt.limits.deadline,
            batch: bolt.batch,
            held_max: bolt.limits.held_tuples as usize,
            stateless: bolt.stateless,
            recycle_at: bolt.recycle_at,
            tick: bolt.tick,
        }
    }

    #[allow(clippy::type_complexity, reason = "tasks by seat, and their cells by owner")]
    pub(super) fn make_spouts(
        &self,
        env: &Arc<Env>,
        keep: Option<&Arc<Keep>>,
    ) -> Result<(Vec<Vec<SpoutTask>>, Vec<(usize, Arc<SpoutCell>)>), LaunchError> {
        let mut seats: Vec<Vec<SpoutTask>> = self.spout_seats.iter().map(|_| vec![]).collect();
        let mut cells = vec![];
        for (owner, (seat, index)) in owners(&self.spout_seats).into_iter().enumerate() {
            let component = self.spout_seats[seat].component;
            let name = &self.plan.components[component].name;
            let Role::Spout(spout) = &self.plan.components[component].role else { continue };
            let make = self.parts.spouts.get(name).ok_or_else(|| LaunchError::Missing(name.clone()))?;
            let doors = self.track.spouts.clone();
            let waker = Waker::new(move || doors[owner].poke());
            let context =
                SpoutContext { context: self.plan.context(component, index).unwrap_or_default(), waker };
            let mut code = opened(name, make(index), context, keep)?;
            if !self.parts.inactive {
                let failed = |error| LaunchError::Spout { component: name.clone(), error };
                code.activate().map_err(failed)?;
            }
            let keeping = keep.map(|keep| {
                let keeper = self.keeper_inbox.clone();
                Keeping::new(keep.clone(), keeper, spout.max_pending, env.clock.now())
            });
            let parts = self.spout_parts(owner as u32, spout, component, index)?;
            let task = SpoutTask::new(env.clone(), parts, code, self.acker_seats.len(), keeping);
            cells.push((component, task.cell()));
            seats[seat].push(task);
        }
        Ok((seats, cells))
    }

    /// The custom groupings of a task's streams, each with an instance.
    fn choosing(&self, component: usize, tuple_bytes_max: u64) -> Result<Choosing, LaunchError> {
        let made = CustomGroupings::new(&self.plan, component, tuple_bytes_max, &self.parts.groupings);
        let mut groupings = made.map_err(LaunchError::Grouping)?;
        groupings.start().map_err(LaunchError::Grouping)?;
        Ok(Choosing::new(groupings))
    }

    fn spout_parts(
        &self,
        owner: u32,
        spout: &SpoutPlan,
        component: usize,
        index: u32,
    ) -> Result<SpoutTaskParts, LaunchError> {
        let t = &self.plan.topology;
        let outputs = &self.plan.components[component].outputs;
        // The spout itself measures messages; their rows may be longer. This is a backstop.
        let row_bytes_max = spout.tuple_bytes_max.saturating_mul(8);
        let mut router = Router::new(&self.plan, component, index, row_bytes_max);
        if describes(&self.parts) {
            router.keep_paths();
        }
        Ok(SpoutTaskParts {
            owner,
            name: self.plan.components[component].name.clone(),
            tracking: t.ackers != Ackers::Off,
            own_ledger: t.ackers == Ackers::PerSpout,
            max_pending: spout.max_pending,
            retry: spout.retry.clone(),
            message_timeout: t.message_timeout,
            max_tree_age: t.max_tree_age,
            generations: self.generations[owner as usize].clone(),
            fields: outputs.iter().map(|output| output.fields.clone()).collect(),
            router,
            choosing: self.choosing(component, row_bytes_max)?,
        })
    }
}

/// Opens a spout; it goes on where it stood.
fn opened(
    name: &str,
    mut code: Box<dyn Spout>,
    context: SpoutContext,
    keep: Option<&Arc<Keep>>,
) -> Result<Box<dyn Spout>, LaunchError> {
    let failed = |error| LaunchError::Spout { component: name.to_owned(), error };
    code.open(context).map_err(failed)?;
    if let Some(keep) = keep {
        let saved = keep.restore(name)?;
        if !saved.is_empty() {
            code.restore(&saved).map_err(failed)?;
        }
        keep.each_dead(name, |position, bytes| code.pass_over(position, bytes))?;
    }
    Ok(code)
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

/// Whether any bolt may ask for the identity of a tuple.
pub(super) fn describes(parts: &Parts) -> bool {
    parts.bolts.values().any(|bolt| bolt.describes())
}

pub(super) type BoltTasks = Vec<(usize, Arc<TaskShared>, Arc<BoltCounters>)>;

pub(super) fn bolt_tasks(plan: &Plan, seats: &[Seat], keep_paths: bool) -> BoltTasks {
    let mut tasks = vec![];
    for seat in seats {
        let component = &plan.components[seat.component];
        let Role::Bolt(bolt) = &component.role else { continue };
        for &index in &seat.tasks {
            let mut router = Router::new(plan, seat.component, index, bolt.limits.tuple_bytes);
            if keep_paths {
                router.keep_paths();
            }
            let shared = TaskShared::new(&component.name, component.tasks.start + index, router);
            tasks.push((seat.component, shared, Arc::default()));
        }
    }
    tasks
}

fn not_started(component: &str, error: &CallError) -> LaunchError {
    let reason = match error {
        CallError::Declared(text) => text.clone(),
        CallError::Died(death) if death.output.trim().is_empty() => death.reason.clone(),
        CallError::Died(death) => format!("{}; it printed: {}", death.reason, death.output.trim()),
    };
    LaunchError::Bolt { component: component.to_owned(), reason }
}

pub(super) fn plugins(bolts: &BTreeMap<String, Arc<dyn InstanceFactory>>) -> Vec<(String, String)> {
    bolts.iter().filter_map(|(name, f)| Some((name.clone(), f.sha256()?.to_owned()))).collect()
}
