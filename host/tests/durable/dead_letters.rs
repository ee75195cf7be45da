//! Dead letters: the file as the reference describes it, and what can be asked of it.

use crate::support::{ids, letter, moment, open};
use anchorbolt_core::failure::{Class, Cost, FailedInput, Failure};
use anchorbolt_core::ids::Time;
use anchorbolt_core::messages::Attempt;
use anchorbolt_host::durable::letter::wall;
use anchorbolt_host::durable::{DeadLetters, Filter, LetterAttempt, Letters, SystemFiles, Tombstone};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tempfile::{TempDir, tempdir};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::with_default;
use tracing::{Dispatch, Event, Metadata, Subscriber};

fn folder() -> (TempDir, PathBuf) {
    let dir = tempdir().unwrap();
    let path = dir.path().join("dead-letters.jsonl");
    (dir, path)
}

#[test]
fn a_line_is_as_the_reference_says() {
    let (_dir, path) = folder();
    let mut letters = open(&path);
    let mut one = letter(7);
    one.attempts[0].input = None;
    letters.put(&[one, letter(8)]).unwrap();
    letters.retire(&[letter(7).id], Tombstone::Purged, moment(9)).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        r#"{"id":"lines@a.md:7","time":"2026-01-01T00:00:07Z","topology":"word-count","spout":"lines","#
            .to_owned()
            + r#""position":{"path":"a.md","offset":7},"bytes":"/wB4","fields":{"line":"a \u0001"},"#
            + r#""attempts":[{"n":1,"time":"2026-01-01T00:00:07Z","component":"split","task":3,"class":"trap","#
            + r#""reason":"panicked at \"bad\"\nline","output":"last words\n","input":null}]}"#
    );
    let second: Value = serde_json::from_str(lines[1]).unwrap();
    let input = json!({ "stream": "lines/default", "row": ["a \u{1}"] });
    assert_eq!(second["attempts"][0]["input"], input);
    assert_eq!(lines[2], r#"{"id":"lines@a.md:7","tombstone":"purged","time":"2026-01-01T00:00:09Z"}"#);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_letter_comes_back_as_it_was() {
    let (_dir, path) = folder();
    let mut all = Vec::new();
    for (offset, class) in Class::ALL.into_iter().enumerate() {
        let mut one = letter(offset as u64);
        one.id = format!("lines@odd \"{offset}\"\n\u{1F980}:1");
        one.bytes = (0..=255).cycle().take(offset * 1000).collect();
        let mut attempt = one.attempts[0].clone();
        (attempt.n, attempt.class) = (2, class);
        attempt.time = moment(3).replace_millisecond(123).unwrap();
        one.attempts.push(attempt);
        all.push(one);
    }
    assert_eq!(open(&path).put(&all).unwrap(), all.len());
    let letters = open(&path);
    for one in all {
        assert_eq!(letters.letters().get(&one.id).unwrap(), Some(one));
    }
    assert_eq!(letters.letters().get("lines@nowhere").unwrap(), None);
}

#[test]
fn a_tombstone_is_one_wherever_its_keys_stand() {
    let (_dir, path) = folder();
    let mut letters = open(&path);
    letters.put(&[letter(1), letter(2)]).unwrap();
    drop(letters);
    // As a tool that sorts keys writes it.
    let id = letter(1).id;
    let sorted = format!("{{\"id\":\"{id}\",\"time\":\"2026-01-01T00:00:00Z\",\"tombstone\":\"purged\"}}\n");
    OpenOptions::new().append(true).open(&path).unwrap().write_all(sorted.as_bytes()).unwrap();
    assert_eq!(ids(&open(&path), &Filter::default()), [letter(2).id]);
}

