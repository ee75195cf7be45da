//! How far a `generate` spout is, across restarts.
//!
//! In: the numbers of messages that leave and that are done. Out: what to save, and where to begin with it. Task i of n
//! makes the messages i, i + n, i + 2n, ..; here they are counted 0, 1, 2, .. When the number of tasks has changed each
//! message is looked up in all that was saved, and all of that is saved again.
//!
//! Invariant: a message is saved as done only if it was acked or given up.

use anchorbolt_core::offsets::{Known, Snapshot, Spans};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The format of what is saved.
const VERSION: u64 = 1;
/// The most ranges that are saved.
const RANGES_MAX: usize = 1 << 14;

/// So many messages are looked up; what was done beyond them is made again.
const LOOK_UP_MAX: u64 = 1 << 20;

/// The progress of one task.
pub(super) struct Progress {
    task: u64,
    tasks: u64,
    /// What the messages depend on.
    recipe: String,
    /// What others had saved and must not be forgotten.
    carried: Vec<Saved>,
    done: Snapshot,
    /// Messages that are over as well, in no order.
    over: Vec<u64>,
    spans: Spans,
    snapshot: Known,
    durable: Known,
}

/// What a task had saved.
#[derive(Clone)]
struct Saved {
    task: u64,
    tasks: u64,
    done: Snapshot,
}

impl Saved {
    /// Where reading stood, as a message's number.
    fn low(&self) -> u64 {
        self.done.low.saturating_mul(self.tasks).saturating_add(self.task)
    }

    /// Behind all that is done, as a message's number.
    fn end(&self) -> u64 {
        self.done.end().saturating_mul(self.tasks).saturating_add(self.task)
    }

    fn is_done(&self, seq: u64) -> bool {
        seq % self.tasks == self.task && self.done.is_done(seq / self.tasks)
    }

    fn to_json(&self) -> Value {
        let ranges: Vec<Value> =
            self.done.ranges.iter().map(|range| json!([range.start, range.end])).collect();
        json!({ "task": self.task, "tasks": self.tasks, "low": self.done.low, "done": ranges })
    }

    fn from_json(value: &Value) -> Option<Saved> {
        let pair = |range: &Value| Some(range[0].as_u64()?..range[1].as_u64()?);
        let ranges = value["done"].as_array()?.iter().map(pair).collect::<Option<_>>()?;
        let done = Snapshot { low: value["low"].as_u64()?, ranges }.normal().ok()?;
        let (task, tasks) = (value["task"].as_u64()?, value["tasks"].as_u64()?);
        (task < tasks).then_some(Saved { task, tasks, done })
    }
}

/// Of these, the lowest message that a layout of so many tasks had not done; none unless all of them saved.
fn low_of(saved: &[Saved], tasks: u64) -> Option<u64> {
    let of =
        |task: u64| saved.iter().filter(|one| (one.task, one.tasks) == (task, tasks)).map(Saved::low).max();
    // A layout is one of those that saved something, so there are no more tasks than files.
    (0..tasks).map(of).collect::<Option<Vec<_>>>()?.into_iter().min()
}

impl Progress {
    pub(super) fn new((task, tasks): (u64, u64), recipe: String) -> Progress {
        let spans = Spans::new(RANGES_MAX);
        let (done, snapshot, durable) = (Snapshot::default(), Known::default(), Known::default());
        Progress { task, tasks, recipe, carried: vec![], done, over: vec![], spans, snapshot, durable }
    }

    /// Takes in what all tasks had saved.
    pub(super) fn restore(&mut self, saved: &[(u32, Vec<u8>)]) -> Result<(), String> {
        let (mut all, mut carried) = (vec![], vec![]);
        for (_, text) in saved {
            let (own, more) = self.decode(text)?;
            all.push(own);
            carried.extend(more);
        }
        if low_of(&all, self.tasks).is_none() {
            // Tasks are dealt out otherwise now. Until each has saved what it took over, the old word must stay.
            all.extend(carried);
            self.carried.clone_from(&all);
        }
        let layouts: BTreeSet<u64> =
            all.iter().map(|one| one.tasks).filter(|n| *n <= all.len() as u64).collect();
        let low = layouts.iter().filter_map(|tasks| low_of(&all, *tasks)).max().unwrap_or(0);
        self.done.low = low.saturating_sub(self.task).div_ceil(self.tasks);
        let (own, others): (Vec<Saved>, Vec<Saved>) =
            all.into_iter().partition(|one| one.tasks == self.tasks);
        self.look_up(&others);
        for one in own.into_iter().filter(|one| one.task == self.task) {
            self.done = std::mem::take(&mut self.done).union(one.done);
        }
        Ok(())
    }

