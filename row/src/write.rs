//! Writing rows, at the end of a buffer that the caller owns and reuses.
//!
//! In: values. Out: the shortest MessagePack form of each. The number of fields need not be known first: the
//! header is one byte and is widened in the rare row of more than 15 fields. Invariant: what is written passes
//! [`check_row`](crate::check_row) with the number of fields that [`write_row`] answers, as long as it is not
//! nested too deep.

use rmp::Marker;

use crate::ToValue;

/// Appends one row to `buffer`; answers how many fields it has.
///
/// ```
/// let mut data = Vec::new();
/// let fields = anchorbolt_row::write_row(&mut data, |row| {
///     row.str("cat").uint(3).array(|list| {
///         list.bool(true).nil();
///     });
/// });
/// assert_eq!((fields, data.as_slice()), (3, b"\x93\xa3cat\x03\x92\xc3\xc0".as_slice()));
/// ```
#[inline]
pub fn write_row(buffer: &mut Vec<u8>, fill: impl FnOnce(&mut RowWriter<'_>)) -> usize {
    RowWriter::new(buffer).sequence(&ARRAY, fill)
}

/// As [`write_row`] where the number of fields is known and below 16: nothing is counted or set right.
#[inline]
pub(crate) fn write_fields<const N: usize>(buffer: &mut Vec<u8>, fill: impl FnOnce(&mut RowWriter<'_>)) {
    const { assert!(N < 16) };
    buffer.push(ARRAY.short | N as u8);
    fill(&mut RowWriter::new(buffer));
}

/// Writes values, one after the other, into a row or an array.
///
/// # Panics
/// Its methods do if one string, binary, array or map is longer than `u32::MAX`, which MessagePack can't say.
#[derive(Debug)]
pub struct RowWriter<'b> {
    buffer: &'b mut Vec<u8>,
    written: usize,
}

impl<'b> RowWriter<'b> {
    #[inline]
    fn new(buffer: &'b mut Vec<u8>) -> Self {
        Self { buffer, written: 0 }
    }

    /// Writes anything that knows how.
    #[inline]
    pub fn value(&mut self, value: impl ToValue) -> &mut Self {
        value.write(self);
        self
    }

    /// Writes null.
    pub fn nil(&mut self) -> &mut Self {
        self.marker(Marker::Null)
    }

    /// Writes a boolean.
    pub fn bool(&mut self, v: bool) -> &mut Self {
        self.marker(if v { Marker::True } else { Marker::False })
    }

    /// Writes an integer that is not negative.
    #[inline]
    pub fn uint(&mut self, v: u64) -> &mut Self {
        if v < 0x80 {
            return self.marker(Marker::FixPos(v as u8));
        }
        if let Ok(v) = u8::try_from(v) {
            self.scalar(Marker::U8, v.to_be_bytes())
        } else if let Ok(v) = u16::try_from(v) {
            self.scalar(Marker::U16, v.to_be_bytes())
        } else if let Ok(v) = u32::try_from(v) {
            self.scalar(Marker::U32, v.to_be_bytes())
        } else {
            self.scalar(Marker::U64, v.to_be_bytes())
        }
    }

    /// Writes an integer.
    #[inline]
    pub fn int(&mut self, v: i64) -> &mut Self {
        if let Ok(v) = u64::try_from(v) {
            return self.uint(v);
        }
        if v >= -32 {
            self.marker(Marker::FixNeg(v as i8))
        } else if let Ok(v) = i8::try_from(v) {
            self.scalar(Marker::I8, v.to_be_bytes())
        } else if let Ok(v) = i16::try_from(v) {
            self.scalar(Marker::I16, v.to_be_bytes())
        } else if let Ok(v) = i32::try_from(v) {
            self.scalar(Marker::I32, v.to_be_bytes())
        } else {
            self.scalar(Marker::I64, v.to_be_bytes())
        }
    }

    /// Writes a float of 64 bits.
    pub fn f64(&mut self, v: f64) -> &mut Self {
        self.scalar(Marker::F64, v.to_be_bytes())
    }

    /// Writes a float of 32 bits.
    pub fn f32(&mut self, v: f32) -> &mut Self {
        self.scalar(Marker::F32, v.to_be_bytes())
    }

    /// Writes a string.
    #[inline]
    pub fn str(&mut self, v: &str) -> &mut Self {
        if v.len() < 32 {
            self.marker(Marker::FixStr(v.len() as u8));
        } else {
            self.long(Marker::Str8, Marker::Str16, Marker::Str32, v.len());
        }
        self.buffer.extend_from_slice(v.as_bytes());
        self
    }

    /// Writes binary.
    pub fn bin(&mut self, v: &[u8]) -> &mut Self {
        self.long(Marker::Bin8, Marker::Bin16, Marker::Bin32, v.len());
        self.buffer.extend_from_slice(v);
        self
    }

    /// Writes an array of what `fill` writes.
    #[inline]
    pub fn array(&mut self, fill: impl FnOnce(&mut RowWriter<'_>)) -> &mut Self {
        RowWriter::new(self.buffer).sequence(&ARRAY, fill);
        self.written += 1;
        self
    }

    /// Writes a map of the entries that `fill` adds.
    #[inline]
    pub fn map(&mut self, fill: impl FnOnce(&mut MapWriter<'_>)) -> &mut Self {
        RowWriter::new(self.buffer).sequence(&MAP, |writer| {
            let mut map = MapWriter { writer: RowWriter::new(writer.buffer), entries: 0 };
            fill(&mut map);
            writer.written = map.entries;
        });
        self.written += 1;
        self
    }

    /// Writes an instant: seconds since 1970-01-01T00:00:00Z and nanoseconds after that.
    ///
    /// Nanoseconds of a second and more are carried over.
    pub fn timestamp(&mut self, seconds: i64, nanos: u32) -> &mut Self {
        const SECOND: u32 = 1_000_000_000;
        let seconds = seconds.saturating_add((nanos / SECOND).into());
        let nanos = nanos % SECOND;
        match (u32::try_from(seconds), u64::try_from(seconds)) {
            (Ok(seconds), _) if nanos == 0 => self.ext(-1, &seconds.to_be_bytes()),
            (_, Ok(seconds)) if seconds >> 34 == 0 => {
                self.ext(-1, &(u64::from(nanos) << 34 | seconds).to_be_bytes())
            }
            _ => {
                let mut body = [0; 12];
                body[..4].copy_from_slice(&nanos.to_be_bytes());
                body[4..].copy_from_slice(&seconds.to_be_bytes());
                self.ext(-1, &body)
            }
        }
    }

    /// Writes an extension of a type that the application gives a meaning.
    pub fn ext(&mut self, kind: i8, body: &[u8]) -> &mut Self {
        let fixed = match body.len() {
            1 => Some(Marker::FixExt1),
            2 => Some(Marker::FixExt2),
            4 => Some(Marker::FixExt4),
            8 => Some(Marker::FixExt8),
            16 => Some(Marker::FixExt16),
            _ => None,
        };
        match fixed {
            Some(marker) => self.marker(marker),
            None => self.long(Marker::Ext8, Marker::Ext16, Marker::Ext32, body.len()),
        };
        self.buffer.extend_from_slice(&kind.to_be_bytes());
        self.buffer.extend_from_slice(body);
        self
    }

    /// Copies one value that is already encoded.
    pub(crate) fn raw(&mut self, value: &[u8]) {
        self.buffer.extend_from_slice(value);
        self.written += 1;
    }

    #[inline]
    fn marker(&mut self, marker: Marker) -> &mut Self {
        self.buffer.push(marker.to_u8());
        self.written += 1;
        self
    }

    #[inline]
    fn scalar<const N: usize>(&mut self, marker: Marker, bytes: [u8; N]) -> &mut Self {
        self.marker(marker);
        self.buffer.extend_from_slice(&bytes);
        self
    }

    fn long(&mut self, m8: Marker, m16: Marker, m32: Marker, len: usize) -> &mut Self {
        if let Ok(len) = u8::try_from(len) {
            self.scalar(m8, len.to_be_bytes())
        } else if let Ok(len) = u16::try_from(len) {
            self.scalar(m16, len.to_be_bytes())
        } else {
            self.scalar(m32, length(len).to_be_bytes())
        }
    }

    /// Writes a header, lets `fill` write, and sets the header right; answers how many were written.
    #[inline]
    fn sequence(self, form: &Form, fill: impl FnOnce(&mut RowWriter<'_>)) -> usize {
        let start = self.buffer.len();
        self.buffer.push(form.short);
        let mut inner = RowWriter::new(self.buffer);
        fill(&mut inner);
        let (buffer, written) = (inner.buffer, inner.written);
        match buffer.get_mut(start) {
            Some(header) if written < 16 => *header = form.short | written as u8,
            _ => form.widen(buffer, start, written),
        }
        written
    }
}

/// Writes the entries of a map.
#[derive(Debug)]
pub struct MapWriter<'b> {
    writer: RowWriter<'b>,
    entries: usize,
}

impl MapWriter<'_> {
    /// Writes one entry.
    pub fn entry(&mut self, key: impl ToValue, value: impl ToValue) -> &mut Self {
        self.writer.value(key).value(value);
        self.entries += 1;
        self
    }

    /// Writes one entry whose value is an array of what `fill` writes.
    pub fn array(&mut self, key: impl ToValue, fill: impl FnOnce(&mut RowWriter<'_>)) -> &mut Self {
        self.writer.value(key).array(fill);
        self.entries += 1;
        self
    }

    /// Writes one entry whose value is a map of the entries that `fill` adds.
    pub fn map(&mut self, key: impl ToValue, fill: impl FnOnce(&mut MapWriter<'_>)) -> &mut Self {
        self.writer.value(key).map(fill);
        self.entries += 1;
        self
    }
}

/// The headers of what has elements.
struct Form {
    short: u8,
    m16: Marker,
    m32: Marker,
}

const ARRAY: Form = Form { short: 0x90, m16: Marker::Array16, m32: Marker::Array32 };
const MAP: Form = Form { short: 0x80, m16: Marker::Map16, m32: Marker::Map32 };

impl Form {
    /// Replaces the header of one byte by a longer one; what follows moves up.
    #[cold]
    fn widen(&self, buffer: &mut Vec<u8>, start: usize, len: usize) {
        let (marker, len) = match u16::try_from(len) {
            Ok(_) => (self.m16, &length(len).to_be_bytes()[2..]),
            Err(_) => (self.m32, &length(len).to_be_bytes()[..]),
        };
        let end = buffer.len();
        buffer.resize(end + len.len(), 0);
        buffer.copy_within(start + 1..end, start + 1 + len.len());
        buffer[start] = marker.to_u8();
        buffer[start + 1..][..len.len()].copy_from_slice(len);
    }
}

fn length(len: usize) -> u32 {
    u32::try_from(len).expect("no value in a row is longer than u32::MAX")
}
