//! A bolt that does with each tuple what the seed wills, and tells the oracle what of it counts.
//!
//! In: calls. Out: emissions, settlements, deaths. Invariant: what a call that dies did is told to nobody.

use super::oracle::TupleRef;
use super::rows::Tag;
use super::turn::{Act, Hands, Turn};
use super::world::{Shared, World};
use anchorbolt_core::failure::Class;
use anchorbolt_core::port::{
    Call, CallError, Context, Death, Declaration, Instance, InstanceFactory, TupleInfo, Tuples,
};
use std::collections::BTreeMap;

/// Makes the instances of a bolt.
pub(super) struct Factory {
    pub(super) world: Shared,
    pub(super) bolt: usize,
    pub(super) declaration: Declaration,
}

impl InstanceFactory for Factory {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn create(&self) -> Result<Box<dyn Instance>, CallError> {
        Ok(Box::new(SimBolt {
            world: self.world.clone(),
            bolt: self.bolt,
            task: 0,
            calls: 0,
            held: Hands::new(),
            plans: BTreeMap::new(),
            old: vec![],
        }))
    }
}

/// What is to become of a tuple that is held.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Plan {
    /// It is done with at this call, or when it is flushed.
    Release(u64),
    Join,
    Never,
    Reset,
}

/// An instance.
pub(super) struct SimBolt {
    pub(super) world: Shared,
    pub(super) bolt: usize,
    task: u32,
    pub(super) calls: u64,
    held: Hands,
    pub(super) plans: BTreeMap<u32, (Plan, Tag)>,
    /// Handles that were settled before.
    pub(super) old: Vec<u32>,
}

/// A tuple of a call.
pub(super) struct Given {
    pub(super) handle: u32,
    input: u32,
    source: u32,
    pub(super) tuple: TupleRef,
    pub(super) tag: Tag,
}

impl SimBolt {
    fn given(world: &mut World, tuples: &Tuples, infos: &[TupleInfo]) -> Vec<Given> {
        let mut all = vec![];
        for (i, info) in infos.iter().enumerate() {
            let Some(tag) = Tag::of(tuples.row(i)) else {
                world.check(Err(format!("a row that nobody emitted: {:?}", tuples.row(i))));
                continue;
            };
            let tuple = TupleRef { name: tag.name, attempt: info.attempt };
            let (handle, input) = (tuples.ids[i], tuples.inputs[i]);
            all.push(Given { handle, input, source: info.source_task, tuple, tag });
        }
        all
    }

    /// The instance dies, in a call with these tuples.
    fn die(&mut self, world: &mut World, given: &[Given], class: Class) {
        world.note(format!(
            "    b{} task {} dies of {class} with {} tuples",
            self.bolt,
            self.task,
            given.len()
        ));
        for tuple in std::mem::take(&mut self.held).into_values() {
            world.oracle.failed(tuple, class);
        }
        world.hands.remove(&self.task);
        world.deaths.0[self.bolt] += 1;
        world.deaths.1 += 1;
        if let [alone] = given {
            self.arrive(world, alone);
            world.oracle.failed(alone.tuple, class);
        }
    }

    /// The call counts.
    fn commit(&mut self, world: &mut World, turn: &Turn, window: Hands) {
        turn.commit(world, self.bolt, window, &mut self.held);
        self.plans.retain(|handle, _| self.held.contains_key(handle));
        if self.held.is_empty() {
            world.hands.remove(&self.task);
        } else {
            world.hands.insert(self.task, self.held.values().copied().collect());
        }
    }

    fn arrive(&self, world: &mut World, given: &Given) {
        let taken = world.oracle.taken(given.tuple);
        world.check(taken);
        let arrived = world.oracle.arrived(self.task, given.source, given.tuple);
        world.check(arrived);
        if world.groups_by_field(self.bolt, given.input) {
            let routed = world.oracle.routed(self.bolt, given.input, given.tag.key, self.task);
            world.check(routed);
        }
    }

    /// A call without tuples.
    fn side(&mut self, call: &mut Call, all: bool) -> Result<(), CallError> {
        let world = self.world.clone();
        let mut world = world.lock();
        if !world.calm() && world.rng.u32(..1000) < world.manners[self.bolt].rotten {
            self.die(&mut world, &[], Class::Trap);
            return Err(died(Class::Trap));
        }
        let mut turn = Turn::default();
        self.release(&mut world, all, &mut turn);
        let resets = self.plans.iter().filter(|(_, (plan, _))| *plan == Plan::Reset);
        turn.acts.extend(resets.map(|(handle, _)| Act::Reset(*handle)));
        turn.write(call, false);
        self.commit(&mut world, &turn, Hands::new());
        Ok(())
    }
}

impl Instance for SimBolt {
    fn prepare(&mut self, context: &Context) -> Result<(), CallError> {
        self.task = context.task;
        let mut world = self.world.lock();
        let rotten = world.manners[self.bolt].rotten;
        if world.running && !world.calm() && world.rng.u32(..1000) < rotten {
            return Err(CallError::Declared("not today".to_owned()));
        }
        Ok(())
    }

    fn execute(&mut self, tuples: &mut Tuples, call: &mut Call) -> Result<(), CallError> {
        let infos = call.services.as_mut().and_then(|services| services.describe(&tuples.ids).ok());
        let world = self.world.clone();
        let mut world = world.lock();
        let Some(infos) = infos.filter(|infos| infos.len() == tuples.len()) else {
            world.check(Err("the host can't describe the tuples of a call".to_owned()));
            return Ok(());
        };
        self.calls += 1;
        let given = Self::given(&mut world, tuples, &infos);
        let mut turn = Turn::default();
        if let Some(class) = self.act(&mut world, &given, &mut turn) {
            self.die(&mut world, &given, class);
            if class == Class::Protocol {
                turn.write(call, false);
                Turn { acts: vec![Act::Ack(0)], error: false }.write(call, false);
                return Ok(());
            }
            return Err(died(class));
        }
        if turn.error {
            // What it meant to hold fails.
            self.plans.retain(|handle, _| !given.iter().any(|tuple| tuple.handle == *handle));
        } else {
            self.release(&mut world, false, &mut turn);
        }
        turn.write(call, self.bolt % 3 == 2);
        given.iter().for_each(|tuple| self.arrive(&mut world, tuple));
        let window = given.iter().map(|given| (given.handle, given.tuple)).collect();
        self.commit(&mut world, &turn, window);
        if turn.error { Err(CallError::Declared("as the seed wills".to_owned())) } else { Ok(()) }
    }

    fn tick(&mut self, call: &mut Call) -> Result<(), CallError> {
        self.calls += 1;
        self.side(call, false)
    }

    fn flush(&mut self, call: &mut Call) -> Result<(), CallError> {
        self.side(call, true)
    }

    fn cleanup(&mut self) -> Result<(), CallError> {
        Ok(())
    }
}

fn died(class: Class) -> CallError {
    CallError::Died(Death::new(class, "as the seed wills"))
}
