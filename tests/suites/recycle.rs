//! `recycle-at`: an instance of a stateless bolt that has grown is replaced by a fresh one, which costs no tuple anything.
//! Not for: instances that die (`faults`).

use anchorbolt_tests::{Pipeline, Setup, bolt, check_flawless, plain};

const ROWS: usize = 2000;

/// Each tuple leaks 64 KiB, so 2,000 of them would need twice the limit.
fn leaking(keys: &str) -> Pipeline {
    let bolt = format!("batch = 10\n{keys}");
    Setup { guest: "leaks", bolt: &bolt, ..Setup::default() }.over(plain(ROWS))
}

#[test]
fn a_leak_is_recycled_before_it_is_fatal_and_no_tuple_pays() {
    let mut p = leaking("recycle-at = \"16MiB\"");
    let ended = p.run();
    check_flawless(&ended, ROWS as u64);
    p.journal.check_acked(0..ROWS as u64);
    p.sink.check_texts(plain(ROWS));
    let b = bolt(&ended.report, "bolt");
    // 125 MiB in pieces of hardly more than 16 MiB; a fresh instance has some of it already.
    assert!((7..=9).contains(&b.restarts), "{b:?}");
    assert_eq!((b.deaths, b.state_lost), (0, 0));
    assert!(b.memory_bytes < 20 << 20, "{b:?}");
}

#[test]
fn without_it_the_leak_is_fatal() {
    let mut p = leaking("");
    let ended = p.run();
    let b = bolt(&ended.report, "bolt");
    assert!(b.deaths > 0 && b.restarts == b.deaths, "{b:?}");
    assert_eq!(ended.report.totals().completed, ROWS as u64);
}

/// What is held would be lost with the instance. Its first batch makes it grow, and it holds 50 before it settles any.
#[test]
fn an_instance_that_holds_something_is_not_recycled_before_it_has_settled_it() {
    let bolt_keys = "batch = 10\nstateless = true\nrecycle-at = \"64KiB\"\nconfig = { n = 50 }";
    let rows = (0..100).map(|i| format!("row-{i} {}", "x".repeat(200_000)));
    let mut p = Setup { guest: "hold_all", bolt: bolt_keys, ..Setup::default() }.over(rows);
    let ended = p.run();
    check_flawless(&ended, 100);
    p.journal.check_acked(0..100);
    assert_eq!(p.sink.numbers(), [50, 50]);
    assert!((1..=3).contains(&bolt(&ended.report, "bolt").restarts));
}

/// One that is too big from the start is not replaced after each call.
#[test]
fn an_instance_that_begins_above_it_is_left_alone() {
    let bolt_keys = "batch = 10\nrecycle-at = \"64KiB\"";
    let mut p = Setup { guest: "identity", bolt: bolt_keys, ..Setup::default() }.over(plain(1000));
    let ended = p.run();
    check_flawless(&ended, 1000);
    assert!(bolt(&ended.report, "bolt").restarts <= 1);
}

#[test]
fn a_bolt_with_state_can_not_be_recycled() {
    let mut p = Setup { guest: "hold_all", bolt: "recycle-at = \"16MiB\"", ..Setup::default() }.over(["a"]);
    let loaded = p.topology.load();
    let codes: Vec<_> = loaded.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
    assert_eq!(codes, ["AB211"]);
}
