//! The spout of a replay: messages out of their dead letters, in the place of the spout that read them.
//!
//! In: the ids of letters, and the spout that knows what their bytes mean. Out: the same messages, under the same
//! names; the ids of those that completed. A letter is read when its message is wanted, so many take no memory.
//!
//! Invariant: a message keeps its letter until it has completed.

use crate::durable::{DeadLetters, Letter};
use anchorbolt_core::failure::{Class, Cost, Failure};
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::port::{Next, Spout, SpoutContext, SpoutError, SpoutOutput};
use parking_lot::Mutex;
use serde_json::Value;
use std::sync::Arc;

/// The letters of one spout that are to be replayed, shared by its tasks.
#[derive(Clone)]
pub struct Mail {
    /// The store they are in.
    pub letters: Arc<Mutex<DeadLetters>>,
    /// Which.
    pub ids: Arc<Vec<String>>,
    /// Those whose messages completed.
    pub completed: Arc<Mutex<Vec<String>>>,
}

/// The spout.
pub struct LettersSpout {
    mail: Mail,
    reader: Box<dyn Spout>,
    name: String,
    at: usize,
    tasks: usize,
}

impl LettersSpout {
    /// A spout that emits these letters' messages; `reader` is the spout that they came from, not opened.
    pub fn new(mail: Mail, reader: Box<dyn Spout>) -> LettersSpout {
        LettersSpout { mail, reader, name: String::new(), at: 0, tasks: 1 }
    }

    fn letter(&self, number: u64) -> Result<Letter, String> {
        let id = usize::try_from(number).ok().and_then(|number| self.mail.ids.get(number));
        let id = id.ok_or("there is no such letter")?;
        match self.mail.letters.lock().letters().get(id) {
            Ok(Some(letter)) => Ok(letter),
            Ok(None) => Err(format!("the letter `{id}` is gone")),
            Err(error) => Err(error.to_string()),
        }
    }

    fn emit(&mut self, number: u64, out: &mut SpoutOutput) -> Result<(), String> {
        let letter = self.letter(number)?;
        if is_cut(&letter) {
            return Err("the letter has only the first bytes of a message that was too large; raise limits.tuple-bytes \
                        of the spout and read it from its source with --reset"
                .to_owned());
        }
        self.reader.revive(MessageId::pair(0, number), &letter.bytes, out)
    }
}

/// A message over the limit was never read whole.
fn is_cut(letter: &Letter) -> bool {
    letter.attempts.last().is_some_and(|last| last.class == Class::Size && last.component == letter.spout)
}

impl Spout for LettersSpout {
    fn open(&mut self, context: SpoutContext) -> Result<(), SpoutError> {
        let context = context.context;
        self.name = context.component;
        (self.at, self.tasks) = (context.task_index as usize, context.task_count.max(1) as usize);
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        for _ in 0..budget {
            if self.at >= self.mail.ids.len() {
                return Ok(Next::Done);
            }
            let number = self.at as u64;
            self.at += self.tasks;
            if let Err(reason) = self.emit(number, out) {
                let failure = Failure {
                    class: Class::Rejected,
                    cost: Cost::Final,
                    component: self.name.clone(),
                    task: 0,
                    reason,
                    output: String::new(),
                    input: None,
                };
                out.refuse(MessageId::pair(0, number), failure);
            }
        }
        Ok(Next::More)
    }

    fn ack(&mut self, ids: &[MessageId]) {
        let done = ids.iter().filter_map(|id| self.mail.ids.get(usize::try_from(id.low()).ok()?));
        self.mail.completed.lock().extend(done.cloned());
    }

    /// It failed again, and its letter says so.
    fn give_up(&mut self, _: MessageId) {}

    fn position(&self, id: MessageId) -> Value {
        self.letter(id.low()).map_or(Value::Null, |letter| letter.position)
    }

    fn source_bytes(&self, id: MessageId, _: &[(u32, &[u8])]) -> Vec<u8> {
        self.letter(id.low()).map(|letter| letter.bytes).unwrap_or_default()
    }

    fn unique_ids(&self) -> bool {
        true
    }

    fn finite(&self) -> bool {
        true
    }
}
