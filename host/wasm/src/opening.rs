//! How files and folders are opened for guests: never waiting, and nothing that is neither.
//!
//! A granted folder, a path and what for come in; an open file or folder goes out. Opening a FIFO waits for whoever opens
//! its other end, and holds a thread of the host for as long. Looking first is not enough, since another plugin may rename
//! in between: so whatever is opened is opened without waiting, and looked at before anyone uses it.
//!
//! Paths are resolved by cap-primitives, as wasmtime has it: none leads out of the folder.

use cap_fs_ext::{OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_primitives::fs::{FollowSymlinks, OpenOptions, open, stat};
use rustix::io::Errno;
use std::fs::{File, FileTimes, FileType};
use std::io;
use std::path::Path;
use std::sync::Arc;
use wasmtime_wasi::filesystem::{self, Descriptor, Dir, OpenMode};
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags};

/// Why nothing was opened.
#[derive(Debug)]
pub(crate) enum Refused {
    /// It is a FIFO, a socket or a device.
    Special,
    /// The system's answer, or that of the grant.
    Code(ErrorCode),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Refused {
        Refused::Code(ErrorCode::from(error))
    }
}

/// What a guest opens, and what for.
pub(crate) struct Wanted {
    pub(crate) path: String,
    pub(crate) follow: PathFlags,
    pub(crate) how: OpenFlags,
    pub(crate) flags: DescriptorFlags,
}

/// Opens it, on the blocking pool.
///
/// # Errors
/// What it is can't be opened, is not granted, or is no file or folder.
pub(crate) async fn file_or_folder(dir: &Dir, wanted: Wanted) -> Result<Descriptor, Refused> {
    let (options, mode) = options(&wanted)?;
    if mode.contains(OpenMode::WRITE) && dir.perms.write_not_permitted() {
        return Err(Refused::Code(ErrorCode::NotPermitted));
    }
    let only_folders = wanted.how.contains(OpenFlags::DIRECTORY);
    let follow = follow(wanted.follow);
    let opened = blocking(dir, move |dir| plain(dir, Path::new(&wanted.path), follow, &options)).await?;
    let perms = dir.perms;
    if opened.metadata()?.is_dir() {
        Ok(Descriptor::Dir(Dir::new(opened, perms, mode, false)))
    } else if only_folders {
        Err(Refused::Code(ErrorCode::NotDirectory))
    } else {
        Ok(Descriptor::File(filesystem::File::new(opened, perms, mode, false)))
    }
}

/// Sets the times of what a path leads to, through links. The system wants it open for that.
///
/// # Errors
/// As [`file_or_folder`].
pub(crate) async fn set_times(dir: &Dir, path: String, times: FileTimes) -> Result<(), Refused> {
    if dir.perms.write_not_permitted() {
        return Err(Refused::Code(ErrorCode::NotPermitted));
    }
    blocking(dir, move |dir| {
        let plain = |options: &OpenOptions| plain(dir, Path::new(&path), FollowSymlinks::Yes, options);
        let opened = match plain(OpenOptions::new().write(true)) {
            Err(Refused::Code(ErrorCode::IsDirectory | ErrorCode::Access)) => {
                plain(OpenOptions::new().read(true))
            }
            opened => opened,
        };
        Ok(opened?.set_times(times)?)
    })
    .await
}

/// How the system is to open it, and as what the guest may use it.
fn options(wanted: &Wanted) -> Result<(OpenOptions, OpenMode), Refused> {
    let Wanted { how, flags, .. } = wanted;
    let synced = DescriptorFlags::FILE_INTEGRITY_SYNC
        | DescriptorFlags::DATA_INTEGRITY_SYNC
        | DescriptorFlags::REQUESTED_WRITE_SYNC;
    if flags.intersects(synced) {
        return Err(Refused::Code(ErrorCode::Unsupported));
    }
    let changes = OpenFlags::CREATE | OpenFlags::EXCLUSIVE | OpenFlags::TRUNCATE;
    if how.contains(OpenFlags::DIRECTORY) && how.intersects(changes) {
        return Err(Refused::Code(ErrorCode::Invalid));
    }
    let creates = how.contains(OpenFlags::CREATE);
    let truncates = how.contains(OpenFlags::TRUNCATE);
    let writes = creates || truncates || flags.contains(DescriptorFlags::WRITE);
    // What is not opened for writing is opened for reading, whether the guest asked for that or not.
    let reads = flags.contains(DescriptorFlags::READ) || !flags.contains(DescriptorFlags::WRITE);
    let mut options = OpenOptions::new();
    options.read(reads).write(writes).truncate(truncates);
    options.create(creates).create_new(creates && how.contains(OpenFlags::EXCLUSIVE));
    let mut mode = OpenMode::empty();
    mode.set(OpenMode::READ, reads);
    mode.set(OpenMode::WRITE, writes);
    Ok((options, mode))
}

fn follow(flags: PathFlags) -> FollowSymlinks {
    if flags.contains(PathFlags::SYMLINK_FOLLOW) { FollowSymlinks::Yes } else { FollowSymlinks::No }
}

