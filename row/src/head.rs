//! The first bytes of a MessagePack value: what it is and how long.
//!
//! In: a slice that starts with a value. Out: its [`Head`] and what follows the head. Integers are sorted by
//! sign and not by width, and floats are widened, so nothing above this module sees how a value was encoded.
//! Invariant: a head is only ever read from bytes that are there.

use rmp::Marker;

/// What a value is. Lengths count bytes, elements or entries.
#[derive(Clone, Copy)]
pub(crate) enum Head {
    Nil,
    Bool(bool),
    UInt(u64),
    /// Below zero.
    Neg(i64),
    F64(f64),
    Str(u32),
    Bin(u32),
    Array(u32),
    Map(u32),
    Ext(i8, u32),
}

/// Why there is no head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadError {
    Truncated,
    Reserved,
}

impl Head {
    /// Reads the head at the start of `data`; gives what follows it, too.
    #[inline]
    pub(crate) fn read(data: &[u8]) -> Result<(Self, &[u8]), HeadError> {
        let (&first, rest) = data.split_first().ok_or(HeadError::Truncated)?;
        // Most fields are words and small numbers: two compares instead of the table below.
        if first & 0xe0 == 0xa0 {
            return Ok((Self::Str((first & 0x1f).into()), rest));
        }
        if first < 0x80 {
            return Ok((Self::UInt(first.into()), rest));
        }
        Self::read_other(Marker::from_u8(first), rest)
    }

    /// As [`read`](Self::read), quickest for the header of a row.
    #[inline]
    pub(crate) fn read_row(data: &[u8]) -> Result<(Self, &[u8]), HeadError> {
        match data.split_first() {
            Some((&first, rest)) if first & 0xf0 == 0x90 => Ok((Self::Array((first & 0xf).into()), rest)),
            _ => Self::read(data),
        }
    }

    fn read_other(marker: Marker, rest: &[u8]) -> Result<(Self, &[u8]), HeadError> {
        let head = match marker {
            Marker::FixStr(n) => Self::Str(n.into()),
            Marker::FixPos(v) => Self::UInt(v.into()),
            Marker::FixNeg(v) => Self::Neg(v.into()),
            Marker::FixArray(n) => Self::Array(n.into()),
            Marker::FixMap(n) => Self::Map(n.into()),
            Marker::Null => Self::Nil,
            Marker::True => Self::Bool(true),
            Marker::False => Self::Bool(false),
            Marker::Reserved => return Err(HeadError::Reserved),
            wide => return Self::read_wide(wide, rest),
        };
        Ok((head, rest))
    }

    fn read_wide(marker: Marker, data: &[u8]) -> Result<(Self, &[u8]), HeadError> {
        let mut rest = data;
        let r = &mut rest;
        let head = match marker {
            Marker::U8 => Self::UInt(u8::from_be_bytes(take(r)?).into()),
            Marker::U16 => Self::UInt(u16::from_be_bytes(take(r)?).into()),
            Marker::U32 => Self::UInt(u32::from_be_bytes(take(r)?).into()),
            Marker::U64 => Self::UInt(u64::from_be_bytes(take(r)?)),
            Marker::I8 => Self::int(i8::from_be_bytes(take(r)?).into()),
            Marker::I16 => Self::int(i16::from_be_bytes(take(r)?).into()),
            Marker::I32 => Self::int(i32::from_be_bytes(take(r)?).into()),
            Marker::I64 => Self::int(i64::from_be_bytes(take(r)?)),
            Marker::F32 => Self::F64(f32::from_be_bytes(take(r)?).into()),
            Marker::F64 => Self::F64(f64::from_be_bytes(take(r)?)),
            Marker::Str8 => Self::Str(len8(r)?),
            Marker::Str16 => Self::Str(len16(r)?),
            Marker::Str32 => Self::Str(len32(r)?),
            Marker::Bin8 => Self::Bin(len8(r)?),
            Marker::Bin16 => Self::Bin(len16(r)?),
            Marker::Bin32 => Self::Bin(len32(r)?),
            Marker::Array16 => Self::Array(len16(r)?),
            Marker::Array32 => Self::Array(len32(r)?),
            Marker::Map16 => Self::Map(len16(r)?),
            Marker::Map32 => Self::Map(len32(r)?),
            extension => Self::read_extension(extension, r)?,
        };
        Ok((head, rest))
    }

