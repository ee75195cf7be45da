//! The tuples of one call as lines of JSON.
//!
//! In: tuples, and from the context the fields of each input. Out: the text of all lines, and whose they are; a
//! tuple whose row can't be said in JSON is rejected on the spot.
//!
//! Invariant: the text is whole lines, one for each handle in `ids`, in order.

use crate::json::{Keys, object};
use anchorbolt_core::port::{Collector, Context, FailKind, Tuples};

/// A buffer that one huge call made larger than this is given back after it.
const KEEP_BYTES: usize = 4 << 20;

/// The lines of one call; its buffers are used again.
#[derive(Default)]
pub(crate) struct Batch {
    keys: Vec<Keys>,
    ids: Vec<u32>,
    text: Vec<u8>,
}

impl Batch {
    /// For a bolt with these inputs.
    pub(crate) fn new(context: &Context) -> Batch {
        let keys = context.inputs.iter().map(|input| Keys::new(&input.fields)).collect();
        Batch { keys, ..Batch::default() }
    }

    /// Replaces what it holds by these tuples.
    pub(crate) fn encode(&mut self, tuples: &Tuples, out: &mut Collector<'_>) {
        self.ids.clear();
        self.text.clear();
        self.text.shrink_to(KEEP_BYTES);
        for (i, (&id, &input)) in tuples.ids.iter().zip(&tuples.inputs).enumerate() {
            let before = self.text.len();
            let written = match self.keys.get(input as usize) {
                Some(keys) => object(tuples.row(i), keys, &mut self.text),
                None => Err(format!("it came by input {input}, which this bolt does not have")),
            };
            match written {
                Ok(()) => {
                    self.text.push(b'\n');
                    self.ids.push(id);
                }
                Err(problem) => {
                    self.text.truncate(before);
                    out.fail(id, FailKind::Reject, format!("the tuple can't be written as JSON: {problem}"));
                }
            }
        }
    }

    /// The lines.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// All lines are safe.
    pub(crate) fn ack(&self, out: &mut Collector<'_>) {
        if !self.ids.is_empty() {
            out.ack(&self.ids);
        }
    }

    /// No line may count as written; something outside is at fault.
    pub(crate) fn retry(&self, reason: &str, out: &mut Collector<'_>) {
        for &id in &self.ids {
            out.fail(id, FailKind::Retry, reason);
        }
    }
}
