//! Each tuple ends once, and what ends it is what the author meant.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use anchorbolt_sdk::prelude::*;
use anchorbolt_sdk::testing::Harness;
use anchorbolt_sdk::{Batch, Failure};

/// Does with a tuple what its first field says.
#[derive(Default)]
struct Obedient {
    held: Vec<Held>,
}

impl Bolt for Obedient {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().output(["value"]))
    }

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self::default())
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        match tuple.str("order")? {
            "ack" => out.ack(tuple),
            "fail" => out.fail(tuple, "as told"),
            "retry" => out.retry(tuple, "as told"),
            "reject" => out.reject(tuple, "as told"),
            "drop" => drop(tuple),
            "hold" => self.held.push(tuple.hold()),
            "hold and drop" => drop(tuple.hold()),
            "error" => return Err(Error::retry("the reason")),
            "ack, then error" => {
                out.ack(tuple);
                return Err(Error::fail("too late"));
            }
            "hold, then error" => {
                self.held.push(tuple.hold());
                return Err(Error::fail("too late"));
            }
            other => return Err(Error::reject(format!("unknown order `{other}`"))),
        }
        Ok(())
    }

    fn tick(&mut self, _: &mut Collector) -> Result<(), Error> {
        self.held.clear();
        Ok(())
    }

    fn flush(&mut self, out: &mut Collector) -> Result<(), Error> {
        out.emit(&self.held, [self.held.len()]);
        self.held.drain(..).for_each(|held| out.ack(held));
        Ok(())
    }
}

fn obedient() -> Harness<Obedient> {
    Harness::setup().input("orders", "urgent", ["order"]).start().unwrap()
}

/// How a single tuple with this order failed.
fn failure(order: &str) -> (Failure, String) {
    let mut bolt = obedient();
    let handle = bolt.feed([order]);
    let [failed] = bolt.failed().try_into().unwrap();
    assert_eq!((failed.handle, bolt.held()), (handle, vec![]));
    (failed.kind, failed.reason)
}

const DROPPED: &str = "tuple 1 from `orders` (stream `urgent`) was dropped without ack or fail";

#[test]
fn each_settlement_has_its_kind() {
    assert_eq!(failure("fail"), (Failure::Fail, "as told".into()));
    assert_eq!(failure("retry"), (Failure::Retry, "as told".into()));
    assert_eq!(failure("reject"), (Failure::Reject, "as told".into()));
    let mut bolt = obedient();
    let handle = bolt.feed(["ack"]);
    assert_eq!(bolt.acked(), [handle]);
}

#[test]
fn a_dropped_tuple_fails_and_says_where_it_came_from() {
    assert_eq!(failure("drop"), (Failure::Fail, DROPPED.into()));
    assert_eq!(failure("hold and drop"), (Failure::Fail, DROPPED.into()));
}

#[test]
fn an_error_fails_its_tuple_with_its_text_and_spares_the_rest() {
    assert_eq!(failure("error"), (Failure::Retry, "the reason".into()));
    assert_eq!(failure("what"), (Failure::Reject, "unknown order `what`".into()));
    let mut bolt = obedient();
    let handles = bolt.feed_batch(0, [["ack"], ["error"], ["ack"]]);
    assert_eq!(bolt.acked(), [handles[0], handles[2]]);
}

#[test]
fn an_error_after_the_end_of_a_tuple_is_only_reported() {
    let mut bolt = obedient();
    let acked = bolt.feed(["ack, then error"]);
    let held = bolt.feed(["hold, then error"]);
    assert_eq!((bolt.acked(), bolt.held()), (&[acked][..], vec![held]));
    assert!(bolt.failed().is_empty());
    assert_eq!(bolt.errors(), ["too late", "too late"]);
}

#[test]
fn held_tuples_end_in_later_calls() {
    let mut bolt = obedient();
    let handles = bolt.feed_batch(0, [["hold"], ["hold"]]);
    assert_eq!(bolt.held(), handles);
    bolt.flush().unwrap();
    assert_eq!((bolt.acked(), bolt.held()), (&handles[..], vec![]));
    assert_eq!(bolt.emitted()[0].anchors, handles);
    assert_eq!(bolt.rows("default"), [[2]]);
}

#[test]
fn held_tuples_that_are_dropped_fail_wherever_it_happens() {
    let mut bolt = obedient();
    bolt.feed(["hold"]);
    bolt.tick().unwrap();
    assert_eq!(bolt.failed()[0].reason, DROPPED);

    let mut bolt = obedient();
    bolt.feed(["hold"]);
    bolt.cleanup().unwrap();
    assert!(bolt.failed().is_empty(), "the last call settles nothing");
    assert_eq!(bolt.tick().unwrap_err().reason(), "called after cleanup");
}

/// Takes two tuples of each batch, and does with the rest what its config says.
struct Batched {
    fail: bool,
    held: Vec<Held>,
}

impl Bolt for Batched {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new())
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        Ok(Self { fail: context.config().get_or("fail", false)?, held: Vec::new() })
    }

    fn execute(&mut self, _: Tuple<'_>, _: &mut Collector) -> Result<(), Error> {
        unreachable!("the batch is taken whole")
    }

    fn execute_batch(&mut self, mut batch: Batch<'_>, out: &mut Collector) -> Result<(), Error> {
        batch.next().into_iter().for_each(|first| out.ack(first));
        self.held.extend(batch.next().map(Tuple::hold));
        if self.fail { Err(Error::fail("the database refused the batch")) } else { Ok(()) }
    }
}

fn batched(fail: bool) -> (Harness<Batched>, Vec<u32>) {
    let setup = Harness::<Batched>::setup().input("a", "default", ["n"]);
    let mut bolt = setup.config(anchorbolt_sdk::json!({ "fail": fail })).start().unwrap();
    let handles = bolt.feed_batch(0, [[1], [2], [3], [4]]);
    (bolt, handles)
}

#[test]
fn tuples_that_are_not_taken_from_a_batch_fail() {
    let (bolt, handles) = batched(false);
    let failed: Vec<_> = bolt.failed().iter().map(|f| f.handle).collect();
    assert_eq!((bolt.acked(), bolt.held()), (&handles[..1], vec![handles[1]]));
    assert_eq!(failed, handles[2..]);
}

#[test]
fn an_error_of_a_batch_fails_all_that_is_not_settled_with_its_text() {
    let (bolt, handles) = batched(true);
    assert_eq!(bolt.acked(), &handles[..1]);
    assert_eq!(bolt.failed().len(), 3);
    assert!(bolt.failed().iter().all(|f| f.reason == "the database refused the batch"));
}
