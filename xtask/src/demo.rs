//! The demonstration: a real word count, from a clone to its ten most frequent words.
//!
//! In: files, or none for the project's own documents. Out: the report's table, the words, and how to go on.
//! Invariant: what is shown comes from this run; output of an earlier one is removed first.

use crate::sh::{self, Result};
use crate::{guests, words};
use std::path::{Path, PathBuf};

const MANIFEST: &str = "examples/word-count/topology.toml";
const OUT: &str = "examples/word-count/out";
const WORDS_SHOWN: usize = 10;

/// Builds, runs, shows.
pub(crate) fn demo(files: &[&str]) -> Result<()> {
    let files = files.iter().map(|file| input(file)).collect::<Result<Vec<_>>>()?;
    println!("Building the bolts (WebAssembly) and the host. The first time this takes some minutes.");
    guests::word_count()?;
    sh::run(sh::cargo("build").args(["--bin", "anchorbolt"]).args(sh::AS_TESTS))?;
    let binary = sh::target_dir()?.join("debug/anchorbolt");
    let out = sh::root().join(OUT);
    remove(&out)?;
    let report = format!("{OUT}/report.json");
    let mut run = sh::command(&binary);
    // What is counted is counted anew each time.
    run.args(["run", MANIFEST, "--until-drained", "--reset", "--report", &report]);
    if !files.is_empty() {
        run.arg("--set").arg(set(&files));
    }
    println!("\nanchorbolt run {MANIFEST} --until-drained --reset --report {report}");
    let code = sh::code(&mut run)?;
    show(&out.join("counts.jsonl"))?;
    match code {
        0 => {
            go_on(&binary);
            Ok(())
        }
        1 => Err("the run ended with 1: a message failed for good; the table says what".to_owned()),
        code => Err(format!("the run ended with {code}; its own words are above")),
    }
}

/// A file as the manifest's folder needs it.
fn input(file: &str) -> Result<PathBuf> {
    let path = std::path::absolute(file).map_err(|error| format!("{file}: {error}"))?;
    match std::fs::metadata(&path) {
        Ok(meta) if meta.is_file() => Ok(path),
        Ok(_) => Err(format!("{file} is not a file; name files, for example {file}/*.txt")),
        Err(error) => Err(format!("can't read {file}: {error}")),
    }
}

/// `--set` with the list of files, as TOML, in which `$` begins a variable. A name that looks like a glob is taken
/// as it is, since the file exists.
fn set(files: &[PathBuf]) -> String {
    let mut names: Vec<String> = files.iter().map(|file| quoted(&file.to_string_lossy())).collect();
    names.sort();
    names.dedup();
    format!("spouts.lines.path=[{}]", names.join(", "))
}

fn quoted(name: &str) -> String {
    let mut out = String::from("\"");
    for c in name.chars() {
        match c {
            '$' => out.push_str("$$"),
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn remove(out: &Path) -> Result<()> {
    let done = match std::fs::remove_dir_all(out) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => std::fs::create_dir_all(out),
    };
    done.map_err(|error| format!("can't clear {}: {error}", out.display()))
}

fn show(counts: &Path) -> Result<()> {
    if !counts.exists() {
        return Ok(());
    }
    let top = words::top(&sh::read_file(counts)?, WORDS_SHOWN)?;
    println!("\nThe {} most frequent words:", top.len());
    for (word, count) in top {
        println!("{count:>8}  {word}");
    }
    Ok(())
}

fn go_on(binary: &Path) {
    let binary = binary.strip_prefix(sh::root()).unwrap_or(binary).display();
    println!(
        "
Every line was read, went through both bolts, and was acked when all its words were counted.

  The words       {OUT}/counts.jsonl
  The report      {OUT}/report.json
  The topology    {MANIFEST}
  The bolts       examples/word-count/bolts/

Go on with
  cargo xtask demo FILES..       the words of your own files
  {binary} check {MANIFEST}
  {binary} inspect examples/word-count/plugins/count.wasm
  docs/reference.md              every key, command and exit code"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_quoted() {
        assert_eq!(quoted("/a b/c.txt"), "\"/a b/c.txt\"");
        assert_eq!(quoted("/a\"\\${X}\n"), "\"/a\\\"\\\\$${X}\\u000A\"");
        let files = ["/b".into(), "/a".into(), "/b".into()];
        assert_eq!(set(&files), "spouts.lines.path=[\"/a\", \"/b\"]");
    }

    #[test]
    fn only_files_are_taken() {
        assert!(input("Cargo.toml").is_ok());
        assert!(input("src").unwrap_err().starts_with("src is not a file"));
        assert!(input("none.txt").unwrap_err().starts_with("can't read none.txt"));
    }
}
