//! Texts that are changed token by token, so that most of what a reader wants to see stays.
//!
//! In: files of the repository, words to put in. Out: the files, what they are made of, and a text with one change.
//! Invariant: a change depends on the random numbers and the files alone.

use fastrand::Rng;
use std::fs;
use std::path::Path;

/// The files with this extension in folders that are named from the root of the repository.
pub(super) fn files(folders: &[&str], extension: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut texts = vec![];
    for folder in folders {
        let entries = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let files = paths.filter(|path| path.extension().is_some_and(|e| e == extension));
        texts.extend(files.filter_map(|path| fs::read(path).ok()));
    }
    texts.sort();
    texts
}

/// The tokens and the lines of these texts, each once.
pub(super) fn known(texts: &[Vec<u8>]) -> Vec<String> {
    let texts: Vec<_> = texts.iter().map(|text| String::from_utf8_lossy(text)).collect();
    let tokens = texts.iter().flat_map(|text| tokens(text)).map(str::to_owned);
    let lines = texts.iter().flat_map(|text| text.lines()).map(|line| format!("{line}\n"));
    let mut known: Vec<String> = tokens.chain(lines).collect();
    known.sort();
    known.dedup();
    known
}

/// Changes whole tokens: one goes, comes twice, changes places, or one of `words` or of `known` takes its place; or a
/// whole line goes or comes twice.
pub(super) fn mutate(rng: &mut Rng, input: &mut Vec<u8>, words: &[&str], known: &[String]) {
    let text = String::from_utf8_lossy(input).into_owned();
    let mut parts = tokens(&text);
    if parts.is_empty() {
        parts.push("");
    }
    let at = rng.usize(..parts.len());
    let new = if rng.bool() {
        rng.choice(words).map_or("", |word| word)
    } else {
        rng.choice(known).map_or("", |t| t)
    };
    match rng.u8(..6) {
        0 => drop(parts.remove(at)),
        1 => parts.insert(rng.usize(..=parts.len()), parts[at]),
        2 => {
            let other = rng.usize(..parts.len());
            parts.swap(at, other);
        }
        3 => parts.insert(at, new),
        4 => parts[at] = new,
        _ => line(rng, &mut parts),
    }
    *input = parts.concat().into_bytes();
}

/// A whole line goes or comes twice.
fn line(rng: &mut Rng, parts: &mut Vec<&str>) {
    let text = parts.concat();
    let ends: Vec<usize> = (0..parts.len()).filter(|&i| parts[i] == "\n").collect();
    let Some(&[from, to]) = ends
        .windows(2)
        .nth(rng.usize(..text.len().max(1)) % ends.len().max(1))
        .map(|w| <&[usize; 2]>::try_from(w).unwrap_or(&[0, 0]))
    else {
        return;
    };
    let copy = parts[from..to].to_vec();
    if rng.bool() {
        parts.drain(from..to);
    } else {
        let at = rng.choice(&ends).copied().unwrap_or(0);
        parts.splice(at..at, copy);
    }
}

/// Words, numbers, runs of blanks, and single other characters.
fn tokens(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '_' | '-' => 1,
        '0'..='9' => 2,
        ' ' => 3,
        _ => 0,
    };
    let mut tokens = vec![];
    let (mut from, mut last) = (0, 0);
    for (at, c) in text.char_indices() {
        if at > from && (class(c) != last || class(c) == 0) {
            tokens.push(&text[from..at]);
            from = at;
        }
        last = class(c);
    }
    tokens.push(&text[from..]);
    tokens
}
