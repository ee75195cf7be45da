//! A call's ordered log becomes operations, or a violation.
//!
//! In: the handles a task holds ([`held::Held`]) and the log of one call. Out: batches in the task's router,
//! and [`Effects`] for the ledgers. Invariant: nothing that a guest says reaches a ledger unchecked, and a
//! call that dies leaves nothing behind but its own tuples, unsettled.

mod apply;
mod columns;
mod effects;
pub mod held;

pub use apply::{Applier, Violation};
pub use effects::Effects;
