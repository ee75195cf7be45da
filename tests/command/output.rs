//! Where output goes: reports, full disks, readers that leave.

use crate::run::{Folder, Ran, pipeline};
use std::io::{BufRead, BufReader};

fn identity() -> Folder {
    let folder = Folder::new(&pipeline("identity", "", r#"config = { fields = ["line"] }"#));
    folder.write("in.txt", (0..5000).map(|i| format!("line {i}\n")).collect::<String>());
    folder
}

#[test]
fn the_report_is_whole_and_its_sums_hold() {
    let folder = identity();
    let printed = folder.drain(&["--report", "report.json"]).code(0).json();
    let written: serde_json::Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    assert_eq!(printed, written);
    let m = &printed["messages"];
    assert_eq!((&m["read"], &m["completed"], &m["untracked"]), (&5000.into(), &5000.into(), &0.into()));
    assert_eq!(printed["version"], 1);
    assert!(printed["plugins"]["work"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(printed["bolts"]["work"]["acked"], 5000);
    assert_eq!(folder.read("out.jsonl").lines().count(), 5000);
}

#[test]
fn a_report_that_can_not_be_written_is_said_before_the_run() {
    let folder = identity();
    folder.drain(&["--report", "no/such/folder/report.json"]).code(3).says(&["report.json"]);
    assert!(!folder.path("out.jsonl").exists(), "nothing ran");
}

/// Every write to `/dev/full` fails as on a full disk.
#[test]
fn nothing_is_acked_falsely_while_the_disk_is_full() {
    let folder = identity();
    std::os::unix::fs::symlink("/dev/full", folder.path("full.jsonl")).unwrap();
    let sets = [
        "--set", "bolts.out.path=full.jsonl",
        "--set", "topology.drain-timeout='1s'",
        "--set", "spouts.lines.retry.max-attempts=2",
        "--set", "spouts.lines.retry.max-backoff='100ms'",
    ];
    let ran = folder.drain(&sets);
    assert!([1, 3].contains(&ran.code), "{}\n{}", ran.code, ran.err);
    ran.says(&["No space left"]);
    if !ran.out.is_empty() {
        assert_eq!(ran.json()["messages"]["completed"], 0);
    }
}

#[test]
fn a_reader_that_leaves_ends_the_run_quietly() {
    let text = pipeline("identity", "", r#"config = { fields = ["line"] }"#);
    let text = text.replace("kind = \"jsonl\"\npath = \"out.jsonl\"", "kind = \"stdout\"");
    let folder = Folder::new(&text);
    folder.write("in.txt", "a line of some length, over and over again\n".repeat(300_000));
    let mut child = folder.command(&["run", "--until-drained"]).spawn().unwrap();
    let mut first = String::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.read_line(&mut first).unwrap();
    drop(reader);
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!(first, "{\"line\":\"a line of some length, over and over again\"}\n");
    assert!(!ran.err.contains("panicked") && !ran.err.contains("ERROR"), "{}", ran.err);
    assert!(ran.code == 0 || ran.code == 1, "{}: {}", ran.code, ran.err);
}
