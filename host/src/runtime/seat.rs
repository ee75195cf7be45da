//! Where executors sit: how the tasks of a component are dealt out to threads.
//!
//! In: tasks and executors of a plan. Out: seats, each with its inbox. Invariant: each task has one seat; the owner
//! numbers of spout tasks follow the seats.

use super::inbox::{Bounds, Inbox};
use crossbeam_utils::sync::Parker;
use std::sync::Arc;

/// A place for an executor: its inbox and what it sleeps on.
pub(super) struct Seat {
    pub(super) component: usize,
    /// Indexes among the component's tasks.
    pub(super) tasks: Vec<u32>,
    pub(super) inbox: Arc<Inbox>,
    pub(super) parker: Parker,
}

/// The seats of a component: task t sits with executor t mod n.
pub(super) fn seats_of(component: usize, tasks: u32, executors: u32, bounds: Bounds) -> Vec<Seat> {
    let executors = executors.clamp(1, tasks.max(1));
    let seat = |e: u32| {
        let (inbox, parker) = sit(bounds);
        let tasks = (0..tasks).filter(|t| t % executors == e).collect();
        Seat { component, tasks, inbox, parker }
    };
    (0..executors).map(seat).collect()
}

/// An inbox, and what its executor sleeps on.
pub(super) fn sit(bounds: Bounds) -> (Arc<Inbox>, Parker) {
    let parker = Parker::new();
    (Arc::new(Inbox::new(bounds, parker.unparker().clone())), parker)
}

/// The spout tasks in the order of their owner numbers: seat, and index among the spout's tasks.
pub(super) fn owners(seats: &[Seat]) -> Vec<(usize, u32)> {
    seats.iter().enumerate().flat_map(|(s, seat)| seat.tasks.iter().map(move |t| (s, *t))).collect()
}
