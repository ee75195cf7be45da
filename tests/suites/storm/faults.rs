//! Faults in the examples that people learn from: each is found, named, and costs no other tuple.
//!
//! In: bolts and spouts with the fault. Out: what the host says of it.

use super::fed::Fed;
use super::{ACK, topology};
use anchorbolt_core::port::{Bolt, Collector, Declaration, Tuples};
use anchorbolt_row::{Row, write_row};
use anchorbolt_tests::Topology;
use anchorbolt_tests::native::int_row;
use std::time::Duration;

fn start(bolt: impl Fn() -> Box<dyn Bolt> + Send + Sync + 'static) -> Fed {
    let bolts = [("bolt", ACK, &["a"][..]), ("ack", ACK, &["bolt"])];
    let text = topology("message-timeout = \"10s\"", &["a"], &bolts);
    Fed::start(&text, |topology: Topology| {
        topology.bolt("bolt", Declaration::fields(["value"]), move || Boxed(bolt()))
    })
}

/// A bolt in a box is a bolt.
struct Boxed(Box<dyn Bolt>);

impl Bolt for Boxed {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        self.0.execute(tuples, out)
    }
}

fn timed_out(fed: &mut Fed) -> Vec<u64> {
    fed.pass(Duration::from_secs(11));
    let failed = fed.failed();
    for (n, why) in &failed {
        assert!(why.contains("bolt") && why.contains("neither acked nor failed"), "{n}: {why}");
    }
    failed.into_iter().map(|(n, _)| n).collect()
}

/// Merges two tuples into one and acks only the second.
struct Merge(Option<u32>);

impl Bolt for Merge {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        for id in &tuples.ids {
            match self.0.take() {
                None => self.0 = Some(*id),
                Some(first) => {
                    out.emit(0, &[first, *id], &int_row(0));
                    out.ack(&[*id]);
                }
            }
        }
        Ok(())
    }
}

#[test]
fn of_a_merge_the_tuple_that_was_cached_and_never_acked_times_out_and_names_its_holder() {
    let mut fed = start(|| Box::new(Merge(None)));
    fed.feed("a");
    fed.feed("a");
    assert_eq!(fed.which_acked(), [1]);
    assert_eq!(timed_out(&mut fed), [0]);
}

/// Sends a row of one field for even values and of two for odd ones, on one stream.
struct TwoLengths;

impl Bolt for TwoLengths {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        for (i, id) in tuples.ids.iter().enumerate() {
            let mut row = int_row(1);
            if Row::new(tuples.row(i)).i64(0).unwrap() % 2 == 1 {
                row.clear();
                write_row(&mut row, |row| {
                    row.int(1).str("rejected");
                });
            }
            out.emit(0, &[*id], &row);
            out.ack(&[*id]);
        }
        Ok(())
    }
}

#[test]
fn rows_of_two_lengths_on_one_stream_are_refused_as_wrong_arity() {
    let mut fed = start(|| Box::new(TwoLengths));
    (0..4).for_each(|_| fed.feed("a"));
    assert_eq!(fed.which_acked(), [0, 2]);
    let failed = fed.failed();
    assert_eq!(failed.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [1, 3]);
    assert!(failed[0].1.contains("row on stream `default`") && failed[0].1.contains('2'), "{failed:?}");
    assert!(fed.errors().iter().any(|(component, text)| component == "bolt" && text.contains("`default`")));
}

/// Catches its own exception and goes on, with the tuple neither acked nor failed.
struct Swallow;

impl Bolt for Swallow {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        for (i, id) in tuples.ids.iter().enumerate() {
            let user = |value: i64| if value == 1 { Err("no such user") } else { Ok(value) };
            let parsed = user(Row::new(tuples.row(i)).i64(0).unwrap());
            if parsed.is_ok() {
                out.ack(&[*id]);
            }
        }
        Ok(())
    }
}

#[test]
fn a_tuple_whose_exception_was_swallowed_times_out_and_names_its_holder() {
    let mut fed = start(|| Box::new(Swallow));
    (0..3).for_each(|_| fed.feed("a"));
    assert_eq!(fed.which_acked(), [0, 2]);
    assert_eq!(timed_out(&mut fed), [1]);
}

/// Acks, emits anchored to what it acked, and acks again.
struct AckTwice;

impl Bolt for AckTwice {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        for id in &tuples.ids {
            out.emit(0, &[*id], &int_row(1));
            out.ack(&[*id]);
            out.emit(0, &[], &int_row(2));
            out.ack(&[*id]);
        }
        Ok(())
    }
}

#[test]
fn an_ack_twice_with_an_emit_between_leaves_the_tree_unharmed() {
    let mut fed = start(|| Box::new(AckTwice));
    (0..3).for_each(|_| fed.feed("a"));
    assert_eq!(fed.which_acked(), [0, 1, 2]);
    fed.pass(Duration::from_secs(60));
    assert!(fed.failed().is_empty());
}
