//! Rules of a call's log, one by one: what is blamed on a tuple, and what costs the call.

use crate::world::{ROW, looped};
use anchorbolt_core::batch::Lineage;
use anchorbolt_core::failure::{Class, Cost, FailedInput};
use anchorbolt_core::grouping::Router;
use anchorbolt_core::ids::{RootId, Time};
use anchorbolt_core::oplog::held::Held;
use anchorbolt_core::oplog::{Applier, Effects, Violation};
use anchorbolt_core::port::{Emissions, FailKind, Op, Tuples};

/// The rows of both tuples, one behind the other.
const ROWS: &[u8; 4] = b"\x91\x01\x91\x02";

fn input(row: &[u8]) -> Option<FailedInput> {
    Some(FailedInput { stream: "source/default".to_owned(), row: row.to_vec() })
}

fn root(slot: u32) -> RootId {
    RootId::new(0, slot, 1)
}

/// Two live tuples of two trees: handles 1 and 2.
fn apply(log: Vec<Op>) -> (Result<(), Violation>, Effects, Held) {
    let plan = looped();
    let bolt = plan.component("work").unwrap().0;
    let mut router = Router::new(&plan, bolt, 0, 64);
    let mut held = Held::default();
    held.begin(2, Time(0));
    held.push(Lineage::One(root(0), 7), 0, 1, 1, 0);
    held.push(Lineage::One(root(1), 8), 0, 1, 1, 0);
    let (mut effects, mut edge) = (Effects::default(), 100);
    let streams = vec!["source/default".to_owned()];
    let applier = Applier { component: "work".to_owned(), task: 2, streams };
    let tuples = Tuples { offsets: vec![0, 2, 4], data: ROWS.to_vec(), ..Tuples::default() };
    let mut draw = || {
        edge += 1;
        edge
    };
    let result = applier.apply(&mut { log }, &tuples, &mut held, &mut router, &mut effects, &mut draw);
    (result, effects, held)
}

fn emission(anchors: &[u32], row: &[u8]) -> Emissions {
    Emissions {
        streams: vec![0],
        targets: vec![],
        anchor_offsets: vec![0, anchors.len() as u32],
        anchors: anchors.to_vec(),
        offsets: vec![0, row.len() as u32],
        data: row.to_vec(),
    }
}

fn violation(log: Vec<Op>) -> String {
    apply(log).0.unwrap_err().to_string()
}

#[test]
fn a_second_settlement_is_ignored_and_counted() {
    let fail = Op::Fail(vec![(1, FailKind::Fail, "late".to_owned())]);
    let (result, effects, _) = apply(vec![Op::Ack(vec![1]), Op::Ack(vec![1, 1]), fail]);
    assert_eq!(result, Ok(()));
    assert_eq!((effects.acks, effects.repeated, effects.fails.len()), (vec![(root(0), 7)], 3, 0));
}

#[test]
fn kinds_of_failure_are_charged_to_different_budgets() {
    let kinds = [FailKind::Fail, FailKind::Retry, FailKind::Reject];
    let found = kinds.map(|kind| {
        let (_, effects, _) = apply(vec![Op::Fail(vec![(2, kind, "why".to_owned())])]);
        let (r, failure) = &effects.fails[0];
        assert_eq!((*r, failure.task, &*failure.reason), (root(1), 2, "why"));
        assert_eq!(failure.input, input(&ROWS[2..]), "the row that the bolt had");
        (failure.class, failure.cost)
    });
    let wanted =
        [(Class::Failed, Cost::Fault), (Class::Failed, Cost::Patience), (Class::Rejected, Cost::Final)];
    assert_eq!(found, wanted);
}

#[test]
fn a_bad_row_fails_its_anchors_and_no_other() {
    for (row, word) in
        [(&b"\x92\xa1x\xa1y"[..], "2 fields"), (b"\xc1", "array"), (b"", "empty"), (&[0x91; 70], "64")]
    {
        let (result, effects, mut held) = apply(vec![Op::Emit(emission(&[2], row)), Op::Ack(vec![1, 2])]);
        assert_eq!(result, Ok(()));
        let (r, failure) = &effects.fails[0];
        assert_eq!(*r, root(1));
        assert!(failure.reason.contains(word), "{}", failure.reason);
        assert_eq!(failure.input, input(&ROWS[2..]), "the row that the bolt had, not the bad one");
        assert_eq!((effects.fails.len(), effects.breaches.len()), (1, 1));
        assert_eq!(effects.acks, [(root(0), 7)]);
        assert!(!held.is_live(2));
    }
}