    /// Takes in what was done when tasks were dealt out otherwise, message by message.
    fn look_up(&mut self, others: &[Saved]) {
        let end = others.iter().map(Saved::end).max().unwrap_or(0);
        let mut at = self.done.low;
        let most = at.saturating_add(LOOK_UP_MAX);
        while at < most && self.seq(at) < end {
            if others.iter().any(|one| one.is_done(self.seq(at))) {
                self.add(at);
            }
            at += 1;
        }
    }

    /// The message with this number is over.
    pub(super) fn pass_over(&mut self, seq: u64) {
        if seq % self.tasks == self.task {
            self.over.push(seq / self.tasks);
        }
    }

    /// Adds a message that lies above all that was added.
    fn add(&mut self, at: u64) {
        match self.done.ranges.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ if self.done.low == at => self.done.low += 1,
            _ => self.done.ranges.push(at..at + 1),
        }
    }

    /// Begins: the number of the first message to look at.
    pub(super) fn begin(&mut self) -> Result<u64, String> {
        let mut over = std::mem::take(&mut self.over);
        over.sort_unstable();
        over.dedup();
        let ranges = over.into_iter().map(|at| at..at.saturating_add(1)).collect();
        self.done = std::mem::take(&mut self.done).union(Snapshot { low: 0, ranges });
        self.spans = Spans::restore(self.done.clone(), RANGES_MAX)?;
        Ok(self.seq(self.done.low))
    }

    /// A message is about to be made. False if it was done before.
    #[inline]
    pub(super) fn read(&mut self, seq: u64) -> bool {
        let at = self.at(seq);
        self.spans.read(at, at + 1)
    }

    /// A message is done.
    #[inline]
    pub(super) fn done(&mut self, seq: u64) {
        let at = self.at(seq);
        self.spans.done(at);
    }

    pub(super) fn snapshot(&mut self) -> Vec<u8> {
        let (done, known) = self.spans.snapshot();
        self.snapshot = known;
        let own = Saved { task: self.task, tasks: self.tasks, done };
        let carried: Vec<Value> = self.carried.iter().map(Saved::to_json).collect();
        let text =
            json!({ "version": VERSION, "messages": self.recipe, "own": own.to_json(), "carried": carried });
        text.to_string().into_bytes()
    }

    pub(super) fn saved(&mut self) {
        self.durable = self.snapshot;
    }

    pub(super) fn outstanding(&self) -> u64 {
        self.spans.outstanding(self.durable)
    }

    pub(super) fn is_crowded(&self) -> bool {
        self.spans.is_crowded()
    }

    fn seq(&self, at: u64) -> u64 {
        at.saturating_mul(self.tasks).saturating_add(self.task)
    }

    #[inline]
    fn at(&self, seq: u64) -> u64 {
        // Most spouts have one task, and a division is dear.
        if self.tasks == 1 { seq } else { seq / self.tasks }
    }

    fn decode(&self, text: &[u8]) -> Result<(Saved, Vec<Saved>), String> {
        let value: Value = serde_json::from_slice(text).map_err(|_| damaged())?;
        if value["version"] != VERSION {
            return Err("what this spout has saved is of another version; run with --reset".to_owned());
        }
        if value["messages"] != *self.recipe {
            return Err(format!(
                "the spout's messages are others now: they were {}, and are {}; put `seed`, `fields` and `keys` back, \
                 or run with --reset to begin again",
                value["messages"], self.recipe
            ));
        }
        let carried = value["carried"].as_array().map(|list| list.iter().map(Saved::from_json).collect());
        Saved::from_json(&value["own"]).zip(carried.flatten()).ok_or_else(damaged)
    }
}

