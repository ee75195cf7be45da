//! The target `letters`: a file of dead letters that anything may be in, and what is done with it.
//!
//! In: steps, and the lines of a file. Out: an error if the letters are not those that a slow reading of whole lines
//! gives, if a step loses a letter that it was not about, or if the file says something else when it is opened again.
//! Invariant: what is said of a letter is said only of lines that have one meaning.

use super::bytes::Bytes;
use super::{Shape, Target, ensure, kind, mutate as plain, shape, size};
use crate::simulation::disk::Disk;
use anchorbolt_core::failure::Class;
use anchorbolt_host::durable::{DeadLetters, Filter, Letter, LetterAttempt, Letters, Tombstone};
use fastrand::Rng;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;

pub(super) const TARGET: Target = Target {
    name: "letters",
    bytes_max: 8000,
    wall: Duration::from_secs(5),
    memory_max: 64 << 20,
    seeds,
    mutate,
    check,
};

const PATH: &str = "data/dead-letters.jsonl";
/// Bytes of an input that are steps; the rest is the file.
const STEPS: usize = 6;

fn moment() -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

fn letter(n: u8, bytes: &[u8]) -> Letter {
    let attempt = LetterAttempt {
        n: 1,
        time: moment(),
        component: "split".to_owned(),
        task: 3,
        class: Class::ALL[usize::from(n) % Class::ALL.len()],
        reason: "panicked at \"bad\"\nline".to_owned(),
        output: String::new(),
        input: None,
    };
    Letter {
        id: format!("lines@a.md:{n}"),
        time: moment(),
        topology: "t".to_owned(),
        spout: if n.is_multiple_of(3) { "other" } else { "lines" }.to_owned(),
        position: json!({ "path": "a.md", "offset": n }),
        bytes: bytes.to_vec(),
        fields: json!({ "line": "a" }),
        attempts: vec![attempt],
    }
}

fn open(disk: &Disk, bytes_max: u64) -> Result<DeadLetters, String> {
    DeadLetters::open(Arc::new(disk.clone()), Path::new(PATH), bytes_max).map_err(|error| error.0)
}

fn seeds() -> Vec<Vec<u8>> {
    let mut rng = Rng::with_seed(5);
    let file = |rng: &mut Rng| -> Option<Vec<u8>> {
        let disk = Disk::default();
        let mut letters = open(&disk, 1 << 20).ok()?;
        for _ in 0..rng.usize(..6) {
            let one = letter(rng.u8(..6), &[rng.u8(..3)]);
            let id = [one.id.clone()];
            match rng.u8(..5) {
                0 => letters.retire(&id, Tombstone::Purged, moment()).ok()?,
                1 => letters.replace(&[one]).ok()?,
                _ => letters.put(&[one]).ok()?,
            };
        }
        disk.content(Path::new(PATH))
    };
    let steps: Vec<[u8; STEPS]> = (0..24).map(|_| std::array::from_fn(|_| rng.u8(..))).collect();
    steps.iter().filter_map(|steps| Some([steps.to_vec(), file(&mut rng)?].concat())).collect()
}

