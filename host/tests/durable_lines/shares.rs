//! Files that are dealt out otherwise after a restart.

use crate::support::{Saved, append, start_share, texts};
use anchorbolt_core::port::Spout;
use std::fs;
use std::path::Path;
use tempfile::tempdir;

/// Starts all tasks, reads everything, acks the lines with these texts; answers what came and what each saves.
fn run(base: &Path, tasks: u32, saved: &Saved, done: &[&str]) -> (Vec<String>, Saved) {
    let (mut came, mut saves) = (Vec::new(), Vec::new());
    for task in 0..tasks {
        let mut running = start_share(base, (task, tasks), false, saved).unwrap();
        running.spout.activate().unwrap();
        let rest = running.rest();
        let mine: Vec<&str> = texts(&rest).into_iter().filter(|text| done.contains(text)).collect();
        running.ack(&mine);
        came.extend(texts(&rest).into_iter().map(str::to_owned));
        saves.push((task, running.spout.snapshot().unwrap()));
    }
    came.sort();
    (came, saves)
}

/// In how many entries a file is named.
fn named(name: &str, saved: &Saved) -> usize {
    let path = format!("\"path\":\"{name}.txt\"");
    saved.iter().map(|(_, text)| std::str::from_utf8(text).unwrap().matches(&path).count()).sum()
}

fn files(base: &Path, names: &[&str]) {
    for name in names {
        append(&base.join(format!("{name}.txt")), &format!("{name}1\n{name}2\n"));
    }
}

#[test]
fn a_new_file_moves_the_others_and_nothing_is_read_twice() {
    let dir = tempdir().unwrap();
    files(dir.path(), &["b", "c", "d", "e"]);
    let (_, saved) = run(dir.path(), 2, &vec![], &["b1", "c2", "d1", "d2", "e1", "e2"]);
    files(dir.path(), &["a"]);
    let (came, saved) = run(dir.path(), 2, &saved, &["a1", "c1"]);
    assert_eq!(came, ["a1", "a2", "b2", "c1"]);
    let (came, _) = run(dir.path(), 2, &saved, &[]);
    assert_eq!(came, ["a2", "b2"]);
}

#[test]
fn another_number_of_tasks_knows_as_much() {
    let dir = tempdir().unwrap();
    files(dir.path(), &["a", "b", "c", "d", "e"]);
    let (_, mut saved) = run(dir.path(), 3, &vec![], &["a1", "b2", "c1", "c2", "d1", "e2"]);
    for tasks in [2, 5, 1, 4] {
        let (came, saves) = run(dir.path(), tasks, &saved, &[]);
        assert_eq!(came, ["a2", "b1", "d2", "e1"], "{tasks} tasks");
        // The files of tasks that there are no more stay.
        saved.retain(|(task, _)| *task >= tasks);
        saved.extend(saves);
    }
}

#[test]
fn a_kill_between_the_saves_of_two_tasks_forgets_nothing() {
    let dir = tempdir().unwrap();
    files(dir.path(), &["b", "c"]);
    let (_, before) = run(dir.path(), 2, &vec![], &["b1", "b2", "c1", "c2"]);
    files(dir.path(), &["a"]);
    // Now b is the second task's, c the first's; only one of them comes to save.
    let (_, after) = run(dir.path(), 2, &before, &[]);
    for survivor in [0, 1] {
        let mut saved = before.clone();
        saved[survivor] = after[survivor].clone();
        let (came, next) = run(dir.path(), 2, &saved, &[]);
        assert_eq!(came, ["a1", "a2"], "only task {survivor} had saved");
        let (came, next) = run(dir.path(), 2, &next, &["a1"]);
        assert_eq!(came, ["a1", "a2"]);
        assert_eq!(
            [named("a", &next), named("b", &next), named("c", &next)],
            [1; 3],
            "nothing is carried on"
        );
    }
}

#[test]
fn an_old_word_of_a_file_that_is_gone_does_not_count_against_a_newer_one() {
    let dir = tempdir().unwrap();
    files(dir.path(), &["a", "b"]);
    // Of three tasks the last has a file that is moved to the first, where it is completed, and removed.
    files(dir.path(), &["c"]);
    let (_, mut saved) = run(dir.path(), 3, &vec![], &["a1", "a2", "c1"]);
    let old = saved.remove(2);
    saved.push(old.clone());
    let (came, mut saved) = run(dir.path(), 1, &saved, &["c2"]);
    assert_eq!(came, ["b1", "b2", "c2"]);
    saved.push(old.clone());
    fs::remove_file(dir.path().join("c.txt")).unwrap();
    for _ in 0..3 {
        let (came, mut saves) = run(dir.path(), 1, &saved, &[]);
        assert_eq!(came, ["b1", "b2"]);
        saves.push(old.clone());
        saved = saves;
    }
}

#[test]
fn a_completed_file_that_is_gone_is_forgotten_once_nobody_says_otherwise() {
    let dir = tempdir().unwrap();
    files(dir.path(), &["b", "c"]);
    let (_, before) = run(dir.path(), 2, &vec![], &["c1"]);
    // Now c is the first task's, who completes it; the second one does not come to save.
    files(dir.path(), &["a"]);
    let (_, after) = run(dir.path(), 2, &before, &["c2"]);
    let saved = vec![after[0].clone(), before[1].clone()];
    fs::remove_file(dir.path().join("c.txt")).unwrap();
    let (_, next) = run(dir.path(), 2, &saved, &[]);
    assert_eq!(named("c", &next), 1);
    let (_, next) = run(dir.path(), 2, &vec![next[0].clone(), saved[1].clone()], &[]);
    assert_eq!(named("c", &next), 1, "the second one had died again");
    let twice = vec![saved[0].clone(), saved[1].clone(), (2, saved[1].1.clone())];
    let (_, all) = run(dir.path(), 3, &twice, &[]);
    assert_eq!(named("c", &all), 1, "two who say otherwise do not keep each other's word");
    let (_, next) = run(dir.path(), 2, &next, &[]);
    assert_eq!(named("c", &next), 0);
}
