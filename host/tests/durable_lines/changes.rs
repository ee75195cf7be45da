//! A restart over files that are not what they were.

use crate::support::{Saved, input_error, start, texts};
use std::fs;
use std::path::Path;
use tempfile::{TempDir, tempdir};

/// `a.txt` with its first two lines of many done.
fn half_done(content: &str) -> (TempDir, Saved) {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), content).unwrap();
    let mut task = start(dir.path(), &vec![]).unwrap();
    task.rest();
    let first: Vec<_> = task.open.keys().copied().take(2).collect();
    task.ack_ids(&first);
    (dir, task.killed())
}

fn refused(dir: &Path, saved: &Saved) -> String {
    let text = input_error(start(dir, saved));
    assert!(text.contains("`a.txt`") && text.contains("--reset"), "{text}");
    text
}

#[test]
fn a_replaced_file_is_an_error() {
    let (dir, saved) = half_done("zero\none\ntwo\n");
    fs::write(dir.path().join("new"), "zero\none\ntwo\n").unwrap();
    fs::rename(dir.path().join("new"), dir.path().join("a.txt")).unwrap();
    assert!(refused(dir.path(), &saved).contains("was replaced by another file"));
}

#[test]
fn a_rewritten_file_is_an_error_also_behind_its_fingerprint() {
    let (dir, saved) = half_done("zero\none\ntwo\n");
    fs::write(dir.path().join("a.txt"), "null\none\ntwo\n").unwrap();
    assert!(refused(dir.path(), &saved).contains("was written anew"));
    let line = "x".repeat(700);
    let (dir, saved) = half_done(&format!("{line}\n{line}\n{line}\n"));
    fs::write(dir.path().join("a.txt"), format!("{line}\n{}\n{line}\n", &line[..690])).unwrap();
    assert!(refused(dir.path(), &saved).contains("was written anew"), "no line begins where it stood");
}

#[test]
fn a_file_that_is_shorter_than_what_was_done_is_an_error() {
    let (dir, saved) = half_done("zero\none\ntwo\n");
    fs::write(dir.path().join("a.txt"), "zer").unwrap();
    assert!(refused(dir.path(), &saved).contains("is shorter"));
}

#[test]
fn a_file_that_is_shorter_than_a_done_range_is_an_error() {
    let dir = tempdir().unwrap();
    let text = format!("{0}1\n{0}2\n{0}3\n", "x".repeat(700));
    fs::write(dir.path().join("a.txt"), &text).unwrap();
    let mut task = start(dir.path(), &vec![]).unwrap();
    task.rest();
    task.ack(&[&text[..701], &text[1404..2105]]);
    let saved = task.killed();
    fs::write(dir.path().join("a.txt"), &text[..1404]).unwrap();
    assert!(refused(dir.path(), &saved).contains("is shorter"));
}

#[test]
fn a_file_of_which_nothing_was_done_may_change() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "zero\n").unwrap();
    let mut task = start(dir.path(), &vec![]).unwrap();
    task.rest();
    let saved = task.killed();
    fs::write(dir.path().join("a.txt"), "other\n").unwrap();
    assert_eq!(texts(&start(dir.path(), &saved).unwrap().rest()), ["other"]);
}

#[test]
fn a_file_that_is_gone_is_an_error_unless_all_of_it_was_done() {
    for complete in [false, true] {
        let dir = tempdir().unwrap();
        fs::write(dir.path().join("a.txt"), "zero\none\n").unwrap();
        fs::write(dir.path().join("b.txt"), "two\n").unwrap();
        let mut task = start(dir.path(), &vec![]).unwrap();
        task.rest();
        task.ack(if complete { &["zero", "one"] } else { &["zero"] });
        let saved = task.killed();
        fs::remove_file(dir.path().join("a.txt")).unwrap();
        if complete {
            let mut task = start(dir.path(), &saved).unwrap();
            assert_eq!(texts(&task.rest()), ["two"]);
            assert_eq!(task.shown()["files"], serde_json::json!([]), "it is forgotten");
        } else {
            assert!(refused(dir.path(), &saved).contains("is gone, and not all"));
        }
    }
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let dir = tempdir().unwrap();
    for name in ["a.txt", "b.txt", "c.txt"] {
        fs::write(dir.path().join(name), "zero\n").unwrap();
    }
    let mut task = start(dir.path(), &vec![]).unwrap();
    task.rest();
    task.ack_all();
    let saved = task.killed();
    fs::write(dir.path().join("a.txt"), "other\n").unwrap();
    fs::write(dir.path().join("b.txt"), "").unwrap();
    assert_eq!(refused(dir.path(), &saved).lines().count(), 2);
}
