//! `lines` with `follow`: it waits for more.

use crate::support::{LIMIT, input_error, kind, open_task};
use anchorbolt_core::manifest::kinds::LineFormat;
use anchorbolt_core::port::Next;
use anchorbolt_host::spouts;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::tempdir;

fn follow(base: &Path, limit: u64) -> crate::support::Driven {
    open_task(spouts::open(&kind(&["*.log"], LineFormat::Line, true), base, limit), 0, 1).unwrap()
}

fn append(path: &Path) -> File {
    OpenOptions::new().append(true).create(true).open(path).unwrap()
}

#[test]
fn a_partial_line_waits_for_its_end() {
    let dir = tempdir().unwrap();
    let (a, b) = (dir.path().join("a.log"), dir.path().join("b.log"));
    append(&a).write_all(b"one\ntw").unwrap();
    append(&b);
    let mut driven = follow(dir.path(), LIMIT);
    assert!(!driven.spout.finite());
    driven.until(1).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(driven.step(10), Ok(Next::Idle(None)));
    append(&a).write_all(b"o\r").unwrap();
    append(&b).write_all(b"of b\n").unwrap();
    driven.until(2).unwrap();
    append(&a).write_all(b"\nthree\n").unwrap();
    driven.until(4).unwrap();
    assert_eq!(driven.got.shown(), [r#"["one"]"#, r#"["of b"]"#, r#"["two"]"#, r#"["three"]"#]);
    assert_eq!(driven.got.offsets(), [0, 0, 4, 9]);
    let start = Instant::now();
    driven.spout.close();
    assert!(start.elapsed() < Duration::from_secs(5), "closing waits for nothing");
}

#[test]
fn a_line_over_the_limit_is_measured_across_pauses() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.log");
    append(&path).write_all(&[b'x'; 300]).unwrap();
    let mut driven = follow(dir.path(), 100);
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(300));
        append(&path).write_all(&[b'x'; 300]).unwrap();
    }
    append(&path).write_all(b"\r\nok\n").unwrap();
    driven.until(2).unwrap();
    let (id, failure) = &driven.got.refused[0];
    assert_eq!(id.low(), 0);
    assert!(failure.reason.contains("900 bytes") && failure.reason.contains("100"), "{}", failure.reason);
    assert_eq!((driven.got.shown(), driven.got.offsets()), (vec![r#"["ok"]"#.to_owned()], vec![902]));
}

#[test]
fn a_rotated_or_emptied_file_is_an_error() {
    for rotate in [true, false] {
        let dir = tempdir().unwrap();
        let path = dir.path().join("a.log");
        append(&path).write_all(b"one\ntwo\n").unwrap();
        let mut driven = follow(dir.path(), LIMIT);
        driven.until(2).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        if rotate {
            fs::rename(&path, dir.path().join("a.log.1")).unwrap();
            append(&path).write_all(b"new\n").unwrap();
        } else {
            File::create(&path).unwrap();
        }
        let text = input_error(driven.until(3));
        assert!(text.contains("`a.log`") && text.contains("--reset"), "{text}");
        assert!(input_error(driven.step(1)).contains("--reset"), "it stays so");
    }
}
