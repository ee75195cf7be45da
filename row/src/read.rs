//! Reading a row's fields without copying or allocating.
//!
//! In: the bytes of a row. Out: borrowed [`Value`]s. Invariant: reading never panics; of bytes that are not a
//! row it finds what it can and answers none for the rest. Use [`check_row`](crate::check_row) to know first.

use core::fmt;

use crate::head::{Head, split, timestamp};

/// One row: an array with the fields of a stream in declared order.
///
/// ```
/// use anchorbolt_row::{Row, write_row};
///
/// let mut data = Vec::new();
/// write_row(&mut data, |row| {
///     row.str("cat").uint(3);
/// });
/// let row = Row::new(&data);
/// assert_eq!((row.len(), row.str(0), row.u64(1), row.str(2)), (2, Some("cat"), Some(3), None));
/// ```
#[derive(Clone, Copy)]
pub struct Row<'a> {
    data: &'a [u8],
}

impl<'a> Row<'a> {
    /// Looks at `data` as a row. Nothing is checked yet.
    #[inline]
    pub fn new(data: &'a [u8]) -> Self {
        Self { data }
    }

    /// The bytes of the whole row.
    #[inline]
    pub fn as_bytes(self) -> &'a [u8] {
        self.data
    }

    /// How many fields the row says it has; 0 if it is no array.
    pub fn len(self) -> usize {
        self.fields().len
    }

    /// Has it no fields?
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// One field.
    #[inline]
    pub fn field(self, index: usize) -> Option<Value<'a>> {
        Value::read(self.at(index)?).map(|(value, _)| value)
    }

    /// One field if it is a string.
    #[inline]
    pub fn str(self, index: usize) -> Option<&'a str> {
        let (Head::Str(len), rest) = Head::read(self.at(index)?).ok()? else {
            return None;
        };
        core::str::from_utf8(split(rest, len as usize).ok()?.0).ok()
    }

    /// One field if it is an integer that an `i64` can hold.
    #[inline]
    pub fn i64(self, index: usize) -> Option<i64> {
        match Head::read(self.at(index)?).ok()?.0 {
            Head::UInt(v) => v.try_into().ok(),
            Head::Neg(v) => Some(v),
            _ => None,
        }
    }

    /// One field if it is an integer that a `u64` can hold.
    #[inline]
    pub fn u64(self, index: usize) -> Option<u64> {
        match Head::read(self.at(index)?).ok()?.0 {
            Head::UInt(v) => Some(v),
            _ => None,
        }
    }

    /// One field if it is a number; an integer is rounded to the nearest float.
    #[inline]
    pub fn f64(self, index: usize) -> Option<f64> {
        match Head::read(self.at(index)?).ok()?.0 {
            Head::F64(v) => Some(v),
            Head::UInt(v) => Some(v as f64),
            Head::Neg(v) => Some(v as f64),
            _ => None,
        }
    }

    /// One field if it is a boolean.
    #[inline]
    pub fn bool(self, index: usize) -> Option<bool> {
        match Head::read(self.at(index)?).ok()?.0 {
            Head::Bool(v) => Some(v),
            _ => None,
        }
    }

    /// One field if it is binary.
    #[inline]
    pub fn bytes(self, index: usize) -> Option<&'a [u8]> {
        let (Head::Bin(len), rest) = Head::read(self.at(index)?).ok()? else {
            return None;
        };
        Some(split(rest, len as usize).ok()?.0)
    }

    /// One field as it is encoded.
    pub fn raw(self, index: usize) -> Option<&'a [u8]> {
        let field = self.at(index)?;
        field.get(..field.len() - skip(field)?.len())
    }

    /// All fields in order, as an array.
    pub fn fields(self) -> Array<'a> {
        match Head::read_row(self.data) {
            Ok((Head::Array(len), body)) => Array { body, len: len as usize },
            _ => Array { body: &[], len: 0 },
        }
    }

    /// The bytes from a field on.
    #[inline]
    fn at(self, index: usize) -> Option<&'a [u8]> {
        let (Head::Array(len), mut rest) = Head::read_row(self.data).ok()? else {
            return None;
        };
        if index >= len as usize {
            return None;
        }
        for _ in 0..index {
            rest = skip(rest)?;
        }
        Some(rest)
    }
}

impl fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fields().fmt(f)
    }
}

