//! What is granted works, what is not is an ordinary error.

use crate::support::*;
use anchorbolt_core::manifest::Dir;
use anchorbolt_wasm::{Factory, GrantError, Silent};
use std::io::{Read, Write};
use std::sync::Arc;

#[test]
fn nothing_is_granted_by_default() {
    let mut probe = Probe::new();
    assert_eq!(probe.run("env").map(|log| log.len()), Ok(1));
    assert_eq!(probe.ask("env"), "");
    assert_eq!(probe.ask("args"), "0");
    assert_eq!(probe.ask("stdin"), "0");
    for command in ["read /etc/passwd", "list /", "write /tmp/x", "connect 127.0.0.1:9", "listen 127.0.0.1:0"]
    {
        assert!(probe.ask(command).starts_with("error: "), "{command}");
    }
    assert!(
        probe.ask("connect 127.0.0.1:9").contains("Permission denied"),
        "{}",
        probe.ask("connect 127.0.0.1:9")
    );
    assert!(probe.ask("connect localhost:9").starts_with("error: "), "no names");
    assert!(probe.ask("udp 127.0.0.1:0").starts_with("error: "));
}

#[test]
fn env_and_folders_are_as_granted() {
    let (read, write) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(read.path().join("f"), "hello").unwrap();
    let dir = |dir: &tempfile::TempDir, guest: &str, write| Dir {
        host: dir.path().display().to_string(),
        guest: guest.into(),
        write,
    };
    let mut probe = Probe::with(|s| {
        s.allow.env.push(("KEY".into(), "value".into()));
        s.allow.dirs = vec![dir(&read, "/in", false), dir(&write, "/out", true)];
    });
    assert_eq!(probe.ask("env"), "KEY=value;");
    assert_eq!(probe.ask("read /in/f"), "hello");
    assert_eq!(probe.ask("list /in"), "1");
    assert!(probe.ask("write /in/g").starts_with("error: "));
    assert_eq!(probe.ask("write /out/g"), "ok");
    assert_eq!(std::fs::read_to_string(write.path().join("g")).unwrap(), "written");
    assert!(probe.ask("read /in/../../etc/passwd").starts_with("error: "));
    std::os::unix::fs::symlink("/etc/passwd", read.path().join("link")).unwrap();
    assert!(probe.ask("read /in/link").starts_with("error: "));
}

#[test]
fn a_fifo_or_device_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let mut probe = Probe::with(|s| {
        s.allow.dirs.push(Dir { host: dir.path().display().to_string(), guest: "/d".into(), write: true });
    });
    let start = std::time::Instant::now();
    assert!(probe.ask("read /d/fifo").starts_with("error: "));
    assert!(start.elapsed().as_millis() < 500);
}

#[test]
fn a_granted_address_may_be_connected_to_and_no_other() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let echo = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut text = [0; 4];
        stream.read_exact(&mut text).unwrap();
        stream.write_all(&text).unwrap();
    });
    // A name is resolved by the host.
    let mut probe = Probe::with(|s| s.allow.net.push(format!("localhost:{}", address.port())));
    let refused = probe.ask(&format!("connect {}", other.local_addr().unwrap()));
    assert!(refused.contains("Permission denied"), "{refused}");
    assert!(probe.ask("listen 127.0.0.1:0").starts_with("error: "));
    assert!(probe.ask("listen 0.0.0.0:0").starts_with("error: "));
    assert_eq!(probe.ask(&format!("connect {address}")), "ping");
    echo.join().unwrap();
}

#[test]
fn grants_that_cannot_be_given_are_errors_at_the_start() {
    let make = |change: &dyn Fn(&mut anchorbolt_wasm::Settings)| {
        let mut settings = settings();
        let declaration = plugin().declare(&settings).unwrap();
        change(&mut settings);
        Factory::new(plugin().clone(), declaration, settings, Arc::new(Silent)).err()
    };
    let missing = Dir { host: "no-such-folder".into(), guest: "/d".into(), write: false };
    let error = make(&|s| s.allow.dirs.push(missing.clone()));
    assert!(matches!(error, Some(GrantError::Dir { path, .. }) if path.ends_with("no-such-folder")));
    let error = make(&|s| s.allow.net.push("no-port".into()));
    assert!(matches!(error, Some(GrantError::Net { .. })));
}