/// Opens without waiting, and gives out only a file or a folder.
fn plain(dir: &File, path: &Path, follow: FollowSymlinks, options: &OpenOptions) -> Result<File, Refused> {
    // Opening some devices does something, so what is one at first sight stays closed. An error here is the same, or a
    // better one, when opening.
    if let Ok(found) = stat(dir, path, follow) {
        let kind = found.file_type();
        if !(kind.is_file() || kind.is_dir() || kind.is_symlink()) {
            return Err(Refused::Special);
        }
    }
    let opened = match open(dir, path, options.clone().follow(follow).nonblock(true)) {
        // A FIFO that nobody reads, a socket, or a device without a driver.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::NXIO) => return Err(Refused::Special),
        opened => opened?,
    };
    if !is_plain(opened.metadata()?.file_type()) {
        return Err(Refused::Special);
    }
    Ok(opened)
}

fn is_plain(kind: FileType) -> bool {
    kind.is_file() || kind.is_dir()
}

/// A slow disk must not hold an executor past the deadline.
async fn blocking<T: Send + 'static>(
    dir: &Dir,
    work: impl FnOnce(&File) -> Result<T, Refused> + Send + 'static,
) -> Result<T, Refused> {
    let dir = Arc::clone(&dir.dir);
    let done = tokio::task::spawn_blocking(move || work(&dir)).await;
    done.map_err(|error| Refused::from(io::Error::other(error)))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::sync::mpsc;
    use std::time::{Duration, SystemTime};
    use wasmtime_wasi::FsPerms;

    /// What would wait for good fails the test instead.
    fn in_time<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
        let (done, wait) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            done.send(runtime.block_on(work)).ok();
        });
        wait.recv_timeout(Duration::from_secs(60)).expect("nothing waits")
    }

    fn folder(at: &Path) -> Dir {
        Dir::new(File::open(at).unwrap(), FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE, false)
    }

    fn fifo(at: &Path) {
        assert!(std::process::Command::new("mkfifo").arg(at).status().unwrap().success());
    }

    fn wanted(path: &str, flags: DescriptorFlags) -> Wanted {
        let (follow, how) = (PathFlags::SYMLINK_FOLLOW, OpenFlags::empty());
        Wanted { path: path.into(), follow, how, flags }
    }

    fn ways() -> [DescriptorFlags; 3] {
        let (read, write) = (DescriptorFlags::READ, DescriptorFlags::WRITE);
        [read, write, read | write]
    }

    #[test]
    fn what_is_no_file_or_folder_is_neither_opened_nor_touched() {
        let dir = tempfile::tempdir().unwrap();
        fifo(&dir.path().join("fifo"));
        symlink("fifo", dir.path().join("link")).unwrap();
        let _socket = UnixListener::bind(dir.path().join("socket")).unwrap();
        for path in ["fifo", "link", "socket"] {
            for way in ways() {
                let at = folder(dir.path());
                let opened = in_time(async move { file_or_folder(&at, wanted(path, way)).await });
                assert!(matches!(opened, Err(Refused::Special)), "{path} {way:?}");
            }
            let at = folder(dir.path());
            let touched = in_time(async move { set_times(&at, path.into(), FileTimes::new()).await });
            assert!(matches!(touched, Err(Refused::Special)), "{path}");
        }
    }

    /// Looking before opening would let some of these through.
    #[test]
    fn a_file_that_turns_into_a_fifo_meanwhile_holds_nobody_up() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fifo(&at("fifo"));
        std::fs::write(at("file"), "").unwrap();
        std::fs::write(at("it"), "").unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let (ended, paths) = (over.clone(), [at("fifo"), at("file"), at("it")]);
        let renames = std::thread::spawn(move || {
            while !ended.load(Relaxed) {
                for from in &paths[..2] {
                    std::fs::hard_link(from, paths[2].with_extension("new")).unwrap();
                    std::fs::rename(paths[2].with_extension("new"), &paths[2]).unwrap();
                }
            }
        });
        for way in ways() {
            let folder = folder(dir.path());
            in_time(async move {
                for _ in 0..3000 {
                    match file_or_folder(&folder, wanted("it", way)).await {
                        Ok(Descriptor::File(file)) => {
                            assert!(!file.file.metadata().unwrap().file_type().is_fifo());
                        }
                        Err(Refused::Special) => {}
                        other => panic!("{:?}", other.err()),
                    }
                }
                for _ in 0..3000 {
                    set_times(&folder, "it".into(), FileTimes::new()).await.ok();
                }
            });
        }
        over.store(true, Relaxed);
        renames.join().unwrap();
    }

    #[test]
    fn times_are_set_through_links_and_never_outside() {
        let outside = tempfile::tempdir().unwrap();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        symlink("file", dir.path().join("link")).unwrap();
        symlink(outside.path(), dir.path().join("out")).unwrap();
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        for path in ["link", "sub", "out"] {
            let at = folder(dir.path());
            let times = FileTimes::new().set_modified(then);
            let set = in_time(async move { set_times(&at, path.into(), times).await });
            assert_eq!(set.is_ok(), path != "out", "{path}: {set:?}");
            let modified = std::fs::metadata(dir.path().join(path)).unwrap().modified().unwrap();
            assert_eq!(modified == then, path != "out", "{path}");
        }
        let mut at = folder(dir.path());
        at.perms = FsPerms::ReadOnly;
        let set = in_time(async move { set_times(&at, "file".into(), FileTimes::new()).await });
        assert!(matches!(set, Err(Refused::Code(ErrorCode::NotPermitted))));
    }
}
