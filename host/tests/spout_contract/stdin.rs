//! `stdin`: lines of a reader that may never end.

use crate::support::{LIMIT, open_task};
use anchorbolt_core::port::{Next, Spout, SpoutError};
use anchorbolt_host::spouts::StdinSpout;
use anchorbolt_host::spouts::contract::{Expected, check_spout};
use std::io::{self, Cursor, Read};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

fn over(text: &str) -> Box<dyn Spout> {
    Box::new(StdinSpout::over(Cursor::new(text.to_owned()), LIMIT))
}

#[test]
fn the_contract_holds() {
    check_spout(|| over(""), &Expected::messages(0).not_restartable());
    let text: String = (0..3000).map(|i| format!("line {i}\n")).collect();
    check_spout(|| over(&text), &Expected::messages(3000).not_restartable());
    check_spout(|| over("no line end"), &Expected::messages(1).not_restartable());
}

#[test]
fn lines_are_numbered_from_1() {
    let mut driven = open_task(over("a\n\nb"), 0, 1).unwrap();
    driven.until(3).unwrap();
    let places: Vec<_> = driven.got.ids.iter().map(|id| driven.spout.position(*id)).collect();
    let lines: Vec<_> = places.iter().map(|place| place["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [1, 2, 3]);
    // Another run's lines are other messages, so they must not take these ones' names.
    let run = places[0]["run"].as_str().unwrap();
    assert!(run.len() > 20 && places.iter().all(|place| place["run"] == run), "{run}");
    assert_eq!(driven.got.shown(), [r#"["a"]"#, r#"[""]"#, r#"["b"]"#]);
}

#[test]
fn only_the_first_task_reads() {
    let got = open_task(over("a\nb\n"), 1, 2).unwrap().finish().unwrap();
    assert!(got.rows.is_empty());
}

/// Waits for each piece.
struct Slow(Receiver<Vec<u8>>);

impl Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Ok(piece) = self.0.recv() else { return Ok(0) };
        if piece == b"!" {
            return Err(io::Error::other("the line is dead"));
        }
        buffer[..piece.len()].copy_from_slice(&piece);
        Ok(piece.len())
    }
}

#[test]
fn a_line_is_there_as_soon_as_it_was_typed_and_nothing_waits_for_the_next() {
    let (typed, source) = channel();
    let mut driven = open_task(Box::new(StdinSpout::over(Slow(source), LIMIT)), 0, 1).unwrap();
    assert_eq!(driven.step(10), Ok(Next::Idle(None)));
    typed.send(b"one\ntw".to_vec()).unwrap();
    driven.until(1).unwrap();
    typed.send(b"o\n".to_vec()).unwrap();
    driven.until(2).unwrap();
    assert_eq!(driven.got.shown(), [r#"["one"]"#, r#"["two"]"#]);
    let start = Instant::now();
    driven.spout.close();
    assert!(start.elapsed() < Duration::from_secs(1), "closing does not wait for who does not type");
}

#[test]
fn an_error_comes_after_the_lines_before_it() {
    let (typed, source) = channel();
    typed.send(b"one\ntwo\nthr".to_vec()).unwrap();
    typed.send(b"!".to_vec()).unwrap();
    let mut driven = open_task(Box::new(StdinSpout::over(Slow(source), LIMIT)), 0, 1).unwrap();
    let error = driven.until(3).unwrap_err();
    assert_eq!(driven.got.rows.len(), 2);
    assert!(matches!(error, SpoutError::Environment(text) if text.contains("the line is dead")));
}

/// A reader with a fault.
struct Panics;

impl Read for Panics {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        panic!("a fault of this reader")
    }
}

#[test]
fn a_reader_that_panics_does_not_leave_the_executor_waiting() {
    let driven = open_task(Box::new(StdinSpout::over(Panics, LIMIT)), 0, 1).unwrap();
    let error = driven.finish().err();
    assert!(matches!(error, Some(SpoutError::Environment(text)) if text.contains("reading thread ended")));
}
