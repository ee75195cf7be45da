//! A run that is told to end finishes what is in flight, and says what it could not finish.

use anchorbolt_core::port::{Bolt, Collector, Declaration, Tuples};
use anchorbolt_host::runtime::{Ended, How, Running};
use anchorbolt_row::{Row, write_row};
use anchorbolt_tests::{Entry, Setup, Topology, bolt, check_flawless, plain, wait};
use std::time::{Duration, Instant};

const END: How = How { until_drained: true, limit: None };

/// Words of an endless spout, with a guest in the middle.
fn endless(topology: &str, bolt: &str) -> Topology {
    Topology::new(&format!(
        r#"
        [topology]
        name = "endless"
        {topology}
        [spouts.feed]
        kind = "generate"
        [bolts.bolt]
        config = {{ fields = ["seq", "sentence"] }}
        inputs = [{{ from = "feed", grouping = "shuffle" }}]
        {bolt}
        [bolts.sink]
        kind = "null"
        inputs = [{{ from = "bolt", grouping = "shuffle" }}]
        "#
    ))
}

/// Waits until so many messages were read.
fn read(running: &Running, n: u64) {
    let (watch, began) = (running.watch(), Instant::now());
    while watch.progress().read < n {
        assert!(began.elapsed() < Duration::from_secs(30), "{:#}", watch.report().json());
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn check_all_done(ended: &Ended) {
    check_flawless(ended, ended.report.totals().read);
    assert!(!ended.unfinished && ended.stopped.is_none());
}

#[test]
fn a_stop_while_it_runs_drains_what_is_in_flight() {
    for (topology, executors) in [("", 1), ("ackers = 2", 2), ("queue-tuples = 4\nmax-spout-pending = 7", 3)]
    {
        let mut topology =
            endless(topology, &format!("plugin = \"guest:identity\"\nexecutors = {executors}"));
        let running = topology.start(How::default());
        read(&running, 2_000);
        running.stopper().stop();
        let ended = wait(running, How::default());
        check_all_done(&ended);
        assert!(ended.report.totals().read >= 2_000);
        assert_eq!(bolt(&ended.report, "sink").acked, ended.report.totals().read);
    }
}

#[test]
fn a_stop_at_once_and_a_second_stop_are_fine() {
    let mut topology = endless("", "plugin = \"guest:identity\"");
    let running = topology.start(How::default());
    let stopper = running.stopper();
    stopper.stop();
    stopper.stop();
    check_all_done(&wait(running, How::default()));
    stopper.stop();
}

#[test]
fn a_limit_is_kept_exactly_over_all_spouts() {
    for limit in [1, 255, 256, 257, 10_000] {
        let mut topology = Topology::new(
            r#"
            [topology]
            name = "limit"
            [spouts.a]
            kind = "generate"
            executors = 2
            [spouts.b]
            kind = "generate"
            [bolts.sink]
            kind = "null"
            inputs = [{ from = "a", grouping = "shuffle" }, { from = "b", grouping = "shuffle" }]
            "#,
        );
        let how = How { until_drained: false, limit: Some(limit) };
        let ended = wait(topology.start(how), how);
        check_flawless(&ended, limit);
    }
}

#[test]
fn a_limit_beyond_the_end_of_the_source_ends_with_the_source() {
    let how = How { until_drained: false, limit: Some(1_000_000) };
    let mut p = Setup { guest: "identity", ..Setup::default() }.over(plain(100));
    check_flawless(&wait(p.topology.start(how), how), 100);
}

#[test]
fn an_untracked_run_is_drained_too() {
    let mut topology = endless("ackers = 0\nqueue-tuples = 16", "plugin = \"guest:identity\"\nexecutors = 2");
    let how = How { until_drained: false, limit: Some(5_000) };
    let ended = wait(topology.start(how), how);
    let t = ended.report.totals();
    assert_eq!((t.read, t.untracked, t.pending), (5_000, 5_000, 0));
    assert_eq!((bolt(&ended.report, "bolt").acked, bolt(&ended.report, "sink").acked), (5_000, 5_000));
    assert_eq!((bolt(&ended.report, "bolt").queued, bolt(&ended.report, "sink").queued), (0, 0));
}

#[test]
fn ticks_settle_what_is_held_while_a_run_drains() {
    let setup = Setup {
        guest: "ticker",
        topology: "message-timeout = \"30s\"",
        bolt: "tick = \"20ms\"",
        ..Setup::default()
    };
    let mut p = setup.over(plain(500));
    let ended = p.run();
    check_flawless(&ended, 500);
    let ticks = p.sink.numbers();
    assert!(!ticks.is_empty() && ticks.iter().copied().eq(1..=ticks.len() as i64), "{ticks:?}");
}

#[test]
fn ticks_come_while_nothing_else_does() {
    let mut p = Setup { guest: "ticker", bolt: "tick = \"10ms\"", ..Setup::default() }.over(plain(0));
    let began = Instant::now();
    let running = p.topology.start(How::default());
    std::thread::sleep(Duration::from_millis(300));
    running.stopper().stop();
    check_flawless(&wait(running, How::default()), 0);
    let (ticks, most) = (p.sink.len(), began.elapsed().as_millis() as usize / 10);
    assert!((5..=most).contains(&ticks), "{ticks} ticks, and time for {most}");
}

#[test]
fn a_flush_at_a_stop_emits_what_was_held_and_it_arrives() {
    let setup =
        Setup { guest: "hold_all", bolt: "config = { n = 1000000, flush = true }", ..Setup::default() };
    let mut p = setup.over(plain(700));
    let running = p.topology.start(How::default());
    read(&running, 700);
    running.stopper().stop();
    let ended = wait(running, How::default());
    check_flawless(&ended, 700);
    assert_eq!(p.sink.numbers().iter().sum::<i64>(), 700);
}

#[test]
fn what_can_not_be_settled_stays_unacked_at_its_source() {
    let setup = Setup {
        guest: "hold_all",
        topology: "message-timeout = \"60s\"\ndrain-timeout = \"1s\"",
        bolt: "config = { n = 1000000 }",
        ..Setup::default()
    };
    let mut p = setup.over(plain(700));
    let running = p.topology.start(How::default());
    read(&running, 700);
    let began = Instant::now();
    running.stopper().stop();
    let ended = wait(running, How::default());
    assert!(began.elapsed() < Duration::from_secs(10));
    assert!(ended.unfinished);
    assert_eq!((ended.report.totals().pending, ended.report.totals().completed), (700, 0));
    assert!(p.journal.acks().is_empty());
    assert_eq!(ended.exit_code(), 1);
}

#[test]
fn retries_that_are_due_are_waited_for_within_the_drain_timeout() {
    let setup = Setup {
        guest: "fail_some",
        spout: r#"retry = { backoff = "100ms" }"#,
        bolt: "config = { until = 2 }",
        ..Setup::default()
    };
    let mut p = setup.over(["fail:x", "a"]);
    let running = p.topology.start(How::default());
    read(&running, 2);
    running.stopper().stop();
    let ended = wait(running, How::default());
    assert_eq!((ended.report.totals().completed, ended.report.totals().pending), (2, 0));
    assert!(!ended.unfinished);
}

#[test]
fn retries_that_outlast_the_drain_timeout_stay_unacked() {
    let setup = Setup {
        guest: "fail_some",
        topology: "drain-timeout = \"300ms\"",
        spout: r#"retry = { backoff = "50ms", give-up-after = "never" }"#,
        ..Setup::default()
    };
    let mut p = setup.over(["retry:down", "a"]);
    let running = p.topology.start(How::default());
    read(&running, 2);
    let began = Instant::now();
    running.stopper().stop();
    let ended = wait(running, How::default());
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!((ended.report.totals().completed, ended.report.totals().pending), (1, 1));
    assert!(ended.unfinished);
}

#[test]
fn spouts_are_told_to_stop_and_then_closed_once() {
    let mut p = Setup { guest: "identity", ..Setup::default() }.over(plain(10));
    check_flawless(&wait(p.topology.start(END), END), 10);
    let count = |want: &str| p.journal.entries().iter().filter(|(_, e)| format!("{e:?}") == want).count();
    assert_eq!((count("Deactivated"), count("Closed")), (1, 1));
    assert!(matches!(p.journal.entries().last(), Some((_, Entry::Closed))));
}

#[test]
fn a_hundred_short_runs_all_end() {
    for n in 0..100 {
        let mut p = Setup { guest: "identity", bolt: "executors = 2", ..Setup::default() }.over(plain(n));
        check_flawless(&p.run(), n as u64);
    }
}

/// Sends each message round in itself: 16, 15, .. 0.
struct Countdown;

impl Bolt for Countdown {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        for i in 0..tuples.len() {
            let from_spout = tuples.inputs[i] == 0;
            let left =
                if from_spout { Some(16) } else { Row::new(tuples.row(i)).u64(0).unwrap().checked_sub(1) };
            if let Some(left) = left {
                let mut row = vec![];
                write_row(&mut row, |w| {
                    w.uint(left);
                });
                out.emit(0, &[], &row);
            }
        }
        out.ack(&tuples.ids);
        Ok(())
    }
}

/// Tuples outside every tree are in no sum of messages: the drain must look at the queues.
#[test]
fn untracked_tuples_of_a_cycle_are_waited_for() {
    for ackers in ["ackers = 0", ""] {
        let text = format!(
            r#"
[topology]
name = "round"
queue-tuples = 64
{ackers}
[spouts.made]
kind = "generate"
count = 2000
[bolts.down]
kind = "null"
executors = 2
tasks = 4
inputs = [{{ from = "made", grouping = "shuffle" }}, {{ from = "down", grouping = "shuffle" }}]
"#
        );
        let mut topology = Topology::new(&text).bolt("down", Declaration::fields(["n"]), || Countdown);
        let ended = topology.run();
        let down = bolt(&ended.report, "down");
        assert_eq!((down.executed, down.queued), (2000 * 18, 0), "{ackers}");
        assert_eq!(ended.exit_code(), 0);
    }
}
