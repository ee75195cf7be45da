//! The rules of the house, as a test.
//!
//! In: the files of the repository. Out: nothing, or every breach with file, line and rule at once. `source` reads
//! Rust without a parser, `text`, `imports`, `manifests` and `corpus` are the rules. Invariant: each rule is a function of
//! a path and a text, and a unit test shows that it can fail.

mod corpus;
mod imports;
mod manifests;
mod source;
mod text;

use crate::sh::{self, Result};
use std::path::Path;

/// Folders that hold nothing of ours.
const NOT_OURS: [&str; 4] = ["target", "out", "plugins", "node_modules"];
/// Folders with a leading dot that do.
const HIDDEN: [&str; 3] = [".cargo", ".ci", ".github"];

/// One breach of a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// From the root, with `/`.
    path: String,
    /// From 1.
    line: usize,
    /// What is wrong, and what would be right.
    what: String,
}

/// Checks everything.
pub(crate) fn tidy() -> Result<()> {
    let root = sh::root();
    let mut files = Vec::new();
    walk(&root, "", &mut files)?;
    let mut findings = Vec::new();
    let mut large = Vec::new();
    for path in &files {
        if corpus::is_in(path) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(root.join(path)) else { continue };
        check(path, &text, &mut findings);
        large.extend(text::large(path, &text));
    }
    corpus::check(&sizes(&root, &files), &mut findings);
    large.sort_by(|a, b| b.cmp(a));
    if !large.is_empty() {
        println!(
            "Files with more than {} lines of code, the longest first; could one be two?",
            text::LINES_LOOK
        );
        large.iter().for_each(|(lines, path)| println!("{lines:>6}  {path}"));
    }
    report(findings, files.len())
}

fn report(mut findings: Vec<Finding>, files: usize) -> Result<()> {
    if findings.is_empty() {
        println!("{files} files are tidy.");
        return Ok(());
    }
    findings.sort();
    findings.iter().for_each(|f| println!("{}:{}: {}", f.path, f.line, f.what));
    Err(format!("{} breaches of the rules (CONTRIBUTING.md says why)", findings.len()))
}

/// The files of the corpus, with their sizes.
fn sizes<'f>(root: &Path, files: &'f [String]) -> Vec<(&'f str, u64)> {
    let inside = files.iter().filter(|path| corpus::is_in(path));
    inside
        .map(|path| (path.as_str(), std::fs::metadata(root.join(path)).map_or(0, |meta| meta.len())))
        .collect()
}

/// All rules for one file.
fn check(path: &str, text: &str, findings: &mut Vec<Finding>) {
    let mut breach = |line: usize, what: String| findings.push(Finding { path: path.to_owned(), line, what });
    text::check(path, text, &mut breach);
    if path.ends_with(".rs") {
        let source = source::Source::new(path, text);
        text::check_rust(&source, &mut breach);
        imports::check(&source, &mut breach);
    }
    if path.ends_with("Cargo.toml") {
        manifests::check(path, text, &mut breach);
    }
}

/// Files below a folder, in order.
fn walk(root: &Path, folder: &str, files: &mut Vec<String>) -> Result<()> {
    let here = root.join(folder);
    let entries =
        std::fs::read_dir(&here).map_err(|error| format!("can't read {}: {error}", here.display()))?;
    let mut names: Vec<(String, bool)> = entries
        .flatten()
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path().is_dir()))
        .collect();
    names.sort();
    for (name, is_folder) in names {
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let hidden = name.starts_with('.') && !HIDDEN.contains(&&*name);
        if is_folder && !hidden && !NOT_OURS.contains(&&*name) {
            walk(root, &path, files)?;
        } else if !is_folder && !hidden {
            files.push(path);
        }
    }
    Ok(())
}

/// For the rules' tests: what is found in a file of this path and text.
#[cfg(test)]
fn found(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    check(path, text, &mut findings);
    findings.into_iter().map(|f| format!("{}: {}", f.line, f.what)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_repository_is_walked_without_what_is_built() {
        let mut files = Vec::new();
        walk(&sh::root(), "", &mut files).unwrap();
        assert!(files.contains(&"xtask/src/tidy/mod.rs".to_owned()));
        assert!(files.contains(&".cargo/config.toml".to_owned()));
        assert!(!files.iter().any(|file| file.starts_with("target/") || file.starts_with(".git/")));
    }

    #[test]
    fn a_breach_fails() {
        let finding = Finding { path: "a.rs".to_owned(), line: 1, what: "x".to_owned() };
        assert!(report(vec![finding], 1).is_err());
        assert!(report(vec![], 1).is_ok());
    }
}
