//! What happened, line by line: the last lines for a person, a hash of all for the proof that a seed repeats.
//!
//! In: lines. Out: the same. Invariant: the hash is over every line since the beginning.

use std::collections::VecDeque;

/// So many lines are kept, unless all are.
const KEPT: usize = 150;

/// The lines of a case.
#[derive(Debug, Default)]
pub(super) struct Trace {
    lines: VecDeque<String>,
    hash: u64,
    all: bool,
}

impl Trace {
    /// An empty one; `all`: every line is printed at once.
    pub(super) fn new(all: bool) -> Trace {
        Trace { lines: VecDeque::new(), hash: 0xcbf2_9ce4_8422_2325, all }
    }

    pub(super) fn add(&mut self, line: String) {
        for byte in line.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        if self.all {
            println!("{line}");
        }
        if self.lines.len() == KEPT {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    /// The last lines, unless they were printed.
    pub(super) fn take(&mut self) -> Vec<String> {
        if self.all { vec![] } else { std::mem::take(&mut self.lines).into() }
    }
}
