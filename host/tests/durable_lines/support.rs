//! A spout driven by hand.

use anchorbolt_core::ids::MessageId;
use anchorbolt_core::manifest::kinds::{LineFormat, Lines};
use anchorbolt_core::port::{Context, Next, Spout, SpoutContext, SpoutError, SpoutOutput, Waker};
use anchorbolt_host::spouts::LinesSpout;
use anchorbolt_row::{Row, Value};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The most bytes of a line.
pub(crate) const LIMIT: u64 = 1000;

/// What each task saved.
pub(crate) type Saved = Vec<(u32, Vec<u8>)>;

/// One task of a spout.
pub(crate) struct Task {
    pub(crate) spout: LinesSpout,
    woken: Receiver<()>,
    /// What came and is not acked: its file and place, and its text; of a refused one `!`.
    pub(crate) open: BTreeMap<MessageId, (String, u64, String)>,
    pub(crate) ended: bool,
}

pub(crate) fn start_share(
    base: &Path,
    (task, tasks): (u32, u32),
    follow: bool,
    saved: &Saved,
) -> Result<Task, SpoutError> {
    let options = Lines { path: vec!["*.txt".to_owned()], format: LineFormat::Line, follow };
    let mut spout = LinesSpout::new(options, base, LIMIT);
    let (wake, woken) = channel();
    let waker = Waker::new(move || {
        wake.send(()).ok();
    });
    let context = Context { task_index: task, task_count: tasks, task: task + 1, ..Context::default() };
    spout.open(SpoutContext { context, waker })?;
    spout.restore(saved)?;
    Ok(Task { spout, woken, open: BTreeMap::new(), ended: false })
}

/// The only task, activated.
pub(crate) fn start(base: &Path, saved: &Saved) -> Result<Task, SpoutError> {
    let mut task = start_share(base, (0, 1), false, saved)?;
    task.spout.activate()?;
    Ok(task)
}

impl Task {
    /// Up to so many messages; answers their files and places and texts.
    pub(crate) fn take(&mut self, budget: usize) -> Vec<(String, u64, String)> {
        let mut out = SpoutOutput::new();
        let next = self.spout.next(&mut out, budget).unwrap();
        let mut came: Vec<(MessageId, String)> = Vec::new();
        for i in 0..out.len() {
            let text = match Row::new(out.row(i)).field(0) {
                Some(Value::Str(text)) => text.to_owned(),
                other => panic!("no text: {other:?}"),
            };
            came.push((out.ids[i].unwrap(), text));
        }
        came.extend(out.refused.iter().map(|(id, _)| (*id, "!".to_owned())));
        let mut taken = Vec::new();
        for (id, text) in came {
            let position = self.spout.position(id);
            let path = position["path"].as_str().unwrap().to_owned();
            let message = (path, position["offset"].as_u64().unwrap(), text);
            assert!(self.open.insert(id, message.clone()).is_none(), "{message:?} came twice in one run");
            taken.push(message);
        }
        match next {
            Next::Done => self.ended = true,
            Next::Idle(_) if taken.is_empty() => {
                self.woken.recv_timeout(Duration::from_secs(20)).expect("it wakes");
            }
            _ => {}
        }
        taken
    }

    /// All that is left.
    pub(crate) fn rest(&mut self) -> Vec<(String, u64, String)> {
        let mut all = Vec::new();
        while !self.ended {
            all.append(&mut self.take(100));
        }
        all
    }

    /// Exactly so many.
    pub(crate) fn exactly(&mut self, messages: usize) -> Vec<(String, u64, String)> {
        let mut all = Vec::new();
        while all.len() < messages {
            assert!(!self.ended, "it ended after {}", all.len());
            all.append(&mut self.take(messages - all.len()));
        }
        all
    }

    /// The messages with these texts are done.
    pub(crate) fn ack(&mut self, texts: &[&str]) {
        let is_meant = |message: &(String, u64, String)| texts.contains(&message.2.as_str());
        let ids: Vec<MessageId> = self.open.iter().filter(|(_, m)| is_meant(m)).map(|(id, _)| *id).collect();
        assert_eq!(ids.len(), texts.len());
        self.ack_ids(&ids);
    }

    pub(crate) fn ack_ids(&mut self, ids: &[MessageId]) {
        self.spout.ack(ids);
        for id in ids {
            self.open.remove(id);
        }
    }

    pub(crate) fn ack_all(&mut self) {
        let ids: Vec<MessageId> = self.open.keys().copied().collect();
        self.ack_ids(&ids);
    }

    /// Saves and is killed.
    pub(crate) fn killed(mut self) -> Saved {
        vec![(0, self.spout.snapshot().unwrap())]
    }

    /// What is saved, as a person sees it.
    pub(crate) fn shown(&mut self) -> serde_json::Value {
        serde_json::from_slice(&self.spout.snapshot().unwrap()).unwrap()
    }
}

pub(crate) fn texts(messages: &[(String, u64, String)]) -> Vec<&str> {
    messages.iter().map(|(_, _, text)| text.as_str()).collect()
}

pub(crate) fn append(path: &Path, text: &str) {
    OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// The text of an input error.
pub(crate) fn input_error<T>(result: Result<T, SpoutError>) -> String {
    match result {
        Err(SpoutError::Input(text)) => text,
        Err(other) => panic!("another error: {other:?}"),
        Ok(_) => panic!("no error"),
    }
}