    fn read_extension(marker: Marker, rest: &mut &[u8]) -> Result<Self, HeadError> {
        let len = match marker {
            Marker::FixExt1 => 1,
            Marker::FixExt2 => 2,
            Marker::FixExt4 => 4,
            Marker::FixExt8 => 8,
            Marker::FixExt16 => 16,
            Marker::Ext8 => len8(rest)?,
            Marker::Ext16 => len16(rest)?,
            _ => len32(rest)?,
        };
        Ok(Self::Ext(i8::from_be_bytes(take(rest)?), len))
    }

    fn int(v: i64) -> Self {
        u64::try_from(v).map_or(Self::Neg(v), Self::UInt)
    }

    /// How many bytes of its own follow the head.
    #[inline]
    pub(crate) fn body_len(self) -> usize {
        match self {
            Self::Str(n) | Self::Bin(n) | Self::Ext(_, n) => n as usize,
            _ => 0,
        }
    }

    /// How many values follow the head as parts of this one.
    #[inline]
    pub(crate) fn children(self) -> u64 {
        match self {
            Self::Array(n) => n.into(),
            Self::Map(n) => 2 * u64::from(n),
            _ => 0,
        }
    }

    /// What the value is, with an article.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nil => "null",
            Self::Bool(_) => "a boolean",
            Self::UInt(_) | Self::Neg(_) => "an integer",
            Self::F64(_) => "a float",
            Self::Str(_) => "a string",
            Self::Bin(_) => "binary",
            Self::Array(_) => "an array",
            Self::Map(_) => "a map",
            Self::Ext(-1, _) => "a timestamp",
            Self::Ext(..) => "an extension",
        }
    }
}

/// Cuts `len` bytes off the front.
#[inline]
pub(crate) fn split(data: &[u8], len: usize) -> Result<(&[u8], &[u8]), HeadError> {
    data.split_at_checked(len).ok_or(HeadError::Truncated)
}

/// The instant in the body of an extension of type -1, as seconds and nanoseconds; none unless it is one of
/// the three forms of the specification.
pub(crate) fn timestamp(body: &[u8]) -> Option<(i64, u32)> {
    let (seconds, nanos) = if let Ok(b) = <[u8; 4]>::try_from(body) {
        (u32::from_be_bytes(b).into(), 0)
    } else if let Ok(b) = <[u8; 8]>::try_from(body) {
        let packed = u64::from_be_bytes(b);
        ((packed & 0x3_ffff_ffff) as i64, (packed >> 34) as u32)
    } else {
        let (nanos, seconds) = body.split_first_chunk::<4>()?;
        (i64::from_be_bytes(seconds.try_into().ok()?), u32::from_be_bytes(*nanos))
    };
    (nanos < 1_000_000_000).then_some((seconds, nanos))
}

#[inline]
fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], HeadError> {
    let (bytes, after) = rest.split_first_chunk::<N>().ok_or(HeadError::Truncated)?;
    *rest = after;
    Ok(*bytes)
}

#[inline]
fn len8(rest: &mut &[u8]) -> Result<u32, HeadError> {
    take(rest).map(|b| u8::from_be_bytes(b).into())
}

#[inline]
fn len16(rest: &mut &[u8]) -> Result<u32, HeadError> {
    take(rest).map(|b| u16::from_be_bytes(b).into())
}

#[inline]
fn len32(rest: &mut &[u8]) -> Result<u32, HeadError> {
    take(rest).map(u32::from_be_bytes)
}
