//! What a call of a bolt is to do: written to the host's log, and told to the oracle if the call counts.
//!
//! In: acts, in order. Out: the log; what the oracle knows. Invariant: both are the same acts, and the host's rules for
//! what was settled before are followed here a second time, in another way.

use super::graph::Source as From;
use super::oracle::TupleRef;
use super::rows::Tag;
use super::world::World;
use anchorbolt_core::failure::Class;
use anchorbolt_core::port::{Call, Collector, Emissions, FailKind, Op};
use std::collections::BTreeMap;

/// One thing that a call does.
pub(super) enum Act {
    Emit {
        name: usize,
        stream: u32,
        anchors: Vec<u32>,
        tag: Tag,
    },
    Ack(u32),
    Fail(u32, FailKind),
    /// A row of the wrong length, anchored to this.
    BadRow(u32),
    Reset(u32),
}

/// The tuples that a task has, by handle.
pub(super) type Hands = BTreeMap<u32, TupleRef>;

/// A call.
#[derive(Default)]
pub(super) struct Turn {
    pub(super) acts: Vec<Act>,
    /// It returns an error.
    pub(super) error: bool,
}

impl Turn {
    /// Writes what is to be done to the log; `placed`: the receivers are drawn during the call.
    pub(super) fn write(&self, call: &mut Call, placed: bool) {
        for act in &self.acts {
            match act {
                Act::Emit { stream, anchors, tag, .. } if placed => place(call, *stream, anchors, &tag.row()),
                Act::Emit { stream, anchors, tag, .. } => {
                    Collector::new(call).emit(*stream, anchors, &tag.row());
                }
                Act::Ack(handle) => Collector::new(call).ack(&[*handle]),
                Act::Fail(handle, kind) => Collector::new(call).fail(*handle, *kind, "as the seed wills"),
                Act::BadRow(handle) => Collector::new(call).emit(0, &[*handle], &[0x91, 0x01]),
                Act::Reset(handle) => Collector::new(call).reset_timeout(&[*handle]),
            }
        }
    }

    /// The call counts: `window` are its tuples, `held` those from earlier calls. What stays open is held.
    pub(super) fn commit(&self, world: &mut World, bolt: usize, mut window: Hands, held: &mut Hands) {
        let mut blamed: Vec<u32> = vec![];
        for act in &self.acts {
            match act {
                Act::Emit { name, stream, anchors, .. } => {
                    if !anchors.is_empty() && anchors.iter().all(|anchor| blamed.contains(anchor)) {
                        continue;
                    }
                    let live = |anchor: &u32| window.get(anchor).or_else(|| held.get(anchor)).copied();
                    let anchors: Vec<TupleRef> = anchors.iter().filter_map(live).collect();
                    let copies = world.copies(From::Bolt(bolt), *stream);
                    world.oracle.emitted(*name, &anchors, copies);
                }
                Act::Ack(handle) => {
                    if let Some(tuple) = window.remove(handle).or_else(|| held.remove(handle)) {
                        world.oracle.acked(tuple);
                    }
                }
                Act::Fail(handle, kind) => {
                    let class = if *kind == FailKind::Reject { Class::Rejected } else { Class::Failed };
                    fail(world, &mut window, held, *handle, class);
                }
                Act::BadRow(handle) => {
                    fail(world, &mut window, held, *handle, Class::Protocol);
                    blamed.push(*handle);
                }
                Act::Reset(_) => {}
            }
        }
        let most = world.graph.bolts[bolt].held_max as usize;
        for (handle, tuple) in window {
            if self.error {
                world.oracle.failed(tuple, Class::Failed);
            } else if held.len() >= most {
                world.oracle.failed(tuple, Class::Overflow);
            } else {
                held.insert(handle, tuple);
            }
        }
    }
}

fn fail(world: &mut World, window: &mut Hands, held: &mut Hands, handle: u32, class: Class) {
    if let Some(tuple) = window.remove(&handle).or_else(|| held.remove(&handle)) {
        world.oracle.failed(tuple, class);
    }
}

fn place(call: &mut Call, stream: u32, anchors: &[u32], row: &[u8]) {
    let emissions = Emissions {
        streams: vec![stream],
        targets: vec![],
        anchor_offsets: vec![0, anchors.len() as u32],
        anchors: anchors.to_vec(),
        offsets: vec![0, row.len() as u32],
        data: row.to_vec(),
    };
    let placed = call.services.as_mut().map(|services| services.place(&emissions));
    if let Some(Ok(tasks)) = placed {
        call.log.push(Op::EmitPlaced(emissions, tasks));
    }
}
