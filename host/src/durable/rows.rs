//! The rows of a message whose source has no bytes of its own, as its dead letter keeps them.
//!
//! In: a letter. Out: the rows that are in its `bytes`, each with the index of its stream. Such bytes are a
//! MessagePack array of pairs; text never is, for no UTF-8 begins with the byte of an array.
//!
//! Invariant: bytes of a source are taken for rows only if they are whole rows from the first byte to the last.

use super::Letter;
use anchorbolt_row::{Row, Value, check_row};

impl Letter {
    /// The index of the stream and the encoded row of each tuple; none if `bytes` are the source's own.
    pub fn rows(&self) -> Option<Vec<(u32, &[u8])>> {
        let all = Row::new(&self.bytes);
        if all.is_empty() || check_row(&self.bytes, all.len()).is_err() {
            return None;
        }
        (0..all.len()).map(|i| pair(all.raw(i)?)).collect()
    }
}

fn pair(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let pair = Row::new(bytes);
    match (pair.len(), pair.u64(0), pair.field(1)) {
        (2, Some(stream), Some(Value::Array(_))) => Some((u32::try_from(stream).ok()?, pair.raw(1)?)),
        _ => None,
    }
}
