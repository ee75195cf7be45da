//! The table of messages with a ledger beside it: what a spout and its users may rely on.

mod life;
mod limits;
mod retries;
mod task;
