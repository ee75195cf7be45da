//! Which tuple of a dead letter a bolt is given.
//!
//! In: a letter and a bolt's name. Out: the row that the bolt had when an attempt of the message failed in it; else,
//! if it takes from the letter's spout, the row that the spout emitted. Invariant: the row has as many fields as the
//! bolt's input declares now, so that a manifest that changed since is told of here.

use super::Tuple;
use crate::durable::{Letter, LetterAttempt, LetterInput};
use crate::json;
use anchorbolt_core::manifest::suggest;
use anchorbolt_core::plan::{Plan, Role};
use anchorbolt_core::port::{Context, ContextInput};
use anchorbolt_row::{Row, check_row};
use serde_json::Value;

/// Why a letter has no tuple for a bolt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTuple {
    /// The topology has no such bolt.
    #[error("the topology has no bolt `{bolt}`; {help}")]
    NoBolt {
        /// The name.
        bolt: String,
        /// Which are there.
        help: String,
    },
    /// No failed attempt kept a row of this bolt, and it does not take from the spout.
    #[error("the letter has no row for bolt `{bolt}`; {possible}")]
    NoRow {
        /// The bolt.
        bolt: String,
        /// For which bolts it has one.
        possible: String,
    },
    /// That attempt kept no row of this bolt.
    #[error("attempt {attempt} has no row for bolt `{bolt}`; {possible}")]
    NoAttempt {
        /// Which.
        attempt: u32,
        /// The bolt.
        bolt: String,
        /// Which have one.
        possible: String,
    },
    /// The topology is not the one that the letter is from.
    #[error("bolt `{bolt}` takes nothing from `{stream}` any more: the topology has changed since")]
    NoInput {
        /// The bolt.
        bolt: String,
        /// `component/stream`.
        stream: String,
    },
    /// The row does not fit the bolt's input.
    #[error("the row from `{stream}` does not fit its fields ({fields}): {problem}")]
    Row {
        /// `component/stream`.
        stream: String,
        /// The fields that the stream has now.
        fields: String,
        /// What is wrong.
        problem: String,
    },
}

/// The tuple of a letter for this bolt, from the last attempt that has one, or from this attempt.
///
/// # Errors
/// There is none.
pub fn choose(plan: &Plan, letter: &Letter, bolt: &str, attempt: Option<u32>) -> Result<Tuple, NoTuple> {
    let is_bolt =
        |name: &str| matches!(plan.component(name), Some((_, c)) if matches!(c.role, Role::Bolt(_)));
    let context = plan.component(bolt).filter(|_| is_bolt(bolt)).and_then(|(i, _)| plan.context(i, 0));
    let Some(context) = context else {
        let names = plan.components.iter().map(|c| &*c.name).filter(|name| is_bolt(name));
        let help = suggest::help(bolt, "bolts", names.collect::<Vec<_>>());
        return Err(NoTuple::NoBolt { bolt: bolt.to_owned(), help });
    };
    let last = letter.attempts.last().map_or(1, |attempt| attempt.n);
    if let Some((attempt, input)) = failed_there(letter, bolt, attempt) {
        return from_attempt(&context, letter, attempt, input);
    }
    let known = attempt.is_none_or(|n| letter.attempts.iter().any(|known| known.n == n));
    if let Some(tuple) = from_spout(plan, &context, letter, attempt.unwrap_or(last)).filter(|_| known) {
        return tuple;
    }
    let (bolt, possible) = (bolt.to_owned(), possible(plan, letter));
    Err(match attempt {
        Some(attempt) => NoTuple::NoAttempt { attempt, bolt, possible },
        None => NoTuple::NoRow { bolt, possible },
    })
}

/// The attempt that failed in the bolt, with what it had.
fn failed_there<'l>(
    letter: &'l Letter,
    bolt: &str,
    n: Option<u32>,
) -> Option<(&'l LetterAttempt, &'l LetterInput)> {
    let fits = |attempt: &&LetterAttempt| attempt.component == bolt && n.is_none_or(|n| attempt.n == n);
    letter.attempts.iter().rev().filter(fits).find_map(|attempt| Some((attempt, attempt.input.as_ref()?)))
}

