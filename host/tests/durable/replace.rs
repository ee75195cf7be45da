//! A letter of a message that was tried again and failed again takes the place of the old one, at every moment.

use crate::disk::Disk;
use crate::support::{ids, letter, moment, open};
use anchorbolt_host::durable::{DeadLetters, Filter, Letter, Letters, SystemFiles, Tombstone};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::tempdir;

/// The letter of a message after so many replays.
fn again(offset: u64, version: u64) -> Letter {
    let mut one = letter(offset);
    one.time = moment(version as i64);
    one.bytes = version.to_string().repeat(1 + version as usize % 7).into_bytes();
    one.attempts[0].n = version as u32;
    one
}

#[test]
fn the_new_letter_is_live_at_its_own_place_and_the_old_one_is_over() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("dead-letters.jsonl");
    let mut letters = open(&path);
    letters.put(&[again(1, 0), again(2, 0)]).unwrap();
    assert_eq!(letters.replace(&[again(1, 1), again(3, 1)]).unwrap(), 2);
    let text = fs::read_to_string(&path).unwrap();
    let kinds: Vec<&str> =
        text.lines().map(|l| if l.contains("tombstone") { "over" } else { "letter" }).collect();
    assert_eq!(kinds, ["letter", "letter", "over", "letter", "letter"], "3 had none: nothing of it is over");
    assert_eq!(
        text.lines().nth(2).unwrap(),
        r#"{"id":"lines@a.md:1","tombstone":"failed-again","time":"2026-01-01T00:00:01Z"}"#
    );
    for letters in [&letters, &open(&path)] {
        assert_eq!(ids(letters, &Filter::default()), [letter(2).id, letter(1).id, letter(3).id]);
        assert_eq!(letters.letters().get(&letter(1).id).unwrap(), Some(again(1, 1)));
        assert_eq!(letters.letters().len(), 3);
    }
    // Again, twice in one call, and then it is over for good.
    assert_eq!(letters.replace(&[again(1, 2), again(1, 3)]).unwrap(), 1);
    assert_eq!(open(&path).letters().get(&letter(1).id).unwrap(), Some(again(1, 3)));
    assert_eq!(
        letters.replace(&[again(4, 1), again(4, 2)]).unwrap(),
        1,
        "the last counts, also of a new one"
    );
    assert_eq!(open(&path).letters().get(&letter(4).id).unwrap(), Some(again(4, 2)));
    assert_eq!(
        letters.put(&[Letter { bytes: again(1, 3).bytes, ..again(1, 4) }]).unwrap(),
        0,
        "it has a letter"
    );
    assert_eq!(letters.put(&[again(2, 4)]).unwrap(), 1, "with other bytes it is another message's");
    assert_eq!(open(&path).letters().get(&letter(2).id).unwrap(), Some(again(2, 4)));
    letters.retire(&[letter(1).id], Tombstone::Replayed, moment(9)).unwrap();
    assert!(!open(&path).letters().contains(&letter(1).id));
    assert_eq!(letters.put(&[again(1, 5)]).unwrap(), 1);
    assert_eq!(open(&path).letters().get(&letter(1).id).unwrap(), Some(again(1, 5)));
}

#[test]
fn nothing_to_replace_writes_nothing() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("dead-letters.jsonl");
    assert_eq!(open(&path).replace(&[]).unwrap(), 0);
    assert_eq!(fs::read(&path).unwrap(), b"");
}

/// There is room for two letters and what one more write brings, and each time for them alone.
#[test]
fn what_was_replaced_gives_way_when_room_is_needed() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("dead-letters.jsonl");
    let open_small = || DeadLetters::open(Arc::new(SystemFiles), &path, 2500).unwrap();
    let mut letters = open_small();
    for version in 0..200 {
        // What was read back knows of the room, too.
        if version % 3 == 0 {
            letters = open_small();
        }
        letters.replace(&[again(version % 2, version)]).unwrap();
        assert!(fs::metadata(&path).unwrap().len() <= 2500);
    }
    assert_eq!(open(&path).letters().get(&letter(1).id).unwrap(), Some(again(1, 199)));
    assert_eq!(letters.letters().len(), 2);
}

/// Power is lost at any byte of the write: the old letter is there, or the new one.
#[test]
fn a_file_cut_anywhere_has_the_old_letter_or_the_new_one() {
    let (disk, path) = (Disk::default(), Path::new("/d/dead-letters.jsonl"));
    let mut letters = DeadLetters::open(Arc::new(disk.clone()), path, 1 << 20).unwrap();
    letters.put(&[again(1, 0), again(2, 0)]).unwrap();
    let before = disk.content(path).unwrap().len();
    letters.replace(&[again(1, 1), again(2, 1)]).unwrap();
    let whole = disk.content(path).unwrap();
    for cut in before..=whole.len() {
        let disk = Disk::default();
        disk.put(path, &whole[..cut]);
        let looked = Letters::look(&disk, path).unwrap().unwrap();
        let mut opened = DeadLetters::open(Arc::new(disk.clone()), path, 1 << 20).unwrap();
        for offset in [1, 2] {
            for letters in [&looked, opened.letters()] {
                let found = letters.get(&letter(offset).id).unwrap();
                assert!(
                    [Some(again(offset, 0)), Some(again(offset, 1))].contains(&found),
                    "cut at {cut}: {found:?}"
                );
            }
        }
        // A tombstone whose letter was torn off means nothing, also once something stands behind it.
        opened.put(&[again(9, 0)]).unwrap();
        opened.replace(&[again(2, 2)]).unwrap();
        let opened = DeadLetters::open(Arc::new(disk.clone()), path, 1 << 20).unwrap();
        assert_eq!(opened.letters().len(), 3, "cut at {cut}");
        assert_eq!(opened.letters().get(&letter(2).id).unwrap(), Some(again(2, 2)));
    }
}

