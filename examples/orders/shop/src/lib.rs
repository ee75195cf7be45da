//! What is around the pipeline of the orders example: its input, the world it acts on, and the check of both.
//!
//! `generate` writes orders, `server` is the payment server that fails as such servers do, `report` compares what was
//! ordered, charged and told, and `demo` does all of it with hosts that are killed. `order` says what an order is,
//! `jsonl` reads files of lines, `money` and `units` are small parts. Arrows: `demo -> generate, server, report -> order
//! -> money`, all but `generate` and `money` to `jsonl`. Invariant: the server shares nothing with the bolts but HTTP, and
//! the report nothing with either but files.

pub mod demo;
pub mod generate;
mod jsonl;
pub mod money;
pub mod order;
pub mod report;
pub mod server;
pub mod units;
