//! Checkpoints: how far each task of each spout is, one small file a task.
//!
//! In: the bytes that a spout's snapshot is, whatever they mean to it. Out: the same at the next start, of all
//! tasks of the spout, since a source's parts may be dealt out otherwise then. The file is a line of JSON that
//! says whose it is, how long it is and its checksum, and then the bytes as they are.
//!
//! Invariant: a crash at any step leaves the old checkpoint or the new one, whole; what is not whole, or is
//! another's, is refused and never guessed at.

use super::DurableError;
use super::base64;
use super::files::{Files, replace};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The format of the file.
const VERSION: u64 = 1;
/// No checkpoint is larger.
const BYTES_MAX: u64 = 256 << 20;
/// How a checkpoint's name ends, behind `SPOUT.TASK`.
const SUFFIX: &str = "checkpoint";

/// The folder of checkpoints. May be used by several threads, each for tasks of its own.
#[derive(Clone)]
pub struct Checkpoints {
    files: Arc<dyn Files>,
    folder: PathBuf,
}

impl Checkpoints {
    /// The checkpoints in this folder, which is there.
    pub fn new(files: Arc<dyn Files>, folder: PathBuf) -> Checkpoints {
        Checkpoints { files, folder }
    }

    /// Saves what a task's spout is to know after a restart. When it returns, it is durable.
    ///
    /// # Errors
    /// The disk fails: then the one before still holds, or, if only its name could not be made durable, either.
    pub fn save(&self, spout: &str, task: u32, payload: &[u8]) -> Result<(), DurableError> {
        let path = self.path(spout, task);
        let bytes = encode(spout, task, payload);
        if bytes.len() as u64 > BYTES_MAX {
            return Err(DurableError(format!(
                "the checkpoint of spout `{spout}` would have {} bytes, the most is {BYTES_MAX}; give it fewer files",
                bytes.len()
            )));
        }
        replace(&*self.files, &path, &bytes).map_err(|error| DurableError::of(&path, "written", &error))
    }

    /// What the tasks of a spout have saved, in the order of the tasks, counted from 0; also of tasks that it has
    /// no more.
    ///
    /// # Errors
    /// The folder can't be read, or one of them is damaged, another's, or of a newer version.
    pub fn load(&self, spout: &str) -> Result<Vec<(u32, Vec<u8>)>, DurableError> {
        self.tasks(spout)?.into_iter().map(|task| self.load_one(spout, task)).collect()
    }

    /// Removes what tasks from this number on have saved: a spout that has fewer tasks now has no use for it, once
    /// each of its tasks has saved something that it restored from them.
    ///
    /// # Errors
    /// The folder or a file in it can't be changed.
    pub fn retain(&self, spout: &str, tasks: u32) -> Result<(), DurableError> {
        for task in self.tasks(spout)?.into_iter().filter(|task| *task >= tasks) {
            let path = self.path(spout, task);
            self.files.remove(&path).map_err(|error| DurableError::of(&path, "removed", &error))?;
        }
        Ok(())
    }

    fn tasks(&self, spout: &str) -> Result<Vec<u32>, DurableError> {
        let names = self.files.names(&self.folder);
        let names = names.map_err(|error| DurableError::of(&self.folder, "read", &error))?;
        let mut tasks: Vec<u32> = names.iter().filter_map(|name| task_of(name, spout)).collect();
        tasks.sort_unstable();
        Ok(tasks)
    }

    fn load_one(&self, spout: &str, task: u32) -> Result<(u32, Vec<u8>), DurableError> {
        let path = self.path(spout, task);
        let bytes = self.files.read(&path, BYTES_MAX);
        let bytes = bytes.map_err(|error| DurableError::of(&path, "read", &error))?;
        match decode(&bytes, spout, task) {
            Ok(payload) => Ok((task, payload.to_vec())),
            Err(problem) => Err(refused(&path, &problem)),
        }
    }

    fn path(&self, spout: &str, task: u32) -> PathBuf {
        self.folder.join(format!("{spout}.{task}.{SUFFIX}"))
    }
}

/// The task whose checkpoint has this name. No component's name has a dot.
fn task_of(name: &str, spout: &str) -> Option<u32> {
    let mut parts = name.split('.');
    let found = (parts.next()?, parts.next()?, parts.next()?, parts.next());
    match found {
        (component, task, SUFFIX, None) if component == spout => task.parse().ok(),
        _ => None,
    }
}

fn encode(spout: &str, task: u32, payload: &[u8]) -> Vec<u8> {
    let header = json!({
        "anchorbolt": "checkpoint",
        "version": VERSION,
        "spout": spout,
        "task": task,
        "bytes": payload.len(),
        "sha256": checksum(spout, task, payload),
    });
    let mut bytes = header.to_string().into_bytes();
    bytes.push(b'\n');
    bytes.extend_from_slice(payload);
    bytes
}

/// What is wrong with a checkpoint's bytes.
enum Problem {
    Damaged(&'static str),
    Foreign(String),
    Newer(u64),
}

fn decode<'a>(bytes: &'a [u8], spout: &str, task: u32) -> Result<&'a [u8], Problem> {
    let end = memchr::memchr(b'\n', bytes).ok_or(Problem::Damaged("its first line has no end"))?;
    let (header, payload) = (&bytes[..end], &bytes[end + 1..]);
    let header: Value =
        serde_json::from_slice(header).map_err(|_| Problem::Damaged("its first line is not JSON"))?;
    if header["anchorbolt"] != "checkpoint" {
        return Err(Problem::Damaged("its first line does not say that it is one"));
    }
    match header["version"].as_u64() {
        Some(VERSION) => {}
        Some(newer) if newer > VERSION => return Err(Problem::Newer(newer)),
        _ => return Err(Problem::Damaged("its first line has no version")),
    }
    if header["spout"] != spout || header["task"] != task {
        let (spout, task) = (&header["spout"], &header["task"]);
        return Err(Problem::Foreign(format!("spout {spout}, task {task}")));
    }
    if header["bytes"] != payload.len() {
        return Err(Problem::Damaged("it is not as long as it says"));
    }
    if header["sha256"] != checksum(spout, task, payload) {
        return Err(Problem::Damaged("its checksum does not fit"));
    }
    Ok(payload)
}

fn refused(path: &Path, problem: &Problem) -> DurableError {
    let shown = path.display();
    let text = match problem {
        Problem::Damaged(what) => format!(
            "the checkpoint `{shown}` is damaged: {what}; put back a good copy, or run with --reset to read \
             from the beginning"
        ),
        Problem::Foreign(whose) => format!(
            "the checkpoint `{shown}` belongs to {whose}; put back the right file, or run with --reset to read \
             from the beginning"
        ),
        Problem::Newer(version) => format!(
            "the checkpoint `{shown}` was written by a newer anchorbolt (format {version}, this one knows \
             {VERSION}); run that version, or run with --reset to read from the beginning"
        ),
    };
    DurableError(text)
}

/// Over the bytes and over whose they are.
fn checksum(spout: &str, task: u32, payload: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{spout}\n{task}\n"));
    hash.update(payload);
    base64::text(&hash.finalize())
}
