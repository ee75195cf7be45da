//! A restart over files that have not changed, or have grown.

use crate::support::{Task, append, start, start_share, texts};
use anchorbolt_core::port::{Spout, SpoutError};
use serde_json::{Value, json};
use std::fs;
use tempfile::tempdir;

#[test]
fn it_goes_on_where_it_stood_and_passes_over_what_was_done() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "zero\none\ntwo\nthree\r\nfour\nfive").unwrap();
    fs::write(dir.path().join("b.txt"), "\nsix\n").unwrap();
    let mut task = start(dir.path(), &vec![]).unwrap();
    assert_eq!(texts(&task.rest()), ["zero", "one", "two", "three", "four", "five", "", "six"]);
    task.ack(&["zero", "two", "three", "six"]);
    let saved = task.killed();
    let mut task = start(dir.path(), &saved).unwrap();
    let rest = task.rest();
    assert_eq!(texts(&rest), ["one", "four", "five", ""]);
    let places: Vec<u64> = rest.iter().map(|message| message.1).collect();
    assert_eq!(places, [5, 20, 25, 0]);
    task.ack(&["five", "four"]);
    let saved = task.killed();
    let mut task = start(dir.path(), &saved).unwrap();
    assert_eq!(texts(&task.rest()), ["one", ""], "what was done two runs ago is not forgotten");
    task.ack_all();
    let saved = task.killed();
    for _ in 0..3 {
        let mut task = start(dir.path(), &saved).unwrap();
        assert_eq!(texts(&task.rest()), [""; 0], "nothing is left to do");
        assert_eq!(task.killed(), saved, "and nothing changes");
    }
}

#[test]
fn a_person_can_read_what_is_saved() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "zero\none\ntwo\nthree").unwrap();
    fs::write(dir.path().join("b.txt"), "not read\n").unwrap();
    let mut task = start(dir.path(), &vec![]).unwrap();
    task.exactly(3);
    task.ack(&["one"]);
    let shown = task.shown();
    let file = &shown["files"][0];
    assert_eq!(shown["files"].as_array().unwrap().len(), 1, "nothing is done of the other");
    assert_eq!((&file["path"], &file["low"], &file["done"]), (&json!("a.txt"), &json!(0), &json!([[5, 6]])));
    assert_eq!((&file["complete"], &file["fingerprint"]["bytes"]), (&json!(false), &json!(18)));
    task.rest();
    task.ack_all();
    let file = &task.shown()["files"][0];
    assert_eq!((&file["low"], &file["done"], &file["complete"]), (&json!(18), &json!([]), &json!(true)));
    assert_eq!(file["unended"], json!([13, 18]));
}

#[test]
fn a_restart_without_anything_saved_begins_at_the_beginning() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "zero\n").unwrap();
    let saved = start(dir.path(), &vec![]).unwrap().killed();
    assert_eq!(texts(&start(dir.path(), &saved).unwrap().rest()), ["zero"]);
}

#[test]
fn a_grown_file_is_read_on() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, "zero\none\n").unwrap();
    let mut task = start(dir.path(), &vec![]).unwrap();
    task.rest();
    task.ack(&["one"]);
    let saved = task.killed();
    append(&path, &"more\n".repeat(1000));
    let mut task = start(dir.path(), &saved).unwrap();
    let rest = task.rest();
    assert_eq!((rest.len(), texts(&rest[..2])), (1001, vec!["zero", "more"]));
    task.ack_all();
    let saved = task.killed();
    append(&path, "last");
    assert_eq!(texts(&start(dir.path(), &saved).unwrap().rest()), ["last"], "with a longer fingerprint");
}

