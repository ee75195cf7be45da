//! Where a guest's standard output and error go: a bounded sink that never fails.
//!
//! Bytes come in; whole cleaned lines go out to the log, and the last few KiB stay as the guest's last
//! words. A sink that refuses or waits would make the guest panic or hang, so it takes everything and keeps
//! little.

use crate::events::{Events, Printed};
use crate::text;
use bytes::Bytes;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// How much of the end of a call's output is kept.
const LAST_WORDS_MAX: usize = 4096;
/// A longer line is cut into several.
const LINE_MAX: usize = 1024;
/// What one write may bring.
const WRITE_MAX: usize = 64 << 10;

/// The output of one instance.
#[derive(Clone)]
pub(crate) struct Output(Arc<Shared>);

struct Shared {
    /// Whether anything was captured in this call: most calls print nothing and need no lock.
    used: AtomicBool,
    capture: Mutex<Capture>,
}

struct Capture {
    events: Arc<Events>,
    /// Unfinished lines of standard output and standard error.
    partial: [Vec<u8>; 2],
    last_words: VecDeque<String>,
    bytes: usize,
}

/// One of the two streams of an output.
#[derive(Clone)]
pub(crate) struct Sink {
    output: Output,
    stream: usize,
}

impl Output {
    pub(crate) fn new(events: Arc<Events>) -> Output {
        let capture = Capture { events, partial: [vec![], vec![]], last_words: VecDeque::new(), bytes: 0 };
        Output(Arc::new(Shared { used: AtomicBool::new(false), capture: Mutex::new(capture) }))
    }

    pub(crate) fn stdout(&self) -> Sink {
        Sink { output: self.clone(), stream: 0 }
    }

    pub(crate) fn stderr(&self) -> Sink {
        Sink { output: self.clone(), stream: 1 }
    }

    /// A new call begins: what was printed before are not its last words.
    pub(crate) fn begin_call(&self) {
        if self.0.used.load(Ordering::Relaxed) {
            let mut capture = self.lock();
            capture.last_words.clear();
            capture.bytes = 0;
            self.0.used.store(false, Ordering::Relaxed);
        }
    }

    /// A line that reached the log by another way belongs to the last words too.
    pub(crate) fn note(&self, line: String) {
        self.0.used.store(true, Ordering::Relaxed);
        self.lock().remember(line);
    }

    /// The end of what the call printed, its unfinished lines included.
    pub(crate) fn last_words(&self) -> String {
        let mut capture = self.lock();
        for stream in [0, 1] {
            capture.end_line(stream);
        }
        let mut words = String::with_capacity(capture.bytes);
        for line in &capture.last_words {
            words.push_str(line);
            words.push('\n');
        }
        words.truncate(words.trim_end().len());
        words
    }

    fn lock(&self) -> MutexGuard<'_, Capture> {
        self.0.capture.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Capture {
    fn write(&mut self, stream: usize, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|&b| b == b'\n') {
            let (text, ends) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            for part in text.chunks(LINE_MAX) {
                if self.partial[stream].len() + part.len() > LINE_MAX {
                    self.end_line(stream);
                }
                self.partial[stream].extend_from_slice(part);
            }
            if ends {
                self.end_line(stream);
            }
        }
    }

    fn end_line(&mut self, stream: usize) {
        if self.partial[stream].is_empty() {
            return;
        }
        let line = text::clean(&String::from_utf8_lossy(&self.partial[stream]));
        self.partial[stream].clear();
        self.events.print(if stream == 0 { Printed::Out } else { Printed::Err }, &line);
        self.remember(line);
    }

    fn remember(&mut self, line: String) {
        self.bytes += line.len() + 1;
        self.last_words.push_back(line);
        while self.bytes > LAST_WORDS_MAX {
            let Some(oldest) = self.last_words.pop_front() else { break };
            self.bytes -= oldest.len() + 1;
        }
    }
}

impl Drop for Capture {
    /// What an instance printed last may lack a line's end.
    fn drop(&mut self) {
        self.end_line(0);
        self.end_line(1);
    }
}

impl Sink {
    fn take(&self, bytes: &[u8]) {
        self.output.0.used.store(true, Ordering::Relaxed);
        self.output.lock().write(self.stream, bytes);
    }
}

impl IsTerminal for Sink {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Sink {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for Sink {
    async fn ready(&mut self) {}
}

#[async_trait]
impl OutputStream for Sink {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.take(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_MAX)
    }
}

impl AsyncWrite for Sink {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.take(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Silent;
    use crate::limits::test_limits;

    fn output() -> Output {
        Output::new(Arc::new(Events::new(Arc::new(Silent), &test_limits())))
    }

    #[test]
    fn the_end_is_kept_within_its_bound() {
        let output = output();
        for i in 0..10_000 {
            output.stdout().take(format!("line {i}\n").as_bytes());
        }
        output.stderr().take(b"thread 'main' panicked at ");
        output.stdout().take(b"between");
        output.stderr().take(b"x.rs:1:1:\n");
        let words = output.last_words();
        assert!(words.len() <= LAST_WORDS_MAX);
        assert!(words.ends_with("line 9999\nthread 'main' panicked at x.rs:1:1:\nbetween"), "{words}");
        output.begin_call();
        assert_eq!(output.last_words(), "");
    }

    #[test]
    fn a_line_without_end_is_cut_and_rubbish_is_cleaned() {
        let output = output();
        output.stdout().take(&vec![b'x'; 1 << 20]);
        assert!(output.last_words().len() <= LAST_WORDS_MAX);
        output.begin_call();
        output.stderr().take(b"\xff\x1b[2Jok\r\n");
        assert_eq!(output.last_words(), "\u{fffd}ok");
    }
}
