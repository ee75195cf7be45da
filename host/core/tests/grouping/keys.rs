//! Keys over random values, nested ones too, in any legal encoding: what means the same meets.

use crate::values::{Encoder, Model, model, same};
use crate::{one, planned, producer};
use anchorbolt_core::plan::Plan;
use anchorbolt_core::port::Declaration;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// So many tasks that two keys share one by chance once in a thousand.
const TASKS: u32 = 1009;

fn by(grouping: &str) -> Plan {
    let grouping = format!("{{ {grouping} = [\"b\", \"a\"] }}");
    let plan = planned(Declaration::fields(["a", "b", "c"]), &[("to", TASKS, &[("default", &grouping)])]);
    assert_eq!(plan.edges.len(), 2);
    plan
}

fn fields() -> &'static Plan {
    static PLAN: OnceLock<Plan> = OnceLock::new();
    PLAN.get_or_init(|| by("fields"))
}

fn partial() -> &'static Plan {
    static PLAN: OnceLock<Plan> = OnceLock::new();
    PLAN.get_or_init(|| by("partial-key"))
}

fn choices() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..64)
}

proptest! {
    #[test]
    fn equal_keys_meet_in_any_encoding_and_from_any_producer(
        (a, b, c, d) in (model(), model(), model(), model()),
        (x, y) in (choices(), choices()),
    ) {
        let here = Encoder::row(&x, &[a.clone(), b.clone(), c]);
        let there = Encoder::row(&y, &[a, b, d]);
        let task = one(&mut producer(fields(), 0), &here);
        prop_assert_eq!(task, one(&mut producer(fields(), 3), &there));
    }

    #[test]
    fn a_key_has_two_candidates_whatever_its_encoding(
        (a, b) in (model(), model()),
        encodings in prop::collection::vec(choices(), 2..8),
    ) {
        let mut router = producer(partial(), 1);
        let rows = encodings.iter().map(|choices| Encoder::row(choices, &[a.clone(), b.clone(), Model::Nil]));
        let tasks: BTreeSet<u32> = rows.map(|row| one(&mut router, &row)).collect();
        prop_assert_eq!(tasks.len(), 2, "the second row goes to the one that is not used yet");
    }
}

/// A few pairs may share a task by chance; that kinds are apart in the hash is a test of rows.
#[test]
fn keys_that_differ_in_kind_are_apart() {
    let kinds = [
        Model::Nil,
        Model::Bool(true),
        Model::Int(1),
        Model::Float(1.5),
        Model::Str("1".to_owned()),
        Model::Bin(b"1".to_vec()),
        Model::Array(vec![Model::Int(1)]),
        Model::Map(vec![(Model::Int(1), Model::Nil)]),
    ];
    let task = |value: &Model| {
        one(&mut producer(fields(), 0), &Encoder::row(&[], &[value.clone(), Model::Nil, Model::Nil]))
    };
    let tasks: BTreeSet<u32> = kinds.iter().map(task).collect();
    assert_eq!(tasks.len(), kinds.len(), "by this build's hash no two of them share a task");
    assert!(same(&Model::Int(1), &Model::Float(1.0)));
    assert_eq!(task(&Model::Int(1)), task(&Model::Float(1.0)));
}
