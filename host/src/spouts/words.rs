//! A made-up vocabulary: words whose frequency falls as in a language.
//!
//! In: how many words there are, and random bits. Out: ranks, of which the small ones are drawn more often (rank r
//! about 1/r as often as the first, as Zipf found), and the spelling of each.
//!
//! Invariant: each rank has one spelling and each spelling one rank.

/// The curve is kept at this many places; between them it is a straight line.
const STEPS: usize = 1 << 12;

/// A vocabulary of a given size.
pub(crate) struct Vocabulary {
    words: u64,
    curve: Vec<f64>,
}

impl Vocabulary {
    /// So many words, at least one.
    pub(crate) fn new(words: u64) -> Vocabulary {
        let words = words.max(1);
        let log = (words as f64 + 1.0).ln();
        let curve = (0..=STEPS).map(|i| (log * i as f64 / STEPS as f64).exp() - 1.0).collect();
        Vocabulary { words, curve }
    }

    /// The rank of the `draw`th word. Each eighth draw takes the words in turn, so that all `keys` of them do
    /// occur; the others are random.
    #[inline]
    pub(crate) fn rank(&self, draw: u64, random: u64) -> u64 {
        if draw.is_multiple_of(8) {
            return (draw / 8) % self.words;
        }
        let step = (random >> 52) as usize;
        let within = (random & ((1 << 32) - 1)) as f64 / (1u64 << 32) as f64;
        let (low, high) = (self.curve[step], self.curve[step + 1]);
        ((low + within * (high - low)) as u64).min(self.words - 1)
    }
}

/// The longest word: eleven syllables spell any rank.
pub(crate) const WORD_BYTES: usize = 22;

/// Writes the word of this rank at `at`, where [`WORD_BYTES`] must be left; answers where it ends. A word has at
/// least two syllables of two letters; with more than two the last is never the first of the table, so no two
/// ranks are spelt alike.
#[inline]
pub(crate) fn spell(rank: u64, text: &mut [u8], at: usize) -> usize {
    // Four syllables are written whatever the rank: how many count is a sum, and not a guess of the processor.
    const FOUR: u64 = 1 << (4 * BITS);
    let Some(room) = text.get_mut(at..at + 8) else { return at };
    for (i, two) in room.chunks_exact_mut(2).enumerate() {
        two.copy_from_slice(syllable(rank >> (BITS * i as u32)));
    }
    if rank >= FOUR {
        return spell_rest(rank / FOUR, text, at + 8);
    }
    at + 4 + 2 * usize::from(rank >> (2 * BITS) > 0) + 2 * usize::from(rank >> (3 * BITS) > 0)
}

#[cold]
fn spell_rest(mut rest: u64, text: &mut [u8], mut at: usize) -> usize {
    while rest > 0 {
        text[at..at + 2].copy_from_slice(syllable(rest));
        at += 2;
        rest >>= BITS;
    }
    at
}

#[inline]
fn syllable(bits: u64) -> &'static [u8; 2] {
    SYLLABLES[bits as usize % SYLLABLES.len()]
}

/// One syllable stands for so many bits of a rank.
const BITS: u32 = 6;

#[rustfmt::skip]
const SYLLABLES: [&[u8; 2]; 64] = [
    b"ba", b"be", b"bi", b"bo", b"da", b"de", b"di", b"do", b"fa", b"fe", b"fi", b"fo", b"ga", b"ge", b"gi", b"go",
    b"ha", b"he", b"hi", b"ho", b"ka", b"ke", b"ki", b"ko", b"la", b"le", b"li", b"lo", b"ma", b"me", b"mi", b"mo",
    b"na", b"ne", b"ni", b"no", b"pa", b"pe", b"pi", b"po", b"ra", b"re", b"ri", b"ro", b"sa", b"se", b"si", b"so",
    b"ta", b"te", b"ti", b"to", b"va", b"ve", b"vi", b"vo", b"wa", b"we", b"wi", b"wo", b"za", b"ze", b"zi", b"zo",
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_ranks_are_spelt_alike() {
        let mut seen = HashSet::new();
        for rank in (0..300_000).chain((1 << 40)..(1 << 40) + 1000).chain([u64::MAX]) {
            let mut word = [0; WORD_BYTES];
            let end = spell(rank, &mut word, 0);
            assert!(seen.insert(word[..end].to_vec()), "{rank}");
        }
    }

    #[test]
    fn small_ranks_are_drawn_more_often() {
        let words = Vocabulary::new(1000);
        let mut counts = vec![0u32; 1000];
        for draw in 0..1_000_000u64 {
            let random = (draw + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            counts[words.rank(draw, random ^ (random << 17)) as usize] += 1;
        }
        assert!(counts.iter().all(|&n| n >= 100), "each word occurs");
        assert!(counts[0] > 4 * counts[9] && counts[9] > 2 * counts[99], "{:?}", &counts[..10]);
    }
}
