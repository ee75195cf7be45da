//! The dead letters of a file, to look at.
//!
//! In: a file of lines, each a letter or a tombstone. Out: the letters that are not over, one by one, so that a
//! file of any size is read in the memory of its longest line. An index knows for each letter where its line is:
//! some 40 bytes each, whatever is in the letter.
//!
//! Invariant: only whole lines count. A line that is neither letter nor tombstone is counted as damaged and left
//! as it is.

use super::DurableError;
use super::files::{Files, Log};
use super::letter::{Filter, Head, Letter, LineKind};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// How much is read at once.
const CHUNK_BYTES: usize = 128 << 10;

/// Where a letter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) at: u64,
    pub(super) bytes: u64,
}

/// The letters of a file.
pub struct Letters {
    pub(super) path: PathBuf,
    pub(super) log: Box<dyn Log>,
    /// How much of the file counts.
    pub(super) length: u64,
    pub(super) index: HashMap<u128, Place>,
    /// Bytes of letters in the index, and of lines that are left as they are.
    pub(super) kept_bytes: u64,
    damaged: u64,
}

impl Letters {
    /// The letters of a file, which may be growing; none if there is no file.
    ///
    /// # Errors
    /// It can't be read.
    pub fn look(files: &dyn Files, path: &Path) -> Result<Option<Letters>, DurableError> {
        match files.open_log(path, true) {
            Ok(log) => Letters::read(log, path).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(DurableError::of(path, "read", &error)),
        }
    }

    /// Reads what is in an open file. What follows its last line end does not count.
    pub(super) fn read(log: Box<dyn Log>, path: &Path) -> Result<Letters, DurableError> {
        let (index, path) = (HashMap::new(), path.to_owned());
        let mut letters = Letters { path, log, length: 0, index, kept_bytes: 0, damaged: 0 };
        letters.read_index().map_err(|error| DurableError::of(&letters.path, "read", &error))?;
        if letters.damaged > 0 {
            tracing::warn!(
                file = %letters.path.display(),
                lines = letters.damaged,
                "lines that are no dead letters are passed over and left as they are"
            );
        }
        Ok(letters)
    }

    fn read_index(&mut self) -> io::Result<()> {
        let to = self.log.len()?;
        let mut reading = Reading::default();
        each_line(&*self.log, to, &mut |at, line| {
            reading.take(at, line);
            Ok(())
        })?;
        (self.index, self.length) = (reading.index, reading.length);
        (self.kept_bytes, self.damaged) = (reading.kept_bytes, reading.damaged);
        Ok(())
    }

    /// How many letters there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// How many bytes the file has, what is over included.
    pub fn bytes(&self) -> u64 {
        self.length
    }

    /// How many lines are neither letters nor tombstones.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Whether this message has a letter.
    pub fn contains(&self, id: &str) -> bool {
        self.index.contains_key(&key(id))
    }

    /// The letter of a message.
    ///
    /// # Errors
    /// The file can't be read, or is damaged there.
    pub fn get(&self, id: &str) -> Result<Option<Letter>, DurableError> {
        let Some(place) = self.index.get(&key(id)) else { return Ok(None) };
        let line = self.line(*place).map_err(|error| DurableError::of(&self.path, "read", &error))?;
        Letter::decode(&line).map(Some).map_err(|problem| self.damage(place.at, &problem))
    }

