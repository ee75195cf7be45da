//! Text with everything in it that splits words, or seems to.
//!
//! In: a seed. Out: lines, and what an independent count of their words is. Invariant: a seed gives one text.

use std::collections::BTreeMap;

const ALPHABETS: [&str; 6] = ["abcdefgh", "äöüßéñ", "жщыэюя", "中文字符語", "🦀🚀👩‍👧é", "'-.,;#"];
const SPACES: [&str; 7] = [" ", "  ", "\t", "\u{a0}", "\u{3000}", "\u{2003}", " \u{85} "];

/// Lines with empty ones, Unicode, words of 300 characters and both line ends; the last has none.
pub fn corpus(seed: u64, lines: usize) -> String {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut text = String::new();
    for i in 0..lines {
        line(&mut rng, &mut text);
        if i + 1 < lines {
            text += if rng.u8(..4) == 0 { "\r\n" } else { "\n" };
        }
    }
    text
}

fn line(rng: &mut fastrand::Rng, text: &mut String) {
    match rng.u8(..12) {
        0 => {}
        1 => *text += SPACES[rng.usize(..SPACES.len())],
        _ => {
            for _ in 0..rng.usize(1..12) {
                word(rng, text);
                *text += SPACES[rng.usize(..SPACES.len())];
            }
            word(rng, text);
        }
    }
}

/// Few short words, so that many come again; now and then one of 300 characters.
fn word(rng: &mut fastrand::Rng, text: &mut String) {
    let alphabet: Vec<char> = ALPHABETS[rng.usize(..ALPHABETS.len())].chars().collect();
    let length = if rng.u8(..50) == 0 { 300 } else { rng.usize(1..3) };
    text.extend((0..length).map(|_| alphabet[rng.usize(..alphabet.len())]));
}

/// How often each word occurs, counted in the plainest way.
pub fn word_counts(text: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word.to_owned()).or_default() += 1;
    }
    counts
}

/// How many lines a reader of lines finds.
pub fn line_count(text: &str) -> u64 {
    text.lines().count() as u64
}
