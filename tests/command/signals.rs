//! Ctrl-C and SIGTERM: drain, report, and end; the second time, at once.

use crate::run::{Folder, Ran};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

const ENDLESS: &str = r#"
[topology]
name = "endless"
[spouts.made]
kind = "generate"
rate = 20000
[bolts.out]
kind = "jsonl"
path = "out.jsonl"
fsync = "never"
inputs = [{ from = "made", grouping = "global" }]
"#;

/// A run that has written something.
fn running(folder: &Folder) -> Child {
    let child = folder.command(&["run", "--json"]).spawn().unwrap();
    let patience = Instant::now() + Duration::from_secs(30);
    while std::fs::metadata(folder.path("out.jsonl")).map_or(0, |m| m.len()) == 0 {
        assert!(Instant::now() < patience, "nothing was written");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
}

#[test]
fn one_signal_drains() {
    for name in ["-INT", "-TERM"] {
        let folder = Folder::new(ENDLESS);
        let child = running(&folder);
        signal(&child, name);
        let ran = Ran::of(child.wait_with_output().unwrap());
        let report = ran.code(0).json();
        let m = &report["messages"];
        assert_eq!((&m["read"], &m["pending"]), (&m["completed"], &0.into()), "{name}: {m}");
        let lines = folder.read("out.jsonl").lines().count() as u64;
        assert_eq!(m["completed"].as_u64().unwrap(), lines, "{name}");
    }
}

#[test]
fn the_second_signal_ends_at_once() {
    // A sink that never succeeds keeps the drain waiting.
    let folder = Folder::new(&ENDLESS.replace("fsync = \"never\"", "").replace("rate = 20000", "rate = 100"));
    let child = running(&folder);
    // No room for more: the messages in flight wait for their retries.
    signal(&child, "-STOP");
    signal(&child, "-INT");
    signal(&child, "-CONT");
    signal(&child, "-INT");
    let ran = Ran::of(child.wait_with_output().unwrap());
    // The second may come after the drain is done: then it is an ordinary end.
    assert!(ran.code == 130 || ran.code == 0, "{}: {}", ran.code, ran.err);
}