fn damaged() -> String {
    "what this spout has saved is damaged; run with --reset to begin again".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(task: u64, tasks: u64) -> Progress {
        Progress::new((task, tasks), "x".to_owned())
    }

    /// Runs with changing numbers of tasks, each killed at a random moment: a message that is not made again was done,
    /// and no more are made again than a layout's last checkpoints did not know.
    #[test]
    fn nothing_is_passed_over_that_was_not_done() {
        for seed in 0..300 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut files: Vec<(u32, Vec<u8>)> = vec![];
            let mut done: BTreeSet<u64> = BTreeSet::new();
            for _ in 0..6 {
                let tasks = rng.u64(1..4);
                let mut all: Vec<Progress> = (0..tasks).map(|i| task(i, tasks)).collect();
                let mut at: Vec<u64> = vec![];
                for one in &mut all {
                    one.restore(&files).unwrap();
                    at.push(one.begin().unwrap());
                }
                let end = done.last().map_or(0, |last| last + 1);
                let skipped =
                    |one: &Progress, seq: u64| seq % tasks == one.task && one.done.is_done(one.at(seq));
                for seq in (0..end).filter(|seq| all.iter().any(|one| skipped(one, *seq))) {
                    assert!(done.contains(&seq), "seed {seed}: {seq} is passed over and was not done");
                }
                for _ in 0..rng.usize(0..200) {
                    let i = rng.usize(..all.len());
                    if all[i].read(at[i]) && rng.u8(..4) > 0 {
                        all[i].done(at[i]);
                        done.insert(at[i]);
                    }
                    at[i] += tasks;
                    if rng.u8(..20) == 0 {
                        let text = all[i].snapshot();
                        files.retain(|(task, _)| *task != i as u32);
                        files.push((i as u32, text));
                    }
                }
            }
        }
    }

    #[test]
    fn a_saved_layout_is_restored_to_the_message() {
        let mut first = task(0, 1);
        first.begin().unwrap();
        (0..100).for_each(|seq| assert!(first.read(seq)));
        (0..100).filter(|seq| *seq != 40 && *seq < 90).for_each(|seq| first.done(seq));
        assert_eq!(first.outstanding(), 100);
        let text = first.snapshot();
        first.saved();
        assert_eq!(first.outstanding(), 11);
        for tasks in 1..4 {
            let mut all: Vec<Progress> = (0..tasks).map(|i| task(i, tasks)).collect();
            let mut made = BTreeSet::new();
            for one in &mut all {
                one.restore(&[(0, text.clone())]).unwrap();
                let mut at = one.begin().unwrap();
                while at < 120 {
                    if one.read(at) {
                        made.insert(at);
                    }
                    at += tasks;
                }
            }
            let expected: BTreeSet<u64> = [40].into_iter().chain(90..120).collect();
            assert_eq!(made, expected, "with {tasks} tasks");
        }
    }

    #[test]
    fn a_place_that_no_run_comes_to_has_an_end() {
        let far = Saved { task: 0, tasks: 2, done: Snapshot { low: u64::MAX - 2, ranges: vec![] } };
        let text = json!({ "version": VERSION, "messages": "x", "own": far.to_json(), "carried": [] });
        let mut other = task(0, 1);
        other.restore(&[(0, text.to_string().into_bytes())]).unwrap();
        let first: Vec<u64> = (0..4).filter(|seq| other.read(*seq)).collect();
        assert_eq!((other.begin(), first), (Ok(1), vec![0, 1, 2, 3]));
        assert!(other.done.ranges.len() as u64 <= LOOK_UP_MAX);
    }

    #[test]
    fn other_messages_are_refused() {
        let text = task(0, 1).snapshot();
        let mut other = Progress::new((0, 1), "y".to_owned());
        let problem = other.restore(&[(0, text)]).unwrap_err();
        assert!(problem.contains("--reset") && problem.contains('x') && problem.contains('y'), "{problem}");
    }
}
