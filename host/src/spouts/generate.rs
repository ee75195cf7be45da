//! The `generate` spout: made-up messages, for trying out and for measuring.
//!
//! In: how many, how fast, and a seed. Out: the fields `seq` and `sentence`, or random values of given types; the
//! id and position of a message is its `seq`, from 0. Without `keys` there are five sentences, in turn; with it
//! sentences of eight words of a vocabulary that size. Task i of n makes the messages whose `seq` is i modulo n,
//! and takes its share of the rate.
//!
//! Invariant: a message depends on the options and its `seq` alone, so a later run makes the same; `progress` knows
//! which of them are done.

mod progress;

use super::pace::Pace;
use super::words::{Vocabulary, WORD_BYTES, spell};
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::manifest::kinds::{Generate, RandomField};
use anchorbolt_core::port::{Next, Spout, SpoutContext, SpoutError, SpoutOutput, encode_rows};
use anchorbolt_row::{Raw, RowWriter, write_row};
use progress::Progress;
use serde_json::Value;
use std::str;
use std::time::Instant;

const SENTENCES: [&str; 5] = [
    "a fox ran past us",
    "rain fell on the roof",
    "many boats cross that wide bay",
    "each tree bears some fruit",
    "please count all our words",
];
/// How many words a sentence has when `keys` asks for a vocabulary.
const SENTENCE_WORDS: u64 = 8;
const SENTENCE_BYTES: usize = SENTENCE_WORDS as usize * (WORD_BYTES + 1);
/// How many words there are for `string` fields when `keys` does not say.
const KEYS_DEFAULT: u64 = 1000;
/// A random `int` is below this.
const INT_BELOW: u64 = 1_000_000;
/// One call of `next` makes no more than this.
const CALL_MESSAGES: u64 = 1024;

/// The spout.
pub struct GenerateSpout {
    options: Generate,
    rows: Rows,
    /// The next message's number.
    seq: u64,
    stride: u64,
    pace: Option<(Pace, Instant)>,
    progress: Progress,
}

impl GenerateSpout {
    /// A spout with these options.
    pub fn new(options: Generate) -> GenerateSpout {
        let rows = Rows::new(&options);
        let progress = Progress::new((0, 1), recipe(&options));
        GenerateSpout { options, rows, seq: 0, stride: 1, pace: None, progress }
    }

    /// How many messages of this task are left.
    fn left(&self) -> u64 {
        // Without a count the numbers end some day, too.
        self.options.count.unwrap_or(u64::MAX).saturating_sub(self.seq).div_ceil(self.stride)
    }
}

impl Spout for GenerateSpout {
    fn open(&mut self, context: SpoutContext) -> Result<(), SpoutError> {
        self.seq = context.context.task_index.into();
        self.stride = context.context.task_count.max(1).into();
        self.progress = Progress::new((self.seq, self.stride), recipe(&self.options));
        Ok(())
    }

    /// The clock starts anew: what was not wanted in the meantime is not made up for.
    fn activate(&mut self) -> Result<(), SpoutError> {
        self.seq = self.progress.begin().map_err(SpoutError::Environment)?;
        self.pace = self.options.rate.map(|rate| (Pace::new(rate / self.stride as f64), Instant::now()));
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        let left = self.left();
        if left == 0 {
            return Ok(Next::Done);
        }
        let mut messages = left.min(budget as u64).min(CALL_MESSAGES);
        if let Some((pace, start)) = &mut self.pace {
            let running = start.elapsed();
            let allowed = pace.allowed(running);
            if allowed == 0 {
                return Ok(Next::Idle(Some(pace.wait(running))));
            }
            messages = messages.min(allowed);
            pace.took(messages);
        }
        for _ in 0..messages {
            let (seq, rows) = (self.seq, &mut self.rows);
            self.seq = self.seq.saturating_add(self.stride);
            if self.progress.read(seq) {
                out.emit_with(MessageId::pair(0, seq), 0, |data| rows.write(seq, data));
            }
        }
        Ok(Next::More)
    }

    fn restore(&mut self, saved: &[(u32, Vec<u8>)]) -> Result<(), SpoutError> {
        self.progress.restore(saved).map_err(SpoutError::Input)
    }

    fn pass_over(&mut self, position: &Value, bytes: &[u8]) {
        let Some(seq) = position.as_u64() else { return };
        // Of another seed, it was another message.
        let mut row = vec![];
        self.rows.write(seq, &mut row);
        if encode_rows([(0, &row[..])].into_iter()) == bytes {
            self.progress.pass_over(seq);
        }
    }