#[test]
fn a_message_has_one_letter_and_a_new_one_only_when_that_is_over() {
    let (_dir, path) = folder();
    let mut letters = open(&path);
    assert_eq!(letters.put(&[letter(1), letter(2), letter(1)]).unwrap(), 2);
    assert_eq!(letters.put(&[letter(2), letter(3)]).unwrap(), 1);
    drop(letters);
    let mut letters = open(&path);
    assert_eq!(letters.put(&[letter(1), letter(2), letter(3)]).unwrap(), 0);
    let over = [letter(2).id, "lines@unknown".to_owned(), letter(2).id];
    assert_eq!(letters.retire(&over, Tombstone::Replayed, moment(0)).unwrap(), 1);
    assert!(!letters.letters().contains(&letter(2).id));
    assert_eq!(letters.retire(&over, Tombstone::Replayed, moment(0)).unwrap(), 0);
    assert_eq!(letters.put(&[letter(2)]).unwrap(), 1);
    assert_eq!(ids(&letters, &Filter::default()), [letter(1).id, letter(3).id, letter(2).id]);
    assert_eq!(ids(&open(&path), &Filter::default()), [letter(1).id, letter(3).id, letter(2).id]);
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 5);
}

#[test]
fn filters_take_what_they_name() {
    let (_dir, path) = folder();
    let mut letters = open(&path);
    let mut all: Vec<_> = (0..6).map(letter).collect();
    all[1].spout = "words".to_owned();
    all[2].attempts[0].component = "count".to_owned();
    all[3].attempts[0].class = Class::Rejected;
    all[4].attempts.clear();
    letters.put(&all).unwrap();
    let taken = |filter: Filter| -> Vec<u64> {
        let ids = ids(&letters, &filter);
        (0..6).filter(|offset| ids.contains(&letter(*offset).id)).collect()
    };
    let any = Filter::default;
    assert_eq!(taken(any()), [0, 1, 2, 3, 4, 5]);
    assert_eq!(taken(Filter { spout: Some("words".to_owned()), ..any() }), [1]);
    assert_eq!(taken(Filter { component: Some("split".to_owned()), ..any() }), [0, 1, 3, 5]);
    assert_eq!(taken(Filter { classes: vec![Class::Trap], ..any() }), [0, 1, 2, 5]);
    assert_eq!(taken(Filter { since: Some(moment(2)), until: Some(moment(4)), ..any() }), [2, 3]);
    assert_eq!(taken(Filter { ids: vec![letter(5).id, letter(0).id], ..any() }), [0, 5]);
    assert_eq!(taken(Filter { classes: vec![Class::Rejected, Class::Trap], ..any() }), [0, 1, 2, 3, 5]);
    let both = Filter { classes: vec![Class::Trap], component: Some("count".to_owned()), ..any() };
    assert_eq!(taken(both.clone()), [2]);
    let mut positions = Vec::new();
    letters.letters().positions("words", |position, _| positions.push(position.clone())).unwrap();
    assert_eq!(positions, [json!({ "path": "a.md", "offset": 1 })]);
    let mut exported = Vec::new();
    assert_eq!(letters.letters().export(&both, &mut exported).unwrap(), 1);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(String::from_utf8(exported).unwrap().trim_end(), text.lines().nth(2).unwrap());
    assert_eq!(letters.purge(&Filter { classes: vec![Class::Trap], ..any() }, moment(0)).unwrap(), 4);
    assert_eq!(ids(&letters, &any()), [letter(3).id, letter(4).id]);
}

#[test]
fn a_tool_may_look_while_the_host_writes() {
    let (_dir, path) = folder();
    assert!(Letters::look(&SystemFiles, &path).unwrap().is_none());
    let mut letters = open(&path);
    letters.put(&[letter(1)]).unwrap();
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"id\":\"half").unwrap();
    let looked = Letters::look(&SystemFiles, &path).unwrap().unwrap();
    assert_eq!((looked.len(), looked.get(&letter(1).id).unwrap()), (1, Some(letter(1))));
    assert!(fs::read(&path).unwrap().ends_with(b"half"), "it changes nothing");
    let error = Letters::look(&SystemFiles, &path.join("below")).map(drop).unwrap_err().to_string();
    assert!(error.contains("below` can't be read: "), "a file is no folder: {error}");
}

