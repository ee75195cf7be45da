//! Does a `lines` spout go on where it stood, whatever became of its files and however it was stopped?
//!
//! In: real files in temporary folders, and a spout that is dropped and made anew. Not for: how its state is kept on
//! the disk, which `durable` tests. Invariant: each random test prints the seed that repeats it.

#![allow(clippy::unwrap_used, reason = "tests may")]

mod changes;
mod pace;
mod random;
mod resume;
mod shares;
mod support;
