//! `stdout`: whole lines, and a quiet end.

use crate::support::{context, execute, tuples, word};
use anchorbolt_core::port::Bolt;
use anchorbolt_host::sinks::{OutputClosed, StdoutSink};
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex};

/// Takes so many bytes, then fails once or for ever.
#[derive(Clone)]
struct Pipe {
    taken: Arc<Mutex<Vec<u8>>>,
    room: Arc<Mutex<usize>>,
    error: ErrorKind,
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut room = self.room.lock().unwrap();
        let n = bytes.len().min(*room).min(7);
        if n == 0 {
            return Err(self.error.into());
        }
        *room -= n;
        self.taken.lock().unwrap().extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn pipe(room: usize, error: ErrorKind) -> (Pipe, StdoutSink, OutputClosed) {
    let pipe = Pipe { taken: Arc::default(), room: Arc::new(Mutex::new(room)), error };
    let closed = OutputClosed::default();
    let mut sink = StdoutSink::over(pipe.clone(), closed.clone());
    sink.prepare(&context(&[&["w"]])).unwrap();
    (pipe, sink, closed)
}

#[test]
fn a_closed_pipe_sets_the_flag_and_settles_nothing() {
    let (_, mut sink, closed) = pipe(20, ErrorKind::BrokenPipe);
    assert_eq!(execute(&mut sink, &tuples(&[word("a")])).acked, [10]);
    assert!(!closed.is_closed());
    let settled = execute(&mut sink, &tuples(&[word("b"), word("c")]));
    assert!(settled.acked.is_empty() && settled.failed.is_empty());
    assert!(closed.is_closed());
}

#[test]
fn an_outage_leaves_no_half_line_behind() {
    let batch = tuples(&[word("first"), word("second"), word("third")]);
    for room in 0..60 {
        let (pipe, mut sink, closed) = pipe(room, ErrorKind::WouldBlock);
        let settled = execute(&mut sink, &batch);
        let (acked, failed) = (settled.acked.len(), settled.failed.len());
        assert!(matches!((acked, failed), (3, 0) | (0, 3)), "{acked} acked, {failed} failed");
        *pipe.room.lock().unwrap() = 3;
        execute(&mut sink, &batch);
        *pipe.room.lock().unwrap() = 1000;
        assert_eq!(execute(&mut sink, &batch).acked, [10, 11, 12]);
        let text = String::from_utf8(pipe.taken.lock().unwrap().clone()).unwrap();
        let whole = ["{\"w\":\"first\"}", "{\"w\":\"second\"}", "{\"w\":\"third\"}"];
        assert!(text.ends_with(&(whole.join("\n") + "\n")), "{room}: {text}");
        assert!(text.lines().all(|line| whole.contains(&line)), "{room}: {text}");
        assert!(!closed.is_closed(), "an outage is not the end");
    }
}
