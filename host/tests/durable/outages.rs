//! The disk fails or is full for a while, and the host lives on.

use crate::disk::Disk;
use crate::support::{letter, moment};
use anchorbolt_host::durable::{DeadLetters, Filter, Tombstone};
use std::path::Path;
use std::sync::Arc;

const PATH: &str = "/d/dead-letters.jsonl";

fn open(disk: &Disk, bytes_max: u64) -> DeadLetters {
    DeadLetters::open(Arc::new(disk.clone()), Path::new(PATH), bytes_max).unwrap()
}

fn lines(disk: &Disk) -> usize {
    let content = disk.content(Path::new(PATH)).unwrap();
    assert!(content.is_empty() || content.ends_with(b"\n"));
    content.iter().filter(|byte| **byte == b'\n').count()
}

#[test]
fn a_write_that_fails_half_way_leaves_nothing() {
    // Each step of a write: append, make durable; and the cut after it fails, too.
    for (step, dead) in [(1, false), (2, false), (1, true), (2, true)] {
        let disk = Disk::default();
        let mut letters = open(&disk, 1 << 20);
        letters.put(&[letter(0)]).unwrap();
        disk.fail_in(step, dead);
        let error = letters.put(&[letter(1), letter(2)]).unwrap_err().to_string();
        assert!(error.contains("dead-letters.jsonl` can't be written: the disk is broken"), "{error}");
        assert_eq!(letters.letters().len(), 1);
        assert!(!letters.letters().contains(&letter(1).id));
        if !dead {
            assert_eq!(lines(&disk), 1, "it was cut off at once");
        }
        disk.mend();
        assert_eq!(letters.put(&[letter(2), letter(1)]).unwrap(), 2);
        assert_eq!(lines(&disk), 3);
        assert_eq!(letters.letters().get(&letter(1).id).unwrap(), Some(letter(1)));
    }
}

#[test]
fn a_full_disk_is_an_outage() {
    let disk = Disk::default();
    let mut letters = open(&disk, 1 << 20);
    disk.room(Some(700));
    letters.put(&[letter(0)]).unwrap();
    for _ in 0..3 {
        let error = letters.put(&[letter(1)]).unwrap_err().to_string();
        assert!(error.contains("free some space"), "{error}");
        assert_eq!(lines(&disk), 1);
    }
    disk.room(None);
    letters.put(&[letter(1)]).unwrap();
    assert_eq!(lines(&disk), 2);
}

#[test]
fn the_limit_counts_as_an_outage_that_a_purge_ends() {
    let disk = Disk::default();
    let mut letters = open(&disk, 2000);
    let mut written = 0;
    let error = loop {
        match letters.put(&[letter(written)]) {
            Ok(_) => written += 1,
            Err(error) => break error.to_string(),
        }
    };
    assert!((3..10).contains(&written));
    assert!(
        error.contains("is full") && error.contains("max-bytes is 2000") && error.contains("purge"),
        "{error}"
    );
    assert_eq!(letters.put(&[letter(0)]).unwrap(), 0, "one that is there needs no room");
    assert_eq!(
        letters.purge(&Filter { ids: vec![letter(1).id], ..Filter::default() }, moment(0)).unwrap(),
        1
    );
    assert!(letters.put(&[letter(100)]).is_err() || letters.letters().bytes() <= 2000);
    let purged = letters.purge(&Filter::default(), moment(0)).unwrap() as u64;
    assert!(purged >= written - 1);
    assert_eq!(letters.letters().bytes(), 0, "what is over made room");
    for offset in 0..written {
        letters.put(&[letter(offset)]).unwrap();
    }
    assert_eq!(lines(&disk) as u64, written);
}

#[test]
fn what_is_over_gives_way_when_room_is_needed() {
    let disk = Disk::default();
    let mut letters = open(&disk, 3000);
    for round in 0..200 {
        letters.put(&[letter(round)]).unwrap();
        if round >= 2 {
            letters.retire(&[letter(round - 2).id], Tombstone::Replayed, moment(0)).unwrap();
        }
        assert!(letters.letters().bytes() <= 3200);
        assert!(letters.letters().len() <= 2);
    }
    assert_eq!(letters.letters().get(&letter(199).id).unwrap(), Some(letter(199)));
    assert_eq!(open(&disk, 3000).letters().len(), 2);
}

#[test]
fn a_tidying_that_fails_loses_nothing() {
    for step in 1..12 {
        let disk = Disk::default();
        let mut letters = open(&disk, 3000);
        for offset in 0..5 {
            letters.put(&[letter(offset)]).unwrap();
        }
        let ids: Vec<String> = (0..3).map(|offset| letter(offset).id).collect();
        disk.fail_in(2 + step, true);
        letters.retire(&ids, Tombstone::Purged, moment(0)).unwrap();
        disk.mend();
        for offset in 3..7 {
            letters.put(&[letter(offset)]).unwrap();
        }
        for letters in [&letters, &open(&disk, 3000)] {
            assert_eq!(letters.letters().len(), 4, "step {step}");
            assert_eq!(letters.letters().get(&letter(6).id).unwrap(), Some(letter(6)));
        }
    }
}

#[test]
fn what_is_over_gives_way_only_if_that_is_enough() {
    let disk = Disk::default();
    let mut letters = open(&disk, 3000);
    let size = |disk: &Disk| disk.content(Path::new(PATH)).unwrap().len() as u64;
    let mut written = 0;
    while size(&disk) + size(&disk) / written.max(1) <= 3000 {
        letters.put(&[letter(written)]).unwrap();
        written += 1;
    }
    letters.retire(&[letter(0).id, letter(1).id], Tombstone::Replayed, moment(0)).unwrap();
    let before = size(&disk);
    let error = letters.put(&[letter(100), letter(101), letter(102)]).unwrap_err().to_string();
    assert!(error.contains("is full"), "{error}");
    assert_eq!((size(&disk), letters.letters().len() as u64), (before, written - 2));
    letters.put(&[letter(100)]).unwrap();
    assert!(size(&disk) <= 3000);
}
