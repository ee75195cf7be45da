//! Just enough HTTP/1.1 for the orders example: messages with a length, connections that are kept.
//!
//! In: bytes from the network, which may be anything. Out: a [`Message`], or an error that says what is wrong with
//! them. `client` is the side of the bolts, and runs inside WebAssembly; the payment server uses `message` alone.
//! Invariant: what is read from the network has a bound in bytes, and nothing of it can panic.

pub mod client;
pub mod message;

pub use client::{CallError, Client, Response};
pub use message::{Message, ReadError};
