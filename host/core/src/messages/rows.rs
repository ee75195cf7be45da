//! The rows of one message, kept until nobody can need them again.
//!
//! In: a stream index and an encoded row. Out: the same, in order. One buffer holds them all, and it is
//! used again for the next message in its place, so a steady stream allocates nothing.
//!
//! Invariant: the buffer is a sequence of whole records.

/// A record's head: the stream's index and the row's length.
const HEAD: usize = 4 + 8;
/// A buffer that is larger than this is given back with its message: one large message must not leave its
/// size behind in each place it once had.
const KEPT_BYTES: usize = 4096;

/// Rows with the streams they go to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    data: Vec<u8>,
}

impl Rows {
    /// Adds a row behind the others.
    #[inline]
    pub fn push(&mut self, stream: u32, row: &[u8]) {
        if self.data.capacity() == 0 {
            self.data.reserve_exact(HEAD + row.len());
        }
        self.data.extend_from_slice(&stream.to_le_bytes());
        self.data.extend_from_slice(&(row.len() as u64).to_le_bytes());
        self.data.extend_from_slice(row);
    }

    /// Stream and encoded row of each, in the order they came.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let mut rest = self.data.as_slice();
        std::iter::from_fn(move || {
            let (stream, behind) = rest.split_first_chunk::<4>()?;
            let (len, behind) = behind.split_first_chunk::<8>()?;
            let (row, behind) = behind.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
            rest = behind;
            Some((u32::from_le_bytes(*stream), row))
        })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Removes all rows and keeps the buffer, unless it has grown large.
    #[inline]
    pub fn clear(&mut self) {
        self.data.clear();
        if self.data.capacity() > KEPT_BYTES {
            self.data = Vec::new();
        }
    }

    /// The bytes that the buffer takes.
    pub fn memory_bytes(&self) -> usize {
        self.data.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_went_in() {
        let mut rows = Rows::default();
        rows.push(3, b"abc");
        rows.push(0, b"");
        rows.push(u32::MAX, &[7; 300]);
        let back: Vec<_> = rows.iter().collect();
        assert_eq!(back, [(3, b"abc".as_slice()), (0, b"".as_slice()), (u32::MAX, [7; 300].as_slice())]);
        rows.clear();
        assert!(rows.is_empty() && rows.iter().next().is_none());
    }

    #[test]
    fn a_small_buffer_is_kept_and_a_large_one_let_go() {
        let mut rows = Rows::default();
        rows.push(0, &[1; 1000]);
        let kept = rows.memory_bytes();
        rows.clear();
        assert_eq!(rows.memory_bytes(), kept);
        rows.push(0, &[1; 100_000]);
        rows.clear();
        assert_eq!(rows.memory_bytes(), 0);
    }

    /// Most messages have one row.
    #[test]
    fn a_first_row_takes_its_own_bytes_and_twelve() {
        for len in [0, 1, 100, KEPT_BYTES - 12] {
            let mut rows = Rows::default();
            rows.push(7, &vec![1; len]);
            assert_eq!(rows.memory_bytes(), 12 + len);
            rows.clear();
            assert_eq!(rows.memory_bytes(), 12 + len, "it is kept");
        }
        let mut rows = Rows::default();
        rows.push(7, &[1; KEPT_BYTES - 11]);
        rows.clear();
        assert_eq!(rows.memory_bytes(), 0, "a byte more is not");
    }
}
