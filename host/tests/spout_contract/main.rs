//! Do the native spouts keep the contract, and give what is in their sources?
//!
//! In: files, readers and options made here. Out: the messages, compared with what a slow, obvious reader finds.
//! Not for: the runtime round a spout. Invariant: each random test prints the seed that repeats it.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests may")]

mod files;
mod follow;
mod formats;
mod generate;
mod large;
mod lines;
mod oracle;
mod own;
mod stdin;
mod support;
