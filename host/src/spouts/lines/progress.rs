//! What of its files a `lines` spout has emitted, and what of that is done.
//!
//! In: the ids that leave and the ids that are done, and what the reading thread has seen of the files' ends. Out:
//! what to save, and when reading has gone so far ahead of what is saved that it must pause.
//!
//! A message is taken to end one byte behind its beginning: between that and the next line no message begins, so
//! nothing is lost by it. Where reading has come to the end of a file, the file's own end takes its place.
//!
//! Invariant: a place is saved as done only if its message was acked or given up.

use super::super::files::FileIdentity;
use super::reading::{FileEnd, Seen};
use super::resume::Begin;
use super::saved::{Entry, encode};
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::offsets::{Known, Snapshot, Spans};
use anchorbolt_core::port::SpoutOutput;
use parking_lot::Mutex;
use std::sync::Arc;

/// The most ranges that are saved of a file, and the number of them over all files at which reading pauses.
const RANGES_MAX: usize = 1 << 14;

/// The progress of one task.
pub(super) struct Progress {
    task: u64,
    tasks: u64,
    files: Vec<FileProgress>,
    /// The end of each of the files.
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Saved before of files that other tasks read now, or that are gone.
    carried: Vec<Entry>,
    read: u64,
    open: u64,
    ranges: usize,
    /// Of the messages read: what the last snapshot knows as done, and what the last durable one knew.
    snapshot_knows: u64,
    durable_knows: u64,
    /// Ids of a call that refused some, to be put in order.
    mixed: Vec<MessageId>,
}

struct FileProgress {
    shown: String,
    spans: Spans,
    /// The last message that left.
    last: Option<u64>,
    /// As it was when the file's end was seen in an earlier run.
    unended: Option<(u64, u64)>,
}

impl Progress {
    /// Of task `task` of `tasks`; `files` by their shown names.
    pub(super) fn new(
        (task, tasks): (usize, usize),
        files: impl Iterator<Item = String>,
        seen: Arc<Mutex<Vec<Seen>>>,
    ) -> Progress {
        let file = |shown| FileProgress { shown, spans: Spans::new(RANGES_MAX), last: None, unended: None };
        Progress {
            task: task as u64,
            tasks: tasks as u64,
            files: files.map(file).collect(),
            seen,
            carried: Vec::new(),
            read: 0,
            open: 0,
            ranges: 0,
            snapshot_knows: 0,
            durable_knows: 0,
            mixed: Vec::new(),
        }
    }

    /// Where reading of a file begins.
    pub(super) fn restore(&mut self, file: usize, begin: &Begin) -> Result<(), String> {
        if let Some(file) = self.files.get_mut(file) {
            file.spans = Spans::restore(begin.done.clone(), RANGES_MAX)?;
            file.unended = begin.unended;
            self.ranges += file.spans.ranges();
        }
        Ok(())
    }

    /// What a file of this task is known by.
    pub(super) fn identity(&self, file: usize) -> Option<FileIdentity> {
        self.seen.lock().get(file).map(|seen| seen.identity.clone())
    }

    /// Saved as it is with all else.
    pub(super) fn carry(&mut self, entries: Vec<Entry>) {
        self.carried = entries;
    }

    /// Notes what a call of `next` added behind these many rows and refusals.
    pub(super) fn emitted(&mut self, out: &SpoutOutput, rows: usize, refused: usize) {
        let ids = out.ids.get(rows..).unwrap_or_default().iter().flatten().copied();
        if out.refused.len() == refused {
            ids.for_each(|id| self.emit(id));
            return;
        }
        let mut mixed = std::mem::take(&mut self.mixed);
        mixed.extend(ids);
        mixed.extend(out.refused.get(refused..).unwrap_or_default().iter().map(|(id, _)| *id));
        mixed.sort_unstable();
        mixed.drain(..).for_each(|id| self.emit(id));
        self.mixed = mixed;
    }

    #[inline]
    fn emit(&mut self, id: MessageId) {
        let Some(file) = self.file(id) else { return };
        let before = file.spans.ranges();
        let read = file.spans.read(id.low(), id.low().saturating_add(1));
        file.last = Some(id.low());
        let after = file.spans.ranges();
        self.ranges = self.ranges + after - before;
        self.read += u64::from(read);
        self.open += u64::from(read);
    }

    /// This message has come to its end.
    #[inline]
    pub(super) fn done(&mut self, id: MessageId) {
        let Some(file) = self.file(id) else { return };
        let before = file.spans.ranges();
        let done = file.spans.done(id.low());
        let after = file.spans.ranges();
        self.ranges = self.ranges + after - before;
        self.open -= u64::from(done);
    }

    #[inline]
    fn file(&mut self, id: MessageId) -> Option<&mut FileProgress> {
        let number = id.high().checked_sub(self.task)?;
        // Most spouts have one task, and a division is dear.
        let at = if self.tasks == 1 { number } else { number / self.tasks };
        self.files.get_mut(usize::try_from(at).ok()?)
    }

    /// What to save.
    pub(super) fn snapshot(&mut self) -> Vec<u8> {
        let seen = self.seen.lock();
        let mut entries = self.carried.clone();
        let mut knows = 0;
        for (file, seen) in self.files.iter_mut().zip(&*seen) {
            let before = file.spans.ranges();
            let end = seen.end.filter(|end| end.last == file.last);
            if let Some(end) = end {
                file.spans.reached(end.place);
            }
            self.ranges = self.ranges + file.spans.ranges() - before;
            let (done, Known(known)) = file.spans.snapshot();
            knows += known;
            if done != Snapshot::default() {
                entries.push(entry(file, seen, done, end));
            }
        }
        drop(seen);
        self.snapshot_knows = knows;
        encode(&entries)
    }

    /// The last snapshot is durable.
    pub(super) fn saved(&mut self) {
        self.durable_knows = self.snapshot_knows;
    }

    /// How many messages a restart from the last durable snapshot would emit again.
    pub(super) fn outstanding(&self) -> u64 {
        self.read - self.durable_knows
    }

    /// Reading is to pause until open messages end.
    pub(super) fn is_crowded(&self) -> bool {
        self.open > 0 && self.ranges >= RANGES_MAX
    }
}

fn entry(file: &FileProgress, seen: &Seen, done: Snapshot, end: Option<FileEnd>) -> Entry {
    Entry {
        path: file.shown.clone(),
        identity: seen.identity.clone(),
        complete: end.is_some_and(|end| end.whole && done.low >= end.place && done.ranges.is_empty()),
        unended: match end {
            Some(end) => end.unended.map(|from| (from, end.place)),
            None => file.unended,
        },
        done,
    }
}
