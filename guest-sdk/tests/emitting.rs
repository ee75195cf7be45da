//! What a bolt emits reaches the host as it was meant, in order and by the right stream.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use anchorbolt_sdk::prelude::*;
use anchorbolt_sdk::serde::Serialize;
use anchorbolt_sdk::testing::Harness;
use anchorbolt_sdk::{RowWriter, StreamRef, json};

#[derive(Serialize)]
#[serde(crate = "anchorbolt_sdk::serde")]
struct Order<'a> {
    user: &'a str,
    amount: u32,
}

/// Emits in each way there is.
struct Emits {
    side: StreamRef,
    left: Option<Held>,
}

impl Bolt for Emits {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().output(["user", "amount"]).stream("side", ["v"]).direct_stream("direct", ["v"]))
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        Ok(Self { side: context.stream("side")?, left: None })
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        match tuple.str(0)? {
            "struct" => out.emit_struct(&tuple, &Order { user: "ann", amount: 7 })?,
            "no row" => out.emit_struct(&tuple, &7)?,
            "closure" => out.emit(&tuple, |row: &mut RowWriter<'_>| _ = row.str("ann").uint(7)),
            "unanchored" => out.emit_unanchored(("ann", 7)),
            "side" => {
                out.to("side")?.emit(&tuple, [1]);
                out.to(self.side)?.emit(&tuple, [2]);
            }
            "direct" => out.to("direct")?.emit_direct(9, &tuple, [1]),
            "mixed" => {
                out.emit(&tuple, ("ann", 1));
                out.to("direct")?.emit_direct(9, &tuple, [1]);
                out.emit(&tuple, ("ann", 2));
            }
            "placed" => {
                out.emit(&tuple, ("first", 0));
                let tasks = out.emit_placed(&tuple, ("ann", 7));
                out.to(self.side)?.emit(&tuple, [tasks]);
            }
            "nowhere" => out.to("sdie")?.emit(&tuple, [1]),
            "left" => {
                self.left = Some(tuple.hold());
                return Ok(());
            }
            "join" => {
                let left = self.left.take().ok_or_else(|| Error::fail("nothing to join"))?;
                out.emit((&left, &tuple), ("pair", 2));
                out.ack(left);
            }
            "flood" => (0..10_000u32).for_each(|i| out.emit(&tuple, ("ann", i))),
            other => return Err(Error::fail(other)),
        }
        out.ack(tuple);
        Ok(())
    }
}

fn emits() -> Harness<Emits> {
    let setup = Harness::setup().input("orders", "default", ["how"]);
    setup.consumer("default", "next", [4, 5]).consumer("default", "other", [6]).start().unwrap()
}

fn fed(how: &str) -> (Harness<Emits>, u32) {
    let mut bolt = emits();
    let handle = bolt.feed([how]);
    (bolt, handle)
}

#[test]
fn rows_of_all_kinds_are_the_same_row() {
    for how in ["struct", "closure"] {
        let (bolt, handle) = fed(how);
        assert_eq!(bolt.rows("default"), [("ann", 7)]);
        assert_eq!((&bolt.emitted()[0].anchors[..], bolt.acked()), (&[handle][..], &[handle][..]));
    }
    assert!(fed("unanchored").0.emitted()[0].anchors.is_empty());
}

#[test]
fn what_is_no_row_fails_and_leaves_nothing_behind() {
    let (mut bolt, _) = fed("no row");
    assert_eq!(bolt.failed()[0].reason, "a row must be a struct, a tuple or a list");
    bolt.feed(["closure"]);
    assert_eq!(bolt.rows("default"), [("ann", 7)]);
}

#[test]
fn streams_are_found_by_name_and_by_reference() {
    assert_eq!(fed("side").0.rows("side"), [[1], [2]]);
    let reason = &fed("nowhere").0.failed()[0].reason;
    assert_eq!(reason, "no stream `sdie`: this bolt declares `default`, `side`, `direct`");
}

#[test]
fn direct_emissions_name_their_task_and_others_do_not() {
    assert_eq!(fed("direct").0.emitted()[0].task, Some(9));
    let tasks: Vec<_> = fed("mixed").0.emitted().iter().map(|e| e.task).collect();
    assert_eq!(tasks, [None, Some(9), None]);
}

#[test]
fn placed_emissions_tell_their_tasks_and_keep_the_order() {
    let (bolt, _) = fed("placed");
    assert_eq!(bolt.rows("default"), [("first", 0), ("ann", 7)]);
    assert_eq!(bolt.rows("side"), [[[4, 6]]]);
}

#[test]
fn an_emission_may_have_anchors_of_several_calls() {
    let mut bolt = emits();
    let pair = [bolt.feed(["left"]), bolt.feed(["join"])];
    assert_eq!(bolt.emitted()[0].anchors, pair);
    assert_eq!(bolt.acked(), pair);
}

#[test]
fn a_flood_leaves_in_parts_and_in_order() {
    let (bolt, handle) = fed("flood");
    assert!(bolt.emitted().iter().enumerate().all(|(i, e)| e.row == ("ann", i) && e.anchors == [handle]));
    assert_eq!((bolt.emitted().len(), bolt.acked()), (10_000, &[handle][..]));
}

#[test]
#[should_panic = "an emission on stream `default` is refused: the row has 1 fields where the stream declares 2"]
fn the_harness_refuses_rows_of_a_wrong_arity() {
    struct Wrong;
    impl BasicBolt for Wrong {
        fn declare(_: &Config) -> Result<Declaration, Error> {
            Ok(Declaration::new().output(["a", "b"]))
        }
        fn prepare(_: &Context) -> Result<Self, Error> {
            Ok(Self)
        }
        fn execute(&mut self, _: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
            out.emit([1]);
            Ok(())
        }
    }
    Harness::<Wrong>::new(["v"]).unwrap().feed([json!(1).to_string()]);
}
