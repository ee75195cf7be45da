//! What a run wrote, as rows that can be compared.
//!
//! In: the files of a run. Out: for each output how often each row is in it. A row is a line; one of JSON is compared
//! by its values, without the fields that are to be ignored. A last line without an end was torn by a kill: its message
//! was not done, and it counts for nothing.

use super::runs::Run;
use super::setup::Output;
use serde_json::Value;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The rows of one output: a fingerprint each, and how often it is there.
pub(super) type Rows = HashMap<(u64, u64), u32>;

/// Reads the rows of an output.
pub(super) fn rows(run: &Run, output: &Output, ignore: &[String]) -> Result<Rows, String> {
    let mut rows = Rows::new();
    each(run, output, ignore, &mut |row| *rows.entry(fingerprint(row)).or_default() += 1)?;
    Ok(rows)
}

/// A few rows of an output that `wanted` takes, as text.
pub(super) fn some(
    run: &Run,
    output: &Output,
    ignore: &[String],
    most: usize,
    wanted: impl Fn(&(u64, u64)) -> bool,
) -> Result<Vec<String>, String> {
    let mut found: Vec<String> = vec![];
    each(run, output, ignore, &mut |row| {
        if found.len() < most && wanted(&fingerprint(row)) && !found.iter().any(|other| other == row) {
            found.push(row.to_owned());
        }
    })?;
    Ok(found)
}

fn fingerprint(row: &str) -> (u64, u64) {
    let hash = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, row).hash(&mut hasher);
        hasher.finish()
    };
    (hash(0), hash(1))
}

fn each(run: &Run, output: &Output, ignore: &[String], f: &mut dyn FnMut(&str)) -> Result<(), String> {
    let files: Vec<PathBuf> = match output {
        Output::File(name) => vec![run.folder.join(name)],
        Output::Stdout => (0..run.processes).map(|n| run.folder.join(format!("{n}.out"))).collect(),
        Output::Folder(name) => files_below(&run.folder.join(name))?,
    };
    files.iter().filter(|file| file.is_file()).try_for_each(|file| each_line(file, ignore, f))
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let wrong = |e: std::io::Error| format!("can't read {}: {e}", folder.display());
    let mut files = vec![];
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn each_line(file: &Path, ignore: &[String], f: &mut dyn FnMut(&str)) -> Result<(), String> {
    let wrong = |e: std::io::Error| format!("can't read {}: {e}", file.display());
    let mut reader = BufReader::new(std::fs::File::open(file).map_err(wrong)?);
    let mut line = vec![];
    while reader.read_until(b'\n', &mut line).map_err(wrong)? > 0 {
        if line.pop_if(|byte| *byte == b'\n').is_some() {
            f(&row(&line, ignore));
        }
        line.clear();
    }
    Ok(())
}

/// A line as it is compared.
fn row(line: &[u8], ignore: &[String]) -> String {
    match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(mut object)) if !ignore.is_empty() => {
            ignore.iter().for_each(|field| drop(object.remove(field)));
            Value::Object(object).to_string()
        }
        _ => String::from_utf8_lossy(line).into_owned(),
    }
}