#[test]
fn what_follows_a_bad_row_of_the_same_tuple_is_left_out() {
    let log = vec![Op::Emit(emission(&[2], b"")), Op::Emit(emission(&[2], ROW)), Op::Ack(vec![2, 1])];
    let (result, effects, _) = apply(log);
    assert_eq!(result, Ok(()));
    assert_eq!((effects.fails.len(), effects.emitted, effects.acks), (1, 0, vec![(root(0), 7)]));
}

#[test]
fn placed_rows_go_where_they_were_placed() {
    let (result, effects, _) =
        apply(vec![Op::EmitPlaced(emission(&[1], ROW), vec![vec![2, 2]]), Op::Ack(vec![1])]);
    assert_eq!((result, effects.fails.len()), (Ok(()), 0));
    assert_eq!((effects.emitted, effects.transferred), (1, 2));
}

#[test]
fn a_row_larger_than_the_limit_has_a_class_of_its_own() {
    let mut row = vec![0x91, 0xd9, 62];
    row.extend([b'x'; 62]);
    let (_, effects, _) = apply(vec![Op::Emit(emission(&[1], &row))]);
    assert_eq!(effects.fails[0].1.class, Class::Size);
    assert!(effects.fails[0].1.reason.contains("65 bytes"), "{}", effects.fails[0].1.reason);
}

#[test]
fn what_nobody_can_be_blamed_for_costs_the_call() {
    assert!(violation(vec![Op::Ack(vec![9])]).contains("handle 9"));
    assert!(violation(vec![Op::ResetTimeout(vec![0])]).contains("handle 0"));
    assert!(violation(vec![Op::Emit(emission(&[], b""))]).contains("emission 0"));
    assert!(violation(vec![Op::Emit(emission(&[77], ROW))]).contains("handle 77"));
    let undeclared = Emissions { streams: vec![3], ..emission(&[], ROW) };
    assert!(violation(vec![Op::Emit(undeclared)]).contains("index 3"));
    let settled = vec![Op::Ack(vec![1]), Op::Emit(emission(&[1], ROW))];
    assert!(violation(settled).contains("settled before"));
}

#[test]
fn columns_that_disagree_cost_the_call() {
    let good = emission(&[1], ROW);
    let bad = [
        Emissions { offsets: vec![0], ..good.clone() },
        Emissions { offsets: vec![0, 4], ..good.clone() },
        Emissions { offsets: vec![1, 3], ..good.clone() },
        Emissions { anchor_offsets: vec![0, 2], ..good.clone() },
        Emissions { anchor_offsets: vec![], ..good.clone() },
        Emissions { targets: vec![1, 2], ..good.clone() },
        Emissions {
            streams: vec![0, 0],
            offsets: vec![0, 3, 1],
            anchor_offsets: vec![0, 0, 1],
            ..good.clone()
        },
    ];
    for emissions in bad {
        let text = violation(vec![Op::Emit(emissions.clone())]);
        assert!(text.starts_with("emit: "), "{text} for {emissions:?}");
    }
    assert_eq!(apply(vec![Op::Emit(good)]).0, Ok(()));
}

#[test]
fn a_target_on_a_stream_that_is_not_direct_is_refused() {
    let (_, effects, _) = apply(vec![Op::Emit(Emissions { targets: vec![2], ..emission(&[1], ROW) })]);
    assert!(effects.fails[0].1.reason.contains("task 2 takes nothing"), "{}", effects.fails[0].1.reason);
}

#[test]
fn both_copies_of_an_emission_are_edges_of_the_tree() {
    let (_, effects, _) = apply(vec![Op::Emit(emission(&[1], ROW)), Op::Ack(vec![1])]);
    assert_eq!(effects.acks, [(root(0), 7 ^ 101 ^ 102)]);
    assert_eq!((effects.emitted, effects.transferred), (1, 2));
}

#[test]
fn the_same_anchor_twice_is_two_edges() {
    let (_, effects, _) = apply(vec![Op::Emit(emission(&[1, 2, 1], ROW)), Op::Ack(vec![1, 2])]);
    // Copies one and two draw 101, 102, 103 and 104, 105, 106 for the anchors 1, 2, 1.
    assert_eq!(effects.acks, [(root(0), 7 ^ 101 ^ 103 ^ 104 ^ 106), (root(1), 8 ^ 102 ^ 105)]);
}
