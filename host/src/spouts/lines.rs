//! The `lines` spout: files, line by line.
//!
//! In: paths and globs, and what a line is. Out: one message a line, whose id is the pair (number of the file,
//! byte offset of the line) and whose position is `{"path", "offset"}`. A thread reads ahead into a bounded
//! exchange, so `next` never waits for a disk.
//!
//! The files are numbered in the order of their names, and dealt out: task i of n takes the files whose number
//! is i modulo n. With `follow` a file's end is looked at again every 200 ms, by the reading thread; a last line
//! waits for its line end. Names are looked up once, when the spout is opened.
//!
//! What is done is kept for each file (`progress`), saved with what the file is known by (`saved`), and passed over
//! after a restart if it is still that file (`resume`).
//!
//! Invariant: a file is read only while it is the one that was opened first, by inode and fingerprint.

mod progress;
mod reading;
mod resume;
mod saved;

use super::feed::{Feed, feed};
use super::files::{self, FileIdentity, InputFile};
use super::splitter::Splitter;
use super::taker::{LineTaker, Numbering, line_of, revive, row_of};
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::manifest::kinds::Lines;
use anchorbolt_core::port::{Context, Next, Spout, SpoutContext, SpoutError, SpoutOutput, Waker};
use parking_lot::Mutex;
use progress::Progress;
use reading::{ReadFile, Reading, Seen};
use resume::{Begin, Restored};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// The spout.
pub struct LinesSpout {
    options: Lines,
    base: PathBuf,
    tuple_bytes_max: u64,
    files: Vec<InputFile>,
    /// This task and how many there are.
    share: (usize, usize),
    /// What the reading thread will start with.
    ready: Option<Reading>,
    /// Where to begin with each file of this task.
    begin: Vec<Begin>,
    progress: Option<Progress>,
    feed: Option<Feed>,
    thread: Option<JoinHandle<()>>,
}

impl LinesSpout {
    /// A spout over files whose paths are relative to `base`, with lines of up to `tuple_bytes_max` bytes, their
    /// ends not counted.
    pub fn new(options: Lines, base: &Path, tuple_bytes_max: u64) -> LinesSpout {
        LinesSpout {
            options,
            base: base.to_owned(),
            tuple_bytes_max,
            files: Vec::new(),
            share: (0, 1),
            ready: None,
            begin: Vec::new(),
            progress: None,
            feed: None,
            thread: None,
        }
    }

    /// The files of all tasks in the order of their numbers, once it is open.
    pub fn files(&self) -> &[InputFile] {
        &self.files
    }

    /// The bytes of the line at this place, without its end; of one over the limit the first.
    fn line(&self, number: usize, at: u64) -> Result<Vec<u8>, String> {
        let file = self.files.get(number).ok_or("it has no such file")?;
        let opened = files::open(file)?;
        files::line_at(&opened, at, self.tuple_bytes_max).map_err(|error| error.to_string())
    }

    /// Whether a file is the one that was read, as far as this place.
    fn is_unchanged(&self, number: usize, at: u64) -> bool {
        let Some(file) = self.files.get(number) else { return false };
        let identity = self.place(number).and_then(|place| self.progress.as_ref()?.identity(place));
        let unchanged = |identity: FileIdentity| {
            let opened = files::open(file).ok()?;
            identity.change(&opened, at).ok().map(|change| change.is_none())
        };
        identity.and_then(unchanged).unwrap_or(false)
    }

    /// Which of this task's files has this number.
    fn place(&self, number: usize) -> Option<usize> {
        let (task, tasks) = self.share;
        (number % tasks == task).then_some(number / tasks)
    }

    fn get_ready(&mut self, mine: Vec<ReadFile>, context: &Context, waker: Waker) {
        let (feeder, feed) = feed(waker);
        let format = self.options.format.clone();
        let taker = LineTaker::new(feeder, format, Numbering::Offset, self.tuple_bytes_max).of_task(context);
        let splitter = Splitter::new(self.tuple_bytes_max);
        let seen = mine.iter().map(|file| Seen { identity: file.identity.clone(), end: None });
        let seen = Arc::new(Mutex::new(seen.collect()));
        let names = mine.iter().map(|file| file.file.shown.clone());
        self.progress = Some(Progress::new(self.share, names, Arc::clone(&seen)));
        self.begin = vec![Begin::default(); mine.len()];
        self.ready = Some(Reading { files: mine, follow: self.options.follow, splitter, taker, seen });
        self.feed = Some(feed);
    }
}

