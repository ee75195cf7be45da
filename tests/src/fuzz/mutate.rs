//! Changes that suit any bytes.
//!
//! In: an input and others to take parts from. Out: the input, changed in a few places. Invariant: the random numbers
//! decide alone.

use fastrand::Rng;

/// Numbers at which something often changes.
const EDGES: [u64; 22] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    1 << 40,
    1 << 53,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// Changes an input once. `other` is another input, to take a part of.
pub(super) fn mutate(rng: &mut Rng, input: &mut Vec<u8>, other: &[u8]) {
    if input.is_empty() {
        input.extend((0..rng.usize(1..9)).map(|_| rng.u8(..)));
        return;
    }
    let at = rng.usize(..input.len());
    match rng.u8(..12) {
        0 => input[at] ^= 1 << rng.u8(..8),
        1 => input[at] = rng.u8(..),
        2 => input[at] = *rng.choice(&[0, 1, 0x7f, 0x80, 0xff, b'\n', b'"', b'}']).unwrap_or(&0),
        3 => word(rng, input),
        4 => input[at] = input[at].wrapping_add(rng.u8(..9)).wrapping_sub(4),
        5 => remove(rng, input),
        6 => {
            let (n, byte) = (rng.usize(1..9), rng.u8(..));
            input.splice(at..at, std::iter::repeat_n(byte, n));
        }
        7 => {
            let part = range(rng, input);
            let copy = input[part].to_vec();
            let to = rng.usize(..=input.len());
            input.splice(to..to, copy);
        }
        8 | 9 => splice(rng, input, other),
        10 => input.truncate(at),
        _ => decimal(rng, input),
    }
}

/// Writes an edge over 1, 2, 4 or 8 bytes, in either order.
fn word(rng: &mut Rng, input: &mut [u8]) {
    let width = (1 << rng.u8(..4)).min(input.len());
    let at = rng.usize(..=input.len() - width);
    let edge = rng.choice(EDGES).unwrap_or(0);
    let bytes = edge.to_be_bytes();
    let mut word = bytes[8 - width..].to_vec();
    if rng.bool() {
        word.reverse();
    }
    input[at..at + width].copy_from_slice(&word);
}

/// Writes another number where one stands in decimal.
pub(super) fn decimal(rng: &mut Rng, input: &mut Vec<u8>) {
    let starts: Vec<usize> = (0..input.len())
        .filter(|&i| input[i].is_ascii_digit() && (i == 0 || !input[i - 1].is_ascii_digit()))
        .collect();
    let Some(&at) = rng.choice(&starts) else { return remove(rng, input) };
    let end = at + input[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let old: u64 = std::str::from_utf8(&input[at..end]).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let new = match rng.u8(..4) {
        0 => old.wrapping_add(rng.u64(..9)).wrapping_sub(4),
        1 => rng.choice(EDGES).unwrap_or(0),
        2 => old.wrapping_mul(2),
        _ => rng.u64(..=old.saturating_add(9)),
    };
    input.splice(at..end, new.to_string().into_bytes());
}

fn remove(rng: &mut Rng, input: &mut Vec<u8>) {
    if !input.is_empty() {
        let part = range(rng, input);
        input.drain(part);
    }
}

/// Puts a part of the other one in, in place of a part or beside it.
fn splice(rng: &mut Rng, input: &mut Vec<u8>, other: &[u8]) {
    if other.is_empty() {
        return;
    }
    let part = range(rng, other);
    let from = rng.usize(..=input.len());
    let to = if rng.bool() { from } else { (from + part.len()).min(input.len()) };
    input.splice(from..to, other[part].iter().copied());
}

/// A part: mostly short.
fn range(rng: &mut Rng, input: &[u8]) -> std::ops::Range<usize> {
    let at = rng.usize(..input.len());
    let most = if rng.u8(..4) == 0 { input.len() } else { 16 };
    at..(at + rng.usize(1..=most)).min(input.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_those_of_the_seed_and_end() {
        let run = |seed| {
            let mut rng = Rng::with_seed(seed);
            let mut input = b"a 12 b 7".to_vec();
            (0..500).for_each(|_| {
                mutate(&mut rng, &mut input, b"other 99");
                input.truncate(64);
            });
            input
        };
        (0..50).for_each(|seed| assert_eq!(run(seed), run(seed)));
    }
}
