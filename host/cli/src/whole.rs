//! Files that are written whole or not at all.
//!
//! In: where, and a text. Out: the file with the text, or as it was. Invariant: a pipe or a device is written to as it is
//! and never replaced, and links stay links.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Whether a file can be written there, without leaving a trace.
pub(crate) fn probe(path: &Path) -> std::io::Result<()> {
    match part(path)? {
        // To open a pipe would wait for its reader.
        None => Ok(()),
        Some((_, part)) => std::fs::File::create(&part).and_then(|_| std::fs::remove_file(&part)),
    }
}

/// Never leaves half a text in a file.
pub(crate) fn write(path: &Path, text: &str) -> std::io::Result<()> {
    match part(path)? {
        None => std::fs::OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes()),
        Some((path, part)) => {
            std::fs::write(&part, text)?;
            std::fs::rename(&part, path)
        }
    }
}

/// The file behind links, and where its next contents are written first; none for what is no file but a pipe or
/// a device, which is written to as it is.
pub(crate) fn part(path: &Path) -> std::io::Result<Option<(PathBuf, PathBuf)>> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match path.metadata() {
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => Ok(None),
        _ => {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(".part");
            let part = path.with_file_name(name);
            Ok(Some((path, part)))
        }
    }
}
