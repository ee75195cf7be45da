//! The pure core of Anchorbolt: everything that decides, nothing that does.
//!
//! No I/O, no clock, no randomness, no threads, no wasmtime. Time comes in as [`ids::Time`] arguments,
//! random edges come in through a closure, and what is to happen goes out as values that the caller drains.
//!
//! Which part may use which, in arrows: `plan -> manifest -> retry`, `grouping -> plan`, `oplog -> grouping`,
//! `messages -> ack, retry`,
//! everything -> `ids`, `port`, `failure`. Never the other way round.

pub mod ack;
pub mod batch;
pub mod failure;
pub mod grouping;
pub mod ids;
pub mod manifest;
pub mod messages;
pub mod offsets;
pub mod oplog;
pub mod pace;
pub mod plan;
pub mod port;
pub mod retry;
pub mod supervise;
