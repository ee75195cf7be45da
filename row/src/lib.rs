//! MessagePack rows, for the host and for the guest SDK alike.
//!
//! A row is one MessagePack array with the fields of a stream in declared order. This crate writes rows
//! ([`write_row`]), checks those that a guest hands over ([`check_row`]), finds and hashes the fields that a
//! grouping needs in that same walk ([`walk_row`], [`key_hash`]) and reads fields without copying ([`Row`]).
//!
//! In: bytes nobody vouches for. Out: rows, borrowed values, or a [`RowError`] that names what is wrong and
//! where. Invariant: no bytes whatever make it panic, recurse without bound, or allocate while checking.

mod error;
mod hash;
mod head;
mod read;
mod to_value;
mod walk;
mod write;

pub use error::RowError;
pub use hash::key_hash;
pub use read::{Array, Map, Row, Value};
pub use to_value::{IntoRow, Raw, ToValue};
pub use walk::{MAX_DEPTH, check_row, walk_row};
pub use write::{MapWriter, RowWriter, write_row};
