//! How a message's attempts failed, for its dead letter and for whoever asks.
//!
//! In: each failed attempt. Out: the list, oldest first. It is bounded: a message that is replayed for
//! ever must not grow.
//!
//! Invariant: the first and the last failures are always there, at most [`MOST`] in all, and only the last
//! carries an input row that is large.

use crate::failure::Failure;
use crate::ids::Time;
use std::sync::Arc;

/// The most attempts that are kept.
const MOST: usize = 16;
/// An older attempt's input row is kept up to this size.
const INPUT_BYTES: usize = 4096;

/// One failed attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Which one, from 1. Numbers are missing where the list was full.
    pub number: u32,
    /// When it failed.
    pub ended: Time,
    /// How.
    pub failure: Arc<Failure>,
}

/// Adds a failed attempt; when the list is full, one from its middle goes.
pub(super) fn push(history: &mut Vec<Attempt>, attempt: Attempt) {
    if let Some(last) = history.last_mut() {
        let input = last.failure.input.as_ref();
        if input.is_some_and(|input| input.row.len() > INPUT_BYTES) {
            last.failure = Arc::new(without_input(&last.failure));
        }
    }
    if history.len() >= MOST {
        history.remove(MOST / 2);
    }
    history.push(attempt);
}

fn without_input(failure: &Failure) -> Failure {
    Failure {
        component: failure.component.clone(),
        reason: failure.reason.clone(),
        output: failure.output.clone(),
        input: None,
        ..*failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{Class, Cost, FailedInput};

    fn attempt(number: u32, row: usize) -> Attempt {
        let input = Some(FailedInput { stream: "a/default".to_owned(), row: vec![1; row] });
        let (component, reason, output) = ("b".to_owned(), "r".to_owned(), String::new());
        let (class, cost, task) = (Class::Failed, Cost::Fault, 1);
        let failure = Arc::new(Failure { class, cost, component, task, reason, output, input });
        Attempt { number, ended: Time(0), failure }
    }

    #[test]
    fn the_first_and_the_last_are_kept() {
        let mut history = vec![];
        for number in 1..=100 {
            push(&mut history, attempt(number, 10));
        }
        let numbers: Vec<u32> = history.iter().map(|a| a.number).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 93, 94, 95, 96, 97, 98, 99, 100]);
        assert!(history.iter().all(|a| a.failure.input.is_some()));
    }

    #[test]
    fn only_the_last_keeps_a_large_row() {
        let mut history = vec![];
        for number in 1..=3 {
            push(&mut history, attempt(number, 1 << 20));
        }
        let rows: Vec<bool> = history.iter().map(|a| a.failure.input.is_some()).collect();
        assert_eq!(rows, [false, false, true]);
    }

    #[test]
    fn a_row_is_large_from_one_byte_over_the_bound() {
        let mut history = vec![];
        for (number, row) in [(1, INPUT_BYTES), (2, INPUT_BYTES + 1), (3, 0)] {
            push(&mut history, attempt(number, row));
        }
        let rows: Vec<bool> = history.iter().map(|a| a.failure.input.is_some()).collect();
        assert_eq!(rows, [true, false, true]);
        assert_eq!(history[1].failure.reason, "r", "all but the row is kept");
    }
}
