//! The reading thread of a `lines` spout.
//!
//! In: the files of a task, each with where to begin and what to pass over. Out: messages to the exchange, and for
//! each file, in [`Seen`], what it is known by and what its end looks like.
//!
//! Invariant: what is said of a file's end is said after its last message was put into the exchange's order, so whoever
//! has taken that message out and reads it there knows the end of what he took.

use super::super::feed::Closed;
use super::super::files::{self, Change, FileIdentity, InputFile};
use super::super::splitter::{Line, Splitter, Standing, TakeLine};
use super::super::taker::LineTaker;
use anchorbolt_core::offsets::Snapshot;
use anchorbolt_core::port::SpoutError;
use parking_lot::Mutex;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::sync::Arc;
use std::time::Duration;

/// How often a followed file's end is looked at.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(200);

/// What the reading thread knows of a file and its executor wants to save.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// What it is known by.
    pub(super) identity: FileIdentity,
    /// Its end, once reading came there.
    pub(super) end: Option<FileEnd>,
}

/// The end of a file, as it was when reading came there last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileEnd {
    /// The last message that was given out; none if all were passed over.
    pub(super) last: Option<u64>,
    /// Behind the last line.
    pub(super) place: u64,
    /// Nothing follows that line.
    pub(super) whole: bool,
    /// Where the last line begins if it has no line end and was taken all the same.
    pub(super) unended: Option<u64>,
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
pub(super) struct ReadFile {
    number: u64,
    pub(super) file: InputFile,
    pub(super) identity: FileIdentity,
    standing: Standing,
    /// Its length when its end was last seen.
    seen: Option<u64>,
    /// What was done before this run.
    done: Snapshot,
    /// The last message that was given out.
    last: Option<u64>,
}

impl ReadFile {
    pub(super) fn new(number: usize, file: InputFile) -> Result<ReadFile, String> {
        let opened = files::open(&file)?;
        let identity = FileIdentity::of(&opened)
            .map_err(|e| format!("input file `{}` can't be read: {e}", file.shown))?;
        let (number, standing, done) = (number as u64, Standing::default(), Snapshot::default());
        Ok(ReadFile { number, file, identity, standing, seen: None, done, last: None })
    }

    /// Reads from a place, and passes over what was done before.
    pub(super) fn resume(&mut self, place: u64, done: Snapshot) {
        self.standing = Standing { place, skip: None };
        self.done = done;
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

    fn passing<'a>(&'a mut self, taker: &'a mut LineTaker) -> Passing<'a> {
        Passing { taker, done: &self.done, end: self.done.end(), given: &mut self.last, line: None }
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

/// Passes over the lines that were done before, and notes the last line and the last that was given out.
struct Passing<'a> {
    taker: &'a mut LineTaker,
    done: &'a Snapshot,
    /// From here on nothing was done before.
    end: u64,
    given: &'a mut Option<u64>,
    line: Option<u64>,
}

impl Passing<'_> {
    #[inline]
    fn passes(&mut self, place: u64) -> bool {
        self.line = Some(place);
        let done = place < self.end && self.done.is_done(place);
        if !done {
            *self.given = Some(place);
        }
        done
    }
}

impl TakeLine for Passing<'_> {
    #[inline]
    fn line(&mut self, place: u64, line: Line<'_>) -> Result<(), Closed> {
        if self.passes(place) { Ok(()) } else { self.taker.line(place, line) }
    }

    fn oversize(&mut self, place: u64, bytes: u64) -> Result<(), Closed> {
        if self.passes(place) { Ok(()) } else { self.taker.oversize(place, bytes) }
    }
}

/// What the reading thread works on.
pub(super) struct Reading {
    pub(super) files: Vec<ReadFile>,
    pub(super) follow: bool,
    pub(super) splitter: Splitter,
    pub(super) taker: LineTaker,
    /// One for each of the files.
    pub(super) seen: Arc<Mutex<Vec<Seen>>>,
}

impl Reading {
    pub(super) fn run(mut self) {
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
        let Reading { splitter, taker, follow, seen, files } = self;
        let Some(state) = files.get_mut(i) else { return Ok(()) };
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
            splitter.split(&mut state.passing(taker))?;
            taker.feeder().push()?;
        }
        let read_to = splitter.read_to();
        state.check_end(&file, read_to)?;
        let mut unended = None;
        if !*follow {
            let mut passing = state.passing(taker);
            splitter.finish(&mut passing)?;
            unended = passing.line;
        }
        state.standing = splitter.standing();
        if let Some(seen) = seen.lock().get_mut(i) {
            seen.identity.clone_from(&state.identity);
            let Standing { place, skip } = state.standing;
            // In the middle of a line that is passed over, what was seen before still holds.
            if skip.is_none() {
                seen.end = Some(FileEnd { last: state.last, place, whole: place == read_to, unended });
            }
        }
        Ok(taker.feeder().push()?)
    }
}
