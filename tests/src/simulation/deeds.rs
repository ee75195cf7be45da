//! What an instance of a bolt does with its tuples, deed by deed.
//!
//! In: tuples, and what the seed wills for each. Out: acts. Invariant: a deed says nothing to the oracle; only a call
//! that counts does.

use super::bolt::{Given, Plan, SimBolt};
use super::graph::Source as From;
use super::rows::{Name, Tag};
use super::source::Poison;
use super::trouble::Deed;
use super::turn::{Act, Turn};
use super::world::World;
use anchorbolt_core::failure::Class;
use anchorbolt_core::port::FailKind;
use std::time::Duration;

impl SimBolt {
    /// What the call does with its tuples. None: it dies, of this class.
    pub(super) fn act(&mut self, world: &mut World, given: &[Given], turn: &mut Turn) -> Option<Class> {
        for tuple in given {
            let deed = self.deed(world, tuple);
            if deed != Deed::Good {
                world.note(format!("    {:?} {deed:?}", tuple.tuple));
            }
            match deed {
                Deed::Kill => {
                    return Some([Class::Trap, Class::Deadline, Class::Memory][world.rng.usize(..3)]);
                }
                Deed::Forge => return Some(Class::Protocol),
                Deed::Error => {
                    turn.error = true;
                    return None;
                }
                deed => self.deal(world, tuple, deed, turn),
            }
        }
        None
    }

    fn deed(&self, world: &mut World, given: &Given) -> Deed {
        if world.calm() {
            return Deed::Good;
        }
        let poison = match given.tag.name {
            Name::Root { message, .. } => world.source.messages[message].poison,
            Name::Child(_) => (Poison::None, 0),
        };
        let poison = if poison.1 == self.bolt { poison.0 } else { Poison::None };
        let World { manners, rng, .. } = world;
        manners[self.bolt].deed(rng, poison)
    }

    /// One tuple; the deeds that end the call are dealt with.
    fn deal(&mut self, world: &mut World, given: &Given, deed: Deed, turn: &mut Turn) {
        let Given { handle, tag, .. } = *given;
        let mut plan = |plan| {
            self.plans.insert(handle, (plan, tag));
        };
        match deed {
            Deed::Late => plan(Plan::Release(self.calls + world.rng.u64(1..6))),
            Deed::Join => plan(Plan::Join),
            Deed::Never => plan(Plan::Never),
            Deed::Reset => plan(Plan::Reset),
            Deed::Unanchored => {
                self.emit(world, &[], tag, turn);
                turn.acts.push(Act::Ack(handle));
            }
            Deed::Fail => turn.acts.push(Act::Fail(handle, FailKind::Fail)),
            Deed::Retry => turn.acts.push(Act::Fail(handle, FailKind::Retry)),
            Deed::Reject => turn.acts.push(Act::Fail(handle, FailKind::Reject)),
            Deed::EmitThenFail => {
                self.emit(world, &[handle], tag, turn);
                turn.acts.push(Act::Fail(handle, FailKind::Fail));
            }
            Deed::Twice => {
                turn.acts.extend(self.old.iter().map(|old| Act::Ack(*old)));
                self.good(world, handle, tag, turn);
                turn.acts.push(Act::Ack(handle));
            }
            Deed::BadRow => {
                turn.acts.push(Act::BadRow(handle));
                self.good(world, handle, tag, turn);
            }
            Deed::Slow => {
                let ms = world.rng.u64(1..300);
                world.clock.advance(Duration::from_millis(ms));
                self.good(world, handle, tag, turn);
            }
            _ => self.good(world, handle, tag, turn),
        }
    }

    fn good(&mut self, world: &mut World, handle: u32, tag: Tag, turn: &mut Turn) {
        self.emit(world, &[handle], tag, turn);
        turn.acts.push(Act::Ack(handle));
        self.old.push(handle);
        if self.old.len() > 3 {
            self.old.remove(0);
        }
    }

    /// Children on every stream; on the stream that closes a cycle only for some rounds.
    fn emit(&self, world: &mut World, anchors: &[u32], tag: Tag, turn: &mut Turn) {
        let graph = world.graph.clone();
        let streams = graph.bolts[self.bolt].streams;
        for stream in 0..streams {
            let back = graph.cycle.is_some_and(|(_, from)| from == self.bolt) && stream + 1 == streams;
            let copies = world.copies(From::Bolt(self.bolt), stream);
            let most = world.manners[self.bolt].children;
            let n = match (back, tag.width > 16) {
                (true, _) => u32::from(tag.hops < 3 && world.rng.bool()),
                (false, true) => u32::from(stream == 0),
                (false, false) => world.rng.u32(most.min(1)..=most),
            };
            for _ in 0..n {
                let name = world.oracle.name();
                let key = if world.rng.bool() { tag.key } else { world.rng.u64(..6) };
                let width = tag.width * u64::from(n * copies.max(1));
                let tag = Tag { key, name: Name::Child(name), hops: tag.hops + u64::from(back), width };
                turn.acts.push(Act::Emit { name, stream, anchors: anchors.to_vec(), tag });
            }
        }
    }

    /// What is held and due.
    pub(super) fn release(&mut self, world: &mut World, all: bool, turn: &mut Turn) {
        let due = |plan: &Plan| matches!(plan, Plan::Release(at) if all || *at <= self.calls);
        let list: Vec<(u32, Tag)> = self
            .plans
            .iter()
            .filter(|(_, (plan, _))| due(plan))
            .map(|(handle, (_, tag))| (*handle, *tag))
            .collect();
        for (handle, tag) in list {
            self.plans.remove(&handle);
            if world.rng.u8(..8) == 0 && !world.calm() {
                turn.acts.push(Act::Fail(handle, FailKind::Retry));
            } else {
                self.good(world, handle, tag, turn);
            }
        }
        let join: Vec<u32> = self
            .plans
            .iter()
            .filter(|(_, (plan, _))| *plan == Plan::Join)
            .map(|(handle, _)| *handle)
            .collect();
        if join.is_empty() || (!all && join.len() < world.manners[self.bolt].join) {
            return;
        }
        let tag = self.plans.get(&join[0]).map(|(_, tag)| *tag);
        if let Some(tag) = tag {
            self.emit(world, &join, tag, turn);
        }
        for handle in join {
            self.plans.remove(&handle);
            turn.acts.push(Act::Ack(handle));
        }
    }
}
