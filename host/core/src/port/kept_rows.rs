//! The rows of a message as bytes, for a source whose messages have no bytes of their own.
//!
//! In: rows with the streams they go to. Out: one MessagePack array of pairs of a stream's index and a row, and the
//! same back. Invariant: what is decoded is what was encoded, or an error.

use super::SpoutOutput;
use crate::ids::MessageId;
use anchorbolt_row::{Raw, Row, Value, check_row, write_row};

/// The bytes of these rows.
pub fn encode_rows<'a>(rows: impl Iterator<Item = (u32, &'a [u8])>) -> Vec<u8> {
    let mut all = vec![];
    write_row(&mut all, |out| {
        for (stream, row) in rows {
            out.array(|pair| {
                pair.uint(u64::from(stream)).value(Raw(row));
            });
        }
    });
    all
}

/// The rows in these bytes, each with the index of its stream; none if they are not what [`encode_rows`] gives of at least
/// one row. Text never is: no UTF-8 begins with the byte of an array.
pub fn read_rows(bytes: &[u8]) -> Option<Vec<(u32, &[u8])>> {
    let all = Row::new(bytes);
    if all.is_empty() || check_row(bytes, all.len()).is_err() {
        return None;
    }
    (0..all.len()).map(|i| pair(all.raw(i)?)).collect()
}

fn pair(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let pair = Row::new(bytes);
    match (pair.len(), pair.u64(0), pair.field(1)) {
        (2, Some(stream), Some(Value::Array(_))) => Some((u32::try_from(stream).ok()?, pair.raw(1)?)),
        _ => None,
    }
}

/// Emits the rows in these bytes as one message.
///
/// # Errors
/// There are none: see [`read_rows`]. Nothing was emitted then.
pub fn decode_rows(bytes: &[u8], id: MessageId, out: &mut SpoutOutput) -> Result<(), String> {
    let rows = read_rows(bytes).ok_or("its bytes are no rows of a message")?;
    rows.into_iter().for_each(|(stream, row)| out.emit(id, stream, row));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_went_in() {
        let rows: [(u32, &[u8]); 3] = [(0, b"\x91\x01"), (7, b"\x92\xa1x\xc0"), (u32::MAX, b"\x90")];
        let bytes = encode_rows(rows.into_iter());
        let mut out = SpoutOutput::new();
        decode_rows(&bytes, MessageId::pair(1, 2), &mut out).unwrap();
        let back: Vec<_> = (0..out.len()).map(|i| (out.streams[i], out.row(i))).collect();
        assert_eq!(back, rows);
        assert!(out.ids.iter().all(|id| *id == Some(MessageId::pair(1, 2))));
    }

    #[test]
    fn other_bytes_are_refused_and_emit_nothing() {
        for bytes in
            [&b""[..], b"hello", b"\x90", b"\x91\x01", b"\x91\x92\x01\x02", b"\x92\x92\x00\x91\x01\xc1"]
        {
            let mut out = SpoutOutput::new();
            assert!(decode_rows(bytes, MessageId::pair(0, 0), &mut out).is_err(), "{bytes:?}");
            assert!(out.is_empty());
        }
    }
}
