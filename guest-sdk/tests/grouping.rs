//! A grouping natively: it reads rows by name, and an answer that the host would refuse makes its test panic.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use anchorbolt_sdk::prelude::*;
use anchorbolt_sdk::testing::GroupingHarness;
use anchorbolt_sdk::{Fields, Grouping, GroupingContext, json};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The tasks that field `to` names, whatever they are.
struct AsTold;

impl Grouping for AsTold {
    fn prepare(context: &GroupingContext) -> Result<Self, Error> {
        match (context.fields(), context.targets(), context.config().get_or("fine", true)?) {
            (_, _, true) => Ok(Self),
            (fields, targets, false) => Err(Error::fail(format!("not for {fields:?} and {targets:?}"))),
        }
    }

    fn choose(&mut self, row: &Fields<'_>) -> Result<Vec<u32>, Error> {
        row.str("to")?.split_whitespace().map(|task| Ok(task.parse()?)).collect()
    }
}

fn harness() -> GroupingHarness<AsTold> {
    GroupingHarness::new(["n", "to"], [4, 5, 6], json!({})).unwrap()
}

#[test]
fn rows_are_read_by_name_and_errors_are_those_of_the_author() {
    let mut harness = harness();
    assert_eq!(harness.choose((1, "6 4")).unwrap(), [6, 4]);
    assert!(harness.choose((1, "")).unwrap().is_empty());
    let error = harness.choose((1, 2)).unwrap_err().to_string();
    assert!(error.contains("to"), "it names the field: {error}");
    let refused = GroupingHarness::<AsTold>::new(["n"], [4], json!({ "fine": false })).unwrap_err();
    assert_eq!(refused.reason(), "not for [\"n\"] and [4]");
}

#[test]
fn what_the_host_would_refuse_makes_the_test_panic() {
    for (row, text) in [("7", "task 7 is no target"), ("4 5 4", "task 4 is chosen twice")] {
        let mut harness = harness();
        let panic = catch_unwind(AssertUnwindSafe(|| harness.choose((1, row)))).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>().unwrap(), text);
    }
    let mut harness = harness();
    let panic = catch_unwind(AssertUnwindSafe(|| harness.choose([1]))).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().starts_with("no row of the stream: "));
}
