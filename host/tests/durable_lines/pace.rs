//! How far reading may go ahead of what is saved.

use crate::support::start;
use anchorbolt_core::port::Spout;
use std::fs;
use tempfile::tempdir;

#[test]
fn outstanding_is_what_a_kill_would_repeat() {
    let dir = tempdir().unwrap();
    let text: String = (0..1000).map(|i| format!("line {i}\n")).collect();
    fs::write(dir.path().join("a.txt"), &text).unwrap();
    fs::write(dir.path().join("b.txt"), &text).unwrap();
    let mut task = start(dir.path(), &vec![]).unwrap();
    assert_eq!(task.spout.outstanding(), 0);
    task.exactly(1500);
    assert_eq!(task.spout.outstanding(), 1500);
    // All but the very first, which waits.
    let ids: Vec<_> = task.open.keys().copied().skip(1).collect();
    task.ack_ids(&ids);
    assert_eq!(task.spout.outstanding(), 1500, "nothing is durable yet");
    let saved = vec![(0, task.spout.snapshot().unwrap())];
    assert_eq!(task.spout.outstanding(), 1500, "nor is it now");
    task.exactly(10);
    task.spout.saved();
    assert_eq!(task.spout.outstanding(), 11);
    assert!(!task.spout.is_crowded());
    drop(task);
    let mut task = start(dir.path(), &saved).unwrap();
    assert_eq!(task.rest().len(), 501, "as it was said");
    assert_eq!(task.spout.outstanding(), 501);
    task.ack_all();
    task.spout.snapshot();
    task.spout.saved();
    assert_eq!(task.spout.outstanding(), 0);
}

#[test]
fn gaps_without_end_ask_for_a_pause() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "x\n".repeat(50_000)).unwrap();
    let mut task = start(dir.path(), &vec![]).unwrap();
    task.exactly(50_000);
    let ids: Vec<_> = task.open.keys().copied().skip(1).step_by(2).collect();
    task.ack_ids(&ids[..16_000]);
    assert!(!task.spout.is_crowded());
    task.ack_ids(&ids[16_000..]);
    assert!(task.spout.is_crowded());
    assert!(task.spout.snapshot().unwrap().len() < 500_000, "what is saved has a bound");
    task.ack_all();
    assert!(!task.spout.is_crowded());
}
