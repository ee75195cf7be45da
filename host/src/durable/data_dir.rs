//! The data folder of a topology, and the lock that keeps it to one host.
//!
//! In: where it is. Out: a [`DataDir`], held for as long as the host runs; a [`Layout`] for a tool that only looks.
//! The lock is the kernel's (`flock`), so it ends with the process and can't go stale; the number written in the
//! file is for people.
//!
//! Invariant: nothing in it is changed without the lock, and never one of a format that this version does not know.

use super::DurableError;
use super::files::{Files, SystemFiles, make_folder, replace};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The format of what is in it.
pub const VERSION: u32 = 1;
/// A number is shorter.
const NUMBER_BYTES: u64 = 64;
/// So is a name.
const NAME_BYTES: u64 = 4096;
/// What can be there before `VERSION` is, after a crash.
const EARLY: [&str; 2] = ["lock", "VERSION.new"];

/// Where things are in a data folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
}

impl Layout {
    /// The folder of a topology beside its manifest, if nothing else is asked for.
    pub fn beside(manifest: &Path, topology: &str) -> PathBuf {
        manifest.parent().unwrap_or(Path::new("")).join(".anchorbolt").join(topology)
    }

    /// A folder that a host made, to look at: without the lock, so nothing may be changed.
    ///
    /// # Errors
    /// It is not there, is no data folder, or is of a newer version.
    pub fn look(root: &Path) -> Result<Layout, DurableError> {
        let layout = Layout { root: root.to_owned() };
        match layout.version()? {
            Some(()) => Ok(layout),
            None => Err(DurableError(format!(
                "`{}` is no data folder of anchorbolt; name one with --data-dir, or the manifest with --manifest",
                root.display()
            ))),
        }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// One file a spout task.
    pub fn checkpoints(&self) -> PathBuf {
        self.root.join("checkpoints")
    }

    /// Messages that have failed for good.
    pub fn dead_letters(&self) -> PathBuf {
        self.root.join("dead-letters.jsonl")
    }

    /// Where a running host listens.
    pub fn socket(&self) -> PathBuf {
        self.root.join("control.sock")
    }

    /// State of bolts.
    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// The name of the topology that it belongs to.
    pub fn topology(&self) -> PathBuf {
        self.root.join("topology")
    }

    /// The report of the last run.
    pub fn last_report(&self) -> PathBuf {
        self.root.join("last-report.json")
    }

    /// Checks `VERSION`; none if it is not there.
    fn version(&self) -> Result<Option<()>, DurableError> {
        let path = self.root.join("VERSION");
        let bytes = match SystemFiles.read(&path, NUMBER_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(DurableError::of(&path, "read", &error)),
        };
        let shown = self.root.display();
        match String::from_utf8_lossy(&bytes).trim().parse::<u32>() {
            Ok(found) if (1..=VERSION).contains(&found) => Ok(Some(())),
            Ok(found) if found > VERSION => Err(DurableError(format!(
                "the data folder `{shown}` was written by a newer anchorbolt (format {found}, this one knows \
                 {VERSION}); run that version, or name another folder with --data-dir"
            ))),
            _ => Err(DurableError(format!(
                "`{}` does not hold the number of a format; if `{shown}` is a data folder of anchorbolt write \
                 {VERSION} into it, else name another folder with --data-dir",
                path.display()
            ))),
        }
    }
}

/// A data folder that this process alone has.
#[derive(Debug)]
pub struct DataDir {
    layout: Layout,
    /// Closing it gives the lock back.
    _lock: File,
}

impl DataDir {
    /// Takes the folder, made if it is not there. With `reset` the checkpoints in it are removed; the dead letters
    /// stay.
    ///
    /// # Errors
    /// Another host has it, it is of a newer version, it is a folder with other things in it, or the disk fails.
    pub fn open(root: &Path, reset: bool) -> Result<DataDir, DurableError> {
        let layout = Layout { root: root.to_owned() };
        make_folder(root).map_err(|error| DurableError::of(root, "made a data folder", &error))?;
        refuse_foreign(&layout)?;
        let cure = "stop that one, or give this run a folder of its own with --data-dir";
        let lock = take_lock(root, cure)?;
        if layout.version()?.is_none() {
            let path = root.join("VERSION");
            replace(&SystemFiles, &path, format!("{VERSION}\n").as_bytes())
                .map_err(|error| DurableError::of(&path, "written", &error))?;
        }
        for folder in [layout.checkpoints(), layout.state()] {
            make_folder(&folder).map_err(|error| DurableError::of(&folder, "made", &error))?;
        }
        let synced = SystemFiles.sync_folder(root);
        synced.map_err(|error| DurableError::of(root, "made durable", &error))?;
        // The folder above may be another's, and its entry is there or is made again.
        drop(root.parent().map(|above| SystemFiles.sync_folder(above)));
        let folder = DataDir { layout, _lock: lock };
        if reset {
            folder.reset()?;
        }
        Ok(folder)
    }