#[test]
fn lines_of_others_are_passed_over_and_kept() {
    let (_dir, path) = folder();
    open(&path).put(&[letter(1)]).unwrap();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    // Another program has sorted the keys, and a person has left a note.
    writeln!(file, "# the ones above are known\n").unwrap();
    let sorted: Value = json!({ "attempts": [], "bytes": "", "fields": {}, "id": "x@1", "position": 1,
        "spout": "x", "time": "2026-01-01T00:00:00+01:00", "topology": "t" });
    writeln!(file, "{sorted}\n{{\"id\":\"x@2\"}}").unwrap();
    let mut letters = DeadLetters::open(Arc::new(SystemFiles), &path, 100).unwrap();
    assert_eq!((letters.letters().damaged(), letters.letters().len()), (1, 3));
    assert_eq!(letters.letters().get("x@1").unwrap().unwrap().attempts, []);
    let error = letters.letters().get("x@2").unwrap_err().to_string();
    assert!(error.contains("is not a dead letter: `attempts` is missing; mend or remove it"), "{error}");
    letters.retire(&[letter(1).id, "x@2".to_owned()], Tombstone::Purged, moment(0)).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, format!("# the ones above are known\n{sorted}\n"), "tidied");
}

#[test]
fn a_letter_that_is_damaged_inside_is_kept_and_told_when_it_is_read() {
    let (_dir, path) = folder();
    let mut letters = open(&path);
    assert!(letters.letters().is_empty());
    letters.put(&[letter(1), letter(2)]).unwrap();
    let text = fs::read_to_string(&path).unwrap().replacen("\"task\":3", "\"task\":", 1);
    fs::write(&path, text).unwrap();
    let letters = open(&path);
    assert_eq!((letters.letters().len(), letters.letters().damaged()), (2, 0));
    let error = letters.letters().get(&letter(1).id).unwrap_err().to_string();
    assert!(error.starts_with("the line at byte 0 of ") && error.contains("mend or remove it"), "{error}");
    assert_eq!(letters.letters().get(&letter(2).id).unwrap(), Some(letter(2)));
    assert!(!letters.letters().is_empty());
}

#[test]
fn a_tombstone_that_another_program_wrote_again_means_the_same() {
    let (_dir, path) = folder();
    open(&path).put(&[letter(1), letter(2)]).unwrap();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    for (offset, how) in [(1, "purged"), (2, "failed-again")] {
        let id = letter(offset).id;
        writeln!(file, "{}", json!({ "tombstone": how, "time": "2026-01-01T00:00:00Z", "id": id })).unwrap();
    }
    let letters = open(&path);
    assert_eq!(ids(&letters, &Filter::default()), [letter(2).id], "no other took its place");
    assert_eq!(letters.letters().damaged(), 0);
}

#[test]
fn of_two_lines_with_one_id_the_first_is_the_letter() {
    let (dir, path) = folder();
    open(&path).put(&[letter(1)]).unwrap();
    let mut second = letter(1);
    second.bytes = b"another".to_vec();
    let other = dir.path().join("other");
    open(&other).put(&[second]).unwrap();
    let both = [fs::read(&path).unwrap(), fs::read(&other).unwrap()].concat();
    fs::write(&path, both).unwrap();
    let letters = open(&path);
    assert_eq!((letters.letters().len(), letters.letters().damaged()), (1, 0));
    assert_eq!(letters.letters().get(&letter(1).id).unwrap(), Some(letter(1)));
}

#[test]
fn the_ids_of_what_counts_are_told_in_the_order_of_the_file() {
    let (_dir, path) = folder();
    let mut letters = open(&path);
    let told = |letters: &DeadLetters| {
        let mut ids = Vec::new();
        letters.letters().each_id(|id| ids.push(id)).unwrap();
        ids
    };
    assert!(told(&letters).is_empty());
    letters.put(&[letter(3), letter(1), letter(2)]).unwrap();
    letters.replace(&[letter(3)]).unwrap();
    letters.retire(&[letter(1).id], Tombstone::Purged, moment(0)).unwrap();
    assert_eq!(told(&letters), [letter(2).id, letter(3).id]);
}

