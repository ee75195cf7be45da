//! Direct streams of a real guest.

use crate::groupings::{fed, watched};
use anchorbolt_core::failure::Class;
use anchorbolt_tests::{Feed, Journal, Topology, Witness, bolt, check_flawless};

/// `send` emits directly; `a` and `b` take its stream, `b` over its second input; `c` takes another.
const BOLTS: &str = r#"
    [bolts.send]
    plugin = "guest:sends_direct"
    tasks = 2
    executors = 1
    inputs = [{ from = "feed", grouping = "shuffle" }]
    [bolts.a]
    kind = "null"
    tasks = 3
    executors = 1
    inputs = [{ from = "send", stream = "named", grouping = "direct" }]
    [bolts.b]
    kind = "null"
    tasks = 2
    executors = 1
    inputs = [{ from = "feed", grouping = "all" }, { from = "send", stream = "named", grouping = "direct" }]
    [bolts.c]
    kind = "null"
    inputs = [{ from = "feed", grouping = "global" }]
"#;

fn run(names: &[&str]) -> (Topology, Journal, Witness) {
    let (topology, journal) = fed(BOLTS, "", Feed::strings(names));
    let witness = Witness::default();
    (watched(topology, &["a", "b", "c"], &witness), journal, witness)
}

#[test]
fn a_tuple_goes_to_the_task_that_is_named_and_to_no_other_consumer() {
    let names = ["a/0", "b/1", "a/2", "a/1", "b/0", "b/1"];
    let (mut topology, journal, witness) = run(&names.repeat(50));
    check_flawless(&topology.run(), 300);
    journal.check_acked(0..300);
    let (a, mut b) = (witness.of("a"), witness.of("b"));
    b.retain(|seen| seen.input == 1);
    assert_eq!((a.len(), b.len()), (150, 150));
    for seen in a.iter().chain(&b) {
        assert_eq!(seen.text(), format!("{}/{}", seen.component, seen.task));
    }
}

#[test]
fn a_task_that_takes_nothing_fails_the_tuple_and_nothing_else() {
    // Task ids in name order: a 1 to 3, b 4 and 5, c 6, feed 7, send 8 and 9.
    let (mut topology, journal, witness) = run(&["a/0", "6", "b/1", "4096", "5"]);
    let ended = topology.run();
    journal.check_acked([0, 2, 4].into_iter());
    for (message, text) in
        [(1, "task 6 takes nothing from stream `named`"), (3, "task 4096 takes nothing from stream `named`")]
    {
        let failures = journal.failures(message);
        assert_eq!(failures.len(), 1, "the second is its last: {failures:?}");
        let failure = &failures[0].1;
        assert_eq!((failure.class, &*failure.component, &*failure.reason), (Class::Protocol, "send", text));
    }
    assert_eq!(ended.report.totals().dropped, 2);
    let send = bolt(&ended.report, "send");
    assert_eq!((send.deaths, send.failed), (0, 4));
    let c = witness.of("c");
    assert!(["a/0", "b/1", "5"].iter().all(|text| c.iter().any(|seen| seen.text() == *text)), "{c:?}");
    let mut named: Vec<_> = witness.seen().into_iter().filter(|seen| seen.component != "c").collect();
    named.retain(|seen| seen.component == "a" || seen.input == 1);
    let named: Vec<_> = named.iter().map(|seen| (&*seen.component, seen.task, seen.text())).collect();
    assert_eq!(named.len(), 3, "{named:?}");
    for place in [("a", 0, "a/0"), ("b", 1, "b/1"), ("b", 1, "5")] {
        assert!(named.contains(&place), "{named:?}");
    }
}
