//! Bytes into lines, with a limit on what a line may be.
//!
//! In: a source, read by [`Splitter::fill`]. Out: each line to a [`TakeLine`], without `\n` or `\r\n`, with the
//! place where it begins; of a line over the limit only its place and its true size.
//!
//! Invariant: the buffer never holds more than one chunk or one line at the limit, whichever is larger.

use super::feed::Closed;
use memchr::{memchr, memchr_iter, memrchr};
use std::io::{self, ErrorKind, Read};
use std::str;

/// How much is read at once.
const CHUNK_BYTES: usize = 128 << 10;
/// A buffer that a long line made larger than this is given back after it.
const KEEP_BYTES: usize = 1 << 20;
/// No limit goes beyond this, whatever is asked: offsets of rows have 32 bits.
const LIMIT_MAX: u64 = 1 << 30;

/// One line.
#[derive(Clone, Copy)]
pub(crate) enum Line<'a> {
    /// It is UTF-8.
    Text(&'a str),
    /// It is not.
    Bytes(&'a [u8]),
}

impl<'a> Line<'a> {
    /// The line whatever it is.
    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            Line::Text(text) => text.as_bytes(),
            Line::Bytes(bytes) => bytes,
        }
    }
}

/// Who gets the lines.
pub(crate) trait TakeLine {
    /// A line that begins at `place`.
    fn line(&mut self, place: u64, line: Line<'_>) -> Result<(), Closed>;
    /// A line over the limit, and its size in bytes.
    fn oversize(&mut self, place: u64, bytes: u64) -> Result<(), Closed>;
}

/// A line over the limit whose end was not found yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skip {
    place: u64,
    bytes: u64,
    /// The last byte was `\r`, which is part of the line unless `\n` follows.
    carriage: bool,
}

/// Where reading stands, so that it can go on later with a new buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standing {
    /// The first byte that was not settled.
    pub(crate) place: u64,
    /// The line that is being passed over.
    pub(crate) skip: Option<Skip>,
}

/// Cuts one source at a time.
pub(crate) struct Splitter {
    limit: usize,
    buffer: Vec<u8>,
    /// The bytes in use are `start..end`; up to `scanned` there is no line's end.
    start: usize,
    scanned: usize,
    end: usize,
    /// The place of `start`.
    at: Standing,
}

impl Splitter {
    /// Lines of up to `limit` bytes, their ends not counted.
    pub(crate) fn new(limit: u64) -> Splitter {
        let limit = limit.min(LIMIT_MAX) as usize;
        Splitter { limit, buffer: Vec::new(), start: 0, scanned: 0, end: 0, at: Standing::default() }
    }

    /// Forgets what is buffered and goes on with a source that stands here.
    pub(crate) fn resume(&mut self, at: Standing) {
        (self.start, self.scanned, self.end, self.at) = (0, 0, 0, at);
    }

    /// Where reading stands; what is buffered counts as not read.
    pub(crate) fn standing(&self) -> Standing {
        self.at
    }

    /// How far the source was read.
    pub(crate) fn read_to(&self) -> u64 {
        self.at.place + (self.end - self.start) as u64
    }

