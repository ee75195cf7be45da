//! Groupings that are plugins: where rows go, and what a bad one costs.

use crate::groupings::{fed, watched};
use anchorbolt_core::failure::Class;
use anchorbolt_tests::native::int_row;
use anchorbolt_tests::{Feed, Journal, Topology, Witness, bolt, check_flawless, guest, plain, with};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Arc;

/// `take` takes from the spout or from a bolt by a plugin, `beside` the same by shuffle.
fn topology(from: &str, plugin: &str, keys: &str, rows: Arc<Vec<Vec<u8>>>) -> (Topology, Journal, Witness) {
    topology_with("", from, plugin, keys, rows)
}

fn topology_with(
    ackers: &str,
    from: &str,
    plugin: &str,
    keys: &str,
    rows: Arc<Vec<Vec<u8>>>,
) -> (Topology, Journal, Witness) {
    let bolts = format!(
        r#"
        [bolts.pass]
        plugin = "guest:identity"
        tasks = 2
        executors = 1
        inputs = [{{ from = "feed", grouping = "shuffle" }}]
        [bolts.take]
        kind = "null"
        tasks = 3
        executors = 1
        inputs = [{{ from = "{from}", grouping = {{ plugin = "guest:{plugin}", config = {{ {keys} }} }} }}]
        [bolts.beside]
        kind = "null"
        inputs = [{{ from = "{from}", grouping = "shuffle" }}]
        [bolts.rest]
        kind = "null"
        inputs = [{{ from = "pass", grouping = "shuffle" }}]
        "#
    );
    let (topology, journal) = fed(&bolts, &format!("message-timeout = \"30s\"\n{ackers}"), rows);
    let witness = Witness::default();
    (watched(topology, &["take", "beside", "rest"], &witness), journal, witness)
}

fn numbers(numbers: impl Iterator<Item = i64>) -> Arc<Vec<Vec<u8>>> {
    Arc::new(numbers.map(int_row).collect())
}

#[test]
fn rows_go_to_the_tasks_that_were_chosen() {
    for from in ["feed", "pass"] {
        let (mut topology, journal, witness) =
            topology(from, "groups_by_number", "copies = 2", numbers(-5..1000));
        check_flawless(&topology.run(), 1005);
        journal.check_acked(0..1005);
        let take = witness.of("take");
        assert_eq!(take.len(), 2000, "two tasks each, and none for those below 0");
        assert!(take.iter().all(|seen| {
            let task = seen.number() as u32 % 3;
            seen.task == task || seen.task == (task + 1) % 3
        }));
        let distinct: BTreeSet<_> = take.iter().map(|seen| (seen.number(), seen.task)).collect();
        assert_eq!(distinct.len(), 2000);
        assert_eq!(witness.of("beside").len(), 1005);
    }
}

/// Each producer has an instance of its own, whose turns are even.
#[test]
fn each_producer_has_its_own_instance() {
    let (mut topology, _, witness) =
        topology("pass", "groups_badly", "how = \"nowhere\"", Feed::strings(plain(600)));
    check_flawless(&topology.run(), 600);
    let counts = witness.counts("take");
    assert_eq!(counts.values().sum::<u64>(), 600);
    assert!(counts.values().all(|count| *count == 200), "300 of each of two: {counts:?}");
}

/// A way to be bad: its config, the class of the failure, and what the text says.
const WAYS: [(&str, Class, &str); 8] = [
    ("panics", Class::Trap, "can't group bad"),
    ("loops", Class::Deadline, "choose ran past its deadline of 1 s"),
    ("allocates", Class::Memory, "memory"),
    ("exits", Class::Exit, "exit"),
    ("errs", Class::Failed, "it says: no task is good enough"),
    ("stranger", Class::Protocol, "it chose task 9999, which is none of its targets"),
    ("twice", Class::Protocol, "twice for one row"),
    ("huge", Class::Protocol, "it died: "),
];

