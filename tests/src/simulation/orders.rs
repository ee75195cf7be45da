//! Orders that a user gives while it runs: tasks move to other executors, spouts rest for a while.
//!
//! In: the seed of a life. Out: orders at random moments, from random numbers of their own, so that a seed means the same
//! with and without them. Invariant: a topology that rests with work left is told to go on.

use super::graph::Source as From;
use anchorbolt_host::runtime::{Control, Order, OrderError, Ordered, Stepped};
use fastrand::Rng;

/// In so many steps there is one order, in those lives that have any.
const RARELY: std::ops::Range<u32> = 20..2000;
/// No component has more executors.
const EXECUTORS_MOST: u32 = 4;
/// A calm life has so many: each moves something, and in the end it has to come to its end.
const CALM_MOST: usize = 12;

/// The orders of one life.
pub(super) struct Orders {
    rng: Rng,
    control: Control,
    components: Vec<String>,
    /// One in so many steps; none for lives without orders.
    one_in: Option<u32>,
    calm: bool,
    active: bool,
    given: usize,
    has_moved: bool,
    open: Vec<(Order, Ordered)>,
}

impl Orders {
    /// Those of a life that has this seed.
    pub(super) fn new(seed: u64, stepped: &Stepped, spouts: usize, bolts: usize, calm: bool) -> Orders {
        let mut rng = Rng::with_seed(seed ^ 0x0c0d_e5f0_0d5e_ed00);
        let components = (0..spouts).map(From::Spout).chain((0..bolts).map(From::Bolt)).map(From::name);
        let one_in = rng.bool().then(|| rng.u32(RARELY));
        let (control, components) = (stepped.control(), components.collect());
        Orders {
            rng,
            control,
            components,
            one_in,
            calm,
            active: true,
            given: 0,
            has_moved: false,
            open: vec![],
        }
    }

    /// Perhaps gives one, and says which.
    pub(super) fn perhaps(&mut self) -> Option<Order> {
        let one_in = self.one_in.filter(|_| !self.calm || self.given < CALM_MOST)?;
        if self.rng.u32(..one_in) != 0 {
            return None;
        }
        let order = match self.rng.u8(..4) {
            // In a calm life nobody tells spouts to go on.
            0 if !self.calm => Order::Deactivate,
            1 if !self.calm => Order::Activate,
            _ => {
                let component = self.components[self.rng.usize(..self.components.len())].clone();
                Order::Rebalance { component, executors: self.rng.u32(1..=EXECUTORS_MOST) }
            }
        };
        Some(self.give(order))
    }

    /// Nothing moves any more: spouts that rest go on. Whether any did.
    pub(super) fn go_on(&mut self) -> bool {
        let rests = !self.active;
        if rests {
            self.give(Order::Activate);
        }
        rests
    }

    /// How many queues may have become one: 1 while no tasks were moved.
    pub(super) fn moved(&self) -> usize {
        if self.has_moved { 2 * EXECUTORS_MOST as usize } else { 1 }
    }

    /// Looks at the answers. Only what can't be may be refused.
    pub(super) fn answers(&mut self) -> Result<(), String> {
        let mut wrong = None;
        self.open.retain(|(order, ordered)| match (order, ordered.answer()) {
            (_, None) => true,
            (_, Some(Ok(()) | Err(OrderError::Ending)))
            | (Order::Rebalance { .. }, Some(Err(OrderError::Executors { .. }))) => false,
            (order, Some(Err(error))) => {
                wrong = Some(format!("{order:?} was refused: {error}"));
                false
            }
        });
        wrong.map_or(Ok(()), Err)
    }

    fn give(&mut self, order: Order) -> Order {
        self.given += 1;
        match order {
            Order::Activate => self.active = true,
            Order::Deactivate => self.active = false,
            _ => self.has_moved = true,
        }
        self.open.push((order.clone(), self.control.order(order.clone())));
        order
    }
}
