//! Does what was reported as durable outlive the process, and is everything else refused with a clear text?
//!
//! In: real folders, and a disk in memory that fails or loses power at any step. Not for: the runtime round it.
//! Invariant: each random test prints the seed that repeats it.

#![allow(clippy::unwrap_used, reason = "tests may")]

mod checkpoint;
mod crashes;
mod data_dir;
mod dead_letters;
mod disk;
mod files;
mod outages;
mod replace;
mod support;
mod tidying;
