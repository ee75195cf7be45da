//! Graphs of several groupings at once.

use crate::groupings::{fed, watched};
use anchorbolt_core::port::Declaration;
use anchorbolt_row::{Row, write_row};
use anchorbolt_tests::native::int_row;
use anchorbolt_tests::{Feed, Seen, Topology, Witness, check_flawless, plain};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn numbers(n: i64) -> Arc<Vec<Vec<u8>>> {
    Arc::new((0..n).map(int_row).collect())
}

/// The tasks that each key went to.
fn tasks_of(seen: &[Seen]) -> BTreeMap<Vec<u8>, BTreeSet<u32>> {
    let mut tasks: BTreeMap<Vec<u8>, BTreeSet<u32>> = BTreeMap::new();
    for seen in seen {
        tasks.entry(seen.row.clone()).or_default().insert(seen.task);
    }
    tasks
}

#[test]
fn one_stream_is_taken_by_each_consumer_in_its_own_way() {
    let bolts = r#"
        [bolts.pass]
        plugin = "guest:identity"
        tasks = 3
        executors = 2
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.by_key]
        kind = "null"
        tasks = 5
        executors = 2
        inputs = [{ from = "pass", grouping = { fields = ["value"] } }]
        [bolts.by_two]
        kind = "null"
        tasks = 5
        executors = 2
        inputs = [{ from = "pass", grouping = { partial-key = ["value"] } }]
        [bolts.every]
        kind = "null"
        tasks = 4
        executors = 1
        inputs = [{ from = "pass", grouping = "all" }]
        [bolts.lowest]
        kind = "null"
        tasks = 4
        executors = 1
        inputs = [{ from = "pass", grouping = "global" }]
        [bolts.turns]
        kind = "null"
        tasks = 4
        executors = 2
        inputs = [{ from = "pass", grouping = "shuffle" }]
        [bolts.chosen]
        kind = "null"
        tasks = 4
        executors = 2
        inputs = [{ from = "pass", grouping = { plugin = "guest:groups_by_number" } }]
        "#;
    // Ten keys, each 90 times.
    let rows = Arc::new((0..900).map(|i| int_row(i % 10)).collect());
    let (topology, journal) = fed(bolts, "", rows);
    let witness = Witness::default();
    let names = ["by_key", "by_two", "every", "lowest", "turns", "chosen"];
    check_flawless(&watched(topology, &names, &witness).run(), 900);
    journal.check_acked(0..900);
    assert!(tasks_of(&witness.of("by_key")).values().all(|tasks| tasks.len() == 1));
    // Three producers, and a key has the same two candidates with each.
    let by_two = tasks_of(&witness.of("by_two"));
    assert!(by_two.values().all(|tasks| tasks.len() <= 2), "{by_two:?}");
    assert!(by_two.values().filter(|tasks| tasks.len() == 2).count() > 5, "{by_two:?}");
    assert_eq!(witness.counts("every"), BTreeMap::from([(0, 900), (1, 900), (2, 900), (3, 900)]));
    assert_eq!(witness.counts("lowest"), BTreeMap::from([(0, 900)]));
    let turns = witness.counts("turns");
    // 300 of each of three producers, whose counts differ by one at most; they begin at different tasks.
    assert!(turns.values().all(|count| count.abs_diff(225) <= 3), "{turns:?}");
    assert!(witness.of("chosen").iter().all(|seen| seen.task == seen.number() as u32 % 4));
    for name in names {
        assert_eq!(witness.of(name).len(), if name == "every" { 3600 } else { 900 }, "{name}");
    }
}

/// A self-join: one bolt takes a stream by key, and again all of it.
#[test]
fn a_bolt_takes_one_stream_twice() {
    let bolts = r#"
        [bolts.join]
        kind = "null"
        tasks = 3
        executors = 1
        inputs = [{ from = "feed", grouping = { fields = ["value"] } }, { from = "feed", grouping = "all" }]
        "#;
    let (topology, journal) = fed(bolts, "", Feed::strings(plain(100)));
    let witness = Witness::default();
    check_flawless(&watched(topology, &["join"], &witness).run(), 100);
    journal.check_acked(0..100);
    let (by_key, all): (Vec<_>, Vec<_>) = witness.of("join").into_iter().partition(|seen| seen.input == 0);
    assert_eq!((by_key.len(), all.len()), (100, 300));
    assert!(tasks_of(&all).values().all(|tasks| tasks.len() == 3));
    assert!(tasks_of(&by_key).values().all(|tasks| tasks.len() == 1));
}