/// Changes whole lines, and the ends of the file.
fn mutate(rng: &mut Rng, input: &mut Vec<u8>) {
    let at = input.len().min(STEPS);
    let file = input.split_off(at);
    let mut lines: Vec<Vec<u8>> = file.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    let i = rng.usize(..=lines.len());
    let n = rng.u8(..6);
    match rng.u8(..10) {
        0 if i < lines.len() => drop(lines.remove(i)),
        1 if i < lines.len() => lines.insert(rng.usize(..=lines.len()), lines[i].clone()),
        2 if i < lines.len() => lines.swap(i, 0),
        3 => {
            let how = rng.choice(["purged", "replayed", "failed-again", "?"]).unwrap_or("");
            let forms = [
                format!(
                    "{{\"id\":\"lines@a.md:{n}\",\"tombstone\":\"{how}\",\"time\":\"2026-01-01T00:00:00Z\"}}\n"
                ),
                format!("{{\"tombstone\":\"{how}\",\"id\":\"lines@a.md:{n}\"}}\n"),
                format!(
                    "{{\"id\":\"lines@a.md:{n}\",\"time\":\"2026-01-01T00:00:00Z\",\"tombstone\":\"{how}\"}}\n"
                ),
            ];
            lines.insert(i, rng.choice(forms).unwrap_or_default().into_bytes());
        }
        4 => {
            let foreign = [
                "\n",
                "{}\n",
                "null\n",
                "# a note\n",
                "{\"id\":7}\n",
                "\0\0\0\0",
                "{\"id\":\"x\"}\n",
                "{\"id\":\"x\"}",
                "{",
            ];
            lines.insert(i, rng.choice(foreign).unwrap_or("").as_bytes().to_vec());
        }
        5 => lines.insert(i, [vec![b'y'; rng.usize(1000..9000)], b"\n".to_vec()].concat()),
        6 => lines.insert(i, spaced(&letter(n, &[rng.u8(..3)]))),
        7 if i < lines.len() => plain::decimal(rng, &mut lines[i]),
        8 => {
            if let Some(last) = lines.last_mut() {
                last.truncate(rng.usize(..=last.len()));
            }
        }
        _ => {
            if let Some(step) = input.get_mut(usize::from(n)) {
                *step = rng.u8(..);
            }
        }
    }
    input.extend(lines.concat());
}

/// A letter's line as another tool might write it.
fn spaced(letter: &Letter) -> Vec<u8> {
    let id = &letter.id;
    format!(
        "{{ \"attempts\": [], \"id\": {id:?}, \"time\": \"2026-01-01T00:00:00Z\", \"topology\": \"t\", \"spout\": \"lines\", \
         \"position\": null, \"bytes\": \"\", \"fields\": null }}\n"
    )
    .into_bytes()
}

/// Letters by their ids; an error in the place of one whose line is damaged.
type Known = BTreeMap<String, Result<Letter, String>>;

fn check(input: &[u8]) -> Result<Shape, String> {
    let (steps, file) = input.split_at(input.len().min(STEPS));
    let disk = Disk::default();
    disk.put(Path::new(PATH), file);
    let bytes_max = [1 << 30, file.len() as u64 + 600, 2000][steps.first().map_or(0, |b| usize::from(b % 3))];
    let mut letters = match open(&disk, bytes_max) {
        Ok(letters) => letters,
        Err(text) => {
            ensure(text.contains(PATH) && !file.ends_with(b"\n"), || format!("refused: {text}"))?;
            return Ok(shape(kind(&text)));
        }
    };
    let mended = disk.content(Path::new(PATH)).unwrap_or_default();
    let whole = file.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    ensure(mended.starts_with(&file[..whole]), || "mending changed a whole line".to_owned())?;
    let mut known = known(letters.letters())?;
    if let Some(slow) = slow(&mended) {
        let ids: Vec<&String> = known.keys().collect();
        ensure(ids == slow.iter().collect::<Vec<_>>(), || {
            format!("letters {ids:?}, a slow reading has {slow:?}")
        })?;
    }
    let first = known.len();
    let mut bytes = Bytes(steps.get(1..).unwrap_or_default());
    let mut done = vec![];
    while !bytes.is_empty() {
        let how = bytes.u8();
        done.push((how % 5, step(how, &mut letters, &mut known)?));
        same(letters.letters(), &known)?;
        let again = open(&disk, bytes_max).map_err(|text| format!("it does not open again: {text}"))?;
        same(again.letters(), &known)?;
    }
    let damaged = known.values().filter(|letter| letter.is_err()).count();
    Ok(shape((size(first), known.len().min(6), size(damaged), letters.letters().damaged().min(4), done)))
}