/// One value, borrowed from its row.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Value<'a> {
    /// Null.
    Nil,
    /// A boolean.
    Bool(bool),
    /// Each integer that an `i64` can hold, whatever its encoding.
    Int(i64),
    /// An integer above `i64::MAX`.
    UInt(u64),
    /// A float; one of 32 bits is widened.
    F64(f64),
    /// A string.
    Str(&'a str),
    /// Binary.
    Bin(&'a [u8]),
    /// An array.
    Array(Array<'a>),
    /// A map.
    Map(Map<'a>),
    /// An instant.
    Timestamp {
        /// Whole seconds since 1970-01-01T00:00:00Z.
        seconds: i64,
        /// Nanoseconds after that, below 1,000,000,000.
        nanos: u32,
    },
    /// Any other extension: its type and its bytes.
    Ext(i8, &'a [u8]),
}

impl<'a> Value<'a> {
    /// What the value is, with an article: `a string`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Nil => Head::Nil.name(),
            Self::Bool(_) => Head::Bool(true).name(),
            Self::Int(_) | Self::UInt(_) => Head::UInt(0).name(),
            Self::F64(_) => Head::F64(0.0).name(),
            Self::Str(_) => Head::Str(0).name(),
            Self::Bin(_) => Head::Bin(0).name(),
            Self::Array(_) => Head::Array(0).name(),
            Self::Map(_) => Head::Map(0).name(),
            Self::Timestamp { .. } => Head::Ext(-1, 0).name(),
            Self::Ext(..) => Head::Ext(0, 0).name(),
        }
    }

    /// Reads the value at the start of `data`; gives what follows it.
    pub(crate) fn read(data: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (head, body) = Head::read(data).ok()?;
        let value = match head {
            Head::Array(len) => Self::Array(Array { body, len: len as usize }),
            Head::Map(len) => Self::Map(Map { body, len: len as usize }),
            scalar => Self::scalar(scalar, split(body, head.body_len()).ok()?.0)?,
        };
        Some((value, skip(data)?))
    }

    fn scalar(head: Head, body: &'a [u8]) -> Option<Self> {
        Some(match head {
            Head::Bool(v) => Self::Bool(v),
            Head::UInt(v) => i64::try_from(v).map_or(Self::UInt(v), Self::Int),
            Head::Neg(v) => Self::Int(v),
            Head::F64(v) => Self::F64(v),
            Head::Str(_) => Self::Str(core::str::from_utf8(body).ok()?),
            Head::Bin(_) => Self::Bin(body),
            Head::Ext(kind, _) => match timestamp(body) {
                Some((seconds, nanos)) if kind == -1 => Self::Timestamp { seconds, nanos },
                _ => Self::Ext(kind, body),
            },
            Head::Nil | Head::Array(_) | Head::Map(_) => Self::Nil,
        })
    }
}

impl fmt::Debug for Value<'_> {
    /// As JSON where JSON can say it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nil => f.write_str("null"),
            Self::Bool(v) => v.fmt(f),
            Self::Int(v) => v.fmt(f),
            Self::UInt(v) => v.fmt(f),
            Self::F64(v) => v.fmt(f),
            Self::Str(v) => v.fmt(f),
            Self::Bin(v) => write!(f, "b\"{}\"", v.escape_ascii()),
            Self::Array(v) => v.fmt(f),
            Self::Map(v) => v.fmt(f),
            Self::Timestamp { seconds, nanos } => write!(f, "timestamp({seconds}.{nanos:09})"),
            Self::Ext(kind, body) => write!(f, "ext({kind}, b\"{}\")", body.escape_ascii()),
        }
    }
}

/// The values of an array, in order.
#[derive(Clone, Copy)]
pub struct Array<'a> {
    body: &'a [u8],
    len: usize,
}

impl<'a> Array<'a> {
    /// How many values it says it has.
    pub fn len(self) -> usize {
        self.len
    }

    /// Has it none?
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The values in order.
    pub fn iter(self) -> impl Iterator<Item = Value<'a>> {
        let mut rest = self.body;
        (0..self.len).map_while(move |_| next(&mut rest))
    }
}

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The entries of a map, in the order they were written in.
#[derive(Clone, Copy)]
pub struct Map<'a> {
    body: &'a [u8],
    len: usize,
}

impl<'a> Map<'a> {
    /// How many entries it says it has.
    pub fn len(self) -> usize {
        self.len
    }

    /// Has it none?
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Keys and values.
    pub fn iter(self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> {
        let mut rest = self.body;
        (0..self.len).map_while(move |_| Some((next(&mut rest)?, next(&mut rest)?)))
    }

    /// The value of the first entry whose key is this string.
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        self.iter().find(|(k, _)| matches!(k, Value::Str(s) if *s == key)).map(|(_, v)| v)
    }
}

impl fmt::Debug for Map<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

fn next<'a>(rest: &mut &'a [u8]) -> Option<Value<'a>> {
    let (value, after) = Value::read(rest)?;
    *rest = after;
    Some(value)
}

/// What follows the value at the start of `data`.
#[inline]
fn skip(data: &[u8]) -> Option<&[u8]> {
    let (head, rest) = Head::read(data).ok()?;
    let mut rest = split(rest, head.body_len()).ok()?.1;
    let mut pending = head.children();
    while pending > 0 {
        let (head, body) = Head::read(rest).ok()?;
        rest = split(body, head.body_len()).ok()?.1;
        pending = pending.checked_add(head.children())? - 1;
    }
    Some(rest)
}