    fn snapshot(&mut self) -> Option<Vec<u8>> {
        Some(self.progress.snapshot())
    }

    fn saved(&mut self) {
        self.progress.saved();
    }

    fn outstanding(&self) -> u64 {
        self.progress.outstanding()
    }

    fn is_crowded(&self) -> bool {
        self.progress.is_crowded()
    }

    fn ack(&mut self, ids: &[MessageId]) {
        ids.iter().for_each(|id| self.progress.done(id.low()));
    }

    fn unique_ids(&self) -> bool {
        true
    }

    fn finite(&self) -> bool {
        self.options.count.is_some()
    }
}

/// What the messages depend on, for people too.
fn recipe(options: &Generate) -> String {
    let Generate { seed, fields, keys, count: _, rate: _ } = options;
    format!("seed {seed}, fields {fields:?}, keys {keys:?}")
}

/// What a message looks like.
enum Rows {
    /// The five sentences, encoded.
    Sentences([Vec<u8>; 5]),
    /// Sentences of random words.
    Words(Words),
    /// Values of these types; so many of them are strings.
    Fields(Vec<RandomField>, u64, Words),
}

struct Words {
    seed: u64,
    vocabulary: Vocabulary,
    text: [u8; SENTENCE_BYTES],
}

impl Rows {
    fn new(options: &Generate) -> Rows {
        let words = |keys| Words {
            seed: mix(options.seed ^ 0x5eed),
            vocabulary: Vocabulary::new(keys),
            text: [0; SENTENCE_BYTES],
        };
        match (&options.fields, options.keys) {
            (Some(fields), keys) => {
                let fields: Vec<_> = fields.iter().map(|(_, kind)| *kind).collect();
                let strings = fields.iter().filter(|kind| **kind == RandomField::String).count();
                Rows::Fields(fields, strings as u64, words(keys.unwrap_or(KEYS_DEFAULT)))
            }
            (None, Some(keys)) => Rows::Words(words(keys)),
            (None, None) => Rows::Sentences(SENTENCES.map(encoded)),
        }
    }

    #[inline]
    fn write(&mut self, seq: u64, data: &mut Vec<u8>) {
        write_row(data, |row| match self {
            Rows::Sentences(all) => {
                row.uint(seq).value(Raw(&all[(seq % 5) as usize]));
            }
            Rows::Words(words) => {
                row.uint(seq).str(words.sentence(seq));
            }
            Rows::Fields(fields, strings, words) => words.fields(row, fields, *strings, seq),
        });
    }
}

impl Words {
    fn sentence(&mut self, seq: u64) -> &str {
        let first = seq.wrapping_mul(SENTENCE_WORDS);
        let mut end = 0;
        for word in 0..SENTENCE_WORDS {
            if word > 0 {
                self.text[end] = b' ';
                end += 1;
            }
            let draw = first.wrapping_add(word);
            end = spell(self.vocabulary.rank(draw, self.random(draw)), &mut self.text, end);
        }
        self.text(end)
    }

    fn text(&self, end: usize) -> &str {
        // Syllables are ASCII.
        str::from_utf8(&self.text[..end]).unwrap_or_default()
    }

    fn fields(&mut self, row: &mut RowWriter<'_>, fields: &[RandomField], strings: u64, seq: u64) {
        let mut draw = seq.wrapping_mul(strings);
        for (i, field) in fields.iter().enumerate() {
            let random = self.random(seq.wrapping_mul(fields.len() as u64).wrapping_add(i as u64));
            match field {
                RandomField::Int => row.uint(random % INT_BELOW),
                RandomField::Float => row.f64((random >> 11) as f64 / (1u64 << 53) as f64),
                RandomField::Bool => row.bool(random & 1 == 1),
                RandomField::String => {
                    let end = spell(self.vocabulary.rank(draw, random), &mut self.text, 0);
                    draw = draw.wrapping_add(1);
                    row.str(self.text(end))
                }
            };
        }
    }

    #[inline]
    fn random(&self, n: u64) -> u64 {
        mix(self.seed.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }
}

/// A string as it stands in a row.
fn encoded(text: &str) -> Vec<u8> {
    let mut row = Vec::new();
    write_row(&mut row, |row| {
        row.str(text);
    });
    // Without the header of the row of one field.
    row.split_off(1)
}

/// SplitMix64's finalizer: any two inputs give bits that look independent.
#[inline]
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