#[test]
fn a_tombstone_without_its_letter_does_not_outlive_the_old_one() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("dead-letters.jsonl");
    let mut letters = open(&path);
    letters.put(&[again(1, 0)]).unwrap();
    letters.replace(&[again(1, 1)]).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let torn: Vec<&str> = text.lines().take(2).collect();
    fs::write(&path, format!("{}\n", torn.join("\n"))).unwrap();
    let mut letters = open(&path);
    letters.retire(&[letter(1).id], Tombstone::Purged, moment(9)).unwrap();
    assert!(open(&path).letters().is_empty());
    letters.put(&[again(1, 2)]).unwrap();
    assert_eq!(letters.put(&[Letter { bytes: again(1, 2).bytes, ..again(1, 3) }]).unwrap(), 0);
    assert_eq!(open(&path).letters().get(&letter(1).id).unwrap(), Some(again(1, 2)));
    assert_eq!(Letters::look(&SystemFiles, &path).unwrap().unwrap().len(), 1);
}

/// What each message may have in the file, 0 for no letter.
type May = BTreeMap<u64, BTreeSet<u64>>;

fn found(letters: &DeadLetters) -> BTreeMap<u64, u64> {
    let mut found = BTreeMap::new();
    let visited = letters.letters().visit(&Filter::default(), |letter, _| {
        let (offset, version) =
            (letter.position["offset"].as_u64().unwrap(), u64::from(letter.attempts[0].n));
        assert_eq!(*letter, again(offset, version), "as it was written");
        assert_eq!(found.insert(offset, version), None, "{offset} has two letters");
        Ok(())
    });
    visited.unwrap();
    assert_eq!((letters.letters().len(), letters.letters().damaged()), (found.len(), 0));
    found
}

/// Puts, replaces, retires, fails, loses power; each message has at any time what it may have.
fn run(seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let (disk, path) = (Disk::default(), Path::new("/d/dead-letters.jsonl"));
    let bytes_max = if rng.bool() { 1 << 20 } else { 6000 };
    let open = |disk: &Disk| DeadLetters::open(Arc::new(disk.clone()), path, bytes_max);
    let mut letters = open(&disk).unwrap();
    let (mut is, mut may) = (BTreeMap::new(), May::new());
    for version in 1..60 {
        let dead = rng.u32(0..3) == 0;
        if rng.u32(0..3) > 0 {
            disk.fail_in(rng.u64(1..9), dead);
        }
        let before = disk.content(path);
        let offsets: BTreeSet<u64> = (0..rng.usize(1..4)).map(|_| rng.u64(0..12)).collect();
        let mut batch: Vec<Letter> = offsets.iter().map(|offset| again(*offset, version)).collect();
        let mut then = is.clone();
        let done = match rng.u32(0..4) {
            0 => {
                for (offset, letter) in offsets.iter().zip(&mut batch) {
                    // The same message once more, or another one of a source that was changed.
                    match is.get(offset).filter(|_| rng.bool()) {
                        Some(old) => letter.bytes = again(*offset, *old).bytes,
                        None => _ = then.insert(*offset, version),
                    }
                }
                letters.put(&batch).map(drop)
            }
            1 => {
                offsets.iter().for_each(|offset| _ = then.remove(offset));
                let ids: Vec<String> = batch.iter().map(|letter| letter.id.clone()).collect();
                letters.retire(&ids, Tombstone::Replayed, moment(0)).map(drop)
            }
            _ => {
                offsets.iter().for_each(|offset| _ = then.insert(*offset, version));
                letters.replace(&batch).map(drop)
            }
        };
        for offset in 0..12 {
            let one = may.entry(offset).or_insert_with(|| BTreeSet::from([0]));
            let (old, new) = (is.get(&offset).copied().unwrap_or(0), then.get(&offset).copied().unwrap_or(0));
            match done {
                Ok(()) if disk.content(path) != before => *one = BTreeSet::from([new]),
                Ok(()) => {}
                Err(_) => one.extend([old, new]),
            }
        }
        if done.is_ok() {
            is = then;
        }
        if dead {
            drop(letters);
            disk.lose_power(&mut rng);
            letters = open(&disk).unwrap();
            is = found(&letters);
            for (offset, may) in &mut may {
                let version = is.get(offset).copied().unwrap_or(0);
                assert!(may.contains(&version), "step {version}: {offset} has {version}, may have {may:?}");
                *may = BTreeSet::from([version]);
            }
        } else {
            disk.mend();
            assert_eq!(found(&letters), is, "step {version}");
        }
        disk.mend();
    }
}

#[test]
fn a_replaced_letter_is_the_old_one_or_the_new_one_wherever_power_is_lost() {
    let one = std::env::var("SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    for seed in one.map_or(0..1500, |seed| seed..seed + 1) {
        assert!(std::panic::catch_unwind(|| run(seed)).is_ok(), "SEED={seed} repeats it");
    }
}
