//! The host's side of the contract: imports in WebAssembly, a stand-in elsewhere.
//!
//! Invariant: the only module that knows there are two.

#[cfg(not(target_family = "wasm"))]
pub(crate) use crate::testing::stand_in::{collector, logging, metrics};

#[cfg(target_family = "wasm")]
pub(crate) use crate::bindings::anchorbolt::bolt::{collector, logging, metrics};
