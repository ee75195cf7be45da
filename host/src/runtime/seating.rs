//! What executors are made of, at the start and whenever tasks move.
//!
//! In: a seat and its tasks. Out: an executor that is not yet on a thread. Invariant: an executor that is made later is
//! like one that was made at the start.

use super::bolt_executor::BoltExecutor;
use super::cargo::{Handed, Whose};
use super::door::Door;
use super::env::Env;
use super::executor::Executor;
use super::inbox::{Bounds, Inbox};
use super::launch::Member;
use super::outbox::Outbox;
use super::seat::Seat;
use super::spout_executor::SpoutExecutor;
use super::track::{TrackMap, Tracker};
use anchorbolt_core::plan::{Plan, Role};
use std::sync::Arc;

/// What all executors of a topology have in common.
pub(super) struct Seating {
    pub(super) plan: Arc<Plan>,
    pub(super) bounds: Bounds,
    pub(super) track: TrackMap,
    /// The spout tasks by owner number: component, and index among its tasks.
    pub(super) owners: Vec<(usize, u32)>,
}

impl Seating {
    /// An executor of these tasks, in this seat.
    pub(super) fn member(&self, env: &Arc<Env>, seat: Seat, handed: Handed) -> Member {
        let component = &self.plan.components[seat.component];
        let Seat { inbox, parker, .. } = seat;
        let (mut outbox, tracker) = (self.outbox(seat.component, &inbox), Tracker::new(self.track.clone()));
        let Handed { bolts, spouts, out, taken, .. } = handed;
        outbox.batches().extend(out);
        let executor: Box<dyn Executor> = match component.role {
            Role::Bolt(_) => {
                Box::new(BoltExecutor::new(env.clone(), inbox.clone(), bolts, outbox, tracker, taken))
            }
            Role::Spout(_) => {
                Box::new(SpoutExecutor::new(env.clone(), inbox.clone(), spouts, outbox, tracker))
            }
        };
        Member { name: component.name.clone(), component: Some(seat.component), inbox, parker, executor }
    }

    fn outbox(&self, component: usize, inbox: &Arc<Inbox>) -> Outbox {
        let plan = &self.plan;
        let mut cycle = vec![false; plan.tasks_end() as usize];
        for edge in plan.edges.iter().filter(|e| e.from == component && e.closes_cycle) {
            plan.components[edge.to].tasks.clone().for_each(|task| cycle[task as usize] = true);
        }
        Outbox::new(&plan.components[component].name, cycle, inbox.clone())
    }

    /// The doors of a component's tasks, in their order.
    pub(super) fn doors<'a>(&'a self, env: &'a Env, component: usize) -> Vec<&'a Door> {
        let component_of = &self.plan.components[component];
        match component_of.role {
            Role::Bolt(_) => {
                let doors = component_of.tasks.clone().filter_map(|task| env.doors.get(task as usize));
                doors.flatten().collect()
            }
            Role::Spout(_) => {
                let index = |index| self.owners.iter().position(|owner| *owner == (component, index));
                let owners = (0..component_of.tasks.len() as u32).filter_map(index);
                owners.filter_map(|owner| self.track.spouts.get(owner)).collect()
            }
        }
    }

    /// The ids and owner numbers of these tasks of a component.
    pub(super) fn whose(&self, component: usize, indexes: &[u32]) -> Whose {
        let first = self.plan.components[component].tasks.start;
        let is_mine = |(of, index): &(usize, u32)| *of == component && indexes.contains(index);
        let owners = (0..).zip(&self.owners).filter(|(_, owner)| is_mine(owner)).map(|(number, _)| number);
        Whose { ids: indexes.iter().map(|index| first + index).collect(), owners: owners.collect() }
    }
}
