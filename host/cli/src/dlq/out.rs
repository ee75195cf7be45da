//! Standard output, for commands that write much to it.
//!
//! In: text and bytes. Out: the exit code that comes of writing them. Invariant: a reader that has gone ends the
//! command quietly and at once; a full disk is an error.

use crate::{ENVIRONMENT, Exit, FINE};
use anchorbolt_host::durable::DurableError;
use std::io::{BufWriter, ErrorKind, Result, StdoutLock, Write};

/// Standard output, until it fails.
pub(super) struct Out {
    to: BufWriter<StdoutLock<'static>>,
    failed: Result<()>,
}

impl Out {
    /// Takes it.
    pub(super) fn new() -> Out {
        Out { to: BufWriter::with_capacity(64 << 10, std::io::stdout().lock()), failed: Ok(()) }
    }

    /// Writes a line of text.
    pub(super) fn line(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(b"\n");
    }

    /// Writes bytes.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        if self.failed.is_ok() {
            self.failed = self.to.write_all(bytes);
        }
    }

    /// Whether it is worth going on, for those that visit letters.
    pub(super) fn go_on(&self) -> std::result::Result<(), DurableError> {
        match &self.failed {
            Ok(()) => Ok(()),
            Err(error) => Err(DurableError(error.to_string())),
        }
    }

    /// What comes of it. `read` is how reading the letters went; an error that was only this one's counts once.
    pub(super) fn finish(mut self, read: std::result::Result<(), DurableError>) -> Exit {
        if self.failed.is_ok() {
            self.failed = self.to.flush();
            if let Err(error) = read {
                return super::failed(&error);
            }
        }
        match self.failed {
            Ok(()) => FINE,
            Err(error) if error.kind() == ErrorKind::BrokenPipe => FINE,
            Err(error) => {
                tell!("error: can't write to standard output: {error}");
                ENVIRONMENT
            }
        }
    }
}
