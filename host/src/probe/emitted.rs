//! What a call emitted, in words that a person can read.
//!
//! In: a call's log, before it is applied. Out: one [`Emission`] a row. Invariant: numbers from a guest are looked up,
//! never trusted; a row that is none has a text that says what is wrong with it.

use crate::json;
use anchorbolt_core::ids::TaskId;
use anchorbolt_core::plan::Output;
use anchorbolt_core::port::{Emissions, Op};
use anchorbolt_row::check_row;
use serde_json::Value;

/// One emitted row.
#[derive(Clone, Debug, PartialEq)]
pub struct Emission {
    /// Its stream; if there is none of this number, the number with a `#`.
    pub stream: String,
    /// The stream's fields, in the order of the row.
    pub fields: Vec<String>,
    /// The handles that it is anchored to; none: it is outside every tree.
    pub anchors: Vec<u32>,
    /// Its values in order; an error if it is no row of the stream.
    pub values: Result<Vec<Value>, String>,
    /// The tasks that the bolt named, or was told that it goes to.
    pub tasks: Vec<TaskId>,
}

/// The emissions of a log, in order.
pub(super) fn of(log: &[Op], outputs: &[Output]) -> Vec<Emission> {
    let mut out = Vec::new();
    for op in log {
        let (emissions, placed) = match op {
            Op::Emit(emissions) => (emissions, None),
            Op::EmitPlaced(emissions, placed) => (emissions, Some(placed)),
            _ => continue,
        };
        for i in 0..emissions.streams.len() {
            let named = emissions.targets.get(i).filter(|task| **task != 0).map(|task| vec![*task]);
            let tasks = placed.and_then(|placed| placed.get(i).cloned()).or(named).unwrap_or_default();
            out.push(one(emissions, i, outputs, tasks));
        }
    }
    out
}

fn one(emissions: &Emissions, i: usize, outputs: &[Output], tasks: Vec<TaskId>) -> Emission {
    let number = emissions.streams.get(i).copied().unwrap_or_default();
    let output = outputs.get(number as usize);
    let fields = output.map(|output| output.fields.clone()).unwrap_or_default();
    let row = emissions.row(i).ok_or_else(|| "its offsets are out of range".to_owned());
    let values = match output {
        Some(_) => row.and_then(|row| values(row, fields.len())),
        None => Err(format!("there is no stream {number}: the bolt declares {}", outputs.len())),
    };
    let stream = output.map_or_else(|| format!("#{number}"), |output| output.name.clone());
    Emission { stream, fields, anchors: anchors(emissions, i), values, tasks }
}

fn anchors(emissions: &Emissions, i: usize) -> Vec<u32> {
    let range = emissions.anchor_offsets.get(i).zip(emissions.anchor_offsets.get(i + 1));
    let found = range.and_then(|(from, to)| emissions.anchors.get(*from as usize..*to as usize));
    found.unwrap_or_default().to_vec()
}

fn values(row: &[u8], arity: usize) -> Result<Vec<Value>, String> {
    check_row(row, arity).map_err(|error| error.to_string())?;
    json::row_values(row)
}