    /// Removes the checkpoints; the dead letters stay.
    ///
    /// # Errors
    /// The disk fails.
    pub fn reset(&self) -> Result<(), DurableError> {
        remove_checkpoints(&self.layout.checkpoints())
    }

    /// Takes a folder that a host made, for a tool that changes what is in it.
    ///
    /// # Errors
    /// A host has it, or as [`Layout::look`].
    pub fn take(root: &Path) -> Result<DataDir, DurableError> {
        let layout = Layout::look(root)?;
        let lock = take_lock(root, "nothing else may change what is in it: stop that one first")?;
        Ok(DataDir { layout, _lock: lock })
    }

    /// Binds the folder to a topology: what one has saved means nothing to another.
    ///
    /// # Errors
    /// It is another one's, or the disk fails.
    pub fn bind(&self, topology: &str) -> Result<(), DurableError> {
        let path = self.layout.topology();
        let failed = |error: io::Error| DurableError::of(&path, "read", &error);
        match SystemFiles.read(&path, NAME_BYTES) {
            Ok(bytes) if String::from_utf8_lossy(&bytes).trim() == topology => Ok(()),
            Ok(bytes) => Err(DurableError(format!(
                "the data folder `{}` belongs to topology `{}`, and this is `{topology}`; name another folder with \
                 --data-dir, or, if the topology was renamed, write its new name into `{}`",
                self.layout.root().display(),
                String::from_utf8_lossy(&bytes).trim().escape_debug(),
                path.display()
            ))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let written = replace(&SystemFiles, &path, format!("{topology}\n").as_bytes());
                written.map_err(|error| DurableError::of(&path, "written", &error))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Where things are in it.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
}

/// A folder that has files but no `VERSION` belongs to something else.
fn refuse_foreign(layout: &Layout) -> Result<(), DurableError> {
    if layout.version()?.is_some() {
        return Ok(());
    }
    let root = layout.root();
    let names = SystemFiles.names(root).map_err(|error| DurableError::of(root, "read", &error))?;
    match names.iter().find(|name| !EARLY.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(DurableError(format!(
            "`{}` is no data folder of anchorbolt, and `{name}` is in it already; name a new or an empty folder \
             with --data-dir",
            root.display()
        ))),
    }
}

fn take_lock(root: &Path, cure: &str) -> Result<File, DurableError> {
    let path = root.join("lock");
    let failed = |error: io::Error| DurableError::of(&path, "locked", &error);
    let mut options = OpenOptions::new();
    let mut file = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(in_use(root, &file, cure)),
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(failed)?;
    Ok(file)
}

fn in_use(root: &Path, file: &File, cure: &str) -> DurableError {
    let mut text = String::new();
    let read = file.take(NUMBER_BYTES).read_to_string(&mut text);
    let holder = match text.trim().parse::<u32>() {
        Ok(pid) if read.is_ok() => format!("process {pid}"),
        _ => "another process".to_owned(),
    };
    DurableError(format!("the data folder `{}` is in use by {holder}; {cure}", root.display()))
}

fn remove_checkpoints(folder: &Path) -> Result<(), DurableError> {
    let names = SystemFiles.names(folder).map_err(|error| DurableError::of(folder, "read", &error))?;
    for name in names {
        let path = folder.join(name);
        SystemFiles.remove(&path).map_err(|error| DurableError::of(&path, "removed", &error))?;
    }
    SystemFiles.sync_folder(folder).map_err(|error| DurableError::of(folder, "made durable", &error))
}
