//! What outlives the process: the data folder, checkpoints and dead letters.
//!
//! In: bytes of a spout's state, letters of messages that have failed for good. Out: the same after a crash at any
//! moment, or an error that says what, where and how to mend it. [`files::Files`] stands between this and the disk,
//! so that a test can break it at each step.
//!
//! Invariant: what a call reported as done is durable; what it reported as failed has left no trace.

pub mod base64;
pub mod checkpoint;
pub mod data_dir;
pub mod dead_letters;
pub mod files;
pub mod letter;
pub mod letters;

pub use checkpoint::Checkpoints;
pub use data_dir::{DataDir, Layout};
pub use dead_letters::DeadLetters;
pub use files::{Files, Log, SystemFiles};
pub use letter::{Filter, Letter, LetterAttempt, LetterInput, Tombstone};
pub use letters::Letters;

use std::io;
use std::path::Path;

/// Something that was to outlive the process can't, with the text for a person. Exit code 3.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DurableError(pub String);

impl DurableError {
    /// `what` could not be done with this file.
    fn of(path: &Path, what: &str, error: &io::Error) -> DurableError {
        DurableError(format!("`{}` can't be {what}: {error}{}", path.display(), advice(error)))
    }
}

/// What to do about an error of the system, where there is something.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; give this user the right to",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free some space",
        io::ErrorKind::NotFound => "; if its folder was removed or renamed, put it back",
        io::ErrorKind::ReadOnlyFilesystem => "; name another place with --data-dir",
        _ => "",
    }
}
