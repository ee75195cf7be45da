//! Instances come and go by the ten thousand and leave nothing behind; an idle engine does nothing.

use crate::support::*;
use std::time::Duration;

/// Resident KiB, mappings, descriptors and threads of this process.
fn footprint() -> [u64; 4] {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap().lines().count();
    let count = |dir| std::fs::read_dir(dir).unwrap().count() as u64;
    [pages * 4, maps as u64, count("/proc/self/fd"), count("/proc/self/task")]
}

/// Deaths of every kind, with files open and sockets made. `ANCHORBOLT_DEATHS` sets how many.
pub fn ten_thousand_deaths_leave_nothing() {
    let many = std::env::var("ANCHORBOLT_DEATHS").map_or(10_000, |n| n.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("f"), "x").unwrap();
    let mut probe = Probe::with(|s| {
        (s.limits.deadline, s.limits.memory_bytes) = (Duration::from_millis(50), 8 << 20);
        let host = dir.path().display().to_string();
        s.allow.dirs.push(anchorbolt_core::manifest::Dir { host, guest: "/data".into(), write: false });
    });
    deaths(&mut probe, 500);
    let before = footprint();
    deaths(&mut probe, many);
    let after = footprint();
    println!("KiB, mappings, descriptors, threads: {before:?} before and {after:?} after {many} deaths");
    // Threads for files come and go with the load, each with a stack and a heap of its own.
    let threads = after[3].saturating_sub(before[3]);
    assert!(threads <= 8 && after[1] <= before[1] + 10 + 6 * threads, "{before:?} {after:?}");
    assert!(after[0] < before[0] + (4 << 10) && after[2] <= before[2], "{before:?} {after:?}");
}

/// Waiting takes its time, so few die of it.
fn deaths(probe: &mut Probe, n: usize) {
    for i in 0..n {
        assert_eq!(probe.ask("open /data/f"), "ok");
        let death = match i % 500 {
            0 => "sleep 1000",
            1 => "loop",
            i if i % 5 == 0 => "exit 3",
            i if i % 5 == 1 => "alloc 9",
            i if i % 5 == 2 => "null",
            i if i % 5 == 3 => "bad-utf8",
            _ => "panic x",
        };
        if i % 7 == 0 {
            assert!(probe.ask("connect 10.0.0.1:80").starts_with("error: "));
        }
        drop(probe.dies(death));
    }
}

/// Guests that open files until they can't leave the host enough to work with.
pub fn descriptors_are_kept_for_the_host() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("f"), "x").unwrap();
    let make = || {
        Probe::with(|s| {
            let host = dir.path().display().to_string();
            s.allow.dirs.push(anchorbolt_core::manifest::Dir { host, guest: "/data".into(), write: false });
        })
    };
    let mut guests = [make(), make(), make()];
    let maximum = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let low = rustix::process::Rlimit { current: Some(100), maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, low).unwrap();
    let mut opened = 0;
    for guest in &mut guests {
        opened += (0..50).filter(|_| guest.ask("open /data/f") == "ok").count();
    }
    let mine: Vec<_> = (0..20).map(|_| std::fs::File::open(dir.path().join("f"))).collect();
    println!("guests opened {opened} of 150 files under a limit of 100 descriptors");
    assert!(opened > 30 && opened < 90 && mine.iter().all(Result::is_ok), "{opened}");
    assert!(anchorbolt_wasm::raise_descriptor_limit() > Some(100));
    assert_eq!(guests[2].ask("open /data/f"), "ok");
}

/// CPU time and wake-ups of all threads while nothing runs.
pub fn an_idle_engine_sleeps() {
    let mut probe = Probe::new();
    probe.run("emit").unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let before = switches();
    std::thread::sleep(Duration::from_secs(1));
    let woken = switches() - before;
    println!("{woken} wake-ups in an idle second");
    assert!(woken <= 5, "{woken}");
}

/// Voluntary context switches of all threads.
fn switches() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let status = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("status")).unwrap());
    let of = |status: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.unwrap().trim().parse::<u64>().unwrap()
    };
    status.map(|s| of(&s)).sum()
}
