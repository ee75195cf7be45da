//! The Anchorbolt host as a library: Storm-style topologies whose bolts are WebAssembly components.
//!
//! In: a manifest, its plugins, and for embedders native spouts and bolts. Out: a running topology and its
//! report. Which part may use which, in arrows: `runtime -> core`, `spouts, sinks -> port`, everyone ->
//! `telemetry`, [`assemble`] -> all. Never `runtime <-> wasm`, never `runtime <-> spouts`.
//!
//! - [`assemble`]: from a manifest, or the calls of a [`TopologyBuilder`](assemble::TopologyBuilder), to a running
//!   topology; where an embedder begins.
//! - [`runtime`]: executors, queues, the ack path, the drain.
//! - [`spouts`], [`sinks`]: the native kinds, one file each.
//! - [`durable`]: the data folder, checkpoints and dead letters.
//! - [`json`]: rows as JSON, and back.
//! - [`testing`]: a test kit, in virtual time.
//! - [`chaos`]: faults on purpose.
//! - [`probe`]: one tuple through one instance of a bolt, and what came of it.
//! - [`telemetry`]: counters and the report.

pub mod assemble;
pub mod chaos;
pub mod durable;
pub mod json;
pub mod probe;
pub mod runtime;
pub mod sinks;
pub mod spouts;
pub mod telemetry;
pub mod testing;

pub use anchorbolt_core as core;
pub use anchorbolt_wasm as wasm;
