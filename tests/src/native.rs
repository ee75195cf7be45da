//! Native spouts and bolts that write down what happens to them.
//!
//! In: rows to emit, or to receive. Out: a [`Journal`] of what the runtime told the spout, and the rows that
//! reached a [`Sink`]. Invariant: each entry is written when it happens, with the time.

use anchorbolt_core::failure::Failure;
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::port::{
    Bolt, Collector, Declaration, Next, Replay, Spout, SpoutContext, SpoutError, SpoutOutput, Tuples,
};
use anchorbolt_row::{Row, write_row};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What a spout did or was told.
#[derive(Clone, Debug)]
pub enum Entry {
    /// It emitted a message.
    Emitted(u64),
    /// A message completed.
    Acked(u64),
    /// An attempt failed.
    Failed(u64, Failure),
    /// A message was given up.
    GaveUp(u64),
    /// It was told to emit no more.
    Deactivated,
    /// It was closed.
    Closed,
}

/// What a spout did and was told, in order.
#[derive(Clone, Debug, Default)]
pub struct Journal(Arc<Mutex<Vec<(Instant, Entry)>>>);

impl Journal {
    /// Writes an entry.
    pub fn write(&self, entry: Entry) {
        self.0.lock().expect("no writer panics").push((Instant::now(), entry));
    }

    /// All entries so far.
    pub fn entries(&self) -> Vec<(Instant, Entry)> {
        self.0.lock().expect("no writer panics").clone()
    }

    /// How often each message was acked.
    pub fn acks(&self) -> BTreeMap<u64, u64> {
        let mut acks = BTreeMap::new();
        for (_, entry) in self.entries() {
            if let Entry::Acked(id) = entry {
                *acks.entry(id).or_default() += 1;
            }
        }
        acks
    }

    /// Each of these messages was acked once, and no other.
    pub fn check_acked(&self, expected: impl Iterator<Item = u64>) {
        let acks = self.acks();
        let expected: BTreeMap<u64, u64> = expected.map(|id| (id, 1)).collect();
        let wrong: Vec<_> =
            expected.keys().chain(acks.keys()).filter(|id| acks.get(id) != expected.get(id)).collect();
        let first = &wrong[..wrong.len().min(10)];
        assert!(wrong.is_empty(), "{} acked not once, or without cause: {first:?}", wrong.len());
    }

    /// The failures of a message.
    pub fn failures(&self, of: u64) -> Vec<(Instant, Failure)> {
        let entries = self.entries().into_iter();
        entries
            .filter_map(
                |(at, e)| if let Entry::Failed(id, f) = e { (id == of).then_some((at, f)) } else { None },
            )
            .collect()
    }

    /// When the first entry that `is` accepts was written.
    pub fn time(&self, is: impl Fn(&Entry) -> bool) -> Option<Instant> {
        self.entries().into_iter().find(|(_, e)| is(e)).map(|(at, _)| at)
    }
}

/// A row of one string.
pub fn string_row(text: &str) -> Vec<u8> {
    let mut row = vec![];
    write_row(&mut row, |row| {
        row.str(text);
    });
    row
}

/// A row of one number.
pub fn int_row(number: i64) -> Vec<u8> {
    let mut row = vec![];
    write_row(&mut row, |row| {
        row.int(number);
    });
    row
}

/// A spout over a list of rows, each a message whose id is its place. The host replays.
pub struct Feed {
    rows: Arc<Vec<Vec<u8>>>,
    at: usize,
    journal: Journal,
}

impl Feed {
    /// Over these rows.
    pub fn new(rows: Arc<Vec<Vec<u8>>>, journal: Journal) -> Feed {
        Feed { rows, at: 0, journal }
    }

    /// Rows of one string each.
    pub fn strings<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Arc<Vec<Vec<u8>>> {
        Arc::new(texts.into_iter().map(|text| string_row(text.as_ref())).collect())
    }

    /// What it declares: one field.
    pub fn declaration() -> Declaration {
        Declaration::fields(["value"])
    }
}

impl Spout for Feed {
    fn open(&mut self, _: SpoutContext) -> Result<(), SpoutError> {
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        for _ in 0..budget {
            let Some(row) = self.rows.get(self.at) else { return Ok(Next::Done) };
            out.emit(MessageId::pair(0, self.at as u64), 0, row);
            self.journal.write(Entry::Emitted(self.at as u64));
            self.at += 1;
        }
        Ok(Next::More)
    }

    fn ack(&mut self, ids: &[MessageId]) {
        ids.iter().for_each(|id| self.journal.write(Entry::Acked(id.low())));
    }

    fn fail(&mut self, id: MessageId, failure: &Failure) -> Replay {
        self.journal.write(Entry::Failed(id.low(), failure.clone()));
        Replay::Host
    }

    fn give_up(&mut self, id: MessageId) {
        self.journal.write(Entry::GaveUp(id.low()));
    }

    fn deactivate(&mut self) {
        self.journal.write(Entry::Deactivated);
    }

    fn close(&mut self) {
        self.journal.write(Entry::Closed);
    }

    fn unique_ids(&self) -> bool {
        true
    }

    fn finite(&self) -> bool {
        true
    }
}

/// A bolt that keeps every row it gets, acks, and emits nothing.
#[derive(Clone, Debug, Default)]
pub struct Sink(Arc<Mutex<Vec<Vec<u8>>>>);

impl Sink {
    /// The encoded rows so far.
    pub fn rows(&self) -> Vec<Vec<u8>> {
        self.0.lock().expect("no writer panics").clone()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.lock().expect("no writer panics").len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Field 0 of each row, which is a string.
    pub fn texts(&self) -> Vec<String> {
        self.rows().iter().map(|row| Row::new(row).str(0).expect("field 0 is a string").to_owned()).collect()
    }

    /// Field 0 of each row, which is a number, in order.
    pub fn numbers(&self) -> Vec<i64> {
        self.rows().iter().map(|row| Row::new(row).i64(0).expect("field 0 is a number")).collect()
    }

    /// Exactly these texts, each so often, in any order.
    pub fn check_texts<S: AsRef<str>>(&self, expected: impl IntoIterator<Item = S>) {
        let mut expected: Vec<String> = expected.into_iter().map(|s| s.as_ref().to_owned()).collect();
        let mut texts = self.texts();
        expected.sort_unstable();
        texts.sort_unstable();
        let differs = expected.iter().zip(&texts).find(|(a, b)| a != b);
        assert!(
            differs.is_none() && expected.len() == texts.len(),
            "{} rows, not {}; {differs:?}",
            texts.len(),
            expected.len()
        );
    }
}

impl Bolt for Sink {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        let mut rows = self.0.lock().expect("no writer panics");
        rows.extend((0..tuples.len()).map(|i| tuples.row(i).to_vec()));
        out.ack(&tuples.ids);
        Ok(())
    }
}
