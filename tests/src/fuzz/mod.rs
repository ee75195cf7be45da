//! Fuzzing on stable Rust: what comes from outside, changed at random and compared with slow, obvious code.
//!
//! In: a [`Target`] and a seed. Out: how much was tried, or the first [`Failure`], made smaller and kept in
//! `fuzz-corpus`. A target is one way into the host: it takes any bytes, says with a [`Shape`] what kind of case they
//! were, and is an error if the host did something that it must not do. Inputs of a new shape are changed further.
//!
//! Invariant: a target depends on the bytes alone, so a kept input shows the same failure again.

#![allow(clippy::print_stdout, reason = "an input that can't be stopped is named before the process ends")]

mod batch;
mod bytes;
mod checkpoint;
mod component;
mod corpus;
mod flux;
mod guard;
mod json;
mod letters;
mod lines;
mod manifest;
pub mod memory;
mod model;
mod mutate;
mod routing;
mod sample;
mod search;
mod shrink;
mod tokens;

pub use corpus::folder;
pub use guard::Failure;
pub use search::{Found, one, search};

use fastrand::Rng;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// What kind of case an input was; two inputs with one shape are much alike.
pub type Shape = u64;

/// One way into the host.
pub struct Target {
    /// What the command and the folder of the corpus call it.
    pub name: &'static str,
    /// No input is longer.
    pub bytes_max: usize,
    /// Nothing may take longer.
    pub wall: Duration,
    /// So many bytes may be allocated beside what was there, whatever an input says.
    pub memory_max: usize,
    /// Inputs to begin with, beside those of the corpus.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// A change that knows what the bytes mean.
    pub mutate: fn(&mut Rng, &mut Vec<u8>),
    /// Tries an input. An error is a promise that was broken.
    pub check: fn(&[u8]) -> Result<Shape, String>,
}

/// All targets, in the order of the command's help.
pub const TARGETS: [&Target; 9] = [
    &batch::TARGET,
    &routing::TARGET,
    &manifest::TARGET,
    &flux::TARGET,
    &checkpoint::TARGET,
    &letters::TARGET,
    &lines::TARGET,
    &component::TARGET,
    &json::TARGET,
];

/// The target of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}

/// The shape of what was seen.
fn shape(of: impl Hash) -> Shape {
    // Its keys are fixed, so a seed gives the same run each time.
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// The class of a number: exact where it is small, else its magnitude.
fn size(n: usize) -> u32 {
    if n < 4 { n as u32 } else { 3 + n.ilog2() }
}

/// A text without what differs from one mistake to the next of its kind.
fn kind(text: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    for c in text.chars() {
        quoted ^= c == '`';
        if !quoted && !c.is_ascii_digit() && out.len() < 120 {
            out.push(c);
        }
    }
    out
}

/// An error unless this holds.
fn ensure(holds: bool, text: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(text()) }
}
