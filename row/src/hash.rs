//! The hash by which a fields grouping picks a task.
//!
//! Two values that mean the same have one hash, however they were encoded:
//! - an integer in any width; a float and the integer it equals (1 and 1.0); 32 and 64 bit floats;
//! - 0.0 and -0.0; every NaN;
//! - strings, binaries, arrays and maps with headers of any width; timestamps in any of their forms;
//! - maps with their entries in any order.
//!
//! What differs in kind is kept apart: a string is not the binary of the same bytes, nor `true` the number 1.
//! Hashes are the same in each process of one build, and are not meant to be stored.
//! Invariant: only bytes that the walk has just checked are hashed, so nesting has a bound.

use core::hash::{BuildHasher, Hasher};

use foldhash::quality::{FixedState, FoldHasher};

use crate::head::{Head, split, timestamp};
use crate::{RowError, walk_row};

/// Checks the row as [`check_row`](crate::check_row) does and hashes the chosen fields on the way.
///
/// The order of `fields` counts and their place in the row does not, so two streams that carry the same key in
/// different columns meet at one task. A field outside the row adds nothing.
///
/// ```
/// use anchorbolt_row::key_hash;
///
/// let narrow = key_hash(b"\x92\xa1k\x07", 2, &[1])?; // 7 as one byte
/// let wide = key_hash(b"\x92\xa1z\xcd\x00\x07", 2, &[1])?; // 7 as three
/// assert_eq!(narrow, wide);
/// # Ok::<(), anchorbolt_row::RowError>(())
/// ```
///
/// # Errors
/// The first thing that is wrong with the row, and in which field.
#[inline]
pub fn key_hash(data: &[u8], arity: usize, fields: &[usize]) -> Result<u64, RowError> {
    let mut key = 0u64;
    walk_row(data, arity, |field, place| {
        for (ordinal, &wanted) in fields.iter().enumerate() {
            if wanted == field {
                // Addition, for fields come in the row's order; the seed keeps the key's.
                key = key.wrapping_add(hash_value(&data[place.clone()], ordinal as u64));
            }
        }
    })?;
    Ok(key)
}

/// Told apart in the hash; the numbers mean nothing else.
#[derive(Clone, Copy)]
enum Kind {
    Nil = 1,
    False,
    True,
    UInt,
    Neg,
    Float,
    Str,
    Bin,
    Array,
    Map,
    Timestamp,
    Ext,
}

const NAN_BITS: u64 = 0x7ff8_0000_0000_0000;

#[inline]
fn hash_value(data: &[u8], seed: u64) -> u64 {
    let mut hasher = FixedState::with_seed(seed).build_hasher();
    // Checked bytes have no fault left; if they had, the hash would still be one.
    write_value(data, &mut hasher);
    hasher.finish()
}

/// Adds one value to the hash; gives what follows it.
#[inline]
fn write_value<'a>(data: &'a [u8], hasher: &mut FoldHasher<'_>) -> Option<&'a [u8]> {
    let (head, rest) = Head::read(data).ok()?;
    match head {
        Head::Array(_) | Head::Map(_) => return write_container(head, rest, hasher),
        Head::Nil => tag(hasher, Kind::Nil),
        Head::Bool(b) => tag(hasher, if b { Kind::True } else { Kind::False }),
        Head::UInt(v) => write_u64(hasher, Kind::UInt, v),
        Head::Neg(v) => write_u64(hasher, Kind::Neg, v.cast_unsigned()),
        Head::F64(v) => write_float(hasher, v),
        Head::Str(_) | Head::Bin(_) | Head::Ext(..) => {}
    }
    let (body, rest) = split(rest, head.body_len()).ok()?;
    match head {
        Head::Str(_) => write_bytes(hasher, Kind::Str, body),
        Head::Bin(_) => write_bytes(hasher, Kind::Bin, body),
        Head::Ext(kind, _) => write_ext(hasher, kind, body),
        _ => {}
    }
    Some(rest)
}

fn write_container<'a>(head: Head, data: &'a [u8], hasher: &mut FoldHasher<'_>) -> Option<&'a [u8]> {
    let mut rest = data;
    match head {
        Head::Map(entries) => {
            let mut sum = 0u64;
            for _ in 0..entries {
                let mut entry = FixedState::with_seed(u64::from(entries)).build_hasher();
                rest = write_value(write_value(rest, &mut entry)?, &mut entry)?;
                sum = sum.wrapping_add(entry.finish());
            }
            write_u64(hasher, Kind::Map, sum);
        }
        _ => {
            write_u64(hasher, Kind::Array, head.children());
            for _ in 0..head.children() {
                rest = write_value(rest, hasher)?;
            }
        }
    }
    Some(rest)
}

fn write_float(hasher: &mut FoldHasher<'_>, v: f64) {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    if v.is_nan() {
        write_u64(hasher, Kind::Float, NAN_BITS);
    } else if v.fract() != 0.0 || !(-TWO_63..2.0 * TWO_63).contains(&v) {
        write_u64(hasher, Kind::Float, v.to_bits());
    } else if v < 0.0 {
        write_u64(hasher, Kind::Neg, (v as i64).cast_unsigned());
    } else {
        write_u64(hasher, Kind::UInt, v as u64);
    }
}

fn write_ext(hasher: &mut FoldHasher<'_>, kind: i8, body: &[u8]) {
    match timestamp(body) {
        Some((seconds, nanos)) if kind == -1 => {
            write_u64(hasher, Kind::Timestamp, seconds.cast_unsigned());
            hasher.write_u32(nanos);
        }
        _ => {
            hasher.write_i8(kind);
            write_bytes(hasher, Kind::Ext, body);
        }
    }
}

#[inline]
fn tag(hasher: &mut FoldHasher<'_>, kind: Kind) {
    hasher.write_u8(kind as u8);
}

#[inline]
fn write_u64(hasher: &mut FoldHasher<'_>, kind: Kind, v: u64) {
    tag(hasher, kind);
    hasher.write_u64(v);
}

#[inline]
fn write_bytes(hasher: &mut FoldHasher<'_>, kind: Kind, bytes: &[u8]) {
    tag(hasher, kind);
    hasher.write(bytes);
}
