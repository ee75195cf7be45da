//! Signals, pipes that close, and standard input.

use super::{Cli, endless, finish, number};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Sends a signal to a process.
pub(crate) fn send(process: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(process).expect("a process id"));
    if let Err(e) = kill(pid, signal) {
        println!("{signal} to {process}: {e}");
    }
}

/// Waits until the sink has written something.
fn written(cli: &Cli) {
    let began = Instant::now();
    while !std::fs::metadata(cli.path("out.jsonl")).is_ok_and(|meta| meta.len() > 0) {
        assert!(began.elapsed() < Duration::from_secs(30), "nothing was written");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn ctrl_c_and_sigterm_drain_and_exit_with_0() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let cli = Cli::new(&endless("kind = \"jsonl\"\npath = \"out.jsonl\"\nfsync = \"never\""));
        let child = cli.command(&["run", "--json"]).spawn().unwrap();
        written(&cli);
        send(child.id(), signal);
        let ran = finish(child);
        ran.check(0);
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let read = number(&report, &["messages", "read"]);
        assert!(read > 0);
        assert_eq!(
            (number(&report, &["messages", "completed"]), number(&report, &["messages", "pending"])),
            (read, 0)
        );
        assert_eq!(cli.read("out.jsonl").lines().count() as u64, read, "{signal}: what is acked is written");
    }
}

#[test]
fn a_second_ctrl_c_ends_at_once_with_130() {
    let cli = Cli::new(
        "[topology]\nname = \"stuck\"\nmessage-timeout = \"1h\"\n[spouts.feed]\nkind = \"generate\"\n\
         [bolts.slow]\nplugin = \"guest:slow\"\nconfig = { us = 900000, fields = [\"seq\", \"sentence\"] }\n\
         inputs = [{ from = \"feed\", grouping = \"shuffle\" }]\n\
         [bolts.out]\nkind = \"jsonl\"\npath = \"out.jsonl\"\ninputs = [{ from = \"slow\", grouping = \"global\" }]\n",
    );
    let child = cli.command(&["run"]).spawn().unwrap();
    written(&cli);
    send(child.id(), Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(200));
    let began = Instant::now();
    send(child.id(), Signal::SIGINT);
    let ran = finish(child);
    ran.check(130);
    assert!(began.elapsed() < Duration::from_secs(5));
    ran.says(&["stopping"]);
}

#[test]
fn a_closed_standard_output_ends_quietly() {
    let cli = Cli::new(&endless("kind = \"stdout\""));
    let mut child = cli.command(&["run"]).spawn().unwrap();
    let mut line = String::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"seq\":0,"), "{line}");
    drop(reader);
    let ran = finish(child);
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    assert!(!ran.err.contains("panicked"), "{ran:?}");
    assert!(ran.err.lines().count() <= 2, "quietly: {ran:?}");
}

#[test]
fn a_closed_standard_output_under_a_report_is_no_panic() {
    let cli = Cli::new(&endless("kind = \"null\""));
    let mut child = cli.command(&["run", "--limit", "10", "--json"]).spawn().unwrap();
    drop(child.stdout.take());
    let ran = finish(child);
    ran.check(0);
}

#[test]
fn standard_input_is_read_to_its_end() {
    let cli = Cli::new(
        "[topology]\nname = \"pipe\"\n[spouts.in]\nkind = \"stdin\"\n\
         [bolts.out]\nkind = \"stdout\"\ninputs = [{ from = \"in\", grouping = \"global\" }]\n",
    );
    let mut child = cli.command(&["run", "--until-drained"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all("one\r\n\ntwo ä\nlast".as_bytes()).unwrap();
    let ran = finish(child);
    ran.check(0);
    assert_eq!(ran.out, "{\"line\":\"one\"}\n{\"line\":\"\"}\n{\"line\":\"two ä\"}\n{\"line\":\"last\"}\n");
}

#[test]
fn a_stop_while_standard_input_waits_ends() {
    let cli = Cli::new(
        "[topology]\nname = \"pipe\"\n[spouts.in]\nkind = \"stdin\"\n\
         [bolts.out]\nkind = \"jsonl\"\npath = \"out.jsonl\"\ninputs = [{ from = \"in\", grouping = \"global\" }]\n",
    );
    let mut child = cli.command(&["run"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"one\n").unwrap();
    written(&cli);
    send(child.id(), Signal::SIGTERM);
    let ran = finish(child);
    ran.check(0);
    drop(input);
    assert_eq!(cli.read("out.jsonl"), "{\"line\":\"one\"}\n");
}
