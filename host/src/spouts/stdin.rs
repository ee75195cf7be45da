//! The `stdin` spout: standard input, line by line.
//!
//! In: any [`Read`], by a thread of its own, since a read may wait for ever. Out: one message a line with the
//! field `line`; its id is the line's number, from 1, its
//! position `{"run", "line"}`: when the process began, and that number. The host keeps a line until it is done, but
//! a new process can't read it again, which is said once.
//!
//! Invariant: task 0 alone reads; any other task is done at once.

use super::feed::{Closed, Feed, Feeder, feed};
use super::splitter::Splitter;
use super::taker::{LineTaker, Numbering, line_of, revive};
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::manifest::kinds::LineFormat;
use anchorbolt_core::port::{Next, Spout, SpoutContext, SpoutError, SpoutOutput};
use serde_json::{Value, json};
use std::io::{self, Read};
use std::thread::Builder;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The spout.
pub struct StdinSpout<R> {
    source: Option<R>,
    tuple_bytes_max: u64,
    format: LineFormat,
    taker: Option<LineTaker>,
    feed: Option<Feed>,
    /// Another run's lines are others: so its dead letters are, too.
    run: String,
}

impl StdinSpout<io::Stdin> {
    /// A spout over the process's standard input, with lines of up to `tuple_bytes_max` bytes.
    pub fn new(tuple_bytes_max: u64) -> StdinSpout<io::Stdin> {
        StdinSpout::over(io::stdin(), tuple_bytes_max)
    }
}

impl<R: Read + Send + 'static> StdinSpout<R> {
    /// The same over another source.
    pub fn over(source: R, tuple_bytes_max: u64) -> StdinSpout<R> {
        let now = OffsetDateTime::now_utc();
        let run = now.replace_nanosecond(u32::from(now.millisecond()) * 1_000_000).unwrap_or(now);
        let run = run.format(&Rfc3339).unwrap_or_default();
        StdinSpout {
            source: Some(source),
            tuple_bytes_max,
            format: LineFormat::Line,
            taker: None,
            feed: None,
            run,
        }
    }

    /// The same with lines of another format; its fields are then those that the spout has to declare.
    #[must_use]
    pub fn of_format(mut self, format: LineFormat) -> StdinSpout<R> {
        self.format = format;
        self
    }
}

impl<R: Read + Send + 'static> Spout for StdinSpout<R> {
    fn open(&mut self, context: SpoutContext) -> Result<(), SpoutError> {
        let SpoutContext { context, waker } = context;
        if context.task_index != 0 {
            self.source = None;
            return Ok(());
        }
        let (feeder, feed) = feed(waker);
        let limit = self.tuple_bytes_max;
        let taker = LineTaker::new(feeder, self.format.clone(), Numbering::Line(0), limit);
        self.taker = Some(taker.of_task(&context));
        self.feed = Some(feed);
        Ok(())
    }

    fn activate(&mut self) -> Result<(), SpoutError> {
        let (Some(source), Some(taker)) = (self.source.take(), self.taker.take()) else { return Ok(()) };
        tracing::warn!(
            "standard input can't be read again: lines that are not done when this process dies are lost"
        );
        let splitter = Splitter::new(self.tuple_bytes_max);
        Builder::new()
            .name("stdin-reader".to_owned())
            .spawn(move || run(source, splitter, taker))
            .map(drop)
            .map_err(|e| SpoutError::Environment(format!("can't start a thread for standard input: {e}")))
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        match &mut self.feed {
            Some(feed) => feed.next(out, budget),
            None => Ok(Next::Done),
        }
    }

    fn ack(&mut self, _ids: &[MessageId]) {}

    /// The reading thread may wait for input for ever, so nobody waits for it: it ends at its next hand-over.
    fn close(&mut self) {
        self.source = None;
        self.taker = None;
        if let Some(feed) = self.feed.take() {
            feed.stop();
        }
    }

    fn position(&self, id: MessageId) -> Value {
        json!({ "run": self.run, "line": id.low() })
    }

    fn source_bytes(&self, _id: MessageId, rows: &[(u32, &[u8])]) -> Vec<u8> {
        line_of(&self.format, rows)
    }

    fn revive(&mut self, id: MessageId, bytes: &[u8], out: &mut SpoutOutput) -> Result<(), String> {
        revive(&self.format, id, bytes, out)
    }

    fn unique_ids(&self) -> bool {
        true
    }

    fn finite(&self) -> bool {
        true
    }
}

fn run(source: impl Read, splitter: Splitter, taker: LineTaker) {
    if let Ok((feeder, end)) = read(source, splitter, taker) {
        feeder.finish(end);
    }
}

/// Reads to the end, or to an error.
fn read(
    mut source: impl Read,
    mut splitter: Splitter,
    mut taker: LineTaker,
) -> Result<(Feeder, Result<(), SpoutError>), Closed> {
    taker.source(0, "standard input")?;
    let end = loop {
        match splitter.fill(&mut source) {
            Ok(0) => break Ok(()),
            Ok(_) => splitter.split(&mut taker)?,
            Err(e) => break Err(SpoutError::Environment(format!("can't read standard input: {e}"))),
        }
        // Whoever types waits for an answer: nothing is held back for a fuller block.
        taker.feeder().push()?;
    };
    if end.is_ok() {
        splitter.finish(&mut taker)?;
    }
    Ok((taker.into_feeder(), end))
}
