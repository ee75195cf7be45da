//! One request or response: a start line, headers, a body whose length is said.
//!
//! In: a buffered reader, or the parts to write. Out: a [`Message`], or bytes written at once. Invariant: a head longer
//! than [`HEAD_MAX`] or a body longer than [`BODY_MAX`] is refused before it is kept.

use std::fmt;
use std::io::{self, BufRead, Read, Write};

/// The most bytes of a start line and its headers.
pub const HEAD_MAX: usize = 8 << 10;
/// The most bytes of a body.
pub const BODY_MAX: usize = 64 << 10;

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The request line or the status line.
    pub start: String,
    /// Names, in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The body; empty if no length was said.
    pub body: Vec<u8>,
}

/// Why nothing could be read.
#[derive(Debug)]
pub enum ReadError {
    /// The connection failed, or its timeout passed.
    Io(io::Error),
    /// The other side closed it in the middle of a message.
    CutShort,
    /// The bytes are no message that this module takes.
    Malformed(&'static str),
}

impl Message {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Whether the sender keeps the connection for more.
    pub fn keeps_alive(&self) -> bool {
        !self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// Reads one message; none if the other side closed the connection before it.
///
/// # Errors
/// When the connection fails or what comes is no message.
pub fn read(from: &mut impl BufRead) -> Result<Option<Message>, ReadError> {
    let mut left = HEAD_MAX;
    let Some(start) = line(from, &mut left)? else { return Ok(None) };
    let mut message = Message { start, headers: Vec::new(), body: Vec::new() };
    loop {
        let header = line(from, &mut left)?.ok_or(ReadError::CutShort)?;
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').ok_or(ReadError::Malformed("a header without a colon"))?;
        message.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = length(&message)?;
    message.body.resize(length, 0);
    from.read_exact(&mut message.body)?;
    Ok(Some(message))
}

/// Writes one message with a single write, so that it leaves in one packet if it fits.
///
/// # Errors
/// When the connection fails, or a part of the head has a control character, which would be another header.
pub fn write(to: &mut impl Write, start: &str, headers: &[(&str, &str)], body: &str) -> io::Result<()> {
    let parts = headers.iter().flat_map(|(name, value)| [*name, *value]).chain([start]);
    if parts.into_iter().any(|part| part.contains(char::is_control)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a header with a control character"));
    }
    let mut text = format!("{start}\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += "\r\n";
    text += body;
    to.write_all(text.as_bytes())
}

/// One line without its end; none at the end of the stream.
fn line(from: &mut impl BufRead, left: &mut usize) -> Result<Option<String>, ReadError> {
    let mut bytes = Vec::new();
    let read = from.by_ref().take(*left as u64).read_until(b'\n', &mut bytes)?;
    *left -= read;
    if read == 0 && *left > 0 {
        return Ok(None);
    }
    if bytes.pop() != Some(b'\n') {
        return Err(if *left == 0 {
            ReadError::Malformed("a head that is too long")
        } else {
            ReadError::CutShort
        });
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    String::from_utf8(bytes).map(Some).map_err(|_| ReadError::Malformed("a head that is not UTF-8"))
}

fn length(message: &Message) -> Result<usize, ReadError> {
    if message.header("transfer-encoding").is_some() {
        return Err(ReadError::Malformed("a body without a length"));
    }
    let Some(text) = message.header("content-length") else { return Ok(0) };
    match text.parse() {
        Ok(length) if length <= BODY_MAX => Ok(length),
        Ok(_) => Err(ReadError::Malformed("a body that is too long")),
        Err(_) => Err(ReadError::Malformed("a length that is no number")),
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof { Self::CutShort } else { Self::Io(error) }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::CutShort => f.write_str("the connection was closed in the middle of a message"),
            Self::Malformed(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for ReadError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(mut bytes: &[u8]) -> Result<Option<Message>, String> {
        read(&mut bytes).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut bytes = Vec::new();
        write(&mut bytes, "POST /charge HTTP/1.1", &[("Idempotency-Key", "o-1")], "{}").unwrap();
        write(&mut bytes, "HTTP/1.1 200 OK", &[("connection", "close")], "").unwrap();
        let mut rest = bytes.as_slice();
        let first = read(&mut rest).unwrap().unwrap();
        assert_eq!((first.start.as_str(), first.body.as_slice()), ("POST /charge HTTP/1.1", &b"{}"[..]));
        assert_eq!((first.header("idempotency-key"), first.keeps_alive()), (Some("o-1"), true));
        assert!(!read(&mut rest).unwrap().unwrap().keeps_alive());
        assert_eq!(read(&mut rest).unwrap(), None);
    }

    #[test]
    fn a_value_can_not_be_another_header() {
        let mut bytes = Vec::new();
        let error = write(&mut bytes, "GET / HTTP/1.1", &[("a", "b\r\nc: d")], "").unwrap_err();
        assert_eq!((error.kind(), bytes.len()), (io::ErrorKind::InvalidInput, 0));
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        let long = format!("GET / HTTP/1.1\r\na: {}", "b".repeat(HEAD_MAX));
        for (bytes, wanted) in [
            ("GET", "the connection was closed in the middle of a message"),
            ("GET\r\n", "the connection was closed in the middle of a message"),
            ("GET\r\ncontent-length: 3\r\n\r\nab", "the connection was closed in the middle of a message"),
            ("GET\r\nab\r\n\r\n", "a header without a colon"),
            ("GET\r\ncontent-length: -1\r\n\r\n", "a length that is no number"),
            ("GET\r\ncontent-length: 65537\r\n\r\n", "a body that is too long"),
            ("GET\r\ntransfer-encoding: chunked\r\n\r\n", "a body without a length"),
            (&long, "a head that is too long"),
        ] {
            assert_eq!(from(bytes.as_bytes()), Err(wanted.to_owned()), "{bytes}");
        }
        assert_eq!(from(b"\xff\r\n\r\n"), Err("a head that is not UTF-8".to_owned()));
    }
}