fn is_bad(from: &str, ackers: &str, (how, class, text): (&str, Class, &str)) {
    let rows = Feed::strings(with(200, &[3, 77, 78], "bad"));
    let keys = format!("how = \"{how}\"");
    let (mut topology, journal, witness) = topology_with(ackers, from, "groups_badly", &keys, rows);
    let ended = topology.run();
    let context = || format!("{how} from {from} with {ackers:?}: {:#}", ended.report.json());
    let bad = [3, 77, 78];
    journal.check_acked((0..200).filter(|n| !bad.contains(n)));
    for message in bad {
        let failures = journal.failures(message);
        assert_eq!(failures.len(), 1, "two attempts, the second is its last: {}", context());
        let failure = &failures[0].1;
        assert_eq!((failure.class, &*failure.component), (class, from), "{failure:?} {}", context());
        let edge = format!("grouping of `{from}/default` for `take` by plugin ");
        assert!(failure.reason.starts_with(&edge) && failure.reason.contains(text), "{failure:?}");
    }
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped, t.trees_timed_out, t.pending), (197, 3, 0, 0), "{}", context());
    for name in ["take", "beside", "pass", "rest"] {
        let b = bolt(&ended.report, name);
        assert_eq!((b.deaths, b.held), (0, 0), "{name}: {}", context());
    }
    let good: BTreeSet<String> = witness.of("take").iter().map(|seen| seen.text().to_owned()).collect();
    assert_eq!(good.len(), 197, "{}", context());
    assert_eq!(ended.exit_code(), 1);
}

#[test]
fn a_bad_grouping_of_a_bolt_costs_the_messages_it_is_bad_on() {
    for way in WAYS {
        is_bad("pass", "", way);
    }
}

#[test]
fn a_bad_grouping_of_a_spout_costs_the_messages_it_is_bad_on() {
    for way in WAYS.into_iter().filter(|(how, ..)| *how != "allocates") {
        is_bad("feed", "", way);
    }
    for way in [WAYS[0], WAYS[4]] {
        is_bad("feed", "ackers = 2", way);
    }
}

#[test]
fn what_a_grouping_says_is_bounded_and_harmless() {
    let rows = Feed::strings(with(10, &[5], "bad"));
    let (mut topology, journal, _) = topology("pass", "groups_badly", "how = \"prints\"", rows);
    assert_eq!(topology.run().report.totals().completed, 10);
    journal.check_acked(0..10);
}

/// An emission without anchors is nobody's: it is lost, and that is said.
#[test]
fn an_unanchored_emission_that_can_not_be_grouped_is_lost_and_said() {
    let bolts = r#"
        [bolts.pass]
        plugin = "guest:unanchored"
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.take]
        kind = "null"
        inputs = [{ from = "pass", grouping = { plugin = "guest:groups_badly", config = { how = "panics" } } }]
        "#;
    let (topology, journal) = fed(bolts, "", Feed::strings(with(20, &[7], "bad")));
    let witness = Witness::default();
    let ended = watched(topology, &["take"], &witness).run();
    journal.check_acked(0..20);
    assert_eq!(witness.of("take").len(), 19);
    assert_eq!(bolt(&ended.report, "pass").deaths, 0);
    let lost = |e: &&anchorbolt_host::telemetry::ErrorLine| {
        e.message.contains("the emission has no anchor: it is lost")
    };
    assert_eq!(
        ended.report.errors.iter().filter(lost).map(|e| (e.class, e.count)).collect::<Vec<_>>(),
        [(Class::Trap, 1)]
    );
}

#[test]
fn a_bolt_can_not_be_told_where_a_plugin_sends_its_rows() {
    let bolts = r#"
        [bolts.tell]
        plugin = "guest:placed"
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.take]
        kind = "null"
        inputs = [{ from = "tell", grouping = { plugin = "guest:groups_by_number" } }]
        "#;
    let (mut topology, journal) = fed(bolts, "", numbers(0..1));
    topology.run();
    let failure = &journal.failures(0)[0].1;
    assert_eq!((failure.class, &*failure.component), (Class::Protocol, "tell"));
    assert!(failure.reason.contains("`emit-placed` on stream `default`"), "{failure:?}");
}

#[test]
fn inspect_says_that_it_is_a_grouping() {
    let inspect = |args: &[&str]| {
        let output = Command::new(anchorbolt_tests::binary())
            .arg("inspect")
            .arg(guest("groups_by_number"))
            .args(args)
            .env("XDG_CACHE_HOME", anchorbolt_tests::artifacts::cache_dir())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = inspect(&[]);
    assert!(text.contains("a grouping, for `grouping = { plugin = \"..\" }`"), "{text}");
    assert!(text.contains("anchorbolt:bolt/grouping-guest@0.1.0: prepare, choose"), "{text}");
    let json: Value = serde_json::from_str(&inspect(&["--json"])).unwrap();
    assert_eq!((&json["kind"], &json["declaration"]), (&"grouping".into(), &Value::Null));
}
