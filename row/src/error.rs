//! What is wrong with a row: one variant a rule, each with a text that says where.
//!
//! Fields count from 0, as they do for whoever reads one. Invariant: an error is small, `Copy` and borrows
//! nothing, so that refusing a row costs nothing either.

use core::fmt;

/// Why some bytes are not a row of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowError {
    /// There are no bytes.
    Empty,
    /// The row is another MessagePack value than an array.
    NotArray {
        /// What it is instead, with its article: `a string`.
        found: &'static str,
    },
    /// The array's own header is incomplete.
    Header,
    /// The row has another number of fields than the stream declares.
    Arity {
        /// Fields the stream declares.
        want: usize,
        /// Fields the row says it has.
        got: usize,
    },
    /// The bytes end before the field does; a length that lies comes out as this too.
    Truncated {
        /// The field, from 0.
        field: usize,
    },
    /// The field holds the byte 0xc1, which MessagePack never uses.
    Reserved {
        /// The field, from 0.
        field: usize,
    },
    /// A string in the field is not UTF-8.
    Utf8 {
        /// The field, from 0.
        field: usize,
    },
    /// The field is nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    Nesting {
        /// The field, from 0.
        field: usize,
    },
    /// Bytes follow the last field.
    Trailing {
        /// How many.
        bytes: usize,
    },
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Empty => write!(f, "the row is empty: no bytes"),
            Self::NotArray { found } => write!(f, "the row is not an array but {found}"),
            Self::Header => write!(f, "the row ends inside its array header"),
            Self::Arity { want, got } => {
                write!(f, "the row has {got} fields where the stream declares {want}")
            }
            Self::Truncated { field } => write!(f, "the row ends inside field {field}"),
            Self::Reserved { field } => write!(f, "reserved byte 0xc1 in field {field}"),
            Self::Utf8 { field } => write!(f, "invalid UTF-8 in field {field}"),
            Self::Nesting { field } => {
                write!(f, "field {field} is nested deeper than {} levels", crate::MAX_DEPTH)
            }
            Self::Trailing { bytes: 1 } => write!(f, "1 byte follows the last field"),
            Self::Trailing { bytes } => write!(f, "{bytes} bytes follow the last field"),
        }
    }
}

impl core::error::Error for RowError {}
