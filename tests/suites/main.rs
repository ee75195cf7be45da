//! The suites, one file a promise; see `README.md` beside this folder.

mod backpressure;
mod cli;
mod drain;
mod faults;
mod loading;
mod native;
mod poison;
mod retry;
mod timeouts;
mod word_count;
