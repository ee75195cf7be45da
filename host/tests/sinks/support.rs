//! Driving a sink by hand.

use anchorbolt_core::manifest::kinds::{Fsync, SinkKind};
use anchorbolt_core::port::{Bolt, Call, Collector, Context, ContextInput, FailKind, Op, Tuples};
use anchorbolt_host::sinks;
use std::path::Path;

/// What became of a batch.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Settled {
    pub(crate) acked: Vec<u32>,
    pub(crate) failed: Vec<(u32, FailKind, String)>,
    pub(crate) errors: Vec<String>,
}

/// A context with one input for each list of fields.
pub(crate) fn context(inputs: &[&[&str]]) -> Context {
    let input = |fields: &&[&str]| ContextInput {
        component: "upstream".to_owned(),
        stream: "default".to_owned(),
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        tasks: vec![1],
    };
    Context { inputs: inputs.iter().map(input).collect(), ..Context::default() }
}

/// A batch of rows, each with the index of its input; handles count from 10.
pub(crate) fn tuples(rows: &[(u32, Vec<u8>)]) -> Tuples {
    let mut tuples = Tuples::default();
    tuples.clear();
    for (id, (input, row)) in (10..).zip(rows) {
        tuples.ids.push(id);
        tuples.inputs.push(*input);
        tuples.data.extend_from_slice(row);
        tuples.offsets.push(tuples.data.len() as u32);
    }
    tuples
}

pub(crate) fn execute(bolt: &mut dyn Bolt, tuples: &Tuples) -> Settled {
    let mut call = Call::default();
    bolt.execute(tuples, &mut Collector::new(&mut call)).unwrap();
    let mut settled = Settled::default();
    for op in call.log {
        match op {
            Op::Ack(ids) => settled.acked.extend(ids),
            Op::Fail(list) => settled.failed.extend(list),
            Op::ReportError(text) => settled.errors.push(text),
            other => panic!("a sink does not {other:?}"),
        }
    }
    settled
}

pub(crate) fn jsonl(base: &Path, path: &str, fsync: Fsync) -> Box<dyn Bolt> {
    sinks::open(&SinkKind::Jsonl { path: path.to_owned(), fsync }, base, &Default::default())
}

/// A row of one string.
pub(crate) fn word(text: &str) -> (u32, Vec<u8>) {
    let mut row = Vec::new();
    anchorbolt_row::write_row(&mut row, |row| {
        row.str(text);
    });
    (0, row)
}
