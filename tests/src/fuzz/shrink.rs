//! Makes a failing input smaller.
//!
//! In: an input and whether it still fails. Out: one that fails too, from which no part that was tried can be cut.
//! Invariant: what comes out failed, and the time has a bound.

use std::time::{Duration, Instant};

/// Cuts parts, halves first, then makes bytes plain.
pub(super) fn shrink(input: &[u8], time: Duration, mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let (mut best, began) = (input.to_vec(), Instant::now());
    let mut part = best.len().div_ceil(2);
    while part > 0 {
        let mut at = 0;
        let mut cut = false;
        while at < best.len() && began.elapsed() < time {
            let mut less = best.clone();
            less.drain(at..(at + part).min(best.len()));
            if fails(&less) {
                (best, cut) = (less, true);
            } else {
                at += part;
            }
        }
        if !cut || part > 1 {
            part /= 2;
        }
    }
    plain(&mut best, began, time, &mut fails);
    best
}

/// Puts 0 in the place of each byte that does not matter.
fn plain(best: &mut [u8], began: Instant, time: Duration, fails: &mut impl FnMut(&[u8]) -> bool) {
    for at in 0..best.len() {
        if began.elapsed() >= time {
            return;
        }
        let old = best[at];
        // A byte of a text is made a digit, so that a text stays one.
        best[at] = if old.is_ascii_graphic() { b'0' } else { 0 };
        if old == best[at] || !fails(best) {
            best[at] = old;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_goes() {
        let input: Vec<u8> = (0..200).collect();
        let fails = |bytes: &[u8]| bytes.contains(&77) && bytes.contains(&150) && bytes.len() >= 3;
        let least = shrink(&input, Duration::from_secs(5), fails);
        assert!(least.len() == 3 && least.contains(&77) && least.contains(&150), "{least:?}");
    }
}
