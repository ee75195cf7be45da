//! Groupings by what they promise: which tasks get a row, and how many each.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod balance;
mod batches;
mod custom;
mod direct;
mod keys;
mod partial;

/// The model of values with every legal encoding of them, as the tests of rows have it.
#[path = "../../../../row/tests/common/mod.rs"]
#[allow(dead_code, reason = "it serves the tests of rows, too")]
mod values;

use anchorbolt_core::grouping::{Router, RowFault, Source};
use anchorbolt_core::ids::TaskId;
use anchorbolt_core::manifest::{Text, parse};
use anchorbolt_core::plan::{Plan, plan};
use anchorbolt_core::port::Declaration;
use anchorbolt_row::write_row;
use std::collections::BTreeMap;

/// A taker: its name, its tasks, and its inputs, each a stream of `from` and a grouping.
type Taker<'a> = (&'a str, u32, &'a [(&'a str, &'a str)]);

/// A bolt `from` of four tasks that declares this, and takers of it.
fn planned(from: Declaration, takers: &[Taker<'_>]) -> Plan {
    let mut text = "[topology]\nname = \"t\"\n[spouts.s]\nkind = \"stdin\"\n[bolts.from]\nplugin = \"x.wasm\"\ntasks = 4\n\
                    inputs = [{ from = \"s\", grouping = \"shuffle\" }]\n"
        .to_owned();
    let mut declarations = BTreeMap::from([("from".to_owned(), from)]);
    for (name, tasks, inputs) in takers {
        let input = |(stream, grouping): &(&str, &str)| {
            format!("{{ from = \"from\", stream = \"{stream}\", grouping = {grouping} }}")
        };
        let inputs: Vec<String> = inputs.iter().map(input).collect();
        text += &format!(
            "[bolts.{name}]\nplugin = \"x.wasm\"\ntasks = {tasks}\ninputs = [{}]\n",
            inputs.join(", ")
        );
        declarations.insert((*name).to_owned(), Declaration::default());
    }
    let parsed = parse(&Text { name: "t", text: &text, sets: &[], lookup: &|_| None });
    let planned = plan(&parsed.manifest, &declarations);
    planned.plan.unwrap_or_else(|| panic!("{:?} {:?}", parsed.diagnostics, planned.diagnostics))
}

/// The first task of a component.
fn first(plan: &Plan, name: &str) -> TaskId {
    plan.component(name).unwrap().1.tasks.start
}

/// The router of one task of `from`.
fn producer(plan: &Plan, index: u32) -> Router {
    Router::new(plan, plan.component("from").unwrap().0, index, 1 << 20)
}

/// Routes a row outside every tree; answers the task and the input of each copy.
fn send(
    router: &mut Router,
    stream: u32,
    target: TaskId,
    row: &[u8],
) -> Result<Vec<(TaskId, u32)>, RowFault> {
    let (_, copies) = router.route(stream, target, row, 1, Source::None, &mut || 1)?;
    let sent = taken(router);
    assert_eq!(sent.len(), copies as usize);
    Ok(sent)
}

/// What lies in the router: the task and the input of each copy.
fn taken(router: &mut Router) -> Vec<(TaskId, u32)> {
    let mut batches = vec![];
    router.take(&mut batches);
    let mut sent = vec![];
    for batch in batches {
        let input = |i: usize| batch.inputs.iter().find(|(_, end)| *end as usize > i).unwrap().0;
        sent.extend((0..batch.len()).map(|i| (batch.task, input(i))));
    }
    sent
}

/// A row of one number.
fn number(n: u64) -> Vec<u8> {
    let mut row = vec![];
    write_row(&mut row, |row| {
        row.uint(n);
    });
    row
}

/// The task that a row goes to.
fn one(router: &mut Router, row: &[u8]) -> TaskId {
    match send(router, 0, 0, row).unwrap()[..] {
        [(task, _)] => task,
        ref other => panic!("not one task: {other:?}"),
    }
}
