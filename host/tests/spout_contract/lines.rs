//! `lines`: what is a line, and what is it called.

use crate::support::{LIMIT, kind, lines, open_task, read_all};
use anchorbolt_core::manifest::kinds::LineFormat;
use anchorbolt_core::port::Next;
use anchorbolt_host::spouts::contract::{Expected, check_spout};
use anchorbolt_host::spouts::{self};
use anchorbolt_row::write_row;
use std::fs;
use tempfile::tempdir;

fn read(content: &[u8]) -> (Vec<String>, Vec<u64>) {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), content).unwrap();
    let got = read_all(lines(dir.path(), &["a.txt"])).unwrap();
    assert!(got.refused.is_empty());
    (got.shown(), got.offsets())
}

#[test]
fn the_contract_holds() {
    let dir = tempdir().unwrap();
    let text: Vec<String> = (0..5000).map(|i| format!("line {i} {}", "x".repeat(i % 90))).collect();
    let (a, b) = text.split_at(1234);
    fs::write(dir.path().join("a.txt"), a.join("\n") + "\n").unwrap();
    fs::write(dir.path().join("b.txt"), b.join("\r\n")).unwrap();
    let rows = text.iter().map(|line| {
        let mut row = Vec::new();
        write_row(&mut row, |row| {
            row.str(line);
        });
        row
    });
    check_spout(|| lines(dir.path(), &["*.txt"]), &Expected::messages(5000).rows(rows.collect()));
}

#[test]
fn the_contract_holds_for_a_source_with_nothing_in_it() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("empty"), "").unwrap();
    check_spout(|| lines(dir.path(), &["empty"]), &Expected::messages(0));
}

#[test]
fn line_ends_are_taken_off_and_empty_lines_are_messages() {
    let (rows, offsets) = read(b"one\r\n\n\r\ntwo\rtwo\nlast");
    assert_eq!(rows, [r#"["one"]"#, r#"[""]"#, r#"[""]"#, r#"["two\rtwo"]"#, r#"["last"]"#]);
    assert_eq!(offsets, [0, 5, 6, 8, 16]);
}

#[test]
fn a_carriage_return_at_the_end_of_the_file_is_part_of_the_line() {
    assert_eq!(read(b"a\nb\r").0, [r#"["a"]"#, r#"["b\r"]"#]);
}

#[test]
fn unicode_is_a_string_and_anything_else_is_binary() {
    let text = "Grüße, 世界 🦀 e\u{301}\u{2028}still the same line\u{85}and still\u{b}";
    let content = [text.as_bytes(), b"\n\xff\xfe\n", "ok é\n".as_bytes(), b"cut \xc3\n\xa9"].concat();
    let (rows, _) = read(&content);
    assert_eq!(rows[0], format!("[{text:?}]"));
    assert_eq!(rows[1..], [r#"[b"\xff\xfe"]"#, r#"["ok é"]"#, r#"[b"cut \xc3"]"#, r#"[b"\xa9"]"#]);
}

#[test]
fn nul_bytes_and_words_of_300_characters_pass() {
    let word = "ä".repeat(300);
    let (rows, _) = read(format!("a\0b\n{word} {word}\n").as_bytes());
    assert_eq!(rows, [r#"["a\0b"]"#.to_owned(), format!("[\"{word} {word}\"]")]);
}

#[test]
fn positions_name_the_path_and_the_byte() {
    let dir = tempdir().unwrap();
    fs::create_dir(dir.path().join("docs")).unwrap();
    fs::write(dir.path().join("docs/b.md"), "one\ntwo\n").unwrap();
    fs::write(dir.path().join("docs/a.md"), "x\n").unwrap();
    let mut driven = open_task(lines(dir.path(), &["docs/*.md"]), 0, 1).unwrap();
    driven.until(3).unwrap();
    let places = driven.got.ids.iter().map(|id| driven.spout.position(*id).to_string());
    assert_eq!(
        places.collect::<Vec<_>>(),
        [
            r#"{"path":"docs/a.md","offset":0}"#,
            r#"{"path":"docs/b.md","offset":0}"#,
            r#"{"path":"docs/b.md","offset":4}"#
        ]
    );
}

#[test]
fn files_are_dealt_out_to_the_tasks() {
    let dir = tempdir().unwrap();
    for i in 0..5 {
        fs::write(dir.path().join(format!("{i}.txt")), format!("of {i}\n")).unwrap();
    }
    let task =
        |index, count| open_task(lines(dir.path(), &["*.txt"]), index, count).unwrap().finish().unwrap();
    assert_eq!(task(0, 2).shown(), [r#"["of 0"]"#, r#"["of 2"]"#, r#"["of 4"]"#]);
    assert_eq!(task(1, 2).ids.iter().map(|id| id.high()).collect::<Vec<_>>(), [1, 3]);
    assert!(task(6, 8).rows.is_empty(), "a task without a file is done");
}

#[test]
fn what_waits_is_bounded_while_nobody_takes_it() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, "a line of some length\n".repeat(1_000_000)).unwrap();
    let spout = spouts::open(&kind(&["a.txt"], LineFormat::Line, false), dir.path(), LIMIT);
    let mut driven = open_task(spout, 0, 1).unwrap();
    driven.until(1).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    // The reader has stopped far before the end: what it did not read can still be taken away from it.
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(11_000_000).unwrap();
    let mut most = 0;
    let got = loop {
        let before = driven.got.rows.len();
        match driven.step(usize::MAX).unwrap() {
            Next::Done => break driven.got,
            Next::Idle(_) => driven.wait(),
            Next::More => {}
        }
        most = most.max(driven.got.rows.len() - before);
    };
    assert_eq!(got.rows.len(), 500_000);
    assert!(most < 100_000, "{most} messages in one call");
}
