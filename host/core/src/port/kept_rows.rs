//! The rows of a message as bytes, for a source whose messages have no bytes of their own.
//!
//! In: rows with the streams they go to. Out: one MessagePack array of pairs of a stream's index and a row, and the
//! same back. Invariant: what is decoded is what was encoded, or an error.

use super::SpoutOutput;
use crate::ids::MessageId;
use anchorbolt_row::{Raw, Row, check_row, write_row};

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

/// Emits the rows in these bytes as one message.
///
/// # Errors
/// They are not what [`encode_rows`] gives; nothing was emitted then.
pub fn decode_rows(bytes: &[u8], id: MessageId, out: &mut SpoutOutput) -> Result<(), String> {
    let pairs = Row::new(bytes);
    let wrong = || "its bytes are no rows of a message".to_owned();
    let mut rows = vec![];
    for i in 0..pairs.len() {
        let pair = Row::new(pairs.raw(i).ok_or_else(wrong)?);
        let stream = pair.u64(0).and_then(|stream| u32::try_from(stream).ok()).ok_or_else(wrong)?;
        let row = pair.raw(1).ok_or_else(wrong)?;
        check_row(row, Row::new(row).len()).map_err(|error| error.to_string())?;
        rows.push((stream, row));
    }
    if rows.is_empty() {
        return Err(wrong());
    }
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
