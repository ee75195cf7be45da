//! The dead letters of a topology, to write.
//!
//! In: letters of messages that have failed for good, and the news that a letter is over. Out: a file that grows by
//! whole lines, durable before a message counts as done. A message has one letter, however often it comes.
//!
//! A write that fails is cut back at once, or before the next write. What is over is dropped from the file when it
//! makes up most of it and room is needed.
//!
//! Invariant: up to `length` the file is durable and whole, and nothing behind it counts.

use super::DurableError;
use super::files::{Files, Log, beside};
use super::letter::{Filter, Letter, Tombstone};
use super::letters::{Letters, Place, ReadAt, each_line, key};
use std::collections::{HashMap, HashSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use time::OffsetDateTime;

/// So many bytes of lines are written at once.
const BATCH_BYTES: usize = 1 << 20;
/// A torn last line is looked at up to this many bytes.
const TORN_BYTES_MAX: u64 = 1 << 30;

/// The file of dead letters, held by the host that has the data folder.
pub struct DeadLetters {
    files: Arc<dyn Files>,
    path: PathBuf,
    bytes_max: u64,
    letters: Letters,
    /// A failed write may have left something behind `length`.
    torn: bool,
    /// The lines of a call.
    batch: Vec<u8>,
}

impl DeadLetters {
    /// Opens the file, makes it if it is not there, and mends what a crash left of its last line. It takes no more
    /// letters than fit into `bytes_max`.
    ///
    /// # Errors
    /// It can't be read or written, or its end is nothing that a host wrote.
    pub fn open(files: Arc<dyn Files>, path: &Path, bytes_max: u64) -> Result<DeadLetters, DurableError> {
        let letters = open(&*files, path)?;
        let (path, batch) = (path.to_owned(), Vec::new());
        Ok(DeadLetters { files, path, bytes_max, letters, torn: false, batch })
    }

    /// The letters, to look at.
    pub fn letters(&self) -> &Letters {
        &self.letters
    }

    /// Writes letters, except of messages that have one already, and makes them durable; answers how many it wrote.
    /// A letter with other bytes is another message's, of a source that was changed since: it is replaced.
    /// When this returns without error, each of the messages has its letter; else none has one that it had not before.
    ///
    /// # Errors
    /// The letters can't be written, or there is no room for them: the messages are not done, and it is to be
    /// tried again later.
    pub fn put(&mut self, letters: &[Letter]) -> Result<usize, DurableError> {
        self.ready()?;
        self.batch.clear();
        let mut new = HashMap::new();
        for letter in letters {
            let key = key(&letter.id);
            if new.contains_key(&key) {
                continue;
            }
            match self.letters.get(&letter.id) {
                Ok(Some(old)) if old.bytes == letter.bytes => continue,
                Ok(None) => {}
                // Also one that is damaged: it says nothing any more.
                _ => Tombstone::FailedAgain.encode(&letter.id, letter.time, &mut self.batch),
            }
            new.insert(key, self.enter(letter));
        }
        self.write(new)
    }

    /// Writes letters of messages that were tried again and failed again: each takes the place of the one that its
    /// message has, if it has one. Answers how many messages that are. When this returns without error, each has its
    /// new letter; else each has the one that it had before, and after a crash it has one of the two.
    ///
    /// # Errors
    /// As [`DeadLetters::put`].
    pub fn replace(&mut self, letters: &[Letter]) -> Result<usize, DurableError> {
        self.ready()?;
        self.batch.clear();
        let mut new = HashMap::new();
        for letter in letters {
            let key = key(&letter.id);
            if self.letters.index.contains_key(&key) || new.contains_key(&key) {
                Tombstone::FailedAgain.encode(&letter.id, letter.time, &mut self.batch);
            }
            new.insert(key, self.enter(letter));
        }
        self.write(new)
    }

    /// Adds a letter to the batch; its place is counted from the batch's start.
    fn enter(&mut self, letter: &Letter) -> Place {
        let at = self.batch.len() as u64;
        letter.encode(&mut self.batch);
        Place { at, bytes: self.batch.len() as u64 - at }
    }

    /// Writes the batch, in which these letters are new.
    fn write(&mut self, new: HashMap<u128, Place>) -> Result<usize, DurableError> {
        if new.is_empty() {
            return Ok(0);
        }
        // What is replaced gives way after this: it must not be in the way of its own replacement.
        let replaced = new.keys().filter_map(|key| self.letters.index.get(key));
        let freed = replaced.map(|place| place.bytes).sum();
        self.make_room(freed)?;
        let base = self.letters.length;
        self.append()?;
        let written = new.len();
        for (key, place) in new {
            self.letters.kept_bytes += place.bytes;
            let old = self.letters.index.insert(key, Place { at: base + place.at, ..place });
            self.letters.kept_bytes -= old.map_or(0, |place| place.bytes);
        }
        if freed > 0 {
            self.tidy_if_worth_it();
        }
        Ok(written)
    }

    /// Says of these messages that their letter is over; answers how many had one. This may go beyond the limit
    /// on size.
    ///
    /// # Errors
    /// It can't be written: some of them may be over, from the first on.
    pub fn retire(
        &mut self,
        ids: &[String],
        how: Tombstone,
        now: OffsetDateTime,
    ) -> Result<usize, DurableError> {
        self.ready()?;
        let (mut retired, mut from) = (0, 0);
        while from < ids.len() {
            self.batch.clear();
            let mut keys = HashSet::new();
            while let Some(id) = ids.get(from).filter(|_| self.batch.len() < BATCH_BYTES) {
                from += 1;
                let key = key(id);
                if self.letters.index.contains_key(&key) && keys.insert(key) {
                    how.encode(id, now, &mut self.batch);
                }
            }
            if keys.is_empty() {
                continue;
            }
            self.append()?;
            retired += keys.len();
            for key in keys {
                let over = self.letters.index.remove(&key);
                self.letters.kept_bytes -= over.map_or(0, |place| place.bytes);
            }
        }
        self.tidy_if_worth_it();
        Ok(retired)
    }

    /// Does away with the letters that the filter takes; answers how many.
    ///
    /// # Errors
    /// As [`DeadLetters::retire`], or the file can't be read.
    pub fn purge(&mut self, filter: &Filter, now: OffsetDateTime) -> Result<usize, DurableError> {
        self.ready()?;
        let mut ids = Vec::new();
        self.letters.visit(filter, |letter, _| {
            ids.push(letter.id.clone());
            Ok(())
        })?;
        self.retire(&ids, Tombstone::Purged, now)
    }

    /// Before anything is written: what failed is cut off, and a file that was removed is made anew.
    fn ready(&mut self) -> Result<(), DurableError> {
        if self.letters.log.is_gone() {
            tracing::warn!(file = %self.path.display(), "the file was removed; it is made anew");
            self.letters = open(&*self.files, &self.path)?;
            self.torn = false;
        }
        if self.torn {
            let cut = self.letters.log.cut(self.letters.length);
            cut.map_err(|error| DurableError::of(&self.path, "written", &error))?;
            self.torn = false;
        }
        Ok(())
    }

    /// Appends the batch and makes it durable, or leaves nothing of it.
    fn append(&mut self) -> Result<(), DurableError> {
        let log = &mut self.letters.log;
        if let Err(error) = log.append(&self.batch).and_then(|()| log.sync()) {
            // That it is cut is made durable with the next write; until then nothing is said to be.
            self.torn = log.cut(self.letters.length).is_err();
            return Err(DurableError::of(&self.path, "written", &error));
        }
        self.letters.length += self.batch.len() as u64;
        if self.batch.capacity() > BATCH_BYTES {
            self.batch = Vec::new();
        }
        Ok(())
    }

    /// Is there room for the batch, of which letters of so many bytes are replaced? What is over gives way if that frees enough to be worth it.
    fn make_room(&mut self, freed: u64) -> Result<(), DurableError> {
        let wanted = (self.batch.len() as u64).saturating_sub(freed);
        let fits = |length: u64| length.saturating_add(wanted) <= self.bytes_max;
        if fits(self.letters.length) {
            return Ok(());
        }
        if fits(self.letters.kept_bytes) && self.over_bytes() >= self.letters.length / 4 {
            return self.tidy();
        }
        Err(DurableError(format!(
            "`{}` is full: it has {} bytes in {} letters, {wanted} more are to be written and dead-letters.max-bytes \
             is {}; look at them with `dlq list`, replay or purge some, or raise dead-letters.max-bytes",
            self.path.display(),
            self.letters.length,
            self.letters.len(),
            self.bytes_max
        )))
    }

    /// Bytes of letters that are over, and of what says so.
    fn over_bytes(&self) -> u64 {
        self.letters.length - self.letters.kept_bytes
    }

    fn tidy_if_worth_it(&mut self) {
        let length = self.letters.length;
        if length <= self.bytes_max / 2 || self.over_bytes() <= length / 2 {
            return;
        }
        if let Err(error) = self.tidy() {
            tracing::warn!("dead letters that are over still take their room: {error}");
        }
    }

    /// Writes the file again without what is over. A crash leaves the old one or the new one.
    fn tidy(&mut self) -> Result<(), DurableError> {
        let new = beside(&self.path);
        let renamed = self.copy(&new).and_then(|()| self.files.rename(&new, &self.path));
        if let Err(error) = renamed {
            // The next attempt begins by cutting it.
            drop(self.files.remove(&new));
            return Err(DurableError::of(&new, "written", &error));
        }
        // From here on the old file is gone; `ready` would find that too.
        self.letters = open(&*self.files, &self.path)?;
        Ok(())
    }

    fn copy(&self, to: &Path) -> io::Result<()> {
        let mut log = self.files.open_log(to, false)?;
        log.cut(0)?;
        let mut batch = Vec::new();
        each_line(&*self.letters.log, self.letters.length, &mut |at, line| {
            if self.letters.keeps(at, line) {
                batch.extend_from_slice(line);
                batch.push(b'\n');
            }
            if batch.len() >= BATCH_BYTES {
                log.append(&batch)?;
                batch.clear();
            }
            Ok(())
        })?;
        log.append(&batch)?;
        log.sync()
    }
}

/// Opens the file and mends its end.
fn open(files: &dyn Files, path: &Path) -> Result<Letters, DurableError> {
    let failed = |error: io::Error| DurableError::of(path, "opened", &error);
    let mut log = files.open_log(path, false).map_err(failed)?;
    mend(&mut *log, path)?;
    // What is in it must not only seem to be: the one who wrote it may have died before it was durable.
    log.sync().and_then(|()| files.sync_folder(path.parent().unwrap_or(path))).map_err(failed)?;
    Letters::read(log, path)
}

/// A crash can leave a part of a last line, or zeros; the message of such a letter is not done. A whole line that only
/// lacks its end is completed.
fn mend(log: &mut dyn Log, path: &Path) -> Result<(), DurableError> {
    let failed = |error: io::Error| DurableError::of(path, "mended", &error);
    let length = log.len().map_err(failed)?;
    let whole = last_line_end(log, length).map_err(failed)?;
    if whole == length {
        return Ok(());
    }
    let mut rest = Vec::new();
    let taken = ReadAt { log, at: whole, to: length.min(whole + TORN_BYTES_MAX) }.read_to_end(&mut rest);
    taken.map_err(failed)?;
    if serde_json::from_slice::<serde_json::Value>(&rest).is_ok_and(|value| value.is_object()) {
        return log.append(b"\n").map_err(failed);
    }
    let zeros = rest.iter().rev().take_while(|byte| **byte == 0).count();
    if rest.first() != Some(&b'{') && zeros < rest.len() {
        return Err(DurableError(format!(
            "`{}` ends in something that is no dead letter; end its last line, or move the file away",
            path.display()
        )));
    }
    log.cut(whole).map_err(failed)?;
    tracing::warn!(
        file = %path.display(),
        bytes = length - whole,
        "the last line was torn by a crash and was cut off; its message was not done and comes again"
    );
    Ok(())
}

/// The place behind the last line end.
fn last_line_end(log: &dyn Log, length: u64) -> io::Result<u64> {
    let mut buffer = vec![0; 64 << 10];
    let mut to = length;
    while to > 0 {
        let from = to.saturating_sub(buffer.len() as u64);
        let part = &mut buffer[..(to - from) as usize];
        ReadAt { log, at: from, to }.read_exact(part)?;
        if let Some(newline) = memchr::memrchr(b'\n', part) {
            return Ok(from + newline as u64 + 1);
        }
        to = from;
    }
    Ok(0)
}
