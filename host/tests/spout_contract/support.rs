//! Driving a spout by hand.

use anchorbolt_core::failure::Failure;
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::manifest::kinds::{LineFormat, Lines, SpoutKind};
use anchorbolt_core::port::{Context, Next, Spout, SpoutContext, SpoutError, SpoutOutput, Waker};
use anchorbolt_host::spouts;
use anchorbolt_row::{Row, Value};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// More than any test's line.
pub(crate) const LIMIT: u64 = 1 << 20;

/// What a spout gave.
#[derive(Default)]
pub(crate) struct Got {
    pub(crate) ids: Vec<MessageId>,
    pub(crate) rows: Vec<Vec<u8>>,
    pub(crate) refused: Vec<(MessageId, Failure)>,
}

impl Got {
    /// Field 0 of each row: `s:` and a string, or `b:` and bytes.
    pub(crate) fn first_fields(&self) -> Vec<Vec<u8>> {
        let text = |row: &Vec<u8>| match Row::new(row).field(0) {
            Some(Value::Str(s)) => [b"s:", s.as_bytes()].concat(),
            Some(Value::Bin(b)) => [b"b:", b].concat(),
            other => panic!("neither a string nor binary: {other:?}"),
        };
        self.rows.iter().map(text).collect()
    }

    pub(crate) fn offsets(&self) -> Vec<u64> {
        self.ids.iter().map(|id| id.low()).collect()
    }

    /// All rows as a person would write them.
    pub(crate) fn shown(&self) -> Vec<String> {
        self.rows.iter().map(|row| format!("{:?}", Row::new(row))).collect()
    }
}

/// An opened spout with its waker.
pub(crate) struct Driven {
    pub(crate) spout: Box<dyn Spout>,
    pub(crate) woken: Receiver<()>,
    pub(crate) got: Got,
}

pub(crate) fn open_task(mut spout: Box<dyn Spout>, index: u32, count: u32) -> Result<Driven, SpoutError> {
    let (wake, woken) = channel();
    let context = Context {
        component: "lines".to_owned(),
        task: 7 + index,
        task_index: index,
        task_count: count,
        ..Context::default()
    };
    let waker = Waker::new(move || {
        wake.send(()).ok();
    });
    spout.open(SpoutContext { context, waker })?;
    spout.activate()?;
    Ok(Driven { spout, woken, got: Got::default() })
}

impl Driven {
    /// One call; what it gives is added to `got`.
    pub(crate) fn step(&mut self, budget: usize) -> Result<Next, SpoutError> {
        let mut out = SpoutOutput::new();
        let next = self.spout.next(&mut out, budget)?;
        self.got.rows.extend((0..out.len()).map(|i| out.row(i).to_vec()));
        self.got.ids.extend(out.ids.iter().flatten());
        self.got.refused.append(&mut out.refused);
        Ok(next)
    }

    /// Until it is done.
    pub(crate) fn finish(mut self) -> Result<Got, SpoutError> {
        loop {
            match self.step(1000)? {
                Next::Done => return Ok(self.got),
                Next::Idle(_) => self.wait(),
                Next::More => {}
            }
        }
    }

    pub(crate) fn wait(&self) {
        self.woken.recv_timeout(Duration::from_secs(20)).expect("it wakes");
    }

    /// Until so many messages came.
    pub(crate) fn until(&mut self, messages: usize) -> Result<(), SpoutError> {
        loop {
            let next = self.step(1000)?;
            if self.got.rows.len() + self.got.refused.len() >= messages {
                return Ok(());
            }
            if let Next::Idle(_) = next {
                self.wait();
            }
        }
    }
}

pub(crate) fn read_all(spout: Box<dyn Spout>) -> Result<Got, SpoutError> {
    open_task(spout, 0, 1)?.finish()
}

pub(crate) fn kind(paths: &[&str], format: LineFormat, follow: bool) -> SpoutKind {
    SpoutKind::Lines(Lines { path: paths.iter().map(|p| (*p).to_owned()).collect(), format, follow })
}

pub(crate) fn lines(base: &Path, paths: &[&str]) -> Box<dyn Spout> {
    spouts::open(&kind(paths, LineFormat::Line, false), base, LIMIT)
}

pub(crate) fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

/// The text of an input error.
pub(crate) fn input_error<T>(result: Result<T, SpoutError>) -> String {
    match result {
        Err(SpoutError::Input(text)) => text,
        Err(other) => panic!("another error: {other:?}"),
        Ok(_) => panic!("no error"),
    }
}
