//! Queues of any size, bursts and trickles, every shape of graph: all arrives once, and is counted exactly.

use anchorbolt_core::port::{Bolt, Collector, Declaration, Tuples};
use anchorbolt_host::runtime::{Ended, How};
use anchorbolt_tests::native::{Feed, int_row};
use anchorbolt_tests::{Journal, Setup, Sink, Topology, bolt, check_flawless, plain, wait};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A topology over `feed`, whose bolts named here are native sinks.
fn graph(
    topology: &str,
    bolts: &str,
    rows: Arc<Vec<Vec<u8>>>,
    sinks: &[&str],
) -> (Topology, Vec<Sink>, Journal) {
    let journal = Journal::default();
    let spout = journal.clone();
    let text =
        format!("[topology]\nname = \"graph\"\n{topology}\n[spouts.feed]\nkind = \"generate\"\n{bolts}");
    let mut graph = Topology::new(&text)
        .spout("feed", Feed::declaration(), move |_| Feed::new(rows.clone(), spout.clone()));
    let mut all = vec![];
    for name in sinks {
        let sink = Sink::default();
        all.push(sink.clone());
        graph = graph.bolt(name, Declaration::default(), move || sink.clone());
    }
    (graph, all, journal)
}

fn numbers(n: i64) -> Arc<Vec<Vec<u8>>> {
    Arc::new((0..n).map(int_row).collect())
}

fn check_counts(ended: &Ended, name: &str, executed: u64, emitted: u64, transferred: u64) {
    let b = bolt(&ended.report, name);
    assert_eq!(
        (b.executed, b.emitted, b.transferred, b.acked),
        (executed, emitted, transferred, executed),
        "{name}"
    );
}

#[test]
fn bursts_through_queues_of_one_tuple_arrive_and_then_all_is_still() {
    for (executors, batch) in [(1, ""), (1, "batch = 1"), (2, ""), (4, "batch = 3")] {
        let bolt = format!("executors = {executors}\n{batch}");
        let topology = "queue-tuples = 1\nmessage-timeout = \"5s\"";
        let mut p = Setup { guest: "identity", topology, bolt: &bolt, ..Setup::default() }.over(plain(3_000));
        let running = p.topology.start(How::default());
        let (watch, began) = (running.watch(), Instant::now());
        while watch.progress().completed < 3_000 {
            assert!(began.elapsed() < Duration::from_secs(30), "stuck: {:#}", watch.report().json());
            std::thread::sleep(Duration::from_millis(1));
        }
        running.stopper().stop();
        check_flawless(&wait(running, How::default()), 3_000);
        p.sink.check_texts(plain(3_000));
    }
}

#[test]
fn queues_of_one_byte_pass_one_batch_at_a_time() {
    let topology = "queue-bytes = \"1KiB\"\nqueue-tuples = 2\nmax-spout-pending = 5";
    let mut p = Setup { guest: "identity", topology, ..Setup::default() }.over(plain(2_000));
    check_flawless(&p.run(), 2_000);
    p.sink.check_texts(plain(2_000));
}

/// Nothing waits for a later tuple: each is done long before the next comes.
#[test]
fn a_trickle_is_not_held_back_by_any_batch_setting() {
    for batch in ["", "batch = 1", "batch = 64", "batch = 1000"] {
        let mut topology = Topology::new(&format!(
            r#"
            [topology]
            name = "trickle"
            [spouts.feed]
            kind = "generate"
            count = 12
            rate = 10
            [bolts.bolt]
            plugin = "guest:identity"
            config = {{ fields = ["seq", "sentence"] }}
            inputs = [{{ from = "feed", grouping = "shuffle" }}]
            {batch}
            [bolts.sink]
            kind = "null"
            inputs = [{{ from = "bolt", grouping = "shuffle" }}]
            "#
        ));
        let ended = topology.run();
        check_flawless(&ended, 12);
        let latency = ended.report.latency;
        assert!(latency.p50 < 50_000, "the next comes after 100 ms: {latency:?}");
    }
}

#[test]
fn a_slow_bolt_slows_the_spout_and_nothing_times_out() {
    let topology = "queue-tuples = 8\nmax-spout-pending = 100\nmessage-timeout = \"20s\"";
    let setup = Setup {
        guest: "slow",
        topology,
        bolt: "config = { us = 500 }\nlimits = { deadline = \"10s\" }",
        ..Setup::default()
    };
    let mut p = setup.over(plain(1_000));
    let ended = p.run();
    check_flawless(&ended, 1_000);
    p.sink.check_texts(plain(1_000));
}

#[test]
fn a_fan_out_of_ten_thousand_is_one_tree() {
    let setup = Setup {
        guest: "fanout",
        topology: "queue-tuples = 100",
        bolt: "config = { n = 10000 }",
        ..Setup::default()
    };
    let mut p = setup.over(plain(5));
    let ended = p.run();
    check_flawless(&ended, 5);
    check_counts(&ended, "bolt", 5, 50_000, 50_000);
    assert_eq!(p.sink.len(), 50_000);
    assert_eq!(p.journal.acks().len(), 5);
}