fn from_attempt(
    context: &Context,
    letter: &Letter,
    attempt: &LetterAttempt,
    input: &LetterInput,
) -> Result<Tuple, NoTuple> {
    let comes = |one: &ContextInput| format!("{}/{}", one.component, one.stream) == input.stream;
    let Some(at) = context.inputs.iter().position(comes) else {
        let (bolt, stream) = (context.component.clone(), input.stream.clone());
        return Err(NoTuple::NoInput { bolt, stream });
    };
    let row = match &input.row {
        Value::Array(values) => json::row_of(values),
        Value::Object(object) => json::row_of_fields(object, &context.inputs[at].fields),
        _ => Err("the letter does not have it".to_owned()),
    };
    tuple(context, at, row, letter, attempt.n)
}

/// The row that the spout emitted: from the letter's bytes where the spout has no others, else from its fields.
fn from_spout(
    plan: &Plan,
    context: &Context,
    letter: &Letter,
    attempt: u32,
) -> Option<Result<Tuple, NoTuple>> {
    let own = |input: &&(usize, &ContextInput)| input.1.component == letter.spout;
    let inputs: Vec<(usize, &ContextInput)> = context.inputs.iter().enumerate().filter(|i| own(&i)).collect();
    let (_, spout) = plan.component(&letter.spout)?;
    for (stream, row) in letter.rows().unwrap_or_default() {
        let name = spout.outputs.get(stream as usize).map(|output| &output.name);
        if let Some((at, _)) = inputs.iter().find(|(_, input)| Some(&input.stream) == name) {
            return Some(tuple(context, *at, Ok(row.to_vec()), letter, attempt));
        }
    }
    let fields = letter.fields.as_object()?;
    let has_all = |input: &ContextInput| input.fields.iter().all(|field| fields.contains_key(field));
    let (at, input) = inputs.iter().find(|(_, input)| has_all(input)).or(inputs.first())?;
    Some(tuple(context, *at, json::row_of_fields(fields, &input.fields), letter, attempt))
}

fn tuple(
    context: &Context,
    at: usize,
    row: Result<Vec<u8>, String>,
    letter: &Letter,
    attempt: u32,
) -> Result<Tuple, NoTuple> {
    let input = &context.inputs[at];
    let row = row.and_then(|row| match Row::new(&row).len() {
        found if found == input.fields.len() => {
            check_row(&row, found).map(|()| row).map_err(|error| error.to_string())
        }
        found => Err(format!("it has {found} fields, the stream declares {}", input.fields.len())),
    });
    let row = row.map_err(|problem| NoTuple::Row {
        stream: format!("{}/{}", input.component, input.stream),
        fields: input.fields.join(", "),
        problem,
    })?;
    let input = u32::try_from(at).unwrap_or(u32::MAX);
    Ok(Tuple { input, row, message_id: letter.id.clone(), attempt })
}

/// The bolts that the letter has a row for, for a sentence.
fn possible(plan: &Plan, letter: &Letter) -> String {
    let mut found: Vec<String> = Vec::new();
    for attempt in letter.attempts.iter().filter(|attempt| attempt.input.is_some()) {
        found.push(format!("`{}` (attempt {})", attempt.component, attempt.n));
    }
    let from = plan.component(&letter.spout).map(|(i, _)| i);
    for edge in plan.edges.iter().filter(|edge| Some(edge.from) == from) {
        let text = format!("`{}` (takes from spout `{}`)", plan.components[edge.to].name, letter.spout);
        if !found.contains(&text) {
            found.push(text);
        }
    }
    if found.is_empty() {
        "it has one for none".to_owned()
    } else {
        format!("possible: {}", found.join(", "))
    }
}
