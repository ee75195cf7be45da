//! Dead letters as a user meets them: found, listed, shown, exported, purged, and run again in one bolt.

mod debugger;
mod export;
mod finding;
mod list;
mod purge;
mod show;
mod through;

use crate::cli::{Cli, Ran};
use anchorbolt_core::failure::Class;
use anchorbolt_host::durable::data_dir::VERSION;
use anchorbolt_host::durable::{DeadLetters, Layout, Letter, LetterAttempt, LetterInput, SystemFiles};
use serde_json::{Value, json};
use std::sync::Arc;
use time::OffsetDateTime;

/// Lines to a bolt and from there to a sink.
const MANIFEST: &str = r#"
[topology]
name = "letters"
[spouts.lines]
kind = "lines"
path = "in.txt"
[bolts.eat]
plugin = "guest:poison"
inputs = [{ from = "lines", grouping = "shuffle" }]
[bolts.out]
kind = "jsonl"
path = "out.jsonl"
inputs = [{ from = "eat", grouping = "global" }]
"#;

/// A folder with a topology that has run.
pub(crate) fn cli(letters: &[Letter]) -> Cli {
    let cli = Cli::new(MANIFEST);
    write(&cli, ".anchorbolt/letters", letters);
    cli
}

/// Makes a data folder with these letters in it. Its lock is not taken: a process that another test is just starting
/// would have it for a moment, too.
pub(crate) fn write(cli: &Cli, dir: &str, letters: &[Letter]) {
    std::fs::create_dir_all(cli.path(dir)).unwrap();
    let version = cli.file(&format!("{dir}/VERSION"), format!("{VERSION}\n"));
    let path = Layout::look(version.parent().unwrap()).unwrap().dead_letters();
    if !letters.is_empty() {
        let mut file = DeadLetters::open(Arc::new(SystemFiles), &path, 1 << 30).unwrap();
        assert_eq!(file.put(letters).unwrap(), letters.len());
    }
}

pub(crate) fn moment(seconds: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(1_767_225_600 + seconds).unwrap()
}

/// The letter of the line at this offset.
pub(crate) fn letter(offset: u64, line: &str) -> Letter {
    Letter {
        id: format!("lines@in.txt:{offset}"),
        time: moment(offset as i64),
        topology: "letters".to_owned(),
        spout: "lines".to_owned(),
        position: json!({ "path": "in.txt", "offset": offset }),
        bytes: line.as_bytes().to_vec(),
        fields: json!({ "line": line }),
        attempts: vec![attempt(1, "eat", Class::Trap, line)],
    }
}

/// A failed attempt in a bolt that had one string.
pub(crate) fn attempt(n: u32, component: &str, class: Class, row: &str) -> LetterAttempt {
    LetterAttempt {
        n,
        time: moment(n.into()),
        component: component.to_owned(),
        task: 2,
        class,
        reason: format!("panicked at src/{component}.rs:1:1: can't stomach it\nsecond line"),
        output: "thread 'main' panicked\nlast word".to_owned(),
        input: Some(LetterInput { stream: "lines/default".to_owned(), row: json!([row]) }),
    }
}

/// Six letters that differ in what filters ask for.
pub(crate) fn various() -> Vec<Letter> {
    let mut all: Vec<Letter> = (0..6).map(|i| letter(i * 10, &format!("line {i}"))).collect();
    all[1].attempts.push(attempt(2, "out", Class::Host, "x"));
    all[2].attempts[0].class = Class::Rejected;
    all[3].spout = "others".to_owned();
    all[3].id = "others@3".to_owned();
    all[4].attempts.clear();
    all[5].attempts[0].class = Class::Timeout;
    all
}

/// The ids in the output of `list --json` or `export`.
pub(crate) fn ids(ran: &Ran) -> Vec<String> {
    let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned();
    ran.out.lines().map(id).collect()
}