#[test]
fn a_last_line_that_gets_its_end_is_the_same_line_and_one_that_goes_on_is_another() {
    for low_is_open in [false, true] {
        for (more, expected) in [("", vec![]), ("\nnew\n", vec!["new"]), ("r\nnew", vec!["oner", "new"])] {
            let dir = tempdir().unwrap();
            let path = dir.path().join("a.txt");
            fs::write(&path, "zero\none").unwrap();
            let mut task = start(dir.path(), &vec![]).unwrap();
            task.rest();
            task.ack(&["one"]);
            if !low_is_open {
                task.ack(&["zero"]);
            }
            let saved = task.killed();
            append(&path, more);
            let mut task = start(dir.path(), &saved).unwrap();
            let rest = task.rest();
            let expected = if low_is_open { [&["zero"], &expected[..]].concat() } else { expected };
            assert_eq!(texts(&rest), expected, "{more:?}");
        }
    }
}

#[test]
fn one_that_was_taken_without_its_end_waits_for_it_when_it_is_followed() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, "zero\non").unwrap();
    let mut task = start(dir.path(), &vec![]).unwrap();
    task.rest();
    task.ack_all();
    let saved = task.killed();
    let mut task = start_share(dir.path(), (0, 1), true, &saved).unwrap();
    task.spout.activate().unwrap();
    append(&path, "e\ntwo\nthr");
    assert_eq!(texts(&task.exactly(2)), ["one", "two"]);
    task.ack(&["two"]);
    let saved = task.killed();
    append(&path, "ee\n");
    let mut task = start_share(dir.path(), (0, 1), true, &saved).unwrap();
    task.spout.activate().unwrap();
    assert_eq!(texts(&task.exactly(2)), ["one", "three"]);
    task.ack_all();
    let length = fs::metadata(&path).unwrap().len();
    let file = eventually(&mut task, |file| file["complete"] == true);
    assert_eq!((&file["low"], &file["fingerprint"]["bytes"]), (&json!(length), &json!(length)));
    append(&path, "four\n");
    task.exactly(1);
    task.ack_all();
    eventually(&mut task, |file| file["fingerprint"]["bytes"] == length + 5);
    let length = length + 5;
    append(&path, "half");
    let file = eventually(&mut task, |file| file["complete"] == false);
    assert_eq!((&file["low"], &file["unended"]), (&json!(length), &json!(null)));
}

/// What is saved of the only file, once it is as it should be.
fn eventually(task: &mut Task, is_right: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..500 {
        let file = task.shown()["files"][0].clone();
        if is_right(&file) {
            return file;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("{}", task.shown());
}

#[test]
fn a_kill_in_the_middle_of_a_line_over_the_limit() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, format!("zero\n{}", "x".repeat(1500))).unwrap();
    let mut task = start_share(dir.path(), (0, 1), true, &vec![]).unwrap();
    task.spout.activate().unwrap();
    task.exactly(1);
    task.ack_all();
    // Long enough for its end to be looked at several times.
    std::thread::sleep(std::time::Duration::from_millis(600));
    let file = &task.shown()["files"][0];
    assert_eq!((&file["low"], &file["complete"]), (&json!(1), &json!(false)), "not in its middle");
    let saved = task.killed();
    append(&path, "xxx\none\n");
    let mut task = start_share(dir.path(), (0, 1), true, &saved).unwrap();
    task.spout.activate().unwrap();
    let mut rest = task.exactly(2);
    rest.sort_by_key(|message| message.1);
    assert_eq!(rest, [("a.txt".to_owned(), 5, "!".to_owned()), ("a.txt".to_owned(), 1509, "one".to_owned())]);
}

#[test]
fn lines_that_are_refused_are_done_like_others() {
    let dir = tempdir().unwrap();
    let long = "x".repeat(1500);
    fs::write(dir.path().join("a.txt"), format!("zero\n{long}\none\n{long}\n{long}\ntwo\n{long}")).unwrap();
    let mut task = start(dir.path(), &vec![]).unwrap();
    assert_eq!(task.exactly(7).len(), 7);
    let second = *task.open.keys().nth(1).unwrap();
    task.spout.give_up(second);
    task.ack(&["two"]);
    let saved = task.killed();
    let mut task = start(dir.path(), &saved).unwrap();
    let mut rest = task.rest();
    rest.sort_by_key(|message| message.1);
    assert_eq!(texts(&rest), ["zero", "one", "!", "!", "!"]);
    task.ack_all();
    assert_eq!(start(dir.path(), &task.killed()).unwrap().rest(), []);
}

