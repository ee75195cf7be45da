//! When what is over is dropped from the file, and when it is not yet worth it.

use crate::disk::Disk;
use crate::support::{letter, moment};
use anchorbolt_host::durable::{DeadLetters, Tombstone};
use std::path::Path;
use std::sync::Arc;

const PATH: &str = "/d/dead-letters.jsonl";

fn open(disk: &Disk, bytes_max: u64) -> DeadLetters {
    DeadLetters::open(Arc::new(disk.clone()), Path::new(PATH), bytes_max).unwrap()
}

/// A file of the letters 10, 11 and so on, which are all of one size, and that size.
fn filled(disk: &Disk, letters: u64) -> u64 {
    let mut file = open(disk, u64::MAX);
    for offset in 10..10 + letters {
        file.put(&[letter(offset)]).unwrap();
    }
    file.letters().bytes() / letters
}

fn retire(file: &mut DeadLetters, offsets: std::ops::Range<u64>) {
    let ids: Vec<String> = offsets.map(|offset| letter(offset).id).collect();
    assert_eq!(file.retire(&ids, Tombstone::Purged, moment(0)).unwrap(), ids.len());
}

fn lines(disk: &Disk) -> usize {
    disk.content(Path::new(PATH)).unwrap().iter().filter(|byte| **byte == b'\n').count()
}

#[test]
fn a_file_that_has_room_is_left_alone() {
    let disk = Disk::default();
    let size = filled(&disk, 4);
    retire(&mut open(&disk, 100 * size), 10..14);
    assert_eq!(lines(&disk), 8, "four letters, and four times that they are over");
}

#[test]
fn a_letter_that_has_room_tidies_nothing() {
    let disk = Disk::default();
    let size = filled(&disk, 4);
    let mut file = open(&disk, 12 * size);
    retire(&mut file, 10..14);
    assert_eq!(lines(&disk), 8, "less than half of the room is taken");
    file.put(&[letter(20), letter(21)]).unwrap();
    assert!(file.letters().bytes() > 6 * size, "now it is more");
    assert_eq!(lines(&disk), 10);
}

#[test]
fn a_file_most_of_which_still_counts_is_left_alone() {
    let disk = Disk::default();
    let size = filled(&disk, 5);
    retire(&mut open(&disk, 6 * size), 10..11);
    assert_eq!(lines(&disk), 6);
    // What was over before the file was opened counts as much.
    retire(&mut open(&disk, 6 * size), 11..12);
    assert_eq!(lines(&disk), 7);
    retire(&mut open(&disk, 6 * size), 12..13);
    assert_eq!(lines(&disk), 2, "three of five are over now");
}

#[test]
fn what_was_replaced_before_the_file_was_opened_is_over_and_no_more() {
    let disk = Disk::default();
    let size = filled(&disk, 5);
    open(&disk, u64::MAX).replace(&[letter(10)]).unwrap();
    assert_eq!(lines(&disk), 7, "the new letter, and that the old one is over");
    retire(&mut open(&disk, 8 * size), 11..12);
    assert_eq!(lines(&disk), 8, "two of six letters are over");
    retire(&mut open(&disk, 8 * size), 12..14);
    assert_eq!(lines(&disk), 2, "four of six are");
}

#[test]
fn a_file_most_of_which_is_over_is_written_again_in_few_steps() {
    let disk = Disk::default();
    let size = filled(&disk, 50);
    let mut file = open(&disk, 60 * size);
    let before = disk.steps();
    retire(&mut file, 10..40);
    assert_eq!(lines(&disk), 20);
    // Append and make durable; cut, append, make durable and rename; make the file and its name durable.
    assert_eq!(disk.steps() - before, 8);
    assert_eq!(open(&disk, 60 * size).letters().len(), 20);
}

#[test]
fn room_is_made_when_a_quarter_is_over() {
    let disk = Disk::default();
    let size = filled(&disk, 10);
    let mut file = open(&disk, 10 * size + size / 2);
    retire(&mut file, 10..11);
    let error = file.put(&[letter(30)]).unwrap_err().to_string();
    assert!(error.contains("is full"), "{error}");
    assert_eq!(lines(&disk), 11, "a tenth is not worth it");
    retire(&mut file, 11..13);
    file.put(&[letter(30)]).unwrap();
    assert_eq!(lines(&disk), 8);
    assert_eq!(file.letters().get(&letter(30).id).unwrap(), Some(letter(30)));
}

#[test]
fn a_torn_line_of_any_length_is_cut_off() {
    let disk = Disk::default();
    let small = filled(&disk, 1) as usize;
    let mut large = letter(50);
    large.bytes = vec![7; 300_000];
    open(&disk, u64::MAX).put(&[large]).unwrap();
    let whole = disk.content(Path::new(PATH)).unwrap();
    for end in [small + 1, small + 70_000, small + 200_000, whole.len() - 2, whole.len() - 1, whole.len()] {
        let disk = Disk::default();
        disk.put(Path::new(PATH), &whole[..end]);
        let complete = usize::from(end + 1 >= whole.len());
        let file = open(&disk, u64::MAX);
        assert_eq!((file.letters().len(), lines(&disk)), (1 + complete, 1 + complete), "cut at {end}");
        let length = if complete == 1 { whole.len() } else { small };
        assert_eq!(disk.content(Path::new(PATH)).unwrap().len(), length, "cut at {end}");
    }
}
