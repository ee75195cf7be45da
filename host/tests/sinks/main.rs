//! Do the native sinks write what they ack, and ack what they wrote?
//!
//! In: rows made here, given in batches. Out: the files and the settlements. Not for: the runtime round a sink.
//! Invariant: each random test prints the seed that repeats it.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests may")]

mod json;
mod jsonl;
mod outages;
mod stdout;
mod support;
