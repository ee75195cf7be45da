//! Failed messages are tried again as the policy says, and no other.

use anchorbolt_core::failure::{Class, Cost};
use anchorbolt_core::port::Declaration;
use anchorbolt_row::Row;
use anchorbolt_tests::{Entry, Pipeline, Setup, Sink, Topology, bolt, check_flawless, error};
use std::time::{Duration, Instant};

fn pipeline(spout: &str, bolt: &str, texts: &[&str]) -> Pipeline {
    Setup { guest: "fail_some", spout, bolt, ..Setup::default() }.over(texts)
}

/// The pauses between an emission's failure and the next.
fn gaps(p: &Pipeline, id: u64) -> Vec<Duration> {
    let at: Vec<Instant> = p.journal.failures(id).into_iter().map(|(at, _)| at).collect();
    at.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn a_message_that_fails_twice_completes_at_its_third_attempt_which_the_guest_can_see() {
    let mut p =
        pipeline(r#"retry = { backoff = "1ms" }"#, "config = { until = 2 }", &["a", "fail:no luck", "b"]);
    let ended = p.run();
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped, t.replayed, t.trees_failed, t.trees_acked), (3, 0, 2, 2, 3));
    p.journal.check_acked(0..3);
    let failures = p.journal.failures(1);
    assert_eq!(failures.len(), 2);
    for (_, f) in failures {
        assert_eq!(
            (f.class, f.cost, f.component.as_str(), f.reason.as_str()),
            (Class::Failed, Cost::Fault, "bolt", "no luck")
        );
    }
    p.sink.check_texts(["a", "b", "fail:no luck"]);
    assert_eq!(bolt(&ended.report, "bolt").failed, 2);
    assert_eq!(ended.exit_code(), 0, "what completes in the end is fine");
}

#[test]
fn failures_are_bounded_by_max_faults() {
    let mut p = pipeline(r#"retry = { max-faults = 4, backoff = "1ms" }"#, "", &["fail:x", "a"]);
    let ended = p.run();
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped, t.trees_failed, t.replayed), (1, 1, 4, 3));
    assert_eq!(p.journal.failures(0).len(), 3, "the last is told by giving up");
    assert_eq!(ended.exit_code(), 1);
    let line = error(&ended.report, Class::Failed);
    assert_eq!((line.message.as_str(), line.count), ("x", 4));
}

#[test]
fn the_default_is_five_faults() {
    let mut p = pipeline("", "", &["fail:x"]);
    assert_eq!(p.run().report.totals().trees_failed, 5);
}

#[test]
fn retries_are_bounded_by_time_and_not_by_max_faults() {
    let retry =
        r#"retry = { max-faults = 1, give-up-after = "500ms", backoff = "20ms", max-backoff = "40ms" }"#;
    let began = Instant::now();
    let mut p = pipeline(retry, "", &["retry:database is down", "a"]);
    let ended = p.run();
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped), (1, 1));
    assert!(t.trees_failed >= 3, "500 ms in steps of at most 40 ms, on a busy machine: {t:?}");
    assert!(began.elapsed() >= Duration::from_millis(500));
    assert!(p.journal.failures(0).iter().all(|(_, f)| f.cost == Cost::Patience && f.class == Class::Failed));
}

#[test]
fn an_outage_that_ends_in_time_loses_nothing() {
    let mut p = pipeline(
        r#"retry = { max-faults = 1, backoff = "1ms" }"#,
        "config = { until = 9 }",
        &["retry:soon", "a"],
    );
    let ended = p.run();
    assert_eq!((ended.report.totals().completed, ended.report.totals().replayed), (2, 9));
    assert_eq!(ended.exit_code(), 0);
}

#[test]
fn a_rejected_message_is_never_tried_again() {
    let mut p = pipeline("", "config = { until = 1 }", &["reject:never", "a"]);
    let ended = p.run();
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped, t.trees_failed, t.replayed), (1, 1, 1, 0));
    assert_eq!(error(&ended.report, Class::Rejected).message, "never");
    assert!(p.journal.failures(0).is_empty());
}

