//! Power is lost at each step of each thing that is made durable.

use crate::disk::Disk;
use crate::support::{letter, moment};
use anchorbolt_host::durable::{Checkpoints, DeadLetters, Filter, Tombstone};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Runs `f` for each seed; a failure names it.
fn seeds(count: u64, f: impl Fn(u64) + std::panic::RefUnwindSafe) {
    let one = std::env::var("SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    for seed in one.map_or(0..count, |seed| seed..seed + 1) {
        assert!(std::panic::catch_unwind(|| f(seed)).is_ok(), "SEED={seed} repeats it");
    }
}

#[test]
fn a_checkpoint_is_the_old_one_or_the_new_one_whole() {
    for step in 1..8 {
        seeds(40, |seed| {
            let mut rng = fastrand::Rng::with_seed(seed);
            let disk = Disk::default();
            let saved = Checkpoints::new(Arc::new(disk.clone()), "/c".into());
            saved.save("lines", 0, b"the old one").unwrap();
            disk.fail_in(step, true);
            let new = saved.save("lines", 0, b"the new one, which is longer").is_ok();
            disk.lose_power(&mut rng);
            let found = saved.load("lines").unwrap();
            let found = found.first().map(|(_, payload)| String::from_utf8_lossy(payload).into_owned());
            match found.as_deref() {
                Some("the new one, which is longer") => {}
                Some("the old one") => assert!(!new, "step {step}: it was said to be durable"),
                other => panic!("step {step}: {other:?}"),
            }
            saved.save("lines", 0, b"the next one").unwrap();
            assert_eq!(saved.load("lines").unwrap(), [(0, b"the next one".to_vec())]);
        });
    }
}

#[test]
fn saving_takes_four_steps_and_no_more() {
    let disk = Disk::default();
    Checkpoints::new(Arc::new(disk.clone()), "/c".into()).save("lines", 0, b"x").unwrap();
    assert_eq!(disk.steps(), 4, "write, make durable, rename, make the name durable");
}

/// What has to be in the file: letters that must be, and those that may be.
#[derive(Default)]
struct Wanted {
    must: BTreeSet<u64>,
    may: BTreeSet<u64>,
}

fn check(letters: &DeadLetters, wanted: &Wanted) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    letters
        .letters()
        .visit(&Filter::default(), |letter, _| {
            let offset = letter.position["offset"].as_u64().unwrap();
            assert_eq!(*letter, crate::support::letter(offset), "as it was written");
            assert!(found.insert(offset), "{offset} has two letters");
            Ok(())
        })
        .unwrap();
    assert!(found.is_superset(&wanted.must), "lost: {:?}", &wanted.must - &found);
    let invented = &(&found - &wanted.must) - &wanted.may;
    assert!(invented.is_empty(), "not over, or never written: {invented:?}");
    assert_eq!(letters.letters().len(), found.len());
    assert_eq!(letters.letters().damaged(), 0);
    found
}

/// Writes, retires, fails, loses power, and looks what is there.
fn letters_run(seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let (disk, path) = (Disk::default(), Path::new("/d/dead-letters.jsonl"));
    let bytes_max = if rng.bool() { 1 << 20 } else { 6000 };
    let open = |disk: &Disk| DeadLetters::open(Arc::new(disk.clone()), path, bytes_max);
    let mut letters = open(&disk).unwrap();
    let mut wanted = Wanted::default();
    for _ in 0..60 {
        let dead = rng.u32(0..3) == 0;
        if rng.u32(0..3) > 0 {
            disk.fail_in(rng.u64(1..9), dead);
        }
        if rng.u32(0..3) > 0 {
            let offsets: BTreeSet<u64> = (0..rng.usize(1..4)).map(|_| rng.u64(0..40)).collect();
            let batch: Vec<_> = offsets.iter().map(|offset| letter(*offset)).collect();
            match letters.put(&batch) {
                Ok(_) => wanted.must.extend(offsets),
                Err(_) => wanted.may.extend(&offsets - &wanted.must),
            }
        } else {
            let offsets: Vec<u64> = wanted.must.iter().copied().filter(|_| rng.bool()).collect();
            let ids: Vec<String> = offsets.iter().map(|offset| letter(*offset).id).collect();
            wanted.must.retain(|offset| !offsets.contains(offset));
            match letters.retire(&ids, Tombstone::Replayed, moment(0)) {
                Ok(retired) => {
                    assert_eq!(retired, ids.len());
                    wanted.may.retain(|offset| !offsets.contains(offset));
                }
                Err(_) => wanted.may.extend(offsets),
            }
        }
        if dead {
            drop(letters);
            disk.lose_power(&mut rng);
            letters = open(&disk).unwrap();
            let found = check(&letters, &wanted);
            wanted = Wanted { must: found, may: BTreeSet::new() };
        }
        disk.mend();
    }
    disk.mend();
    // Without a crash a call that failed has left nothing.
    letters.put(&[letter(1000)]).ok();
    let whole = disk.content(path).unwrap();
    assert!(whole.is_empty() || whole.ends_with(b"\n"), "a torn line is left");
}

#[test]
fn letters_that_were_reported_written_are_there_once() {
    seeds(1500, letters_run);
}

#[test]
fn a_file_cut_at_any_byte_is_mended() {
    let (disk, path) = (Disk::default(), Path::new("/d/dead-letters.jsonl"));
    let mut letters = DeadLetters::open(Arc::new(disk.clone()), path, 1 << 20).unwrap();
    let mut ends = vec![0];
    for offset in 0..3 {
        letters.put(&[letter(offset)]).unwrap();
        ends.push(disk.content(path).unwrap().len());
    }
    letters.retire(&[letter(1).id], Tombstone::Purged, moment(5)).unwrap();
    let whole = disk.content(path).unwrap();
    for cut in 0..=whole.len() {
        for zeros in [0, 1, 100] {
            let disk = Disk::default();
            disk.put(path, &[&whole[..cut], &vec![0; zeros]].concat());
            let mut letters = DeadLetters::open(Arc::new(disk.clone()), path, 1 << 20).unwrap();
            // A line whose end alone is missing is whole, if nothing else follows it.
            let slack = usize::from(zeros == 0);
            let lines = ends.iter().skip(1).filter(|end| **end <= cut + slack).count();
            let over = usize::from(cut + slack >= whole.len());
            assert_eq!(letters.letters().len(), lines - over, "cut at {cut}, {zeros} zeros");
            letters.put(&[letter(9)]).unwrap();
            assert!(letters.letters().contains(&letter(9).id));
            let content = disk.content(path).unwrap();
            for line in content.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n') {
                serde_json::from_slice::<serde_json::Value>(line).unwrap();
            }
        }
    }
}
