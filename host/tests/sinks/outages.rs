//! `jsonl` while the disk is full: nothing is acked falsely, nothing is torn, and it goes on afterwards.

use crate::support::{context, execute, jsonl, tuples, word};
use anchorbolt_core::manifest::kinds::Fsync;
use anchorbolt_core::port::FailKind;
use std::fs;
use std::process::Command;
use tempfile::tempdir;

#[test]
fn a_device_that_is_always_full_fails_each_tuple_as_retry() {
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let mut sink = jsonl("/".as_ref(), "dev/full", Fsync::Batch);
    sink.prepare(&context(&[&["w"]])).unwrap();
    for _ in 0..3 {
        let settled = execute(&mut *sink, &tuples(&[word("a"), word("b"), (0, vec![0x90])]));
        assert!(settled.acked.is_empty());
        let kinds: Vec<FailKind> = settled.failed.iter().map(|(_, kind, _)| *kind).collect();
        assert_eq!(kinds, [FailKind::Reject, FailKind::Retry, FailKind::Retry]);
        let text = &settled.failed[1].2;
        assert!(text.starts_with("can't write to `dev/full`: No space left on device"), "{text}");
    }
}

/// Runs one ignored test of this file in a process that can't make files longer than `kib`.
fn in_a_process_with_a_file_limit(test: &str, kib: u32) {
    // Ignored signals stay ignored: the write then fails with an error instead of ending the process.
    let script = format!("trap '' XFSZ; ulimit -f {} || exit 99; exec \"$0\" \"$@\"", 2 * kib);
    let output = Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success() && said[0].contains("1 passed"), "{}{}", said[0], said[1]);
}

#[test]
fn a_write_that_stops_half_way_is_cut_back_and_goes_on_when_there_is_room() {
    in_a_process_with_a_file_limit("outages::limited_to_17_kib", 17);
}

#[test]
#[ignore = "started by `a_write_that_stops_half_way_is_cut_back_and_goes_on_when_there_is_room`"]
fn limited_to_17_kib() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("out");
    for fsync in [Fsync::Never, Fsync::Batch] {
        fs::write(&path, "").unwrap();
        let mut sink = jsonl(dir.path(), "out", fsync);
        sink.prepare(&context(&[&["w"]])).unwrap();
        let batch: Vec<_> = (0..50).map(|i| word(&format!("{i:0100}"))).collect();
        let line_bytes = 109;
        let mut acked = 0;
        let text = loop {
            let settled = execute(&mut *sink, &tuples(&batch));
            if let Some((_, kind, text)) = settled.failed.first() {
                assert_eq!((settled.acked.len(), settled.failed.len(), *kind), (0, 50, FailKind::Retry));
                break text.clone();
            }
            acked += settled.acked.len();
        };
        assert!(text.contains("File too large"), "{text}");
        // Some shells count the limit in other blocks.
        assert!(acked >= 100 && acked % 50 == 0, "{acked}");
        // The part of the batch that was written is gone again.
        assert_eq!(fs::metadata(&path).unwrap().len() as usize, acked * line_bytes);
        // A smaller batch still fits; then somebody makes room.
        assert_eq!(execute(&mut *sink, &tuples(&batch[..1])).acked.len(), 1);
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(10 * line_bytes as u64).unwrap();
        assert_eq!(execute(&mut *sink, &tuples(&batch)).acked.len(), 50);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 60);
        assert!(text.lines().all(|line| line.len() == line_bytes - 1 && line.ends_with("\"}")));
    }
}

/// The other test needs a file system of its own, which not every machine lets a user make.
#[test]
fn no_room_at_the_start_is_an_error_of_the_start() {
    let dir = tempdir().unwrap();
    let script = "mount -t tmpfs -o size=64k none \"$DISK\" || exit 99; exec \"$0\" \"$@\"";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "outages::on_a_disk_of_64_kib", "--ignored", "--nocapture"])
        .env("DISK", dir.path())
        .output();
    match output {
        Ok(output) if String::from_utf8_lossy(&output.stdout).contains("running 1 test") => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}{said}", String::from_utf8_lossy(&output.stdout));
        }
        _ => println!("skipped: no file system could be made here"),
    }
}

#[test]
#[ignore = "started by `no_room_at_the_start_is_an_error_of_the_start`"]
fn on_a_disk_of_64_kib() {
    let disk = std::path::PathBuf::from(std::env::var_os("DISK").unwrap());
    let ballast = disk.join("ballast");
    let mut sink = jsonl(&disk, "out", Fsync::Batch);
    sink.prepare(&context(&[&["w"]])).unwrap();
    assert_eq!(execute(&mut *sink, &tuples(&[word("kept")])).acked, [10]);
    fs::write(&ballast, vec![0; 1 << 20]).unwrap_err();
    let settled = execute(&mut *sink, &tuples(&[word(&"x".repeat(5000)), word("y")]));
    assert!(settled.acked.is_empty() && settled.failed[1].2.contains("No space left"), "{settled:?}");
    assert_eq!(fs::read_to_string(disk.join("out")).unwrap(), "{\"w\":\"kept\"}\n");
    drop(sink);
    let error = jsonl(&disk, "out", Fsync::Batch).prepare(&context(&[&["w"]])).unwrap_err();
    assert!(error.contains("can't write to `out`: No space left"), "{error}");
    fs::remove_file(&ballast).unwrap();
    let mut sink = jsonl(&disk, "out", Fsync::Batch);
    sink.prepare(&context(&[&["w"]])).unwrap();
    assert_eq!(execute(&mut *sink, &tuples(&[word("again")])).acked, [10]);
    assert_eq!(fs::read_to_string(disk.join("out")).unwrap(), "{\"w\":\"kept\"}\n{\"w\":\"again\"}\n");
}
