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
//! Invariant: a file is read only while it is the one that was opened first, by inode and fingerprint.

use super::feed::{Closed, Feed, feed};
use super::files::{self, Change, FileIdentity, InputFile};
use super::splitter::{Splitter, Standing};
use super::taker::{LineTaker, Numbering};
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::manifest::kinds::Lines;
use anchorbolt_core::port::{Next, Spout, SpoutContext, SpoutError, SpoutOutput};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// How often a followed file's end is looked at.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(200);

/// The spout.
pub struct LinesSpout {
    options: Lines,
    base: PathBuf,
    tuple_bytes_max: u64,
    files: Vec<InputFile>,
    /// What the reading thread will start with.
    ready: Option<Reading>,
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
            ready: None,
            feed: None,
            thread: None,
        }
    }

    /// The files of all tasks in the order of their numbers, once it is open.
    pub fn files(&self) -> &[InputFile] {
        &self.files
    }
}

impl Spout for LinesSpout {
    fn open(&mut self, context: SpoutContext) -> Result<(), SpoutError> {
        self.files = files::expand(&self.options.path, &self.base).map_err(SpoutError::Input)?;
        let SpoutContext { context, waker } = context;
        let (task, tasks) = (context.task_index as usize, context.task_count.max(1) as usize);
        let (mut mine, mut problems) = (Vec::new(), Vec::new());
        for (number, file) in self.files.iter().enumerate().filter(|(number, _)| number % tasks == task) {
            match ReadFile::new(number, file.clone()) {
                Ok(file) => mine.push(file),
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(SpoutError::Input(files::list(&problems)));
        }
        let (feeder, feed) = feed(waker);
        let format = self.options.format.clone();
        let taker = LineTaker::new(feeder, format, Numbering::Offset, self.tuple_bytes_max).of_task(&context);
        let splitter = Splitter::new(self.tuple_bytes_max);
        self.ready = Some(Reading { files: mine, follow: self.options.follow, splitter, taker });
        self.feed = Some(feed);
        Ok(())
    }

    fn activate(&mut self) -> Result<(), SpoutError> {
        let Some(reading) = self.ready.take() else { return Ok(()) };
        let thread = Builder::new()
            .name("lines-reader".to_owned())
            .spawn(move || reading.run())
            .map_err(|e| SpoutError::Environment(format!("can't start a thread to read files: {e}")))?;
        self.thread = Some(thread);
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        match &mut self.feed {
            Some(feed) => feed.next(out, budget),
            None => Ok(Next::Done),
        }
    }

    fn ack(&mut self, _ids: &[MessageId]) {}

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

/// Why reading ends before its time.
enum End {
    Closed,
    Failed(SpoutError),
}

impl From<Closed> for End {
    fn from(_: Closed) -> End {
        End::Closed
    }
}

/// A file and how far it was read.
struct ReadFile {
    number: u64,
    file: InputFile,
    identity: FileIdentity,
    standing: Standing,
    /// Its length when its end was last seen.
    seen: Option<u64>,
}

impl ReadFile {
    fn new(number: usize, file: InputFile) -> Result<ReadFile, String> {
        let opened = files::open(&file)?;
        let identity = FileIdentity::of(&opened)
            .map_err(|e| format!("input file `{}` can't be read: {e}", file.shown))?;
        Ok(ReadFile { number: number as u64, file, identity, standing: Standing::default(), seen: None })
    }

    /// Opens it where reading stands; none if it has not changed since its end was seen.
    fn open(&self) -> Result<Option<File>, End> {
        if let (Some(seen), Ok(meta)) = (self.seen, fs::metadata(&self.file.path))
            && self.identity.names(&meta)
            && meta.len() == seen
        {
            return Ok(None);
        }
        let mut file = files::open(&self.file).map_err(|text| End::Failed(SpoutError::Input(text)))?;
        self.check(&file, self.seen.unwrap_or(0))?;
        file.seek(SeekFrom::Start(self.standing.place)).map_err(|e| self.failed(&e))?;
        Ok(Some(file))
    }

    /// At its end: is it still the file that it was?
    fn check_end(&mut self, file: &File, read_to: u64) -> Result<(), End> {
        self.check(file, read_to)?;
        let named = fs::metadata(&self.file.path).is_ok_and(|meta| self.identity.names(&meta));
        if !named {
            return Err(self.changed(Change::Replaced));
        }
        self.seen = Some(read_to);
        if self.identity.fingerprint_bytes < files::FINGERPRINT_BYTES {
            self.identity = FileIdentity::of(file).map_err(|e| self.failed(&e))?;
        }
        Ok(())
    }

    fn check(&self, file: &File, read_to: u64) -> Result<(), End> {
        match self.identity.change(file, read_to) {
            Ok(None) => Ok(()),
            Ok(Some(change)) => Err(self.changed(change)),
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn changed(&self, change: Change) -> End {
        End::Failed(SpoutError::Input(change.describe(&self.file.shown)))
    }

    fn failed(&self, error: &io::Error) -> End {
        let at = self.standing.place;
        End::Failed(SpoutError::Environment(format!(
            "input file `{}` can't be read from byte {at} on: {error}",
            self.file.shown
        )))
    }
}

/// What the reading thread works on.
struct Reading {
    files: Vec<ReadFile>,
    follow: bool,
    splitter: Splitter,
    taker: LineTaker,
}

impl Reading {
    fn run(mut self) {
        let end = match self.read() {
            Ok(()) => Ok(()),
            Err(End::Closed) => return,
            Err(End::Failed(error)) => Err(error),
        };
        self.taker.into_feeder().finish(end);
    }

    fn read(&mut self) -> Result<(), End> {
        loop {
            for i in 0..self.files.len() {
                self.read_file(i)?;
            }
            if !self.follow {
                return Ok(());
            }
            self.taker.feeder().pause(FOLLOW_INTERVAL)?;
        }
    }

    /// Reads one file to its end, as far as it has one.
    fn read_file(&mut self, i: usize) -> Result<(), End> {
        let Reading { splitter, taker, follow, .. } = self;
        let Some(state) = self.files.get_mut(i) else { return Ok(()) };
        let Some(mut file) = state.open()? else { return Ok(()) };
        splitter.resume(state.standing);
        taker.source(state.number, &state.file.shown)?;
        loop {
            let bytes = splitter.fill(&mut file).map_err(|e| {
                state.standing = splitter.standing();
                state.failed(&e)
            })?;
            if bytes == 0 {
                break;
            }
            splitter.split(taker)?;
            taker.feeder().push()?;
        }
        let read_to = splitter.read_to();
        state.check_end(&file, read_to)?;
        if !*follow {
            splitter.finish(taker)?;
        }
        state.standing = splitter.standing();
        Ok(taker.feeder().push()?)
    }
}
