//! What the rows of the simulation say: which message or which emission a tuple is.
//!
//! In: a tag. Out: a row of six numbers, and the tag back. Invariant: a row that no tag made is refused.

use anchorbolt_row::{Row, write_row};

/// The fields of every stream.
pub(super) const FIELDS: [&str; 6] = ["key", "kind", "a", "b", "hops", "width"];

/// Who a tuple is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// A row of a message, as its spout emitted it.
    Root { message: usize, row: usize },
    /// An emission of a bolt, counted over the life.
    Child(usize),
}

/// A tuple's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    /// For groupings by field.
    pub(super) key: u64,
    pub(super) name: Name,
    /// How many times it went round a cycle.
    pub(super) hops: u64,
    /// About how many tuples of its message go beside it.
    pub(super) width: u64,
}

impl Tag {
    pub(super) fn row(&self) -> Vec<u8> {
        let (kind, a, b) = match self.name {
            Name::Root { message, row } => (0, message as u64, row as u64),
            Name::Child(tuple) => (1, tuple as u64, 0),
        };
        let mut out = vec![];
        write_row(&mut out, |row| {
            [self.key, kind, a, b, self.hops, self.width].iter().for_each(|n| {
                row.uint(*n);
            });
        });
        out
    }

    pub(super) fn of(row: &[u8]) -> Option<Tag> {
        let row = Row::new(row);
        let at = |i| row.u64(i);
        let name = match at(1)? {
            0 => Name::Root { message: at(2)? as usize, row: at(3)? as usize },
            1 => Name::Child(at(2)? as usize),
            _ => return None,
        };
        Some(Tag { key: at(0)?, name, hops: at(4)?, width: at(5)? })
    }
}
