//! Which files a `lines` spout reads, and how it knows them again.
//!
//! In: paths and globs as the manifest has them, relative to its folder. Out: the files in order, each checked,
//! or a text that says what is wrong where and how to mend it. A [`FileIdentity`] tells a file that grew from
//! one that was replaced.
//!
//! Invariant: the order depends on the names alone, so a file keeps its number from run to run while the set of
//! names stays the same.

use glob::MatchOptions;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

/// How many of a file's first bytes the fingerprint covers.
pub const FINGERPRINT_BYTES: usize = 1024;
/// More problems than this are counted and not listed.
const PROBLEMS_SHOWN: usize = 10;

/// One input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// The name that people see: relative to the manifest's folder where the manifest's own entry is.
    pub shown: String,
    /// Where it is.
    pub path: PathBuf,
}

/// What a file is known by over a restart: its inode, and a fingerprint of its first bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    /// The device that the file is on.
    pub device: u64,
    /// Its number on that device.
    pub inode: u64,
    /// How many bytes the fingerprint covers: fewer than [`FINGERPRINT_BYTES`] if the file was shorter.
    pub fingerprint_bytes: usize,
    /// SHA-256 of those bytes.
    pub fingerprint: [u8; 32],
}

/// In what way a file is not the one it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another file has its name.
    Replaced,
    /// Its first bytes differ.
    Rewritten,
    /// It is shorter than what was read of it.
    Truncated,
}

impl FileIdentity {
    /// The identity of an open file as it is now.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn of(file: &File) -> io::Result<FileIdentity> {
        let meta = file.metadata()?;
        let (fingerprint_bytes, fingerprint) = fingerprint(file, FINGERPRINT_BYTES)?;
        Ok(FileIdentity { device: meta.dev(), inode: meta.ino(), fingerprint_bytes, fingerprint })
    }

    /// How this open file, of which `read_to` bytes were read, differs; none if it is the same, or grew.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn change(&self, file: &File, read_to: u64) -> io::Result<Option<Change>> {
        let meta = file.metadata()?;
        Ok(if !self.names(&meta) {
            Some(Change::Replaced)
        } else if meta.len() < read_to.max(self.fingerprint_bytes as u64) {
            Some(Change::Truncated)
        } else if fingerprint(file, self.fingerprint_bytes)?.1 != self.fingerprint {
            Some(Change::Rewritten)
        } else {
            None
        })
    }

    /// Whether a file of this metadata has the same inode.
    pub fn names(&self, meta: &Metadata) -> bool {
        (self.device, self.inode) == (meta.dev(), meta.ino())
    }
}

impl Change {
    /// The text for a person, who has to decide.
    pub fn describe(self, shown: &str) -> String {
        let what = match self {
            Change::Replaced => "was replaced by another file",
            Change::Rewritten => "was written anew from its beginning",
            Change::Truncated => "is shorter than what was read of it",
        };
        format!(
            "input file `{shown}` {what}, so the places remembered in it no longer hold; put the old file \
             back, or run with --reset to read from the beginning"
        )
    }
}

/// The files that the paths and globs name, sorted by name, each once.
///
/// A path that exists is taken as it is, also if it looks like a glob. What a glob passes over: folders, and
/// names with a leading dot unless it has the dot too, as in a shell.
///
/// # Errors
/// Everything that is wrong, a line each.
pub fn expand(patterns: &[String], base: &Path) -> Result<Vec<InputFile>, String> {
    let mut files = BTreeMap::new();
    let mut problems = Vec::new();
    for pattern in patterns {
        let path = base.join(pattern);
        if !is_glob(pattern) || fs::symlink_metadata(&path).is_ok() {
            files.insert(shown(Path::new(pattern)), path);
        } else if let Err(problem) = expand_glob(pattern, base, &mut files) {
            problems.push(problem);
        }
    }
    if problems.is_empty() {
        Ok(files.into_iter().map(|(shown, path)| InputFile { shown, path }).collect())
    } else {
        Err(list(&problems))
    }
}

/// Opens a file; it must be one.
///
/// # Errors
/// What is wrong with it, for a person.
pub fn open(file: &InputFile) -> Result<File, String> {
    let InputFile { shown, path } = file;
    let missing = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            let at = path.display();
            format!("input file `{shown}` does not exist ({at}); create it or correct `path`")
        }
        io::ErrorKind::PermissionDenied => {
            format!("input file `{shown}` may not be read ({error}); give this user the right to")
        }
        _ => format!("input file `{shown}` can't be opened: {error}"),
    };
    // Looked at before it is opened: to open a pipe waits for its writer.
    let meta = fs::metadata(path).map_err(missing)?;
    if meta.is_dir() {
        let shown = if shown.is_empty() { "." } else { shown };
        return Err(format!("input `{shown}` is a folder; to read the files in it write `{shown}/*`"));
    }
    if !meta.is_file() {
        return Err(format!(
            "input `{shown}` is not a regular file; read pipes and devices with kind = \"stdin\""
        ));
    }
    File::open(path).map_err(missing)
}

