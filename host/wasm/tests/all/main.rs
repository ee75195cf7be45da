//! The WebAssembly host against one real guest that does what it is told: calls, deaths, deadlines, limits,
//! grants, files and the code cache. Not for: what the core makes of a call's log.
#![allow(clippy::unwrap_used, clippy::print_stdout, unreachable_pub, reason = "a test may")]

mod calls;
mod deadlines;
mod deaths;
mod events;
mod files;
mod grants;
mod limits;
mod raw;
mod support;
