//! Who leads a run from its start to its end: carries orders out, and drains.
//!
//! In: events of executors and orders of users. Out: commands, and executors that are to begin. Invariant: a turn never
//! blocks; it says what it waits for. Orders are carried out one at a time, in the order in which they came.

use super::controls::Controls;
use super::drain::{Drain, Outcome, Wait};
use super::env::Event;
use super::inbox::Command;
use super::orders::{Obeying, Order, OrderError, Reply, answer};
use super::rebalance::{Move, Reseated};
use super::running::How;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// What is to be done next.
pub(super) enum Turn {
    /// To wait, or not.
    Wait(Wait),
    /// To let executors begin in the place of others, and to say so.
    Seat(Reseated),
}

/// The controller of a run.
pub(super) struct Conductor {
    controls: Arc<Controls>,
    drain: Drain,
    orders: VecDeque<(Order, Reply)>,
    under_way: Option<Move>,
}

impl Conductor {
    /// A controller of this run.
    pub(super) fn new(controls: Arc<Controls>, how: How) -> Conductor {
        let drain = Drain::new(controls.clone(), how);
        Conductor { controls, drain, orders: VecDeque::new(), under_way: None }
    }

    /// How it ended.
    pub(super) fn outcome(self) -> Outcome {
        self.drain.outcome()
    }

    /// Does what there is to do.
    pub(super) fn turn(&mut self) -> Turn {
        if let Some(mut tasks) = self.under_way.take() {
            if tasks.is_ready() {
                return Turn::Seat(tasks.finish(&self.controls));
            }
            self.under_way = Some(tasks);
        } else if let Some((order, reply)) = self.orders.pop_front() {
            self.obey(order, reply);
            return Turn::Wait(Wait::No);
        }
        match self.drain.turn() {
            // Tasks that are on their way have to arrive before they can be closed.
            Wait::Over if self.under_way.is_some() && !self.drain.is_broken() => {
                Turn::Wait(Wait::Event(None))
            }
            wait => Turn::Wait(wait),
        }
    }

    /// Takes an event in.
    pub(super) fn hear(&mut self, event: Event) {
        match event {
            Event::Ordered(order, reply) => self.orders.push_back((order, reply)),
            event => self.drain.hear(event),
        }
    }

    fn obey(&mut self, order: Order, reply: Reply) {
        let activity = match order {
            Order::Activate => true,
            Order::Deactivate => false,
            Order::Kill(wait) => {
                self.drain.kill(wait);
                return answer(&reply, Ok(()));
            }
            Order::Rebalance { component, executors } => {
                match Move::begin(&self.controls, &component, executors, reply) {
                    Ok(tasks) => self.under_way = Some(tasks),
                    Err((error, reply)) => answer(&reply, Err(error)),
                }
                return;
            }
        };
        if activity && self.drain.has_begun() {
            return answer(&reply, Err(OrderError::Ending));
        }
        self.controls.watch.env.active.store(activity, Relaxed);
        // The answer comes when each of them has obeyed.
        let obeying = Arc::new(Obeying(reply));
        self.controls.tell_spouts(&match activity {
            true => Command::Activate(obeying),
            false => Command::Deactivate(obeying),
        });
    }
}