#[test]
fn max_attempts_bounds_all_kinds() {
    for text in ["fail:x", "retry:x"] {
        let mut p = pipeline(r#"retry = { max-attempts = 2, backoff = "1ms" }"#, "", &[text]);
        let t = p.run().report.totals();
        assert_eq!((t.dropped, t.trees_failed, t.replayed), (1, 2, 1), "{text}");
    }
}

#[test]
fn pauses_double_up_to_the_longest_and_are_never_shorter_than_half() {
    let retry = r#"retry = { max-faults = 6, backoff = "40ms", max-backoff = "160ms" }"#;
    let mut p = pipeline(retry, "", &["fail:x"]);
    p.run();
    let gaps = gaps(&p, 0);
    assert_eq!(gaps.len(), 4);
    for (gap, least) in gaps.iter().zip([20, 40, 80, 80]) {
        assert!(*gap >= Duration::from_millis(least), "{gaps:?}");
    }
    assert!(gaps[0] < gaps[2] + gaps[3], "{gaps:?}");
}

#[test]
fn dropping_drops_and_stopping_stops() {
    let mut p = pipeline(r#"retry = { max-faults = 1, on-exhausted = "drop" }"#, "", &["a", "fail:x"]);
    assert_eq!(p.run().report.totals().dropped, 1);

    let retry = r#"retry = { max-faults = 1, on-exhausted = "stop" }"#;
    let mut p = pipeline(retry, "", &["a", "fail:out of range", "b"]);
    let ended = p.run();
    let t = ended.report.totals();
    assert_eq!((t.dropped, t.pending, t.completed), (0, 1, 2), "it stays unacked at its source");
    let said = ended.stopped.as_deref().expect("it was stopped");
    assert!(said.contains("feed@1") && said.contains("out of range") && said.contains("bolt"), "{said}");
    assert_eq!(ended.exit_code(), 1);
    assert!(p.journal.entries().iter().all(|(_, e)| !matches!(e, Entry::GaveUp(_))));
}

/// One place: strict order, since a retry keeps it.
#[test]
fn a_message_that_waits_for_its_retry_keeps_its_place() {
    let setup = Setup {
        guest: "fail_some",
        topology: "max-spout-pending = 1",
        spout: r#"retry = { backoff = "30ms" }"#,
        bolt: "config = { until = 3 }",
        ..Setup::default()
    };
    let texts = ["a", "fail:x", "b", "retry:y", "c"];
    let mut p = setup.over(texts);
    let ended = p.run();
    assert_eq!(ended.report.totals().completed, 5);
    assert_eq!(p.sink.texts(), texts);
    let order: Vec<String> = p
        .journal
        .entries()
        .iter()
        .map(|(_, e)| format!("{e:?}"))
        .filter(|e| !e.starts_with("Failed"))
        .take(10)
        .collect();
    let expected: Vec<String> =
        (0..5).flat_map(|i| [format!("Emitted({i})"), format!("Acked({i})")]).collect();
    assert_eq!(order, expected);
}

#[test]
fn many_that_fail_do_not_hold_up_those_that_do_not() {
    let texts: Vec<String> =
        (0..2_000).map(|i| if i % 10 == 0 { format!("fail:{i}") } else { format!("row-{i}") }).collect();
    let setup = Setup {
        guest: "fail_some",
        topology: "max-spout-pending = 64",
        spout: r#"retry = { backoff = "1ms" }"#,
        bolt: "config = { until = 2 }\nexecutors = 2",
        ..Setup::default()
    };
    let mut p = setup.over(&texts);
    let ended = p.run();
    let t = ended.report.totals();
    assert_eq!((t.completed, t.replayed, t.trees_failed, t.dropped), (2_000, 400, 400, 0));
    p.sink.check_texts(&texts);
    p.journal.check_acked(0..2_000);
}

#[test]
fn describe_tells_the_message_its_source_and_where_it_went() {
    let (told, told_too) = (Sink::default(), Sink::default());
    let out = told.clone();
    let mut topology = Topology::new(
        r#"
        [topology]
        name = "describe"
        [spouts.feed]
        kind = "generate"
        count = 3
        [bolts.placed]
        plugin = "guest:placed"
        config = { fields = ["seq", "sentence"] }
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.sink]
        kind = "null"
        tasks = 2
        inputs = [{ from = "placed", grouping = "shuffle" }]
        [bolts.told]
        kind = "null"
        inputs = [{ from = "placed", stream = "report", grouping = "shuffle" }]
        "#,
    )
    .bolt("told", Declaration::default(), move || out.clone())
    .bolt("sink", Declaration::default(), move || told_too.clone());
    check_flawless(&topology.run(), 3);
    // Tasks in name order: feed 1, placed 2, sink 3 and 4, told 5.
    let mut places = vec![];
    for (i, row) in told.rows().iter().enumerate() {
        let row = Row::new(row);
        assert_eq!(
            (row.i64(1), row.str(2), row.i64(3)),
            (Some(1), Some(&*format!("feed@{i}")), Some(1)),
            "{row:?}"
        );
        assert!(
            row.i64(4).is_some_and(|us| us >= 0) && row.str(5).is_some_and(|id| !id.is_empty()),
            "{row:?}"
        );
        places.push(format!("{:?}", row.field(0)));
    }
    assert!(places[0] != places[1] && places[0] == places[2], "turn by turn: {places:?}");
    assert!(places.iter().all(|p| p.contains('3') || p.contains('4')), "{places:?}");
}
