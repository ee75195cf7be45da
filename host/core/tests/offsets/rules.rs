//! The rules, one by one, as a spout meets them.

use anchorbolt_core::offsets::{Known, Snapshot, Spans};

fn ten() -> Spans {
    let mut spans = Spans::new(100);
    for start in 0..10 {
        assert!(spans.read(start * 10, start * 10 + 10));
    }
    spans
}

#[test]
fn low_is_the_lowest_open_message_and_then_the_end() {
    let mut spans = ten();
    assert_eq!(spans.low(), 0);
    for start in [10, 30, 20, 0] {
        assert!(spans.done(start));
    }
    assert_eq!((spans.low(), spans.done_above()), (40, vec![]));
    for start in [90, 80, 70, 60, 50, 40] {
        assert!(spans.done(start));
    }
    assert_eq!((spans.low(), spans.ranges(), spans.open()), (100, 0, 0));
}

#[test]
fn done_ranges_join() {
    let mut spans = ten();
    for start in [20, 40, 80, 90] {
        spans.done(start);
    }
    assert_eq!(spans.done_above(), [20..30, 40..50, 80..100]);
    spans.done(30);
    assert_eq!(spans.done_above(), [20..50, 80..100]);
    spans.read(105, 107);
    spans.done(105);
    assert_eq!(spans.done_above(), [20..50, 80..107], "no message lies between");
}

#[test]
fn late_and_unknown_words_are_ignored() {
    let mut spans = ten();
    spans.done(50);
    for start in [50, 5, 55, 1000, u64::MAX] {
        assert!(!spans.done(start), "{start}");
    }
    assert!(!spans.read(95, 120), "inside what was read");
    assert!(!spans.read(0, 10), "again");
    assert!(!spans.read(100, 100), "without length");
    assert_eq!((spans.open(), spans.messages(), spans.done_above()), (9, 10, vec![50..60]));
    assert!(!Spans::new(1).done(0));
}

#[test]
fn a_restart_passes_over_what_was_done() {
    let mut spans = ten();
    for start in [0, 20, 30, 60] {
        spans.done(start);
    }
    let (snapshot, known) = spans.snapshot();
    assert_eq!(snapshot, Snapshot { low: 10, ranges: vec![20..40, 60..70] });
    assert_eq!(known, Known(4));
    let mut spans = Spans::restore(snapshot, 100).expect("it is a snapshot");
    let again: Vec<u64> = (1..10).map(|n| n * 10).filter(|start| !spans.is_done(*start)).collect();
    assert_eq!(again, [10, 40, 50, 70, 80, 90]);
    assert!(!spans.read(20, 30), "it is done");
    for start in again {
        assert!(spans.read(start, start + 10));
    }
    assert_eq!((spans.low(), spans.done_above()), (10, vec![20..40, 60..70]));
    spans.done(10);
    spans.done(50);
    assert_eq!((spans.low(), spans.done_above()), (40, vec![50..70]));
}

#[test]
fn what_was_done_before_a_restart_is_known_as_done_at_the_end() {
    let snapshot = Snapshot { low: 10, ranges: vec![20..30, 50..100] };
    let mut spans = Spans::restore(snapshot, 100).expect("it is a snapshot");
    for start in [10, 30, 40] {
        spans.read(start, start + 1);
        spans.done(start);
    }
    assert_eq!((spans.low(), spans.done_above()), (41, vec![50..100]));
    spans.reached(110);
    assert_eq!((spans.low(), spans.done_above()), (110, vec![]));
}

#[test]
fn outstanding_counts_what_a_kill_would_repeat() {
    let mut spans = ten();
    assert_eq!(spans.outstanding(Known::default()), 10);
    spans.done(90);
    let (_, first) = spans.snapshot();
    spans.done(0);
    assert_eq!(spans.outstanding(first), 9, "a done message counts until a checkpoint knows it");
    let (_, second) = spans.snapshot();
    assert_eq!(spans.outstanding(second), 8);
}

#[test]
fn a_waiting_message_stalls_nothing() {
    let mut spans = Spans::new(10);
    spans.read(0, 1);
    let mut known = Known::default();
    for start in 1..100_000 {
        assert!(spans.read(start, start + 1) && spans.done(start));
        assert!(spans.outstanding(known) <= 101 && !spans.is_crowded());
        if start % 100 == 0 {
            known = spans.snapshot().1;
        }
    }
    assert_eq!((spans.low(), spans.done_above()), (0, vec![1..100_000]));
}

/// STORM-2666 and STORM-3301: one that failed is acked after all that was read behind it, across several saves.
#[test]
fn the_first_message_that_is_acked_last_brings_low_behind_all() {
    let mut spans = Spans::new(10);
    for start in 0..=600 {
        spans.read(start, start + 1);
    }
    for start in 1..=600 {
        assert!(spans.done(start));
        if start == 500 {
            assert_eq!(spans.snapshot().0, Snapshot { low: 0, ranges: vec![1..501] });
        }
    }
    assert!(spans.done(0));
    assert_eq!((spans.snapshot().0, spans.open()), (Snapshot { low: 601, ranges: vec![] }, 0));
    assert!(
        (0..=600).all(|start| spans.is_done(start) && !spans.done(start) && !spans.read(start, start + 1))
    );
}

#[test]
fn too_many_ranges_ask_for_a_pause_and_the_highest_are_left_out() {
    let mut spans = Spans::new(3);
    for start in 0..12 {
        spans.read(start, start + 1);
    }
    for start in [1, 3] {
        spans.done(start);
    }
    assert!(!spans.is_crowded());
    for start in [5, 7, 9] {
        spans.done(start);
    }
    assert!(spans.is_crowded());
    let (snapshot, known) = spans.snapshot();
    assert_eq!(snapshot, Snapshot { low: 0, ranges: vec![1..2, 3..4, 5..6] });
    assert_eq!((known, spans.outstanding(known)), (Known(3), 9), "what is left out is not known");
    for start in [0, 2, 4, 6, 8] {
        spans.done(start);
    }
    assert!(!spans.is_crowded(), "the open ones end and it goes on");
}

#[test]
fn a_restart_with_more_ranges_than_allowed_does_not_stand_still() {
    let ranges = (0..100).map(|n| 10 * n + 5..10 * n + 6).collect();
    let mut spans = Spans::restore(Snapshot { low: 0, ranges }, 10).expect("it is a snapshot");
    assert!(!spans.is_crowded(), "nothing is open that could end");
    spans.read(0, 5);
    assert!(spans.is_crowded());
    spans.done(0);
    assert!(!spans.is_crowded());
}
