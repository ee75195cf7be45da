//! Why a tuple failed: a text for the person who reads the report, and what should happen next.
//!
//! In: a text, or any error by `?`. Out: [`Error`], which is one pointer, so that results stay cheap.
//! Invariant: the kind is chosen by whoever makes the error; plain `?` means [`Failure::Fail`].

use std::fmt;

use crate::Failure;

/// Why a tuple, or a call, failed.
///
/// Any `std` error becomes one by `?` and counts as the tuple's fault. As such a wrapper it is no
/// [`std::error::Error`] itself.
///
/// ```
/// use anchorbolt_sdk::{Error, Failure, OrElse};
///
/// fn amount(text: &str) -> Result<u32, Error> {
///     if text == "later" {
///         return Err(Error::retry("the ledger is closed"));
///     }
///     Ok(text.parse().or_reject()?)
/// }
/// assert_eq!(amount("later").unwrap_err().kind(), Failure::Retry);
/// assert_eq!(amount("x").unwrap_err().kind(), Failure::Reject);
/// ```
pub struct Error(Box<(Failure, String)>);

impl Error {
    /// This tuple's fault: its message is tried again a bounded number of times.
    pub fn fail(reason: impl Into<String>) -> Self {
        Self::new(Failure::Fail, reason)
    }

    /// Something outside is down: its message is tried again for a bounded time.
    pub fn retry(reason: impl Into<String>) -> Self {
        Self::new(Failure::Retry, reason)
    }

    /// Never try again: its message goes to the dead letters at once.
    pub fn reject(reason: impl Into<String>) -> Self {
        Self::new(Failure::Reject, reason)
    }

    /// An error of a kind that is only known at run time.
    pub fn new(kind: Failure, reason: impl Into<String>) -> Self {
        Self(Box::new((kind, reason.into())))
    }

    /// What should happen next.
    pub fn kind(&self) -> Failure {
        self.0.0
    }

    /// The text.
    pub fn reason(&self) -> &str {
        &self.0.1
    }

    /// The text, alone.
    pub fn into_reason(self) -> String {
        self.0.1
    }
}

impl<E: std::error::Error> From<E> for Error {
    /// The error's text and those of its sources, parted by colons.
    fn from(error: E) -> Self {
        let mut reason = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            reason = format!("{reason}: {cause}");
            source = cause.source();
        }
        Self::fail(reason)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind(), self.reason())
    }
}

/// Chooses the kind of an error where it arises: `socket.connect().or_retry()?`.
pub trait OrElse<T> {
    /// An error means that something outside is down.
    ///
    /// # Errors
    /// The same error as one of kind [`Failure::Retry`].
    fn or_retry(self) -> Result<T, Error>;

    /// An error means that this tuple can never succeed.
    ///
    /// # Errors
    /// The same error as one of kind [`Failure::Reject`].
    fn or_reject(self) -> Result<T, Error>;
}

impl<T, E: Into<Error>> OrElse<T> for Result<T, E> {
    fn or_retry(self) -> Result<T, Error> {
        self.map_err(|e| Error::retry(e.into().into_reason()))
    }

    fn or_reject(self) -> Result<T, Error> {
        self.map_err(|e| Error::reject(e.into().into_reason()))
    }
}
