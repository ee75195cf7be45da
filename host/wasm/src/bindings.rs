//! The generated bindings of the worlds `bolt` and `grouping`, and the conversions to and from the core's plain data.
//!
//! Exports are async: a call may wait in the host, under its deadline. Imports of this contract are sync
//! and may end the call with a typed error. Nothing generated is visible outside the crate, and columns
//! are moved, never copied.

#![allow(missing_docs, reason = "the contract documents what is generated from it")]

use anchorbolt_core::port;
use std::mem::take;

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "bolt",
    imports: { default: trappable },
    exports: { default: async },
});

/// World `grouping`. It has `logging` in common with bolts.
pub(crate) mod grouping {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "grouping",
        with: { "anchorbolt:bolt/logging": super::anchorbolt::bolt::logging },
        imports: { default: trappable },
        exports: { default: async },
    });
}

pub(crate) use anchorbolt::bolt::{collector, logging, metrics, types};
pub(crate) use exports::anchorbolt::bolt::guest;

/// Lends the columns of a batch to the record that crosses the boundary.
pub(crate) fn lend(tuples: &mut port::Tuples) -> types::Tuples {
    types::Tuples {
        ids: take(&mut tuples.ids),
        inputs: take(&mut tuples.inputs),
        offsets: take(&mut tuples.offsets),
        data: take(&mut tuples.data),
        stride: tuples.stride,
    }
}

/// Gives lent columns back.
pub(crate) fn give_back(lent: types::Tuples, tuples: &mut port::Tuples) {
    tuples.ids = lent.ids;
    tuples.inputs = lent.inputs;
    tuples.offsets = lent.offsets;
    tuples.data = lent.data;
}

/// Moves the columns of emissions out of the lifted record.
pub(crate) fn emissions(e: types::Emissions) -> port::Emissions {
    port::Emissions {
        streams: e.streams,
        targets: e.targets,
        anchor_offsets: e.anchor_offsets,
        anchors: e.anchors,
        offsets: e.offsets,
        data: e.data,
    }
}

pub(crate) fn fail_kind(kind: types::Failure) -> port::FailKind {
    match kind {
        types::Failure::Fail => port::FailKind::Fail,
        types::Failure::Retry => port::FailKind::Retry,
        types::Failure::Reject => port::FailKind::Reject,
    }
}

pub(crate) fn tuple_info(info: port::TupleInfo) -> types::TupleInfo {
    types::TupleInfo {
        source_task: info.source_task,
        message_id: info.message_id,
        attempt: info.attempt,
        age_us: u64::try_from(info.age.as_micros()).unwrap_or(u64::MAX),
        identity: info.identity,
    }
}

pub(crate) fn declaration(d: guest::Declaration) -> port::Declaration {
    let guest::Encoding::Msgpack = d.encoding;
    let outputs = d.outputs.into_iter();
    let outputs = outputs
        .map(|s| port::StreamDeclaration { name: s.name, fields: s.fields, direct: s.direct })
        .collect();
    port::Declaration { outputs, stateless: d.stateless }
}

pub(crate) fn context(c: &port::Context) -> guest::Context {
    guest::Context {
        topology: c.topology.clone(),
        component: c.component.clone(),
        task_index: c.task_index,
        task_id: c.task,
        task_count: c.task_count,
        inputs: c.inputs.iter().map(input).collect(),
        outputs: c.outputs.iter().map(output).collect(),
        config: c.config.clone(),
    }
}

fn input(i: &port::ContextInput) -> guest::Input {
    guest::Input {
        component: i.component.clone(),
        stream: i.stream.clone(),
        fields: i.fields.clone(),
        tasks: i.tasks.clone(),
    }
}

fn output(o: &port::ContextOutput) -> guest::Output {
    let consumers = o.consumers.iter();
    let consumers = consumers
        .map(|(component, tasks)| guest::Consumer { component: component.clone(), tasks: tasks.clone() });
    guest::Output { stream: o.stream.clone(), consumers: consumers.collect() }
}
