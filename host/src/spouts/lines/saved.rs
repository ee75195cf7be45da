//! What a `lines` spout saves, as JSON that a person can read.
//!
//! In: for each file what it is known by and what of it is done. Out: text, and the same back, or what is wrong with
//! it. Invariant: what is read back is what was saved.

use super::super::files::FileIdentity;
use crate::durable::base64;
use anchorbolt_core::offsets::Snapshot;
use serde_json::{Value, json};

/// The format of the text.
const VERSION: u64 = 1;

/// What is saved of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its shown name.
    pub(super) path: String,
    /// What it is known by.
    pub(super) identity: FileIdentity,
    /// What of it is done.
    pub(super) done: Snapshot,
    /// All of it was read, and all is done.
    pub(super) complete: bool,
    /// It ended in a line without an end, which was taken: where that begins and where it ended.
    pub(super) unended: Option<(u64, u64)>,
}

impl Entry {
    fn to_json(&self) -> Value {
        let Entry { path, identity, done, complete, unended } = self;
        json!({
            "path": path,
            "device": identity.device,
            "inode": identity.inode,
            "fingerprint": {
                "bytes": identity.fingerprint_bytes,
                "sha256": base64::text(&identity.fingerprint),
            },
            "low": done.low,
            "done": done.ranges.iter().map(|range| json!([range.start, range.end])).collect::<Vec<_>>(),
            "complete": complete,
            "unended": unended.map(|(from, to)| json!([from, to])),
        })
    }

    fn from_json(value: &Value) -> Option<Entry> {
        let fingerprint = &value["fingerprint"];
        let ranges = value["done"].as_array()?.iter();
        let ranges = ranges.map(|range| pair(range).map(|(start, end)| start..end)).collect::<Option<_>>()?;
        let unended = match &value["unended"] {
            Value::Null => None,
            other => Some(pair(other)?),
        };
        Some(Entry {
            path: value["path"].as_str()?.to_owned(),
            identity: FileIdentity {
                device: value["device"].as_u64()?,
                inode: value["inode"].as_u64()?,
                fingerprint_bytes: usize::try_from(fingerprint["bytes"].as_u64()?).ok()?,
                fingerprint: base64::decode(fingerprint["sha256"].as_str()?)?.try_into().ok()?,
            },
            done: Snapshot { low: value["low"].as_u64()?, ranges }.normal().ok()?,
            complete: value["complete"].as_bool()?,
            unended,
        })
    }
}

/// The text of these entries.
pub(super) fn encode(entries: &[Entry]) -> Vec<u8> {
    let files: Vec<Value> = entries.iter().map(Entry::to_json).collect();
    json!({ "version": VERSION, "files": files }).to_string().into_bytes()
}

/// The entries of a text.
pub(super) fn decode(text: &[u8]) -> Result<Vec<Entry>, String> {
    let value: Value = serde_json::from_slice(text).map_err(|_| "it is not JSON".to_owned())?;
    match value["version"].as_u64() {
        Some(VERSION) => {}
        Some(newer) if newer > VERSION => {
            return Err(format!(
                "it was written by a newer anchorbolt (format {newer}, this one knows {VERSION})"
            ));
        }
        _ => return Err("it has no version".to_owned()),
    }
    let files = value["files"].as_array().ok_or("it has no `files`")?;
    let entry = |(number, value)| {
        Entry::from_json(value)
            .ok_or_else(|| format!("file {number} of it lacks something or is out of order"))
    };
    files.iter().enumerate().map(entry).collect()
}

fn pair(value: &Value) -> Option<(u64, u64)> {
    match value.as_array()?.as_slice() {
        [a, b] => Some((a.as_u64()?, b.as_u64()?)),
        _ => None,
    }
}
