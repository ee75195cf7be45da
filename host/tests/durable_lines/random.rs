//! Kills at random moments while files grow and come and tasks change: against a reader that a child would write.

use crate::support::{Saved, Task, append, start_share};
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::port::Spout;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use tempfile::{TempDir, tempdir};

/// A line: its file, its place, its text.
type Message = (String, u64, String);

/// Every line of every file; of those that have no end, too.
fn lines(base: &Path) -> BTreeSet<Message> {
    let mut lines = BTreeSet::new();
    for entry in fs::read_dir(base).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let text = fs::read_to_string(base.join(&name)).unwrap();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let text = line.strip_suffix('\n').unwrap_or(line);
            let text = if text.len() > crate::support::LIMIT as usize { "!" } else { text };
            lines.insert((name.clone(), at, text.to_owned()));
            at += line.len() as u64;
        }
    }
    lines
}

struct Model {
    rng: fastrand::Rng,
    dir: TempDir,
    /// What is on the disk.
    saved: BTreeMap<u32, Vec<u8>>,
    /// Lines that were acked at some time; those of them that something saved knows.
    acked: BTreeSet<Message>,
    known: BTreeSet<Message>,
    files: u32,
}

impl Model {
    fn write(&mut self) {
        for _ in 0..self.rng.u32(0..4) {
            let new = self.files == 0 || self.rng.u32(0..3) == 0;
            let file = self.rng.u32(0..self.files.max(1));
            // Names come before and behind the others.
            let name = if new {
                self.files += 1;
                format!("{}-{}.txt", self.rng.u32(0..10), self.files)
            } else {
                let names = fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
                let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
                names.sort();
                names[file as usize % names.len()].clone()
            };
            let path = self.dir.path().join(&name);
            for _ in 0..self.rng.usize(1..30) {
                let length = if self.rng.u32(0..20) == 0 { 1001 } else { self.rng.usize(0..60) };
                let letter = char::from(self.rng.u8(b'a'..=b'z')).to_string();
                append(&path, &(letter.repeat(length) + "\n"));
            }
            if self.rng.bool() {
                append(&path, "the end");
            }
        }
        if self.files == 0 {
            self.write();
        }
    }

    /// One life of the host, to its end or to a kill.
    fn live(&mut self, to_the_end: bool) {
        let tasks = self.rng.u32(1..4);
        let saved: Saved = self.saved.clone().into_iter().collect();
        let mut running: Vec<(u32, Task)> = (0..tasks)
            .map(|task| (task, start_share(self.dir.path(), (task, tasks), false, &saved).unwrap()))
            .collect();
        running.iter_mut().for_each(|(_, task)| task.spout.activate().unwrap());
        let (all, mut acked) = (lines(self.dir.path()), BTreeSet::new());
        let turns = if to_the_end { usize::MAX } else { self.rng.usize(1..60) };
        for _ in 0..turns {
            let at = self.rng.usize(0..running.len());
            let (number, task) = &mut running[at];
            match self.rng.u32(0..10) {
                0..5 if !task.ended => {
                    let budget = self.rng.usize(1..20);
                    for message in task.take(budget) {
                        assert!(all.contains(&message), "{message:?} was invented");
                        assert!(!self.known.contains(&message), "{message:?} was known as done");
                    }
                }
                0..8 => {
                    let ids: Vec<MessageId> = task.open.keys().copied().filter(|_| self.rng.bool()).collect();
                    acked.extend(ids.iter().map(|id| task.open[id].clone()));
                    task.ack_ids(&ids);
                }
                _ => {
                    let (number, snapshot) = (*number, task.spout.snapshot().unwrap());
                    task.spout.saved();
                    self.saved.insert(number, snapshot);
                    let files: BTreeSet<String> = share(task, (number, tasks));
                    let whole = |m: &&Message| files.contains(&m.0) && m.2 != "the end";
                    self.known.extend(acked.iter().filter(whole).cloned());
                }
            }
            if running.iter().all(|(_, task)| task.ended && task.open.is_empty()) {
                break;
            }
        }
        self.acked.append(&mut acked);
        if to_the_end {
            let lost: Vec<&Message> = all.difference(&self.acked).collect();
            assert!(lost.is_empty(), "lost: {lost:?}");
        }
    }
}

/// The files of a task.
fn share(task: &Task, (number, tasks): (u32, u32)) -> BTreeSet<String> {
    let files = task.spout.files().iter().skip(number as usize).step_by(tasks as usize);
    files.map(|file| file.shown.clone()).collect()
}

#[test]
fn nothing_is_lost_and_what_is_saved_is_not_repeated() {
    let one = std::env::var("SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    for seed in one.map_or(0..150, |seed| seed..seed + 1) {
        let run = std::panic::catch_unwind(|| {
            let mut model = Model {
                rng: fastrand::Rng::with_seed(seed),
                dir: tempdir().unwrap(),
                saved: BTreeMap::new(),
                acked: BTreeSet::new(),
                known: BTreeSet::new(),
                files: 0,
            };
            for _ in 0..8 {
                model.write();
                model.live(false);
            }
            model.live(true);
        });
        assert!(run.is_ok(), "SEED={seed} repeats it");
    }
}
