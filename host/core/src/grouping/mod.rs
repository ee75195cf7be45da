//! Groupings: which tasks a row goes to.
//!
//! In: a stream and an encoded row. Out: batches, one for each receiving task. The router of a task is the
//! only writer of tuples on its edges, so tuples from one task to another keep the order of their emission.
//!
//! Adding a grouping: a variant of [`crate::plan::Grouping`], an arm in [`route::Route::new`] and in
//! [`route::Route::pick`].

mod route;
mod router;

pub use route::{Picked, Route};
pub use router::{Anchor, Router, RowFault, Source};
