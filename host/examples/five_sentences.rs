//! A spout of your own: the five sentences of Storm's word count, with its own table of pending messages.
//!
//! Storm's examples often lose a message here: `fail` takes it out of the table and does not put it back, so its
//! second failure finds nothing. This one keeps a message until it is acked. It answers [`Replay::Spout`]: it will
//! emit the message again itself. A spout that can leave that to the host (which keeps the rows) needs no table at
//! all, and no `fail`.

use anchorbolt_core::failure::Failure;
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::port::{Next, Replay, Spout, SpoutContext, SpoutError, SpoutOutput, Waker};
use anchorbolt_host::spouts::contract::{Expected, check_spout};
use anchorbolt_row::write_row;
use std::collections::{HashMap, VecDeque};

const SENTENCES: [&str; 5] = [
    "my dog has fleas",
    "i like cold beverages",
    "the dog ate my homework",
    "do not have a cow man",
    "i do not think i like fleas",
];

/// Emits the five sentences in turn, so many times.
pub struct FiveSentences {
    left: u64,
    next_id: u64,
    pending: HashMap<MessageId, &'static str>,
    again: VecDeque<MessageId>,
    waker: Option<Waker>,
}

impl FiveSentences {
    /// A spout that emits each sentence `rounds` times.
    pub fn new(rounds: u64) -> FiveSentences {
        let (pending, again) = (HashMap::new(), VecDeque::new());
        FiveSentences { left: 5 * rounds, next_id: 0, pending, again, waker: None }
    }

    fn emit(id: MessageId, sentence: &str, out: &mut SpoutOutput) {
        out.emit_with(id, 0, |data| {
            write_row(data, |row| {
                row.str(sentence);
            });
        });
    }
}

impl Spout for FiveSentences {
    fn open(&mut self, context: SpoutContext) -> Result<(), SpoutError> {
        self.waker = Some(context.waker);
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        while out.len() < budget {
            // What failed goes first; it stays pending.
            if let Some(id) = self.again.pop_front() {
                if let Some(sentence) = self.pending.get(&id) {
                    Self::emit(id, sentence, out);
                }
            } else if self.left > 0 {
                self.left -= 1;
                let (id, sentence) = (MessageId::pair(0, self.next_id), SENTENCES[self.next_id as usize % 5]);
                self.next_id += 1;
                self.pending.insert(id, sentence);
                Self::emit(id, sentence, out);
            } else {
                return Ok(if out.is_empty() { Next::Done } else { Next::More });
            }
        }
        Ok(Next::More)
    }

    fn ack(&mut self, ids: &[MessageId]) {
        for id in ids {
            self.pending.remove(id);
        }
    }

    fn fail(&mut self, id: MessageId, _failure: &Failure) -> Replay {
        if self.pending.contains_key(&id) {
            self.again.push_back(id);
            if let Some(waker) = &self.waker {
                waker.wake();
            }
        }
        Replay::Spout
    }

    fn finite(&self) -> bool {
        true
    }
}

fn main() {
    check_spout(|| Box::new(FiveSentences::new(20)), &Expected::messages(100).replay(Replay::Spout));
}
