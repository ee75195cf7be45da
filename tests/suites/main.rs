//! The suites, one file a promise; see `README.md` beside this folder.

#![allow(clippy::print_stdout, reason = "a test says which seed it has, and which part of it runs")]
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod backpressure;
mod builder;
mod chaos;
mod cli;
mod dlq;
mod drain;
mod durable;
mod faults;
mod groupings;
mod identity;
mod import;
mod kills;
mod kit;
mod lifecycle;
mod limits;
mod loading;
mod native;
mod orders;
mod overload;
mod poison;
mod recycle;
mod retry;
mod semantics;
mod shapes;
mod simulation;
mod slow;
mod storm;
mod timeouts;
mod word_count;
mod zoo;