#[test]
fn messages_with_a_dead_letter_are_passed_over() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "zero\none\ntwo\nthree\n").unwrap();
    let mut task = start(dir.path(), &vec![]).unwrap();
    task.rest();
    task.ack(&["two"]);
    let saved = task.killed();
    let mut task = start_share(dir.path(), (0, 1), false, &saved).unwrap();
    for (position, bytes) in [
        (json!({ "path": "a.txt", "offset": 0 }), "zero"),
        (json!({ "path": "a.txt", "offset": 13 }), "three"),
        (json!({ "path": "a.txt", "offset": 13 }), "three"),
        (json!({ "path": "a.txt", "offset": 5 }), "on"),
        (json!({ "path": "b.txt", "offset": 0 }), "zero"),
        (json!(17), ""),
        (json!(null), ""),
    ] {
        task.spout.pass_over(&position, bytes.as_bytes());
    }
    task.spout.activate().unwrap();
    assert_eq!(texts(&task.rest()), ["one"], "what has other bytes now is another message");
    task.ack_all();
    assert_eq!(start(dir.path(), &task.killed()).unwrap().rest(), []);
}

#[test]
fn what_was_saved_is_refused_if_it_is_not_whole() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "zero\none\ntwo").unwrap();
    let mut task = start(dir.path(), &vec![]).unwrap();
    task.rest();
    task.ack(&["zero", "two"]);
    let (_, whole) = task.killed().remove(0);
    for length in 0..whole.len() {
        match start(dir.path(), &vec![(0, whole[..length].to_vec())]) {
            Err(SpoutError::Environment(text)) => {
                assert!(text.contains("task 0") && text.contains("--reset"), "{text}");
            }
            _ => panic!("cut at {length} it was taken"),
        }
    }
    let text = String::from_utf8(whole).unwrap();
    for (from, to) in
        [("\"version\":1", "\"version\":9"), ("[5,6]", "[6,5]"), ("[9,10]", "[9]"), ("\"low\"", "\"l\"")]
    {
        if !text.contains(from) {
            continue;
        }
        let result = start(dir.path(), &vec![(0, text.replace(from, to).into_bytes())]);
        assert!(matches!(result, Err(SpoutError::Environment(_))), "{to}");
    }
}

#[test]
fn the_bytes_of_a_message_can_be_read_again() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, [b"zero\r\n\xff\xfe\n\n", &[b'x'; 1500][..], b"\nlast\r"].concat()).unwrap();
    let mut task = start(dir.path(), &vec![]).unwrap();
    let mut out = anchorbolt_core::port::SpoutOutput::new();
    while out.len() + out.refused.len() < 5 {
        task.spout.next(&mut out, 10).unwrap();
    }
    let mut ids: Vec<_> = out.ids.iter().flatten().copied().chain(out.refused.iter().map(|r| r.0)).collect();
    ids.sort();
    let bytes: Vec<Vec<u8>> = ids.iter().map(|id| task.spout.source_bytes(*id, &[])).collect();
    assert_eq!(bytes, [b"zero".to_vec(), b"\xff\xfe".to_vec(), vec![], vec![b'x'; 1000], b"last\r".to_vec()]);
    let row: &[u8] = b"\x91\xa4kept";
    assert_eq!(task.spout.source_bytes(ids[0], &[(0, row)]), b"kept", "another line is there now");
    fs::write(dir.path().join("b.txt"), "four\n").unwrap();
    fs::rename(dir.path().join("b.txt"), &path).unwrap();
    assert_eq!(task.spout.source_bytes(ids[0], &[]), b"", "what was refused is gone with its file");
    fs::remove_file(&path).unwrap();
    assert_eq!(task.spout.source_bytes(ids[0], &[(0, row)]), b"kept", "what is kept of it");
}