/// Does something with the letters, and the same with what is known.
fn step(how: u8, letters: &mut DeadLetters, known: &mut Known) -> Result<u8, String> {
    let n = how / 5 % 6;
    let one = letter(n, &[how / 30 % 3]);
    let ids = [one.id.clone(), "lines@nowhere".to_owned()];
    match how % 5 {
        0 => {
            let Ok(written) = letters.put(std::slice::from_ref(&one)) else { return Ok(0) };
            let had =
                known.get(&one.id).is_some_and(|old| old.as_ref().is_ok_and(|old| old.bytes == one.bytes));
            ensure(written == usize::from(!had), || format!("put wrote {written}"))?;
            if !had {
                known.insert(one.id.clone(), Ok(one));
            }
        }
        1 => {
            if letters.replace(std::slice::from_ref(&one)).is_err() {
                return Ok(1);
            }
            known.insert(one.id.clone(), Ok(one));
        }
        2 => {
            let retired = letters.retire(&ids, Tombstone::Replayed, moment()).map_err(|error| error.0)?;
            ensure(retired == usize::from(known.remove(&one.id).is_some()), || format!("{retired} retired"))?;
        }
        3 => {
            let filter = Filter { spout: Some("other".to_owned()), ..Filter::default() };
            // A damaged letter stands in the way of a filter; a person is to mend or remove it.
            if known.values().any(Result::is_err) {
                return Ok(2);
            }
            let purged = letters.purge(&filter, moment()).map_err(|error| error.0)?;
            let before = known.len();
            known.retain(|_, letter| letter.as_ref().is_ok_and(|letter| letter.spout != "other"));
            ensure(purged == before - known.len(), || format!("{purged} purged"))?;
        }
        _ => {
            let mut out = vec![];
            let exported = letters.letters().export(&Filter::default(), &mut out);
            let damaged = known.values().any(Result::is_err);
            let right =
                exported.is_err() == damaged && exported.as_ref().map_or(true, |n| *n == known.len() as u64);
            ensure(right, || format!("exported {exported:?} of {}", known.len()))?;
        }
    }
    Ok(3)
}

fn known(letters: &Letters) -> Result<Known, String> {
    let mut ids = vec![];
    letters.each_id(|id| ids.push(id)).map_err(|error| error.0)?;
    ensure(ids.len() == letters.len(), || format!("{} ids of {} letters", ids.len(), letters.len()))?;
    let mut known = Known::new();
    for id in ids {
        let letter = match letters.get(&id) {
            Ok(Some(letter)) => Ok(letter),
            Ok(None) => return Err(format!("{id} has no letter")),
            Err(error) => Err(error.0),
        };
        ensure(letter.as_ref().map_or(true, |letter| letter.id == id), || {
            format!("{id} has another's letter")
        })?;
        ensure(known.insert(id.clone(), letter).is_none(), || format!("{id} comes twice"))?;
    }
    Ok(known)
}

fn same(letters: &Letters, expected: &Known) -> Result<(), String> {
    let known = known(letters)?;
    let ids = |known: &Known| known.keys().cloned().collect::<Vec<_>>();
    ensure(ids(&known) == ids(expected), || {
        format!("letters {:?}, it should be {:?}", ids(&known), ids(expected))
    })?;
    // Where a damaged line stands is not what is compared.
    let wrong = known.iter().find(|(id, letter)| match (letter, expected.get(*id)) {
        (Ok(letter), Some(Ok(other))) => letter != other,
        (Err(_), Some(Err(_))) => false,
        _ => true,
    });
    ensure(wrong.is_none(), || {
        format!("a letter changed: {wrong:?}, before {:?}", wrong.and_then(|(id, _)| expected.get(id)))
    })
}

/// The ids that have a letter, by reading all of each line; none if a line can be understood in two ways.
fn slow(file: &[u8]) -> Option<std::collections::BTreeSet<String>> {
    let mut open = std::collections::BTreeSet::new();
    for line in file.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n")) {
        let text = String::from_utf8_lossy(line);
        let Ok(value) = serde_json::from_slice::<Value>(line) else {
            // Cut in the middle, or with something put in: it may still begin as a letter does.
            if text.contains("\"id\"") {
                return None;
            }
            continue;
        };
        // Whatever begins as this program begins a letter is one.
        if text.starts_with("{\"id\":") && text.contains(",\"topology\":") && text.contains("\"tombstone\"") {
            return None;
        }
        if text.matches("\"id\"").count() > 1
            || text.matches("\"tombstone\"").count() > 1
            || text.contains("\\u")
        {
            return None;
        }
        if let Some(id) = value["id"].as_str().filter(|_| text.ends_with('}')) {
            match value.get("tombstone") {
                None => _ = open.insert(id.to_owned()),
                Some(how) if how == "failed-again" => {}
                Some(_) => _ = open.remove(id),
            }
        }
    }
    Some(open)
}