impl Spout for LinesSpout {
    fn open(&mut self, context: SpoutContext) -> Result<(), SpoutError> {
        self.files = files::expand(&self.options.path, &self.base).map_err(SpoutError::Input)?;
        let SpoutContext { context, waker } = context;
        let (task, tasks) = (context.task_index as usize, context.task_count.max(1) as usize);
        self.share = (task, tasks);
        let (mut mine, mut problems) = (Vec::new(), Vec::new());
        for (number, file) in self.files.iter().enumerate().skip(task).step_by(tasks) {
            match ReadFile::new(number, file.clone()) {
                Ok(file) => mine.push(file),
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(SpoutError::Input(files::list(&problems)));
        }
        self.get_ready(mine, &context, waker);
        Ok(())
    }

    fn restore(&mut self, saved: &[(u32, Vec<u8>)]) -> Result<(), SpoutError> {
        let restored = Restored::new(saved, self.options.follow).map_err(SpoutError::Environment)?;
        let mut problems = restored.gone(&self.files);
        for (file, begin) in self.files.iter().skip(self.share.0).step_by(self.share.1).zip(&mut self.begin) {
            match restored.begin(file) {
                Ok(found) => *begin = found,
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(SpoutError::Input(files::list(&problems)));
        }
        let (task, tasks) = self.share;
        let carried = restored.carried(task as u32, tasks as u32, &self.files);
        if let Some(progress) = &mut self.progress {
            progress.carry(carried);
        }
        Ok(())
    }

    fn pass_over(&mut self, position: &Value, bytes: &[u8]) {
        let (Some(path), Some(offset)) = (position["path"].as_str(), position["offset"].as_u64()) else {
            return;
        };
        let Some(number) = resume::number(&self.files, path) else { return };
        let Some(place) = self.place(number) else { return };
        if self.begin.get(place).is_none_or(|begin| begin.done.is_done(offset)) {
            return;
        }
        // A line that has grown since, or one of another file, is another message.
        let same = self.line(number, offset).is_ok_and(|line| line == bytes);
        if let Some(begin) = self.begin.get_mut(place).filter(|_| same) {
            begin.over.push(offset);
        }
    }

    fn snapshot(&mut self) -> Option<Vec<u8>> {
        self.progress.as_mut().map(Progress::snapshot)
    }

    fn saved(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress.saved();
        }
    }

    fn outstanding(&self) -> u64 {
        self.progress.as_ref().map_or(0, Progress::outstanding)
    }

    fn is_crowded(&self) -> bool {
        self.progress.as_ref().is_some_and(Progress::is_crowded)
    }

    fn source_bytes(&self, id: MessageId, rows: &[(u32, &[u8])]) -> Vec<u8> {
        let number = usize::try_from(id.high()).unwrap_or(usize::MAX);
        let line = self.line(number, id.low());
        let format = &self.options.format;
        match (line, rows) {
            // What was refused has no row to compare with.
            (Ok(line), []) if self.is_unchanged(number, id.low()) => line,
            (Ok(line), [(_, row), ..]) if row_of(format, &line).is_ok_and(|found| found == *row) => line,
            // Another file has its place, or none.
            _ => {
                tracing::warn!(
                    at = id.low(),
                    "a line is not in its file any more; its letter has what is left of it"
                );
                if rows.is_empty() { vec![] } else { line_of(format, rows) }
            }
        }
    }

    fn revive(&mut self, id: MessageId, bytes: &[u8], out: &mut SpoutOutput) -> Result<(), String> {
        revive(&self.options.format, id, bytes, out)
    }

    fn activate(&mut self) -> Result<(), SpoutError> {
        let Some(mut reading) = self.ready.take() else { return Ok(()) };
        for (number, (file, mut begin)) in
            reading.files.iter_mut().zip(std::mem::take(&mut self.begin)).enumerate()
        {
            begin.settle();
            if let Some(progress) = &mut self.progress {
                progress.restore(number, &begin).map_err(SpoutError::Environment)?;
            }
            file.resume(begin.place(), begin.done);
        }
        let thread = Builder::new()
            .name("lines-reader".to_owned())
            .spawn(move || reading.run())
            .map_err(|e| SpoutError::Environment(format!("can't start a thread to read files: {e}")))?;
        self.thread = Some(thread);
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        let Some(feed) = &mut self.feed else { return Ok(Next::Done) };
        let (rows, refused) = (out.ids.len(), out.refused.len());
        let next = feed.next(out, budget);
        if let Some(progress) = &mut self.progress {
            progress.emitted(out, rows, refused);
        }
        next
    }

    fn ack(&mut self, ids: &[MessageId]) {
        if let Some(progress) = &mut self.progress {
            ids.iter().for_each(|id| progress.done(*id));
        }
    }

    fn close(&mut self) {
        self.ready = None;
        if let Some(feed) = self.feed.take() {
            feed.stop();
        }
        if let Some(thread) = self.thread.take() {
            // It has said in the exchange how it ended, a panic included.
            drop(thread.join());
        }
    }

    fn position(&self, id: MessageId) -> Value {
        let path = self.files.get(id.high() as usize).map(|file| file.shown.as_str());
        json!({ "path": path, "offset": id.low() })
    }

    fn unique_ids(&self) -> bool {
        true
    }

    fn finite(&self) -> bool {
        !self.options.follow
    }
}

impl Drop for LinesSpout {
    fn drop(&mut self) {
        self.close();
    }
}
