//! What is granted works, what is not is an ordinary error.

use crate::support::*;
use anchorbolt_core::manifest::Dir;
use anchorbolt_wasm::{Factory, GrantError, Silent};
use std::io::{Read, Write};
use std::path::Path;
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
    assert_eq!(probe.refused(), ["opening \"fifo\" was refused; nothing grants FIFOs, sockets and devices"]);
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

fn dir(host: &Path, guest: &str, write: bool) -> Dir {
    Dir { host: host.display().to_string(), guest: guest.into(), write }
}

#[test]
fn an_instance_with_nothing_granted_and_nothing_asked_for_is_told_nothing() {
    let mut probe = Probe::new();
    assert_eq!(probe.ask("env"), "");
    probe.run("print hello").unwrap();
    assert_eq!(probe.refused(), Vec::<String>::new());
}

/// Once for each, whatever it does and however many instances do it.
#[test]
fn a_refused_use_is_told_once_with_the_line_that_would_grant_it() {
    let mut probe = Probe::new();
    for _ in 0..3 {
        for command in
            ["read /data/f", "connect 10.0.0.1:80", "connect db.example.org:5432", "udp 127.0.0.1:0"]
        {
            assert!(probe.ask(command).starts_with("error: "), "{command}");
        }
        probe.fresh();
    }
    let expected = [
        r#"the plugin looked for a file or folder and has none; `allow = { dirs = [{ host = "data", guest = "/data" }] }` would grant one"#,
        r#"a connect to 10.0.0.1:80 was refused; `allow = { net = ["10.0.0.1:80"] }` would grant it"#,
        r#"the name "db.example.org" was not looked up; `allow = { net = ["db.example.org:PORT"] }` would grant it with its port"#,
        "a UDP socket was refused; nothing grants it, plugins only have TCP",
    ];
    assert_eq!(probe.refused(), expected);
    assert!(probe.ask("listen 127.0.0.1:7000").starts_with("error: "));
    assert!(probe.ask("listen 0.0.0.0:0").starts_with("error: "));
    let refused = probe.refused();
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert!(refused.iter().all(|text| text.contains("plugins only connect")), "{refused:?}");
}

/// On the way to an address a guest's library looks for files by itself.
#[test]
fn the_use_of_a_granted_address_is_told_nothing() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let mut probe = Probe::with(|s| s.allow.net.push(address.to_string()));
    assert!(probe.ask(&format!("connect {address}")).contains("refused"), "nobody listens");
    assert_eq!(probe.refused(), Vec::<String>::new());
}

#[test]
fn refusals_without_end_are_told_to_an_end() {
    let mut probe = Probe::new();
    for port in 1..100 {
        assert!(probe.ask(&format!("connect 10.0.0.1:{port}")).starts_with("error: "));
    }
    let refused = probe.refused();
    assert_eq!(refused.len(), 21);
    assert_eq!(refused[20], "further uses outside of `allow` are refused without a word");
}

#[test]
fn what_a_guest_asks_for_is_cleaned_before_it_is_told() {
    let mut probe = Probe::new();
    assert!(probe.ask("connect \u{1b}[31mred.example:1").starts_with("error: "));
    assert!(probe.ask(&format!("connect {}:1", "x".repeat(100_000))).starts_with("error: "));
    let refused = probe.refused();
    assert!(refused.iter().all(|text| !text.contains('\u{1b}') && text.len() < 1000), "{refused:?}");
}

#[test]
fn a_folder_for_reading_is_not_changed_in_any_way() {
    let (read, write) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(read.path().join("f"), "hello").unwrap();
    std::fs::create_dir(read.path().join("sub")).unwrap();
    std::fs::write(read.path().join("sub/g"), "deep").unwrap();
    let mut probe = Probe::with(|s| {
        s.allow.dirs = vec![dir(read.path(), "/in", false), dir(write.path(), "/out", true)];
    });
    assert_eq!(probe.ask("read /in/sub/g"), "deep");
    let changes =
        ["write /in/f", "write /in/new", "write /in/sub/g", "mkdir /in/d", "rm /in/f", "rename /in/f /in/h"];
    let across = ["link /in/f /out/f", "rename /in/f /out/f", "link /out/x /in/x", "rename /out/x /in/x"];
    assert_eq!(probe.ask("write /out/x"), "ok");
    for command in changes.into_iter().chain(across) {
        assert!(probe.ask(command).starts_with("error: "), "{command}");
    }
    assert_eq!(std::fs::read_to_string(read.path().join("f")).unwrap(), "hello");
    assert_eq!(std::fs::read_to_string(read.path().join("sub/g")).unwrap(), "deep");
    assert_eq!(std::fs::read_dir(read.path()).unwrap().count(), 2);
    let refused = probe.refused();
    let host = read.path().display();
    let first = format!(
        "a change of \"f\" in /in was refused; `allow = {{ dirs = [{{ host = \"{host}\", guest = \"/in\", access = \
         \"read-write\" }}] }}` would grant it"
    );
    assert_eq!(refused[0], first);
    assert!(refused.iter().any(|text| text.contains("sub/g")), "{refused:?}");
    // What may be written may be changed in every way.
    for command in ["mkdir /out/d", "link /out/x /out/y", "rename /out/y /out/d/y", "rm /out/x"] {
        assert_eq!(probe.ask(command), "ok", "{command}");
    }
}

