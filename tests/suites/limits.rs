//! The limits that the runtime itself keeps, one below, at and above: `held-tuples` and `tuple-bytes`. And what any call
//! may emit, however many tuples it has. The limits on an instance are tested beside it, in `host/wasm`.

use anchorbolt_core::failure::Class;
use anchorbolt_host::runtime::Ended;
use anchorbolt_tests::{Pipeline, Setup, Topology, error, plain};

const RETRY: &str = "retry = { max-faults = 1 }";

fn run(guest: &str, bolt: &str, texts: Vec<String>) -> (Pipeline, Ended) {
    let mut p = Setup { guest, spout: RETRY, bolt, ..Setup::default() }.over(texts);
    let ended = p.run();
    (p, ended)
}

#[test]
fn held_tuples_end_at_their_limit_and_only_the_one_beyond_it_fails() {
    let bolt = "limits = { held-tuples = 10 }\nconfig = { n = 1000, flush = true }";
    for n in [9, 10] {
        let (p, ended) = run("hold_all", bolt, plain(n));
        anchorbolt_tests::check_flawless(&ended, n as u64);
        assert_eq!(p.sink.numbers(), [n as i64]);
    }
    let (p, ended) = run("hold_all", bolt, plain(11));
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped), (10, 1));
    assert_eq!(p.sink.numbers(), [11], "the bolt is not told, and settles what is gone, which is ignored");
    let said = error(&ended.report, Class::Overflow);
    assert_eq!(said.message, "held-tuples limit reached: 11 held by the task, at most 10");
    assert_eq!(said.count, 1);
}

#[test]
fn a_row_ends_at_its_limit_and_a_longer_one_fails_what_it_is_anchored_to() {
    let bolt = |n: usize| format!("limits = {{ tuple-bytes = \"1MiB\" }}\nconfig = {{ bytes = {n} }}");
    const LIMIT: usize = 1 << 20;
    for n in [LIMIT - 1, LIMIT] {
        let (p, ended) = run("huge_rows", &bolt(n), vec!["bad".into(), "row".into()]);
        anchorbolt_tests::check_flawless(&ended, 2);
        assert_eq!(p.sink.rows().iter().map(Vec::len).max(), Some(n));
    }
    let (p, ended) = run("huge_rows", &bolt(LIMIT + 1), vec!["bad".into(), "row".into()]);
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped), (1, 1));
    p.sink.check_texts(["row"]);
    let said = error(&ended.report, Class::Size);
    let text = "row on stream `default` has 1048577 bytes, more than tuple-bytes = 1048576";
    assert_eq!((said.message.as_str(), said.count), (text, 1));
}

/// As [`run`], but nothing keeps what comes out: it is too much.
fn run_wide(bolt: &str, texts: Vec<String>) -> Ended {
    let mut topology = Topology::new(&format!(
        r#"
        [topology]
        name = "wide"
        [spouts.feed]
        kind = "lines"
        path = "feed.txt"
        [bolts.bolt]
        plugin = "guest:fanout"
        inputs = [{{ from = "feed", grouping = "shuffle" }}]
        {bolt}
        [bolts.sink]
        kind = "null"
        inputs = [{{ from = "bolt", grouping = "shuffle" }}]
        "#
    ));
    topology.file("feed.txt", texts.join("\n") + "\n");
    topology.run()
}

/// Tuples at the limits of one tuple, many of them: a call gets as many as it can have, and no instance pays for it.
#[test]
fn a_bolt_that_emits_much_for_each_tuple_never_dies_of_large_calls() {
    let ended = run_wide("config = { n = 60000 }", plain(120));
    anchorbolt_tests::check_flawless(&ended, 120);
    let bolt = anchorbolt_tests::bolt(&ended.report, "bolt");
    assert_eq!((bolt.deaths, bolt.emitted), (0, 120 * 60_000), "{bolt:?}");
}

/// Light tuples bring large calls, and then heavy ones come together: more than a call can have. That may cost an
/// instance each time, but it is nobody's fault: it spends no budget, and no tuple has a fault.
#[test]
fn heavy_tuples_that_come_together_may_cost_an_instance_and_nothing_else() {
    let text = |i| format!("{}-{i}", if i % 40_000 > 39_980 { "heavy" } else { "light" });
    let bolt =
        "config = { n = 60000, only = \"heavy\" }\nrestart = { budget = 1, on-circuit-open = \"stop\" }";
    let ended = run_wide(bolt, (0..120_000).map(text).collect());
    let t = ended.report.totals();
    assert_eq!((t.completed, t.pending, ended.exit_code()), (120_000, 0, 0), "{:?}", ended.report.errors);
    let bolt = anchorbolt_tests::bolt(&ended.report, "bolt");
    assert!(bolt.deaths > 1, "the calls were too small to show anything: {bolt:?}");
    assert_eq!((bolt.failed, bolt.faults.iter().sum::<u64>()), (0, 0), "{bolt:?}");
}

/// What many messages became is in as many trees, and so is each tuple that comes of it: that is counted, too.
#[test]
fn emissions_of_a_tuple_of_many_trees_count_by_its_trees() {
    let mut topology = Topology::new(
        r#"
        [topology]
        name = "trees"
        [spouts.feed]
        kind = "lines"
        path = "feed.txt"
        retry = { max-faults = 1 }
        [bolts.merge]
        plugin = "guest:hold_all"
        config = { n = 2000 }
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.wide]
        plugin = "guest:fanout"
        config = { n = 2001 }
        inputs = [{ from = "merge", grouping = "shuffle" }]
        [bolts.sink]
        kind = "null"
        inputs = [{ from = "wide", grouping = "shuffle" }]
        "#,
    );
    topology.file("feed.txt", plain(2000).join("\n") + "\n");
    let ended = topology.run();
    assert_eq!(ended.report.totals().dropped, 2000);
    let said = error(&ended.report, Class::Protocol);
    let text =
        "broke the contract: emit: the tuples of the call belong to 4002000 trees in all, at most 4000000";
    assert!(said.component == "wide" && said.message.contains(text), "{said:?}");
}

/// A bolt that resets its one tuple as often as a call lets it, at each tick: the ledger hears of it once.
#[test]
fn resets_without_end_cost_the_ledger_no_more_than_one() {
    let mut p = Setup {
        guest: "resets_much",
        spout: RETRY,
        bolt: "tick = \"1ms\"\nconfig = { times = 50000, ticks = 20 }",
        ..Setup::default()
    }
    .over(plain(3));
    let ended = p.run();
    anchorbolt_tests::check_flawless(&ended, 3);
}
