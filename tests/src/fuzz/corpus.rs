//! The inputs that are kept: `fuzz-corpus/TARGET/`, small ones made by hand and those that once showed something.
//!
//! In: a target's name. Out: its inputs in the order of their names. Invariant: an input's name is made of its bytes,
//! so that the same one is kept once.

use super::{Target, shape};
use std::fs;
use std::path::{Path, PathBuf};

/// Where the inputs of a target are.
pub fn folder(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz-corpus").join(target.name)
}

/// The inputs of a target, with their names.
pub(super) fn inputs(target: &Target) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(folder(target)) else { return vec![] };
    let mut inputs: Vec<(String, Vec<u8>)> = entries
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, fs::read(entry.path()).ok()?)))
        .collect();
    inputs.sort();
    inputs
}

/// Keeps an input; gives its path from the root of the repository.
pub(super) fn keep(target: &Target, input: &[u8]) -> String {
    let name = format!("found-{:016x}", shape(input));
    let folder = folder(target);
    let kept = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(&name), input));
    match kept {
        Ok(()) => format!("tests/fuzz-corpus/{}/{name}", target.name),
        Err(error) => format!("(not kept: {error}) {input:?}"),
    }
}