#[test]
fn the_halves_of_a_diamond_meet_by_key() {
    let bolts = r#"
        [bolts.left]
        plugin = "guest:identity"
        tasks = 2
        executors = 1
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.right]
        plugin = "guest:identity"
        tasks = 3
        executors = 2
        inputs = [{ from = "feed", grouping = { partial-key = ["value"] } }]
        [bolts.join]
        kind = "null"
        tasks = 7
        executors = 2
        inputs = [{ from = "left", grouping = { fields = ["value"] } }, { from = "right", grouping = { fields = ["value"] } }]
        "#;
    let (topology, journal) = fed(bolts, "", numbers(500));
    let witness = Witness::default();
    check_flawless(&watched(topology, &["join"], &witness).run(), 500);
    journal.check_acked(0..500);
    let join = witness.of("join");
    assert_eq!(join.len(), 1000);
    assert!(tasks_of(&join).values().all(|tasks| tasks.len() == 1), "both halves in one task");
    assert_eq!(join.iter().filter(|seen| seen.input == 1).count(), 500);
}

/// Each number goes round until it is 0, by key, by two candidates, and by a plugin.
#[test]
fn a_cycle_goes_round_by_any_grouping() {
    for grouping in [
        "{ fields = [\"n\"] }",
        "{ partial-key = [\"n\"] }",
        "{ plugin = \"guest:groups_by_number\" }",
        "\"all\"",
    ] {
        let all = grouping == "\"all\"";
        let bolts = format!(
            r#"
            [bolts.round]
            kind = "null"
            tasks = 3
            executors = 1
            inputs = [{{ from = "feed", grouping = "shuffle" }}, {{ from = "round", stream = "again", grouping = {grouping} }}]
            "#
        );
        let n: i64 = if all { 4 } else { 20 };
        let (topology, journal) = fed(&bolts, "", numbers(n));
        let witness = Witness::default();
        let relay = witness.relay(|row| match Row::new(row).i64(0) {
            Some(n @ 1..) => vec![(0, int_row(n - 1))],
            _ => vec![],
        });
        let declaration = Declaration::default().stream("again", ["n"]);
        let mut topology: Topology = topology.bolt("round", declaration, move || relay.clone());
        check_flawless(&topology.run(), n as u64);
        journal.check_acked(0..n as u64);
        // Number k is seen k + 1 times; by `all` each round is seen by three tasks for each of the round before.
        let one = |k: i64| if all { (0..=k as u32).map(|r| 3usize.pow(r)).sum() } else { k as usize + 1 };
        assert_eq!(witness.of("round").len(), (0..n).map(one).sum::<usize>(), "{grouping}");
    }
}

/// Two fields, of which the key is one, in another place of each stream.
#[test]
fn a_key_has_one_task_whichever_stream_it_comes_by() {
    let bolts = r#"
        [bolts.part]
        kind = "null"
        tasks = 2
        executors = 1
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.join]
        kind = "null"
        tasks = 5
        executors = 1
        inputs = [
          { from = "part", stream = "orders", grouping = { fields = ["id"] } },
          { from = "part", stream = "payments", grouping = { fields = ["order"] } },
        ]
        "#;
    let (topology, _) = fed(bolts, "", numbers(200));
    let witness = Witness::default();
    let pair = |a: i64, b: i64| {
        let mut row = vec![];
        write_row(&mut row, |row| {
            row.int(a).int(b);
        });
        row
    };
    let relay = witness.relay(move |row| {
        let n = Row::new(row).i64(0).unwrap();
        vec![(0, pair(n, 7)), (1, pair(7, n))]
    });
    let declaration =
        Declaration::default().stream("orders", ["id", "amount"]).stream("payments", ["amount", "order"]);
    let topology = topology.bolt("part", declaration, move || relay.clone());
    check_flawless(&watched(topology, &["join"], &witness).run(), 200);
    let mut tasks: BTreeMap<i64, BTreeSet<u32>> = BTreeMap::new();
    for seen in witness.of("join") {
        let key = Row::new(&seen.row).i64(seen.input as usize).unwrap();
        tasks.entry(key).or_default().insert(seen.task);
    }
    assert_eq!(tasks.len(), 200);
    assert!(tasks.values().all(|tasks| tasks.len() == 1), "{tasks:?}");
}
