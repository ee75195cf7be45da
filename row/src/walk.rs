//! Checking a row, in one pass and without building values.
//!
//! In: the bytes of one row as a guest gave them, and the arity that its stream declares. Out: nothing, or the
//! place of each field as it is passed, or the first fault. Invariant: time is linear in the bytes that are
//! there, whatever the lengths in them claim, and the stack does not grow with nesting.

use core::ops::Range;

use crate::RowError;
use crate::head::{Head, HeadError, split};

/// How deep arrays and maps may be nested, the row itself counted.
pub const MAX_DEPTH: usize = 64;

/// Checks that `data` is exactly one array of `arity` well-formed values.
///
/// ```
/// use anchorbolt_row::{RowError, check_row};
///
/// assert_eq!(check_row(b"\x92\xa3cat\x01", 2), Ok(()));
/// assert_eq!(check_row(b"\x92\xa3cat\x01", 3), Err(RowError::Arity { want: 3, got: 2 }));
/// assert_eq!(check_row(b"\x91\xa2\xc3\x28", 1), Err(RowError::Utf8 { field: 0 }));
/// ```
///
/// # Errors
/// The first thing that is wrong, and in which field.
#[inline]
pub fn check_row(data: &[u8], arity: usize) -> Result<(), RowError> {
    walk_row(data, arity, |_, _| ())
}

/// As [`check_row`], and tells the place in `data` of each field once it has been checked.
///
/// # Errors
/// The first thing that is wrong, and in which field.
#[inline]
pub fn walk_row(
    data: &[u8],
    arity: usize,
    mut visit: impl FnMut(usize, Range<usize>),
) -> Result<(), RowError> {
    let mut rest = fields(data, arity)?;
    for field in 0..arity {
        let start = data.len() - rest.len();
        rest = check_value(rest).map_err(|fault| fault.at(field))?;
        visit(field, start..data.len() - rest.len());
    }
    if rest.is_empty() { Ok(()) } else { Err(RowError::Trailing { bytes: rest.len() }) }
}

/// What follows the header of a row of this arity.
#[inline]
fn fields(data: &[u8], arity: usize) -> Result<&[u8], RowError> {
    match Head::read_row(data) {
        Ok((Head::Array(n), rest)) if n as usize == arity => Ok(rest),
        Ok((Head::Array(n), _)) => Err(RowError::Arity { want: arity, got: n as usize }),
        Ok((head, _)) => Err(RowError::NotArray { found: head.name() }),
        Err(HeadError::Reserved) => Err(RowError::NotArray { found: "the reserved byte 0xc1" }),
        Err(HeadError::Truncated) if data.is_empty() => Err(RowError::Empty),
        Err(HeadError::Truncated) => Err(RowError::Header),
    }
}

/// What is wrong with a value, before it is known whose.
#[derive(Clone, Copy)]
enum Fault {
    Head(HeadError),
    Utf8,
    Nesting,
}

impl Fault {
    fn at(self, field: usize) -> RowError {
        match self {
            Self::Head(HeadError::Truncated) => RowError::Truncated { field },
            Self::Head(HeadError::Reserved) => RowError::Reserved { field },
            Self::Utf8 => RowError::Utf8 { field },
            Self::Nesting => RowError::Nesting { field },
        }
    }
}

impl From<HeadError> for Fault {
    fn from(e: HeadError) -> Self {
        Self::Head(e)
    }
}

/// Checks the value at the start of `data`; gives what follows it.
#[inline]
fn check_value(data: &[u8]) -> Result<&[u8], Fault> {
    let (head, rest) = Head::read(data)?;
    match head {
        Head::Array(_) | Head::Map(_) => check_children(rest, head.children()),
        scalar => check_body(scalar, rest),
    }
}

#[inline]
fn check_body(head: Head, data: &[u8]) -> Result<&[u8], Fault> {
    let (body, rest) = split(data, head.body_len())?;
    if matches!(head, Head::Str(_)) && !is_utf8(body) {
        return Err(Fault::Utf8);
    }
    Ok(rest)
}

/// The library's check is made for long texts; words are short and mostly ASCII.
#[inline]
fn is_utf8(text: &[u8]) -> bool {
    (text.len() < 32 && text.is_ascii()) || core::str::from_utf8(text).is_ok()
}

/// Checks all that is inside a container, with the open ones on a stack of fixed size.
fn check_children(data: &[u8], children: u64) -> Result<&[u8], Fault> {
    // The row is level 1 and this container level 2.
    let mut open = [0u64; MAX_DEPTH - 1];
    let mut rest = data;
    let mut depth = 0;
    open[0] = promised(rest, children)?;
    loop {
        while open[depth] == 0 {
            if depth == 0 {
                return Ok(rest);
            }
            depth -= 1;
        }
        open[depth] -= 1;
        let (head, after) = Head::read(rest)?;
        rest = match head {
            Head::Array(_) | Head::Map(_) => {
                depth += 1;
                *open.get_mut(depth).ok_or(Fault::Nesting)? = promised(after, head.children())?;
                after
            }
            scalar => check_body(scalar, after)?,
        };
    }
}

/// Each value takes a byte at least, so a count beyond the bytes left lies.
fn promised(rest: &[u8], children: u64) -> Result<u64, Fault> {
    if children > rest.len() as u64 { Err(HeadError::Truncated.into()) } else { Ok(children) }
}
