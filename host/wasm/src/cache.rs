//! The private cache of compiled code.
//!
//! A plugin's hash and the engine's come in, code goes out if an entry is whole: in a folder and a file
//! that only this user can touch, under its own key, with the hash of its contents. Whatever is stale, cut,
//! damaged or foreign is built again; a cache that can't be used is only slower. The hash finds damage;
//! against a forger there are the permissions.

use crate::trusted::Code;
use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Names the layout of an entry: magic, key, hash of the code, code.
const MAGIC: &[u8; 8] = b"abcode01";
const HEADER: usize = 8 + 32 + 32;
/// An entry that is longer is not read.
const ENTRY_MAX: u64 = 512 << 20;
/// The oldest entries beyond this many are removed.
const ENTRIES_MAX: usize = 256;

/// Which code an entry holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key([u8; 32]);

impl Key {
    /// The key of a plugin under an engine.
    pub(crate) fn new(plugin_sha256: &[u8; 32], engine: &wasmtime::Engine) -> Key {
        let mut hash = StableHash(Sha256::new());
        hash.write(MAGIC);
        hash.write(plugin_sha256);
        engine.precompile_compatibility_hash().hash(&mut hash);
        Key(hash.0.finalize().into())
    }

    fn file_name(self) -> String {
        crate::image::hex(&self.0) + ".code"
    }
}

/// Feeds what is hashed to SHA-256: the standard hasher may change between builds.
struct StableHash(Sha256);

impl Hasher for StableHash {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0 // never asked for: the digest is taken
    }
}

/// A cache in one folder.
pub(crate) struct Cache {
    dir: PathBuf,
}

impl Cache {
    /// Opens or makes the folder; an error when it is not this user's alone.
    pub(crate) fn open(dir: &Path) -> io::Result<Cache> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let found = open_no_follow(dir, OFlags::DIRECTORY)?;
        let meta = found.metadata()?;
        check_owner(&meta)?;
        if meta.mode() & 0o022 != 0 {
            // Others could have put entries here.
            return Err(io::Error::other("others may write to it"));
        }
        if meta.mode() & 0o777 != 0o700 {
            rustix::fs::fchmod(&found, Mode::RWXU)?;
        }
        Ok(Cache { dir: dir.to_owned() })
    }

    /// The code under this key, if it is whole. What is not is removed.
    pub(crate) fn get(&self, key: Key) -> Option<Code> {
        let path = self.dir.join(key.file_name());
        match read_entry(&path, key) {
            Ok(code) => Some(Code::from_checked_cache(code)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => {
                tracing::warn!(path = %path.display(), reason = %e, "compiled code is built again");
                self.remove(key);
                None
            }
        }
    }

    /// Removes an entry.
    pub(crate) fn remove(&self, key: Key) {
        // If it can't be removed it is replaced, or found wanting again.
        drop(fs::remove_file(self.dir.join(key.file_name())));
    }

    /// Stores code: written aside, then renamed, so that a reader finds all or nothing.
    pub(crate) fn put(&self, key: Key, code: &Code) -> io::Result<()> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let aside = self.dir.join(format!(".new-{}-{count}", std::process::id()));
        let written = write_entry(&aside, key, code.bytes())
            .and_then(|()| fs::rename(&aside, self.dir.join(key.file_name())));
        if written.is_err() {
            drop(fs::remove_file(&aside));
        }
        self.prune()?;
        written
    }

    /// Removes the oldest entries beyond the cap, and what interrupted writers left.
    fn prune(&self) -> io::Result<()> {
        let mut entries = vec![];
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            entries.push((entry.metadata()?.modified()?, entry.path()));
        }
        entries.sort();
        let surplus = entries.len().saturating_sub(ENTRIES_MAX);
        for (_, path) in entries.iter().take(surplus) {
            drop(fs::remove_file(path)); // another process may have been faster
        }
        Ok(())
    }
}

fn open_no_follow(path: &Path, more: OFlags) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | more).bits();
    let flags = i32::try_from(flags).map_err(io::Error::other)?;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn check_owner(meta: &fs::Metadata) -> io::Result<()> {
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it belongs to another user"));
    }
    Ok(())
}

/// Opened once; what is checked is what is read.
fn read_entry(path: &Path, key: Key) -> io::Result<Vec<u8>> {
    let file = open_no_follow(path, OFlags::empty())?;
    let meta = file.metadata()?;
    check_owner(&meta)?;
    if !meta.is_file() || meta.mode() & 0o077 != 0 {
        return Err(io::Error::other("not a private file"));
    }
    let mut entry = Vec::with_capacity(usize::try_from(meta.len().min(ENTRY_MAX)).unwrap_or(0));
    file.take(ENTRY_MAX).read_to_end(&mut entry)?;
    let bad = |what: &'static str| Err(io::Error::other(what));
    if entry.len() < HEADER || &entry[..8] != MAGIC {
        return bad("not an entry of this version");
    }
    if entry[8..40] != key.0 {
        return bad("the entry of another plugin or engine");
    }
    let code = entry.split_off(HEADER);
    if entry[40..72] != Sha256::digest(&code)[..] {
        return bad("damaged");
    }
    Ok(code)
}

fn write_entry(path: &Path, key: Key, code: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(MAGIC)?;
    file.write_all(&key.0)?;
    file.write_all(&Sha256::digest(code))?;
    file.write_all(code)
}