#[test]
fn two_streams_go_their_own_ways() {
    let bolts = r#"
        [bolts.two]
        plugin = "guest:two_streams"
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.even]
        kind = "null"
        inputs = [{ from = "two", stream = "even", grouping = "shuffle" }]
        [bolts.odd]
        kind = "null"
        inputs = [{ from = "two", stream = "odd", grouping = "shuffle" }]
    "#;
    let (mut graph, sinks, _) = graph("", bolts, numbers(1_001), &["even", "odd"]);
    let ended = graph.run();
    check_flawless(&ended, 1_001);
    assert_eq!((sinks[0].len(), sinks[1].len()), (501, 500));
    assert!(sinks[0].numbers().iter().all(|n| n % 2 == 0));
    assert!(sinks[1].numbers().iter().all(|n| n % 2 == 1));
    check_counts(&ended, "two", 1_001, 1_001, 1_001);
}

#[test]
fn a_stream_that_nobody_takes_completes_at_once() {
    let bolts = r#"
        [bolts.two]
        plugin = "guest:two_streams"
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.odd]
        kind = "null"
        inputs = [{ from = "two", stream = "odd", grouping = "shuffle" }]
    "#;
    let (mut graph, sinks, _) = graph("", bolts, numbers(100), &["odd"]);
    let ended = graph.run();
    check_flawless(&ended, 100);
    assert_eq!(sinks[0].len(), 50);
    check_counts(&ended, "two", 100, 100, 50);
}

#[test]
fn a_diamond_completes_when_both_its_sides_have() {
    let bolts = r#"
        [bolts.left]
        plugin = "guest:identity"
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.right]
        plugin = "guest:fanout"
        config = { n = 3 }
        executors = 2
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.end]
        kind = "null"
        executors = 2
        inputs = [{ from = "left", grouping = "shuffle" }, { from = "right", grouping = { fields = ["value"] } }]
    "#;
    let (mut graph, sinks, journal) = graph("queue-tuples = 16", bolts, numbers(2_000), &["end"]);
    let ended = graph.run();
    let t = check_flawless(&ended, 2_000);
    assert_eq!(t.trees_emitted, 2_000);
    assert_eq!(sinks[0].len(), 8_000);
    journal.check_acked(0..2_000);
    check_counts(&ended, "left", 2_000, 2_000, 2_000);
    check_counts(&ended, "right", 2_000, 6_000, 6_000);
    check_counts(&ended, "end", 8_000, 0, 0);
}

#[test]
fn all_global_and_none_send_to_whom_they_say() {
    let bolts = r#"
        [bolts.all]
        plugin = "guest:identity"
        executors = 3
        inputs = [{ from = "feed", grouping = "all" }]
        [bolts.global]
        plugin = "guest:identity"
        executors = 2
        tasks = 4
        inputs = [{ from = "feed", grouping = "global" }]
        [bolts.none]
        plugin = "guest:identity"
        executors = 2
        inputs = [{ from = "feed", grouping = "none" }]
        [bolts.end]
        kind = "null"
        inputs = [
            { from = "all", grouping = "shuffle" },
            { from = "global", grouping = "shuffle" },
            { from = "none", grouping = "shuffle" },
        ]
    "#;
    let (mut graph, sinks, _) = graph("", bolts, numbers(1_000), &["end"]);
    let ended = graph.run();
    check_flawless(&ended, 1_000);
    check_counts(&ended, "all", 3_000, 3_000, 3_000);
    check_counts(&ended, "global", 1_000, 1_000, 1_000);
    check_counts(&ended, "none", 1_000, 1_000, 1_000);
    assert_eq!(sinks[0].len(), 5_000);
}

#[test]
fn all_to_several_tasks_multiplies_what_is_transferred_and_not_what_is_emitted() {
    let bolts = r#"
        [bolts.one]
        plugin = "guest:identity"
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.end]
        kind = "null"
        tasks = 4
        executors = 2
        inputs = [{ from = "one", grouping = "all" }]
    "#;
    let (mut graph, sinks, _) = graph("", bolts, numbers(500), &["end"]);
    let ended = graph.run();
    check_flawless(&ended, 500);
    check_counts(&ended, "one", 500, 500, 2_000);
    assert_eq!(sinks[0].len(), 2_000);
}

#[test]
fn tuples_from_one_task_to_another_arrive_in_the_order_of_their_emission() {
    let topology = "queue-tuples = 7\nmax-spout-pending = 50";
    let mut p = Setup { guest: "identity", topology, ..Setup::default() }.over_rows(numbers(5_000));
    check_flawless(&p.run(), 5_000);
    assert!(p.sink.numbers().into_iter().eq(0..5_000));
}

#[test]
fn a_spout_that_nobody_takes_from_completes_all() {
    let mut topology = Topology::new(
        "[topology]\nname = \"alone\"\n[spouts.feed]\nkind = \"generate\"\ncount = 500\n\
         [spouts.other]\nkind = \"generate\"\ncount = 10\n\
         [bolts.end]\nkind = \"null\"\ninputs = [{ from = \"other\", grouping = \"shuffle\" }]",
    );
    check_flawless(&topology.run(), 510);
}

#[test]
fn a_slow_sink_slows_the_spout_and_nothing_times_out() {
    struct Slow(Sink);
    impl Bolt for Slow {
        fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
            std::thread::sleep(Duration::from_millis(1));
            self.0.execute(tuples, out)
        }
    }
    let topology = "queue-tuples = 4\nmax-spout-pending = 40\nmessage-timeout = \"20s\"";
    let setup = Setup { guest: "identity", topology, sink: "batch = 2", ..Setup::default() };
    let p = setup.over(plain(600));
    let sink = p.sink.clone();
    let mut slow = p.topology.bolt("sink", Declaration::default(), move || Slow(sink.clone()));
    check_flawless(&slow.run(), 600);
    p.sink.check_texts(plain(600));
}
