//! Fields, settings, context, logs and figures, as a bolt sees them.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;

use anchorbolt_sdk::log::Level;
use anchorbolt_sdk::prelude::*;
use anchorbolt_sdk::serde::Deserialize;
use anchorbolt_sdk::testing::Harness;
use anchorbolt_sdk::{Fields, ToValue, Value, info, json, metrics};

/// Runs a check on each tuple; its error is what the test sees.
struct Reads;

type Check = fn(&Fields<'_>) -> Result<(), Error>;

thread_local! {
    static CHECK: std::cell::Cell<Check> = const { std::cell::Cell::new(|_| Ok(())) };
}

impl BasicBolt for Reads {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new())
    }

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn execute(&mut self, tuple: &Tuple<'_>, _: &mut BasicCollector<'_>) -> Result<(), Error> {
        (CHECK.get())(tuple)
    }
}

/// What the check says of this row of fields `user` and `amount`.
fn check(user: impl ToValue, amount: impl ToValue, check: Check) -> Result<(), String> {
    CHECK.set(check);
    let setup = Harness::<Reads>::setup().input("orders", "default", ["user", "amount"]);
    let mut bolt = setup.start().unwrap();
    bolt.feed((user, amount));
    bolt.failed().pop().map_or(Ok(()), |failed| Err(failed.reason))
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(crate = "anchorbolt_sdk::serde")]
struct Order<'a> {
    user: &'a str,
    amount: u32,
}

#[test]
fn fields_are_read_by_name_by_position_and_as_structs() {
    check("ann", 7, |t| {
        assert_eq!((t.str(0)?, t.str("user")?, t.str(&String::from("user"))?), ("ann", "ann", "ann"));
        assert_eq!((t.i64(1)?, t.u64("amount")?, t.f64("amount")?), (7, 7, 7.0));
        assert_eq!(
            (t.get::<u8>(1)?, t.get::<Option<i32>>(1)?, t.get::<String>(0)?),
            (7, Some(7), "ann".into())
        );
        assert!(matches!(t.value(1)?, Value::Int(7)));
        assert_eq!(t.deserialize::<Order<'_>>()?, Order { user: "ann", amount: 7 });
        assert_eq!((t.component(), t.stream(), t.row().len()), ("orders", "default", 2));
        Ok(())
    })
    .unwrap();
    check(b"ann".as_slice(), [1u32, 2], |t| {
        assert_eq!((t.bytes(0)?, t.get::<Vec<u32>>(1)?), (&b"ann"[..], vec![1, 2]));
        Ok(())
    })
    .unwrap();
    check((), BTreeMap::from([("a", true)]), |t| {
        assert_eq!(t.get::<Option<&str>>(0)?, None);
        assert!(matches!(t.get::<anchorbolt_sdk::Map<'_>>(1)?.get("a"), Some(Value::Bool(true))));
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_failed_read_says_which_field_and_what_was_wanted() {
    let wrong = |c: Check| check("ann", -1, c).unwrap_err();
    assert_eq!(
        wrong(|t| t.str("amount").map(drop)),
        "field 1 (`amount`) is an integer where a string is wanted"
    );
    assert_eq!(wrong(|t| t.bool(0).map(drop)), "field 0 (`user`) is a string where a boolean is wanted");
    assert_eq!(
        wrong(|t| t.u64(1).map(drop)),
        "field 1 (`amount`) is an integer where an integer from 0 to 2^64-1 is wanted"
    );
    assert_eq!(
        wrong(|t| t.str("name").map(drop)),
        "no field `name`: a tuple from `orders` has `user`, `amount`"
    );
    assert_eq!(wrong(|t| t.get::<u8>(5).map(drop)), "no field 5: a tuple from `orders` has 2");
    assert!(
        wrong(|t| t.deserialize::<Order<'_>>().map(drop)).starts_with("the row from `orders` does not fit: ")
    );
}

/// Shows its settings and surroundings.
struct Shows {
    size: usize,
}

impl Bolt for Shows {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().output(config.get_or("fields", vec!["v".to_owned()])?).stateless())
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        info!("task {} of {}", context.task_index(), context.task_count());
        Ok(Self { size: context.config().require("size")? })
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        metrics::counter("seen", 1);
        metrics::gauge("size", self.size as f64);
        metrics::histogram("length", tuple.row().len() as f64);
        if out.describe(&tuple).attempt > 1 {
            out.reset_timeout(&tuple);
        }
        out.ack(tuple);
        Ok(())
    }
}

#[test]
fn settings_logs_figures_and_attempts() {
    let setup = Harness::<Shows>::setup().input("a", "default", ["v"]).task(1, 3);
    let mut bolt = setup.config(json!({ "size": 5 })).start().unwrap();
    bolt.feed([1]);
    bolt.set_attempt(2);
    let again = bolt.feed([1]);
    assert_eq!(bolt.logs(), [(Level::Info, "task 1 of 3".to_owned())]);
    assert_eq!(
        (bolt.counter("seen"), bolt.gauge("size"), bolt.histogram("length")),
        (2, Some(5.0), &[1.0, 1.0][..])
    );
    assert_eq!(bolt.timeouts_reset(), [again]);
}

#[test]
fn wrong_settings_are_named() {
    let start = |config| Harness::<Shows>::setup().config(config).start().unwrap_err().into_reason();
    assert_eq!(start(json!({})), "config lacks `size`");
    assert_eq!(start(json!({ "size": "x" })), "config `size`: invalid type: string \"x\", expected usize");
    assert_eq!(
        start(json!({ "fields": 1 })),
        "config `fields`: invalid type: integer `1`, expected a sequence"
    );
}

#[test]
fn progress_is_told_before_each_tuple_when_the_host_asks() {
    let mut bolt = Harness::<Reads>::new(["v"]).unwrap();
    bolt.feed_batch(0, [[1], [2]]);
    assert!(bolt.progress().is_empty());
    bolt.ask_for_progress();
    bolt.feed_batch(0, [[1], [2]]);
    assert_eq!(bolt.progress(), [0, 1]);
}
