//! Tasks of a component on their way to other executors, while the topology runs.
//!
//! In: how many executors there are to be. Out: each executor ends its call and hands its tasks over, with all that they
//! hold and all that they emitted; then what waited for them is dealt out with them, and new executors begin. As Storm's
//! `rebalance`, but nothing is drained first.
//!
//! Invariant: nothing is settled, lost or overtaken. A task is with one executor or on its way, and its door is held while
//! what waits for it moves.

use super::cargo::{Cargo, Handed};
use super::controls::Controls;
use super::inbox::{Inbox, distinct};
use super::launch::Member;
use super::orders::{OrderError, Reply, answer};
use super::seat::seats_of;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

/// A rebalance under way.
pub(super) struct Move {
    component: usize,
    executors: u32,
    from: Receiver<Handed>,
    /// Executors that have not handed over.
    left: usize,
    handed: Handed,
    reply: Reply,
}

/// New executors in the place of others.
pub(super) struct Reseated {
    /// The inboxes of those that have ended.
    pub(super) old: Vec<Arc<Inbox>>,
    /// Those that are to begin, not yet on threads.
    pub(super) new: Vec<Member>,
    reply: Reply,
}

impl Move {
    /// Asks the executors of a component to hand over.
    ///
    /// # Errors
    /// There is no such component, or it can't have so many executors.
    pub(super) fn begin(
        controls: &Controls,
        name: &str,
        executors: u32,
        reply: Reply,
    ) -> Result<Move, (OrderError, Reply)> {
        let components = &controls.seating.plan.components;
        let Some(component) = components.iter().position(|c| c.name == name) else {
            return Err((OrderError::Component(name.to_owned()), reply));
        };
        let tasks = components[component].tasks.len() as u32;
        if executors == 0 || executors > tasks {
            let component = name.to_owned();
            return Err((OrderError::Executors { component, executors, tasks }, reply));
        }
        let (sender, from) = channel();
        let asked = controls.each_of(component, |inbox| inbox.ask_to_yield(sender.clone()));
        Ok(Move { component, executors, from, left: asked, handed: Handed::default(), reply })
    }

    /// Whether all executors have handed over.
    pub(super) fn is_ready(&mut self) -> bool {
        for handed in self.from.try_iter() {
            self.left = self.left.saturating_sub(1);
            self.handed.add(handed);
        }
        self.left == 0
    }

    /// Makes the new executors, and leads what is for the tasks to them.
    pub(super) fn finish(self, controls: &Controls) -> Reseated {
        let Move { component, executors, handed, reply, .. } = self;
        let seating = &controls.seating;
        let tasks = seating.plan.components[component].tasks.len() as u32;
        let doors = seating.doors(&controls.watch.env, component);
        let mut held: Vec<_> = doors.iter().map(|door| door.hold()).collect();
        let old = distinct(held.iter().map(|inbox| (**inbox).clone()));
        let mut cargo = Cargo::new(handed, old.iter().map(|inbox| inbox.empty()));
        let mut new = vec![];
        for seat in seats_of(component, tasks, executors, seating.bounds) {
            seat.tasks.iter().for_each(|index| *held[*index as usize] = seat.inbox.clone());
            let whose = seating.whose(component, &seat.tasks);
            seat.inbox.fill(cargo.waiting(&whose));
            new.push((seat, cargo.handed(&whose)));
        }
        drop(held);
        controls.replace(component, &old, new.iter().map(|(seat, _)| seat.inbox.clone()));
        let env = &controls.watch.env;
        let new = new.into_iter().map(|(seat, handed)| seating.member(env, seat, handed)).collect();
        Reseated { old, new, reply }
    }
}

impl Reseated {
    /// The new executors run.
    pub(super) fn done(&self) {
        answer(&self.reply, Ok(()));
    }
}
