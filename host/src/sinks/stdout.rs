//! The `stdout` sink: the lines of `jsonl` on standard output.
//!
//! In: tuples. Out: lines, each batch written before its acks leave. When nobody reads any more (a closed pipe) a
//! shared [`OutputClosed`] says so: the host ends the run quietly.
//!
//! Invariant: a line that was begun is finished before another begins, also when a write fails in the middle of
//! it. Its batch is retried then, so what was written of it may appear twice.

use super::OutputClosed;
use super::batch::Batch;
use anchorbolt_core::port::{Bolt, Collector, Context, Tuples};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;

/// The sink.
pub struct StdoutSink {
    output: Option<Box<dyn Write + Send>>,
    batch: Batch,
    /// What is still to be written of a line that was begun.
    rest: Vec<u8>,
    closed: OutputClosed,
}

impl StdoutSink {
    /// On standard output; tells `closed` once it is found closed.
    pub fn new(closed: OutputClosed) -> StdoutSink {
        StdoutSink { output: None, batch: Batch::default(), rest: Vec::new(), closed }
    }

    /// On another writer, which must not buffer: what it takes counts as written.
    pub fn over(output: impl Write + Send + 'static, closed: OutputClosed) -> StdoutSink {
        StdoutSink { output: Some(Box::new(output)), ..StdoutSink::new(closed) }
    }

    fn write(&mut self) -> io::Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        let rest = std::mem::take(&mut self.rest);
        if let Err((error, done)) = write_all(output, &rest) {
            self.rest = rest[done..].to_vec();
            return Err(error);
        }
        let text = self.batch.text();
        let Err((error, done)) = write_all(output, text) else { return output.flush() };
        let begun = done > 0 && text[done - 1] != b'\n';
        if begun {
            let end = memchr::memchr(b'\n', &text[done..]).map_or(text.len(), |end| done + end + 1);
            self.rest = text[done..end].to_vec();
        }
        Err(error)
    }
}

impl Bolt for StdoutSink {
    fn prepare(&mut self, context: &Context) -> Result<(), String> {
        self.batch = Batch::new(context);
        if self.output.is_none() {
            // A handle of its own: the standard library's buffers lines, and then nobody knows what was written.
            let own = io::stdout().as_fd().try_clone_to_owned();
            let file = own.map_err(|e| format!("can't write to standard output: {e}"))?;
            self.output = Some(Box::new(File::from(file)));
        }
        Ok(())
    }

    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        self.batch.encode(tuples, out);
        match self.write() {
            Ok(()) => self.batch.ack(out),
            // Nobody reads any more, and nobody will: the tuples stay unsettled while the run ends.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.closed.close(),
            Err(error) => {
                self.batch.retry(&format!("can't write to standard output: {error}"), out);
            }
        }
        Ok(())
    }
}

/// Writes all; an error comes with how much was written before it.
fn write_all(output: &mut impl Write, bytes: &[u8]) -> Result<(), (io::Error, usize)> {
    let mut done = 0;
    while done < bytes.len() {
        match output.write(&bytes[done..]) {
            Ok(0) => return Err((ErrorKind::WriteZero.into(), done)),
            Ok(n) => done += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err((error, done)),
        }
    }
    Ok(())
}
