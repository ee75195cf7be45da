//! `jsonl`: what is in the file, before and after.

use crate::support::{context, execute, jsonl, tuples, word};
use anchorbolt_core::manifest::kinds::{Fsync, SinkKind};
use anchorbolt_core::port::{Call, Collector};
use anchorbolt_host::sinks;
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;
use tempfile::tempdir;

/// Opens a sink on a file with this content, writes one line, and reads the file.
fn written_after(content: &[u8]) -> Vec<u8> {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("out"), content).unwrap();
    let mut sink = jsonl(dir.path(), "out", Fsync::Batch);
    sink.prepare(&context(&[&["w"]])).unwrap();
    assert_eq!(execute(&mut *sink, &tuples(&[word("new")])).acked, [10]);
    sink.cleanup().unwrap();
    fs::read(dir.path().join("out")).unwrap()
}

#[test]
fn it_appends_and_makes_folders() {
    let dir = tempdir().unwrap();
    for fsync in [Fsync::Never, Fsync::Batch, Fsync::Interval(Duration::from_millis(10))] {
        let mut sink = jsonl(dir.path(), "a/b/out.jsonl", fsync);
        sink.prepare(&context(&[&["w"]])).unwrap();
        execute(&mut *sink, &tuples(&[word("x"), word("y")]));
        sink.flush(&mut Collector::new(&mut Call::default())).unwrap();
        sleep(Duration::from_millis(30));
        sink.cleanup().unwrap();
    }
    let text = fs::read_to_string(dir.path().join("a/b/out.jsonl")).unwrap();
    assert_eq!(text, "{\"w\":\"x\"}\n{\"w\":\"y\"}\n".repeat(3));
}

#[test]
fn a_torn_last_line_is_cut_off() {
    let whole = b"{\"w\":\"old\"}\n".as_slice();
    let after = [whole, b"{\"w\":\"new\"}\n"].concat();
    let long = format!("{{\"w\":\"{}", "x".repeat(200_000));
    for torn in ["", "{", "{\"w\":\"ol", "{\"w\":\"old\"}", &long, "\0\0\0", &"\0".repeat(100_000)] {
        assert!(written_after(&[whole, torn.as_bytes()].concat()) == after, "{:?}", torn.get(..12));
    }
    assert_eq!(written_after(b"{\"w\":\"ol"), b"{\"w\":\"new\"}\n");
}

#[test]
fn a_file_that_is_not_ours_is_left_alone() {
    let dir = tempdir().unwrap();
    for content in ["my only copy", "line\nmy only copy", "\0\0asm"] {
        fs::write(dir.path().join("out"), content).unwrap();
        let mut sink = jsonl(dir.path(), "out", Fsync::Batch);
        let error = sink.prepare(&context(&[&["w"]])).unwrap_err();
        assert!(error.contains("can't write to `out`: it ends in the middle of a line"), "{error}");
        assert_eq!(fs::read_to_string(dir.path().join("out")).unwrap(), content);
    }
}

#[test]
fn a_path_that_can_be_no_file_is_an_error() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    for path in [".", "file/out"] {
        let error = jsonl(dir.path(), path, Fsync::Batch).prepare(&context(&[])).unwrap_err();
        assert!(error.starts_with(&format!("can't write to `{path}`: ")), "{error}");
    }
}

#[test]
fn two_sinks_do_not_share_a_file() {
    let dir = tempdir().unwrap();
    let mut first = jsonl(dir.path(), "out", Fsync::Never);
    first.prepare(&context(&[])).unwrap();
    let error = jsonl(dir.path(), "out", Fsync::Never).prepare(&context(&[])).unwrap_err();
    assert!(error.contains("another sink writes to it"), "{error}");
    drop(first);
    jsonl(dir.path(), "out", Fsync::Never).prepare(&context(&[])).unwrap();
}

#[test]
fn a_deleted_file_is_made_anew_and_an_emptied_one_goes_on() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("out");
    let mut sink = jsonl(dir.path(), "out", Fsync::Interval(Duration::from_millis(5)));
    sink.prepare(&context(&[&["w"]])).unwrap();
    execute(&mut *sink, &tuples(&[word("1")]));
    fs::remove_file(&path).unwrap();
    assert_eq!(execute(&mut *sink, &tuples(&[word("2")])).acked, [10]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"w\":\"2\"}\n");
    OpenOptions::new().write(true).truncate(true).open(&path).unwrap();
    assert_eq!(execute(&mut *sink, &tuples(&[word("3")])).acked, [10]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"w\":\"3\"}\n");
}

#[test]
fn nothing_in_a_batch_is_nothing_in_the_log() {
    let dir = tempdir().unwrap();
    for kind in
        [SinkKind::Null, SinkKind::Stdout, SinkKind::Jsonl { path: "o".to_owned(), fsync: Fsync::Never }]
    {
        let mut sink = sinks::open(&kind, dir.path(), &Default::default());
        sink.prepare(&context(&[&["w"]])).unwrap();
        assert!(execute(&mut *sink, &tuples(&[])).acked.is_empty());
    }
}

#[test]
fn null_acks_all() {
    let mut sink = sinks::open(&SinkKind::Null, Path::new("."), &Default::default());
    sink.prepare(&context(&[&["w"]])).unwrap();
    let rows: Vec<_> = (0..500).map(|i| word(&i.to_string())).collect();
    assert_eq!(execute(&mut *sink, &tuples(&rows)).acked, (10..510).collect::<Vec<_>>());
}
