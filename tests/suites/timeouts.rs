//! What is never settled times out when it should, with the name of the one who held it; nothing else is late.

use anchorbolt_core::failure::{Class, Cost};
use anchorbolt_host::runtime::How;
use anchorbolt_tests::{Entry, Pipeline, Setup, bolt, check_flawless, error, plain, wait, with};
use std::time::{Duration, Instant};

const NEVER: [usize; 3] = [5, 500, 999];

fn never_settle(topology: &str) -> Pipeline {
    let topology = format!("message-timeout = \"2s\"\n{topology}");
    let setup = Setup {
        guest: "raw_never_settle",
        spout: "retry = { max-attempts = 1 }",
        topology: &topology,
        ..Setup::default()
    };
    setup.over(with(1_000, &NEVER, "never"))
}

fn check_never_settled(topology: &str) {
    let mut p = never_settle(topology);
    let began = Instant::now();
    let ended = p.run();
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped, t.trees_timed_out, t.replayed, t.pending), (997, 3, 3, 0, 0));
    for id in NEVER.map(|i| i as u64) {
        let of = |want: fn(u64) -> Entry| {
            let want = format!("{:?}", want(id));
            p.journal.time(|e| format!("{e:?}") == want).expect("it was emitted and given up")
        };
        let took = of(Entry::GaveUp) - of(Entry::Emitted);
        assert!(
            (Duration::from_millis(1_990)..=Duration::from_millis(2_200)).contains(&took),
            "{id}: {took:?}"
        );
    }
    p.journal.check_acked((0..1_000).filter(|i| !NEVER.contains(i)).map(|i| i as u64));
    let late =
        p.journal.entries().into_iter().filter(|(_, e)| matches!(e, Entry::Acked(_))).map(|(at, _)| at).max();
    let late = late.expect("acks") - began;
    assert!(late < Duration::from_millis(1_900), "the others wait for nobody: {late:?}");
    let failure = error(&ended.report, Class::Timeout);
    assert_eq!((failure.component.as_str(), failure.count), ("bolt", 3));
    assert!(failure.message.contains("2s") && failure.message.contains("held"), "{failure:?}");
    assert_eq!(ended.exit_code(), 1);
    assert_eq!(bolt(&ended.report, "bolt").failed, 0, "the guest failed nothing");
}

#[test]
fn a_tuple_that_is_never_settled_times_out_on_time_and_names_its_holder() {
    check_never_settled("");
}

#[test]
fn it_does_with_ledgers_on_threads_of_their_own() {
    check_never_settled("ackers = 2");
}

#[test]
fn a_tuple_that_is_held_is_tried_again_for_as_long_as_the_patience_lasts() {
    let spout = r#"retry = { give-up-after = "900ms", backoff = "10ms" }"#;
    let topology = "message-timeout = \"300ms\"";
    let mut p = Setup { guest: "raw_never_settle", topology, spout, ..Setup::default() }.over(with(
        20,
        &[7],
        "never",
    ));
    let ended = p.run();
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped), (19, 1));
    // The patience begins with the first timeout and ends 900 ms later: attempts at about 0.3, 0.6, 0.9 and 1.2 s.
    assert!((3..=5).contains(&t.trees_timed_out), "{t:?}");
    assert_eq!(t.replayed, t.trees_timed_out - 1);
    assert!(p.journal.failures(7).iter().all(|(_, f)| f.class == Class::Timeout && f.component == "bolt"));
}

fn holder(topology: &str, n: u32, flush: bool, messages: usize) -> Pipeline {
    let bolt = format!("config = {{ n = {n}, flush = {flush} }}");
    Setup { guest: "hold_all", topology, bolt: &bolt, ..Setup::default() }.over(plain(messages))
}

#[test]
fn a_bolt_that_waits_for_more_than_may_be_pending_is_reported_at_once() {
    let topology = "message-timeout = \"60s\"\nmax-spout-pending = 50";
    let mut p = holder(topology, 100, false, 1_000);
    let how = How { until_drained: true, limit: None };
    let running = p.topology.start(how);
    let (watch, began) = (running.watch(), Instant::now());
    while watch.report().errors.is_empty() {
        assert!(began.elapsed() < Duration::from_secs(5), "nothing was said: {:#}", watch.report().json());
        std::thread::sleep(Duration::from_millis(5));
    }
    let report = watch.report();
    let said = error(&report, Class::Timeout);
    assert_eq!(said.component, "bolt");
    assert!(
        said.message.contains("holds 50 tuples") && said.message.contains("max-spout-pending"),
        "{said:?}"
    );
    running.stopper().stop();
    let ended = wait(running, how);
    assert!(began.elapsed() < Duration::from_secs(20), "what can't move is not waited for");
    assert!(ended.unfinished);
    assert_eq!((ended.report.totals().pending, bolt(&ended.report, "bolt").held), (50, 50));
    assert_eq!(ended.exit_code(), 1);
}

#[test]
fn what_a_bolt_holds_is_settled_by_the_flush_of_the_drain() {
    let mut p = holder("message-timeout = \"60s\"", 100, true, 250);
    let ended = p.run();
    check_flawless(&ended, 250);
    assert_eq!(p.sink.numbers(), [100, 100, 50]);
}

#[test]
fn a_join_of_as_many_as_may_be_pending_is_no_stall() {
    let mut p = holder("message-timeout = \"60s\"\nmax-spout-pending = 50", 50, false, 1_000);
    let ended = p.run();
    check_flawless(&ended, 1_000);
    assert_eq!(p.sink.numbers(), [50; 20]);
}

#[test]
fn an_idle_topology_times_nothing_out_and_reports_nothing() {
    let mut p = Setup {
        guest: "identity",
        topology: "message-timeout = \"100ms\"\nmax-spout-pending = 3",
        ..Setup::default()
    }
    .over(plain(3));
    let running = p.topology.start(How::default());
    std::thread::sleep(Duration::from_millis(400));
    running.stopper().stop();
    check_flawless(&wait(running, How::default()), 3);
}

/// Ten times more than it can bear within the timeout: what waited too long is passed over, and all completes.
#[test]
fn tuples_that_wait_in_a_queue_time_out_for_nothing_and_the_spout_slows_down() {
    let setup = Setup {
        guest: "slow",
        topology: "message-timeout = \"300ms\"\nmax-spout-pending = 100",
        spout: "retry = { max-faults = 1, backoff = \"10ms\", max-backoff = \"20ms\" }",
        bolt: "config = { us = 20000 }\nbatch = 1\nlimits = { deadline = \"250ms\" }",
        ..Setup::default()
    };
    let mut p = setup.over(plain(100));
    let ended = p.run();
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped, t.pending), (100, 0, 0));
    assert!(t.trees_timed_out > 0 && t.trees_failed == 0, "{t:?}");
    assert!(bolt(&ended.report, "bolt").stale > 0, "what is over is not worked on");
    p.journal.check_acked(0..100);
    let told: Vec<_> = (0..100).flat_map(|id| p.journal.failures(id)).collect();
    assert!(told.iter().all(|(_, f)| f.class == Class::Timeout), "{told:?}");
    let queued = told.iter().filter(|(_, f)| f.cost == Cost::Free && f.reason.contains("queues")).count();
    assert!(queued > 0, "{told:?}");
    assert!(bolt(&ended.report, "bolt").executed < 200, "goodput, not a livelock: {:?}", ended.report);
    assert_eq!(ended.exit_code(), 0);
}