/// A link is as good as its target: inside it works, outside it is refused, whoever made it.
#[test]
fn no_path_and_no_link_leads_out_of_a_folder() {
    let outer = tempfile::tempdir().unwrap();
    std::fs::write(outer.path().join("secret"), "secret").unwrap();
    let inner = outer.path().join("inner");
    std::fs::create_dir_all(inner.join("sub")).unwrap();
    std::fs::write(inner.join("f"), "mine").unwrap();
    let link = |target: &Path, name: &str| std::os::unix::fs::symlink(target, inner.join(name)).unwrap();
    link(Path::new("f"), "good");
    link(&outer.path().join("secret"), "absolute");
    link(Path::new("../secret"), "relative");
    link(Path::new(".."), "up");
    link(Path::new("../.."), "sub/up");
    link(Path::new("loop"), "loop");
    let mut probe = Probe::with(|s| s.allow.dirs = vec![dir(&inner, "/d", true)]);
    assert_eq!(probe.ask("read /d/good"), "mine");
    assert_eq!(probe.ask("read /d/sub/../f"), "mine");
    let paths = [
        "../secret",
        "sub/../../secret",
        "absolute",
        "relative",
        "up/secret",
        "sub/up/secret",
        "up/inner/../secret",
        "loop",
        "//etc/passwd",
        "/etc/passwd",
    ];
    for path in paths {
        assert!(probe.ask(&format!("read /d/{path}")).starts_with("error: "), "{path}");
        assert!(
            probe.ask(&format!("write /d/{path}")).starts_with("error: ") || path == "//etc/passwd",
            "{path}"
        );
    }
    for command in
        ["link /d/../secret /d/s", "rename /d/up/secret /d/s", "rename /d/f /d/up/f", "mkdir /d/up/d"]
    {
        assert!(probe.ask(command).starts_with("error: "), "{command}");
    }
    assert_eq!(std::fs::read_to_string(outer.path().join("secret")).unwrap(), "secret");
    assert_eq!(std::fs::read_dir(outer.path()).unwrap().count(), 2);
    let refused = probe.refused();
    assert!(refused.iter().any(|text| text.contains("leads out of /d")), "{refused:?}");
}

/// A granted name is answered with the address of the start; no other is looked up.
#[test]
fn a_granted_name_works_in_the_guest_and_no_other_name_does() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let echo = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut text = [0; 4];
            stream.read_exact(&mut text).unwrap();
            stream.write_all(&text).unwrap();
        }
    });
    let mut probe = Probe::with(|s| s.allow.net.push(format!("localhost:{port}")));
    assert_eq!(probe.ask(&format!("connect localhost:{port}")), "ping");
    assert_eq!(probe.ask(&format!("connect LOCALHOST:{port}")), "ping");
    echo.join().unwrap();
    assert!(
        probe.ask(&format!("connect localhost:{}", port ^ 1)).contains("ermission denied"),
        "the port counts"
    );
    let refused = probe.refused();
    assert!(refused.len() == 1 && refused[0].starts_with("a connect to 127.0.0.1:"), "{refused:?}");
    assert!(probe.ask(&format!("connect localhost.example:{port}")).starts_with("error: "));
    assert!(probe.refused()[0].starts_with("the name \"localhost.example\" was not looked up"));
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

#[test]
fn a_folder_of_too_many_entries_is_not_listed() {
    const MOST: usize = 65_536;
    let dir = tempfile::tempdir().unwrap();
    let mut probe = Probe::with(|s| {
        s.allow.dirs.push(self::dir(dir.path(), "/d", false));
        s.limits.deadline = std::time::Duration::from_secs(60);
    });
    for n in 0..MOST {
        std::fs::File::create(dir.path().join(n.to_string())).unwrap();
    }
    assert_eq!(probe.ask("list /d"), MOST.to_string());
    assert!(probe.refused().is_empty());
    std::fs::File::create(dir.path().join("one too many")).unwrap();
    assert!(probe.ask("list /d").starts_with("error: "), "and the instance lives");
    let told = "a folder was not listed: with it the plugin would have more than 65536 entries in listings that it has \
        not closed, and nothing grants that; use subfolders, and list one after the other";
    assert_eq!(probe.refused(), [told]);
    // What is open counts as well, until it is closed.
    std::fs::remove_file(dir.path().join("one too many")).unwrap();
    let small = dir.path().join("1");
    std::fs::remove_file(&small).unwrap();
    std::fs::create_dir(&small).unwrap();
    assert_eq!(probe.ask("keep-listing /d"), "ok");
    assert_eq!(probe.ask("list /d/1"), "0");
    std::fs::write(small.join("file"), "").unwrap();
    assert!(probe.ask("list /d/1").starts_with("error: "));
    assert_eq!(probe.ask("close-listings"), "ok");
    assert_eq!(probe.ask("list /d/1"), "1");
}