/// The byte at a place; none if the file ends before it.
pub(crate) fn byte_at(file: &File, at: u64) -> io::Result<Option<u8>> {
    let mut byte = [0];
    loop {
        match file.read_at(&mut byte, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(read) => return Ok((read > 0).then_some(byte[0])),
        }
    }
}

/// Whether a line begins at this place.
pub(crate) fn begins_line(file: &File, at: u64) -> io::Result<bool> {
    match at.checked_sub(1) {
        None => Ok(true),
        Some(before) => Ok(byte_at(file, before)? == Some(b'\n')),
    }
}

/// The bytes of the line that begins at a place, without its end, and no more than `most` of them.
pub(crate) fn line_at(file: &File, at: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut file = BufReader::new(file);
    file.seek(SeekFrom::Start(at))?;
    let mut line = Vec::new();
    file.take(most.saturating_add(2)).read_until(b'\n', &mut line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
    }
    line.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(line)
}

/// Several problems as one text.
pub(crate) fn list(problems: &[String]) -> String {
    let mut text = problems.iter().take(PROBLEMS_SHOWN).map(String::as_str).collect::<Vec<_>>().join("\n");
    if problems.len() > PROBLEMS_SHOWN {
        text += &format!("\nand {} more", problems.len() - PROBLEMS_SHOWN);
    }
    text
}

/// The name without `.` in it, so that `./a` and `a` are one file.
fn shown(path: &Path) -> String {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.collect::<PathBuf>().to_string_lossy().into_owned()
}

fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?', '['])
}

/// Names that are no text make the library panic that expands globs; and nobody could name such a file in an error.
fn refuse_foreign_names(base: &Path, pattern: &str) -> Result<(), String> {
    let at = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    let (fixed, rest) = pattern.split_at(pattern[..at].rfind('/').map_or(0, |slash| slash + 1));
    let levels = if rest.contains("**") { usize::MAX } else { rest.split('/').count() };
    let start = base.join(fixed);
    let mut folders = vec![(start, levels)];
    while let Some((folder, levels)) = folders.pop() {
        let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
        // What can't be read is said when the glob comes to it.
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            if entry.file_name().to_str().is_none() {
                let name = entry.file_name();
                let (name, folder) = (name.to_string_lossy(), folder.display());
                return Err(format!(
                    "glob `{pattern}`: the name of the file `{name}` in `{folder}` is not UTF-8; rename it, or move it away"
                ));
            }
            if levels > 1 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push((entry.path(), levels - 1));
            }
        }
    }
    Ok(())
}

fn expand_glob(pattern: &str, base: &Path, files: &mut BTreeMap<String, PathBuf>) -> Result<(), String> {
    refuse_foreign_names(base, pattern)?;
    // The folder's own name is no pattern, whatever is in it.
    let escaped = PathBuf::from(glob::Pattern::escape(&base.to_string_lossy())).join(pattern);
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
    let matches = glob::glob_with(&escaped.to_string_lossy(), options)
        .map_err(|e| format!("`{pattern}` is not a valid glob: {} (at {})", e.msg, e.pos))?;
    let (mut found, mut folders) = (0, 0);
    for path in matches {
        let path = path.map_err(|e| {
            let (folder, why) = (e.path().display().to_string(), e.error());
            format!("glob `{pattern}`: folder `{folder}` can't be read: {why}")
        })?;
        if path.is_dir() {
            folders += 1;
            continue;
        }
        found += 1;
        files.insert(shown(path.strip_prefix(base).unwrap_or(&path)), path);
    }
    match (found, folders) {
        (0, 0) => {
            let base = if base.as_os_str().is_empty() { Path::new(".") } else { base };
            Err(format!("glob `{pattern}` matches no file in `{}`; correct `path`", base.display()))
        }
        (0, _) => Err(format!(
            "glob `{pattern}` matches only folders; to read the files in them write `{pattern}/*`"
        )),
        _ => Ok(()),
    }
}

fn fingerprint(file: &File, bytes: usize) -> io::Result<(usize, [u8; 32])> {
    let mut buffer = [0; FINGERPRINT_BYTES];
    let wanted = &mut buffer[..bytes.min(FINGERPRINT_BYTES)];
    let mut len = 0;
    while len < wanted.len() {
        match file.read_at(&mut wanted[len..], len as u64)? {
            0 => break,
            read => len += read,
        }
    }
    Ok((len, Sha256::digest(&wanted[..len]).into()))
}
