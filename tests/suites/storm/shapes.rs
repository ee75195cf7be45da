//! Anchors to itself, timeouts of some, resets, tasks beyond executors, structures that can't be.
//!
//! In: native bolts where Storm's own scenario has one of its own. Out: what Storm's users expect of each.

use super::fed::Fed;
use super::{ACK, topology};
use anchorbolt_core::port::{Bolt, Collector, Context, Declaration, Tuples};
use anchorbolt_row::Row;
use anchorbolt_tests::native::int_row;
use anchorbolt_tests::{Feed, Journal, Topology};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn native<B: Bolt + 'static>(
    make: impl Fn() -> B + Send + Sync + 'static,
) -> impl FnOnce(Topology) -> Topology {
    |topology| topology.bolt("bolt", Declaration::fields(["value"]), make)
}

fn value(tuples: &Tuples, i: usize) -> i64 {
    Row::new(tuples.row(i)).i64(0).unwrap()
}

/// Emits once, anchored twice to its input.
struct SelfAnchor;

impl Bolt for SelfAnchor {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        for (i, id) in tuples.ids.iter().enumerate() {
            out.emit(0, &[*id, *id], tuples.row(i));
        }
        out.ack(&tuples.ids);
        Ok(())
    }
}

#[test]
fn a_tuple_that_is_anchored_twice_to_the_same_one_is_acked_once() {
    let bolts = [("bolt", ACK, &["a"][..]), ("ack", ACK, &["bolt"])];
    let mut fed = Fed::start(&topology("", &["a"], &bolts), native(|| SelfAnchor));
    for n in 1..4 {
        fed.feed("a");
        assert_eq!(fed.acked(), [format!("a {n}")]);
    }
    assert!(fed.failed().is_empty());
}

/// Acks the first of two, the third of four, and so on; the others are never settled.
struct EveryOther;

impl Bolt for EveryOther {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        for (i, id) in tuples.ids.iter().enumerate().filter(|(i, _)| value(tuples, *i) % 2 == 0) {
            out.emit(0, &[*id], &int_row(i as i64));
            out.ack(&[*id]);
        }
        Ok(())
    }
}

#[test]
fn of_tuples_of_which_every_other_is_acked_the_rest_times_out() {
    let bolts = [("bolt", ACK, &["a"][..]), ("ack", ACK, &["bolt"])];
    let settings = "message-timeout = \"10s\"";
    let mut fed = Fed::start(&topology(settings, &["a"], &bolts), native(|| EveryOther));
    fed.feed("a");
    fed.pass(SECOND);
    fed.feed("a");
    fed.pass(SECOND);
    fed.feed("a");
    fed.feed("a");
    assert_eq!((fed.which_acked(), fed.failed()), (vec![0, 2], vec![]));
    fed.pass(9 * SECOND - Duration::from_nanos(1));
    assert_eq!(fed.failed(), [], "not a moment too early");
    fed.pass(Duration::from_nanos(1));
    let failed = fed.failed();
    assert_eq!(failed.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [1], "{failed:?}");
    assert!(failed[0].1.contains("while the bolt held the tuple"), "{failed:?}");
    fed.pass(SECOND);
    assert_eq!(fed.failed().iter().map(|(n, _)| *n).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(fed.which_acked(), [0, 2]);
}

/// Keeps its tuples; at each tick it resets those of even value. It acks all when it gets number 4.
#[derive(Default)]
struct Resetter(Vec<(i64, u32)>);

impl Bolt for Resetter {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        self.0.extend((0..tuples.len()).map(|i| (value(tuples, i), tuples.ids[i])));
        if self.0.iter().any(|(value, _)| *value == 4) {
            self.0.drain(..).for_each(|(_, id)| out.ack(&[id]));
        }
        Ok(())
    }

    fn tick(&mut self, out: &mut Collector<'_>) -> Result<(), String> {
        let even: Vec<u32> = self.0.iter().filter(|(value, _)| value % 2 == 0).map(|(_, id)| *id).collect();
        out.reset_timeout(&even);
        Ok(())
    }
}

#[test]
fn tuples_whose_timeout_is_reset_live_on_and_the_others_fail() {
    let bolts = [("bolt", "kind = \"null\"\ntick = \"5s\"", &["a"][..])];
    let settings = "message-timeout = \"10s\"";
    let mut fed = Fed::start(&topology(settings, &["a"], &bolts), native(Resetter::default));
    (0..4).for_each(|_| fed.feed("a"));
    (0..8).for_each(|_| fed.pass(5 * SECOND));
    assert_eq!(fed.failed().iter().map(|(n, _)| *n).collect::<Vec<_>>(), [1, 3]);
    fed.feed("a");
    assert_eq!(fed.which_acked(), [0, 2, 4], "of the failed ones an ack does nothing");
}

/// Which task got which value.
type ByTask = Arc<Mutex<BTreeMap<u32, Vec<i64>>>>;

/// Writes down which of its tasks got what.
struct Noted(ByTask, u32);

impl Bolt for Noted {
    fn prepare(&mut self, context: &Context) -> Result<(), String> {
        self.1 = context.task_index;
        Ok(())
    }

    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        let mut seen = self.0.lock().unwrap();
        seen.entry(self.1).or_default().extend((0..tuples.len()).map(|i| value(tuples, i)));
        out.ack(&tuples.ids);
        Ok(())
    }
}

#[test]
fn an_all_grouping_reaches_every_task_of_fewer_executors() {
    let seen: ByTask = Arc::default();
    let noted = seen.clone();
    let rows: Arc<Vec<Vec<u8>>> = Arc::new((0..4).map(int_row).collect());
    let ended = Topology::new(
        r#"
        [topology]
        name = "storm"
        [spouts.feed]
        kind = "generate"
        [bolts.bolt]
        kind = "null"
        tasks = 6
        executors = 2
        inputs = [{ from = "feed", grouping = "all" }]
        "#,
    )
    .spout("feed", Feed::declaration(), move |_| Feed::new(rows.clone(), Journal::default()))
    .bolt("bolt", Declaration::default(), move || Noted(noted.clone(), 0))
    .run();
    anchorbolt_tests::check_flawless(&ended, 4);
    let expected: BTreeMap<u32, Vec<i64>> = (0..6).map(|task| (task, vec![0, 1, 2, 3])).collect();
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[test]
fn structures_that_can_not_be_are_refused_with_what_is_wrong() {
    let input = |input: &str| {
        format!(
            "[topology]\nname = \"storm\"\n[spouts.a]\nkind = \"generate\"\n[bolts.b]\nplugin = \"guest:identity\"\n\
             inputs = [{{ {input} }}]\n"
        )
    };
    for (wrong, code) in [
        ("from = \"nobody\", grouping = \"shuffle\"", "AB301"),
        ("from = \"a\", stream = \"none\", grouping = \"shuffle\"", "AB302"),
        ("from = \"a\", grouping = { fields = [\"none\"] }", "AB303"),
        ("from = \"a\", grouping = \"direct\"", "AB305"),
    ] {
        let loaded = Topology::new(&input(wrong)).load();
        let codes: Vec<_> = loaded.diagnostics.iter().map(|d| d.code).collect();
        assert!(codes.contains(&code) && loaded.plan.is_none(), "{wrong}: {codes:?}");
    }
    let twice = input("from = \"a\", grouping = \"shuffle\"") + "[spouts.b]\nkind = \"generate\"\n";
    assert!(Topology::new(&twice).load().diagnostics.iter().any(|d| d.code == "AB201"));
}
