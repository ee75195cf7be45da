//! A file that grows by whole batches of lines, or not at all.
//!
//! In: texts that end with a line end. Out: the file. What a crash left of a last line is cut off when it is
//! opened; what a failed write left is cut off at once, or before the next write if that fails too.
//!
//! Invariant: after each call the file is as it was, or one whole batch longer, or known to be `torn`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// How much is looked at at once when the last line end is looked for.
const LOOK_BYTES: usize = 64 << 10;
/// How much must be free for a start.
const START_BYTES: u64 = 4096;

/// The file.
pub(crate) struct AppendFile {
    path: PathBuf,
    file: File,
    /// A pipe or a device has no length: nothing can be cut off or made durable.
    regular: bool,
    /// A failed write could not be cut off: the length to cut back to.
    torn: Option<u64>,
}

/// What opening found and did.
pub(crate) struct Opened {
    /// The file.
    pub(crate) file: AppendFile,
    /// How many bytes of a torn last line were cut off.
    pub(crate) mended: u64,
}

impl AppendFile {
    /// Opens or creates the file and the folders above it, mends it, and takes it for this process alone.
    pub(crate) fn open(path: &Path) -> io::Result<Opened> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().read(true).append(true).create(true).open(path);
        let file = file.or_else(|error| {
            // A pipe may not allow reading, and needs none.
            let special = fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
            if special { OpenOptions::new().append(true).open(path) } else { Err(error) }
        })?;
        let regular = file.metadata()?.is_file();
        let file = AppendFile { path: path.to_owned(), file, regular, torn: None };
        let mended = if regular { file.take()? } else { 0 };
        Ok(Opened { file, mended })
    }

    fn take(&self) -> io::Result<u64> {
        match self.file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::other("another sink writes to it at this moment"));
            }
            // Where the file system knows no locks there is nothing to ask.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mended = mend(&self.file)?;
        self.probe()?;
        Ok(mended)
    }

    /// Is there room at all? Takes a block beyond the end, and gives it back.
    fn probe(&self) -> io::Result<()> {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;
        let len = self.file.metadata()?.len();
        match fallocate(&self.file, FallocateFlags::KEEP_SIZE, len, START_BYTES) {
            Ok(()) => self.file.set_len(len),
            Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG | Errno::IO | Errno::ROFS)) => {
                Err(error.into())
            }
            // Not every file system can tell.
            Err(_) => Ok(()),
        }
    }

    /// Appends a batch, and makes it durable if `sync` is asked for.
    pub(crate) fn append(&mut self, batch: &[u8], sync: bool) -> io::Result<()> {
        if !self.regular {
            return self.file.write_all(batch);
        }
        let length = self.ready()?;
        let written = self.file.write_all(batch).and_then(|()| if sync { self.sync() } else { Ok(()) });
        if written.is_err() {
            self.torn = Some(length);
            // If it can't be cut off now it is before the next write.
            drop(self.mend_torn());
        }
        written
    }

    /// Makes everything durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        if self.regular { self.file.sync_data() } else { Ok(()) }
    }

    /// The folder's entry, too: a new file may be gone after a crash otherwise.
    pub(crate) fn sync_folder(&self) -> io::Result<()> {
        match self.path.parent().filter(|folder| self.regular && !folder.as_os_str().is_empty()) {
            Some(folder) => File::open(folder)?.sync_all(),
            None => Ok(()),
        }
    }

    /// Whether nobody can find it by its name any more: it was deleted.
    pub(crate) fn deleted(&self) -> bool {
        self.regular && self.file.metadata().is_ok_and(|meta| meta.nlink() == 0)
    }

    /// A second handle on the same file, for another thread to sync.
    pub(crate) fn second_handle(&self) -> io::Result<Option<File>> {
        if self.regular { self.file.try_clone().map(Some) } else { Ok(None) }
    }

    /// The length that the file has before the next batch.
    fn ready(&mut self) -> io::Result<u64> {
        self.mend_torn()?;
        Ok(self.file.metadata()?.len())
    }

    fn mend_torn(&mut self) -> io::Result<()> {
        if let Some(length) = self.torn {
            self.file.set_len(length)?;
            self.torn = None;
        }
        Ok(())
    }
}

/// Cuts off what follows the last line end; answers how many bytes. Only an object's beginning, or the zeros that
/// a power failure leaves, is cut: anything else was not written by a sink, and is not ours to destroy.
fn mend(file: &File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let whole = last_line_end(file, length)?;
    if whole == length {
        return Ok(0);
    }
    let mut first = [0];
    file.read_exact_at(&mut first, whole)?;
    if first != *b"{" && !all_zero(file, whole, length)? {
        return Err(io::Error::other(
            "it ends in the middle of a line that is not JSON, so it does not look like a file of this sink; \
             name another file, or end its last line",
        ));
    }
    file.set_len(whole)?;
    file.sync_data()?;
    Ok(length - whole)
}

/// Where the line after the last line end begins.
fn last_line_end(file: &File, length: u64) -> io::Result<u64> {
    let mut buffer = vec![0; LOOK_BYTES];
    let mut to = length;
    while to > 0 {
        let from = to.saturating_sub(LOOK_BYTES as u64);
        let part = &mut buffer[..(to - from) as usize];
        file.read_exact_at(part, from)?;
        if let Some(newline) = memchr::memrchr(b'\n', part) {
            return Ok(from + newline as u64 + 1);
        }
        to = from;
    }
    Ok(0)
}

fn all_zero(file: &File, from: u64, to: u64) -> io::Result<bool> {
    let mut buffer = vec![0; LOOK_BYTES];
    let mut at = from;
    while at < to {
        let part = &mut buffer[..(to - at).min(LOOK_BYTES as u64) as usize];
        file.read_exact_at(part, at)?;
        if part.iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
        at += part.len() as u64;
    }
    Ok(true)
}