#[test]
fn bytes_are_rows_only_if_they_are_whole_pairs_from_end_to_end() {
    let rows = |bytes: &[u8]| {
        let mut one = letter(1);
        one.bytes = bytes.to_vec();
        one.rows()
            .map(|rows| rows.into_iter().map(|(stream, row)| (stream, row.to_vec())).collect::<Vec<_>>())
    };
    // MessagePack: [[3, ["a"]], [200, []]].
    let two = b"\x92\x92\x03\x91\xa1a\x92\xcc\xc8\x90";
    assert_eq!(rows(two), Some(vec![(3, b"\x91\xa1a".to_vec()), (200, b"\x90".to_vec())]));
    for other in [
        b"".as_slice(),
        b"a line of text",
        b"\x90",                                             // no pair
        &two[..two.len() - 1],                               // torn
        &[two.as_slice(), b"\x00"].concat(),                 // something behind it
        b"\x91\x93\x03\x90\x90",                             // three of something
        b"\x91\x91\x03",                                     // one
        b"\x91\x92\xa1a\x90",                                // no number
        b"\x91\x92\x03\x04",                                 // no row
        b"\x91\x92\xcf\x00\x00\x00\x01\x00\x00\x00\x00\x90", // no index of a stream
    ] {
        assert_eq!(rows(other), None, "{other:x?}");
    }
}

/// Counts what is logged on this thread.
struct Logged(Arc<AtomicU64>);

impl Subscriber for Logged {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _span: &Id, _values: &Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn event(&self, _event: &Event<'_>) {
        self.0.fetch_add(1, Relaxed);
    }
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}

#[test]
fn lines_of_others_are_told_once_when_the_file_is_opened() {
    let (_dir, path) = folder();
    open(&path).put(&[letter(1)]).unwrap();
    // As long as it knows one subscriber alone, tracing asks only the thread that first comes to a warning whether
    // anybody wants it, and here that may be another test's. With a second it asks both.
    let _second = Dispatch::new(Logged(Arc::default()));
    for (line, warnings) in [("", 0), ("a note\n", 1), ("another\n", 1)] {
        OpenOptions::new().append(true).open(&path).unwrap().write_all(line.as_bytes()).unwrap();
        let count = Arc::new(AtomicU64::new(0));
        with_default(Logged(Arc::clone(&count)), || drop(open(&path)));
        assert_eq!(count.load(Relaxed), warnings, "{line:?}");
    }
}

#[test]
fn an_end_that_no_host_wrote_is_refused_and_a_missing_line_end_is_mended() {
    let (_dir, path) = folder();
    fs::write(&path, "dear diary").unwrap();
    let refused = DeadLetters::open(Arc::new(SystemFiles), &path, 1000).map(drop).unwrap_err().to_string();
    assert!(refused.contains("ends in something that is no dead letter"), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "dear diary");
    fs::remove_file(&path).unwrap();
    open(&path).put(&[letter(1)]).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.trim_end()).unwrap();
    assert_eq!(open(&path).letters().get(&letter(1).id).unwrap(), Some(letter(1)));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_file_that_is_removed_or_replaced_is_noticed() {
    let (dir, path) = folder();
    let mut letters = open(&path);
    letters.put(&[letter(1)]).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(letters.put(&[letter(1), letter(2)]).unwrap(), 2, "nobody has them any more");
    let other = dir.path().join("other");
    open(&other).put(&[letter(3)]).unwrap();
    fs::rename(&other, &path).unwrap();
    assert_eq!(letters.put(&[letter(2), letter(3)]).unwrap(), 1);
    assert_eq!(ids(&open(&path), &Filter::default()), [letter(3).id, letter(2).id]);
}

#[test]
fn an_attempt_has_the_wall_clock_and_the_input() {
    let failure = Failure {
        class: Class::Deadline,
        cost: Cost::Fault,
        component: "split".to_owned(),
        task: 4,
        reason: "too slow".to_owned(),
        output: "so far".to_owned(),
        input: Some(FailedInput { stream: "lines/default".to_owned(), row: vec![1, 2] }),
    };
    let attempt = Attempt { number: 3, ended: Time(1_500_000_000), failure: Arc::new(failure) };
    let found = LetterAttempt::new(&attempt, moment(0), |input| json!(input.row));
    assert_eq!((found.n, found.class, found.task), (3, Class::Deadline, 4));
    assert_eq!(found.time, moment(1).replace_millisecond(500).unwrap());
    assert_eq!(found.input.unwrap().row, json!([1, 2]));
    assert_eq!(wall(moment(5), Time(u64::MAX)).year(), 2610);
}