    /// Reads once; 0 is the end, for now.
    pub(crate) fn fill(&mut self, source: &mut impl Read) -> io::Result<usize> {
        self.make_room();
        loop {
            match source.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(bytes) => {
                    self.end += bytes;
                    return Ok(bytes);
                }
            }
        }
    }

    /// Gives the whole lines that are there.
    pub(crate) fn split(&mut self, to: &mut impl TakeLine) -> Result<(), Closed> {
        if let Some(skip) = self.at.skip {
            self.pass_over(skip, to)?;
        }
        if let Some(last) = memrchr(b'\n', &self.buffer[self.scanned..self.end]) {
            let end = self.scanned + last + 1;
            self.lines(end, to)?;
            self.advance(end);
        }
        self.scanned = self.end;
        // One byte more than the limit may yet turn out to be the `\r` of the line's end.
        if self.end - self.start > self.limit + 1 {
            let bytes = (self.end - self.start) as u64;
            let carriage = self.buffer[self.end - 1] == b'\r';
            self.at.skip = Some(Skip { place: self.at.place, bytes, carriage });
            self.advance(self.end);
        }
        Ok(())
    }

    /// Gives what is left at the end of a source: a last line without an end.
    pub(crate) fn finish(&mut self, to: &mut impl TakeLine) -> Result<(), Closed> {
        if let Some(skip) = self.at.skip.take() {
            return to.oversize(skip.place, skip.bytes);
        }
        let (place, rest) = (self.at.place, &self.buffer[self.start..self.end]);
        if !rest.is_empty() {
            give(place, rest, self.limit, to)?;
        }
        self.advance(self.end);
        Ok(())
    }

    fn pass_over(&mut self, skip: Skip, to: &mut impl TakeLine) -> Result<(), Closed> {
        let rest = &self.buffer[self.start..self.end];
        let Some(last) = rest.last() else { return Ok(()) };
        match memchr(b'\n', rest) {
            None => {
                let bytes = skip.bytes + rest.len() as u64;
                self.at.skip = Some(Skip { bytes, carriage: *last == b'\r', ..skip });
                self.advance(self.end);
            }
            Some(end) => {
                let carriage = end.checked_sub(1).map_or(skip.carriage, |before| rest[before] == b'\r');
                to.oversize(skip.place, skip.bytes + end as u64 - u64::from(carriage))?;
                self.at.skip = None;
                self.advance(self.start + end + 1);
                self.scanned = self.start;
            }
        }
        Ok(())
    }

    /// Gives the lines up to `end`, which lies behind a `\n`.
    fn lines(&self, end: usize, to: &mut impl TakeLine) -> Result<(), Closed> {
        let region = &self.buffer[self.start..end];
        let place = self.at.place;
        let mut from = 0;
        // No character of UTF-8 contains `\n`: if the region is valid, so is each line of it.
        if let Ok(text) = str::from_utf8(region) {
            for newline in memchr_iter(b'\n', region) {
                let to_end = line_end(region, from, newline);
                let at = place + from as u64;
                if to_end - from > self.limit {
                    to.oversize(at, (to_end - from) as u64)?;
                } else {
                    to.line(at, Line::Text(&text[from..to_end]))?;
                }
                from = newline + 1;
            }
        } else {
            for newline in memchr_iter(b'\n', region) {
                let line = &region[from..line_end(region, from, newline)];
                give(place + from as u64, line, self.limit, to)?;
                from = newline + 1;
            }
        }
        Ok(())
    }

    fn advance(&mut self, to: usize) {
        self.at.place += (to - self.start) as u64;
        self.start = to;
    }

    fn make_room(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.scanned = self.scanned.saturating_sub(self.start);
            self.start = 0;
        }
        let len = self.buffer.len();
        if self.end == len {
            // A longer line than this is passed over before there is need of more.
            let most = CHUNK_BYTES.max(self.limit + 2);
            self.buffer.resize((2 * len).clamp(CHUNK_BYTES, most).max(len), 0);
        } else if len > KEEP_BYTES && self.end < CHUNK_BYTES {
            self.buffer.truncate(CHUNK_BYTES);
            self.buffer.shrink_to_fit();
        }
    }
}

fn line_end(region: &[u8], from: usize, newline: usize) -> usize {
    if newline > from && region[newline - 1] == b'\r' { newline - 1 } else { newline }
}

fn give(place: u64, line: &[u8], limit: usize, to: &mut impl TakeLine) -> Result<(), Closed> {
    if line.len() > limit {
        return to.oversize(place, line.len() as u64);
    }
    match str::from_utf8(line) {
        Ok(text) => to.line(place, Line::Text(text)),
        Err(_) => to.line(place, Line::Bytes(line)),
    }
}