    /// Calls `f` with the id of each letter, in the order of the file. It reads no more of a letter than that.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn each_id(&self, mut f: impl FnMut(String)) -> Result<(), DurableError> {
        let read = each_line(&*self.log, self.length, &mut |at, line| {
            if let Some(head) = Head::of(line).filter(|head| self.is_at(&head.id, at)) {
                f(head.id);
            }
            Ok(())
        });
        read.map_err(|error| DurableError::of(&self.path, "read", &error))
    }

    /// Calls `f` with each letter that the filter takes, and its line without the line's end, in the order of the
    /// file.
    ///
    /// # Errors
    /// Of `f`, or the file can't be read.
    pub fn visit(
        &self,
        filter: &Filter,
        mut f: impl FnMut(&Letter, &[u8]) -> Result<(), DurableError>,
    ) -> Result<(), DurableError> {
        let mut wrong = Ok(());
        let read = each_line(&*self.log, self.length, &mut |at, line| {
            if !Head::of(line).is_some_and(|head| self.is_at(&head.id, at)) {
                return Ok(());
            }
            let taken = Letter::decode(line).map_err(|problem| self.damage(at, &problem));
            wrong = taken.and_then(|letter| if filter.takes(&letter) { f(&letter, line) } else { Ok(()) });
            // Any error ends it; the true one is `wrong`.
            if wrong.is_err() { Err(io::Error::other("stopped")) } else { Ok(()) }
        });
        wrong?;
        read.map_err(|error| DurableError::of(&self.path, "read", &error))
    }

    /// Writes the letters that the filter takes as they are in the file; answers how many.
    ///
    /// # Errors
    /// `to` or the file fails.
    pub fn export(&self, filter: &Filter, to: &mut dyn Write) -> Result<u64, DurableError> {
        let mut count = 0;
        self.visit(filter, |_, line| {
            count += 1;
            let written = to.write_all(line).and_then(|()| to.write_all(b"\n"));
            written.map_err(|error| DurableError(format!("the letters can't be written: {error}")))
        })?;
        Ok(count)
    }

    /// Calls `f` with the position of each message of a spout that has a letter: after a restart it is not to be
    /// read again.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn positions(&self, spout: &str, mut f: impl FnMut(&Value, &[u8])) -> Result<(), DurableError> {
        let filter = Filter { spout: Some(spout.to_owned()), ..Filter::default() };
        if self.is_empty() {
            return Ok(());
        }
        self.visit(&filter, |letter, _| {
            f(&letter.position, &letter.bytes);
            Ok(())
        })
    }

    /// One line, without its end.
    pub(super) fn line(&self, place: Place) -> io::Result<Vec<u8>> {
        let mut line = vec![0; (place.bytes as usize).saturating_sub(1)];
        ReadAt { log: &*self.log, at: place.at, to: place.at + place.bytes }.read_exact(&mut line)?;
        Ok(line)
    }

    /// Whether this line, which is at this place, is to be kept when what is over goes.
    pub(super) fn keeps(&self, at: u64, line: &[u8]) -> bool {
        match Head::of(line) {
            Some(head) => self.is_at(&head.id, at),
            None => !line.is_empty(),
        }
    }

    /// Whether the letter of this message is the line at this place.
    fn is_at(&self, id: &str, at: u64) -> bool {
        self.index.get(&key(id)).is_some_and(|place| place.at == at)
    }

    fn damage(&self, at: u64, problem: &str) -> DurableError {
        let path = self.path.display();
        DurableError(format!(
            "the line at byte {at} of `{path}` is not a dead letter: {problem}; mend or remove it"
        ))
    }
}

/// An index as it grows, line by line.
#[derive(Default)]
struct Reading {
    index: HashMap<u128, Place>,
    /// Letters that are over once another of the same id follows.
    replaced: HashSet<u128>,
    kept_bytes: u64,
    damaged: u64,
    length: u64,
}

impl Reading {
    fn take(&mut self, at: u64, line: &[u8]) {
        let bytes = line.len() as u64 + 1;
        self.length = at + bytes;
        let Some(head) = Head::of(line) else {
            if !line.is_empty() {
                self.damaged += 1;
                self.kept_bytes += bytes;
            }
            return;
        };
        let key = key(&head.id);
        match head.kind {
            LineKind::Letter => self.letter(key, Place { at, bytes }),
            LineKind::Over => {
                self.kept_bytes -= self.index.remove(&key).map_or(0, |place| place.bytes);
            }
            // Its letter was to follow in the same write. If a crash tore that off, the old one is all there is.
            LineKind::Replaced => {
                self.replaced.insert(key);
            }
        }
    }

    /// Of two lines with one id the first is the letter, unless it was said to be replaced.
    fn letter(&mut self, key: u128, place: Place) {
        let replaces = self.replaced.remove(&key);
        match self.index.entry(key) {
            Entry::Vacant(entry) => {
                self.kept_bytes += place.bytes;
                entry.insert(place);
            }
            Entry::Occupied(mut entry) if replaces => {
                let old = entry.insert(place);
                self.kept_bytes = self.kept_bytes - old.bytes + place.bytes;
            }
            Entry::Occupied(_) => {}
        }
    }
}

/// What a letter is known by in the index: ids differ if these do, and two that have the same don't occur.
pub(super) fn key(id: &str) -> u128 {
    let digest = Sha256::digest(id);
    digest.iter().take(16).fold(0, |key, byte| key << 8 | u128::from(*byte))
}

/// Calls `f` with the place of each whole line up to `to`, and the line without its end.
pub(super) fn each_line(
    log: &dyn Log,
    to: u64,
    f: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(CHUNK_BYTES, ReadAt { log, at: 0, to });
    let (mut line, mut at) = (Vec::new(), 0);
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)? as u64;
        match line.strip_suffix(b"\n") {
            Some(whole) => f(at, whole)?,
            None => return Ok(()),
        }
        at += read;
    }
}

/// Part of a file, to read.
pub(super) struct ReadAt<'a> {
    pub(super) log: &'a dyn Log,
    pub(super) at: u64,
    pub(super) to: u64,
}

impl Read for ReadAt<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(usize::try_from(self.to.saturating_sub(self.at)).unwrap_or(usize::MAX));
        if most == 0 {
            return Ok(0);
        }
        let read = self.log.read_at(&mut buffer[..most], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
