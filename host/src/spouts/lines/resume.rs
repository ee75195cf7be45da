//! Which of what was saved still holds.
//!
//! In: what all tasks of the spout had saved, and the files that are there now. Out: for each file of this task what
//! of it is done, and what must be saved again although it is no file of this task. All tasks' words count, because
//! files may be dealt out otherwise now: a new name in a glob moves those behind it.
//!
//! Invariant: what is not proved to be the same file is an error, never a guess.

use super::super::files::{self, Change, InputFile};
use super::saved::{Entry, decode};
use anchorbolt_core::offsets::Snapshot;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;

/// Where to begin with a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Begin {
    /// What of it is done.
    pub(super) done: Snapshot,
    /// A last line without an end that was taken, and where it ended.
    pub(super) unended: Option<(u64, u64)>,
    /// Messages that are over as well, in no order.
    pub(super) over: Vec<u64>,
}

impl Begin {
    /// Takes the messages that are over into what is done.
    pub(super) fn settle(&mut self) {
        let mut over = std::mem::take(&mut self.over);
        over.sort_unstable();
        over.dedup();
        let ranges = over.into_iter().map(|start| start..start.saturating_add(1)).collect();
        self.done = std::mem::take(&mut self.done).union(Snapshot { low: 0, ranges });
    }

    /// The place to read from. One byte before the lowest that is not done: that is in the end of a line, or is all of
    /// a line that is done. A line without an end is read again from its beginning, and passed over.
    pub(super) fn place(&self) -> u64 {
        match self.unended {
            Some((from, to)) if self.done.low == to => from,
            _ => self.done.low.saturating_sub(1),
        }
    }
}

/// What was saved, by the names of the files: by which task, and what.
pub(super) struct Restored {
    files: BTreeMap<String, Vec<(u32, Entry)>>,
    follow: bool,
}

impl Restored {
    /// Reads what the tasks saved.
    pub(super) fn new(saved: &[(u32, Vec<u8>)], follow: bool) -> Result<Restored, String> {
        let mut files = BTreeMap::<String, Vec<(u32, Entry)>>::new();
        for (task, text) in saved {
            let entries = decode(text).map_err(|problem| {
                format!(
                    "what task {task} of this spout has saved can't be used: {problem}; run with --reset to read \
                     from the beginning"
                )
            })?;
            for entry in entries {
                files.entry(entry.path.clone()).or_default().push((*task, entry));
            }
        }
        Ok(Restored { files, follow })
    }

    /// Where to begin with this file.
    pub(super) fn begin(&self, file: &InputFile) -> Result<Begin, String> {
        let Some(entries) = self.files.get(&file.shown) else { return Ok(Begin::default()) };
        let opened = files::open(file)?;
        let unreadable = |e: io::Error| format!("input file `{}` can't be read: {e}", file.shown);
        let mut begin = Begin::default();
        for (_, entry) in entries {
            if let Some(change) = changed(entry, &opened).map_err(unreadable)? {
                return Err(change.describe(&file.shown));
            }
            let Begin { done, unended, .. } = self.still_done(entry, &opened).map_err(unreadable)?;
            begin.done = begin.done.union(done);
            begin.unended = begin.unended.max(unended);
        }
        Ok(begin)
    }

    /// A last line without an end is another line once more was written to it.
    fn still_done(&self, entry: &Entry, file: &File) -> io::Result<Begin> {
        let Entry { mut done, mut unended, .. } = entry.clone();
        if let Some((from, to)) = unended {
            let next = files::byte_at(file, to)?;
            if next.is_some_and(|byte| byte != b'\n') || (self.follow && next.is_none()) {
                done.cut(from);
                unended = None;
            }
        }
        Ok(Begin { done, unended, over: Vec::new() })
    }

    /// Files that something was read of and that are not there any more: an error unless all of it was done.
    pub(super) fn gone(&self, files: &[InputFile]) -> Vec<String> {
        let gone = self.files.iter().filter(|(path, _)| number(files, path).is_none());
        let lost = gone.filter(|(_, entries)| entries.iter().all(|(_, entry)| !entry.complete));
        lost.map(|(path, _)| {
            format!(
                "input file `{path}` is gone, and not all that was read of it was done; put it back, or run with \
                 --reset to go on without it"
            )
        })
        .collect()
    }

    /// What this task, one of `tasks`, had saved and has to save again although it reads that file no more: until
    /// what another one has saved knows as much.
    pub(super) fn carried(&self, task: u32, tasks: u32, files: &[InputFile]) -> Vec<Entry> {
        let mut carried = Vec::new();
        for (path, entries) in &self.files {
            let reader = number(files, path).map(|number| number as u32 % tasks);
            if reader == Some(task) {
                continue;
            }
            // Of those that know the same the reader keeps it, or else the first: one of them must.
            let rank = |of: u32| if Some(of) == reader { 0 } else { of + 1 };
            for (_, own) in entries.iter().filter(|(of, _)| *of == task) {
                let mut others = entries.iter().filter(|(of, _)| *of != task);
                let needed = match reader {
                    Some(_) => !others.any(|(of, other)| {
                        covers(&other.done, &own.done) && (other.done != own.done || rank(*of) < rank(task))
                    }),
                    // The file is gone. The others' word that not all was done would be taken for the truth.
                    None => own.complete && others.any(|(_, other)| !other.complete),
                };
                if needed {
                    carried.push(own.clone());
                }
            }
        }
        carried
    }
}

/// The number of a file; they are sorted by their names.
pub(super) fn number(files: &[InputFile], shown: &str) -> Option<usize> {
    files.binary_search_by(|file| file.shown.as_str().cmp(shown)).ok()
}

fn covers(all: &Snapshot, part: &Snapshot) -> bool {
    all.clone().union(part.clone()) == *all
}

/// How the file is another one than that which something was saved of.
fn changed(entry: &Entry, file: &File) -> io::Result<Option<Change>> {
    let read_to = entry.unended.map_or(0, |(_, to)| to).max(entry.done.end());
    if let Some(change) = entry.identity.change(file, read_to)? {
        return Ok(Some(change));
    }
    // Where reading stood, a line begins or has just begun, or the file ended without a line's end.
    let low = entry.done.low;
    let stood = entry.unended.is_some_and(|(_, to)| to == low)
        || files::begins_line(file, low)?
        || files::begins_line(file, low.saturating_sub(1))?;
    Ok((!stood).then_some(Change::Rewritten))
}
