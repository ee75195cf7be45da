//! What this part of the host asks of a disk.
//!
//! In: paths and bytes. Out: the disk's answer. [`SystemFiles`] is the real one; a test or a simulation has its own,
//! which fails or stops at any step.
//!
//! Invariant: what is created is for its owner alone: files 0600, folders 0700.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A disk.
pub trait Files: Send + Sync {
    /// A whole file of at most `most` bytes.
    fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>>;
    /// Writes a file that holds just this, and makes its content durable. After a failure anything may be in it.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Gives a file another name; what had that name is gone. All at once, or not at all.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// The names in a folder, in no order.
    fn names(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Opens a file to append to it, made if it is not there. With `look` it is only read, and must be there.
    fn open_log(&self, path: &Path, look: bool) -> io::Result<Box<dyn Log>>;
}

/// A file that grows at its end.
#[allow(clippy::len_without_is_empty, reason = "asking for the length can fail")]
pub trait Log: Send + Sync {
    /// How long it is.
    fn len(&self) -> io::Result<u64>;
    /// Appends. After a failure any part of it may be there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes all of it durable.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts it to this length.
    fn cut(&mut self, length: u64) -> io::Result<()>;
    /// Reads at a place; 0 is the end.
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize>;
    /// Whether its name is gone, or is another file's: what is appended now nobody finds.
    fn is_gone(&self) -> bool;
}

/// The machine's own disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemFiles;

impl Files for SystemFiles {
    fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            let text = format!("it has more than {most} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        Ok(bytes)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
        fs::read_dir(folder)?.map(name).collect()
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn open_log(&self, path: &Path, look: bool) -> io::Result<Box<dyn Log>> {
        let mut options = OpenOptions::new();
        options.read(true).append(!look).create(!look).mode(0o600);
        Ok(Box::new(SystemLog { file: options.open(path)?, path: path.to_owned() }))
    }
}

struct SystemLog {
    file: File,
    path: PathBuf,
}

impl Log for SystemLog {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        self.file.read_at(buffer, at)
    }

    fn is_gone(&self) -> bool {
        let named = fs::metadata(&self.path).map(|meta| (meta.dev(), meta.ino()));
        match (named, self.file.metadata()) {
            (Ok(named), Ok(own)) => named != (own.dev(), own.ino()),
            (Err(error), _) => error.kind() == io::ErrorKind::NotFound,
            _ => false,
        }
    }
}

/// Puts a file in the place of another, whole or not at all: written beside it, made durable, renamed, and the
/// name made durable.
pub(super) fn replace(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = beside(path);
    let written = files.write(&beside, bytes).and_then(|()| files.rename(&beside, path));
    if let Err(error) = written {
        // What is left of it is written over the next time.
        drop(files.remove(&beside));
        return Err(error);
    }
    files.sync_folder(path.parent().unwrap_or(path))
}

/// Where a file is written before it takes its place.
pub(super) fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

/// Makes a folder and those above it, for the owner alone; one that is there stays as it is.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
