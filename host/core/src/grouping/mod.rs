//! Groupings: which tasks a row goes to.
//!
//! In: a stream and an encoded row. Out: batches, one for each receiving task. The router of a task is the
//! only writer of tuples on its edges, so tuples from one task to another keep the order of their emission.
//!
//! A custom grouping is a plugin, and guests run before anything is routed: [`CustomGroupings`] asks them for the rows of
//! a call, and the router is given the [`Choices`].
//!
//! Adding a grouping: a variant of [`crate::plan::Grouping`], an arm in [`route::Route::new`] and in
//! [`route::Route::pick`].

mod choices;
mod custom;
mod fault;
mod groupings;
mod outgoing;
mod partial;
mod route;
mod router;

pub use choices::Choices;
pub use fault::{GroupingFault, RowFault};
pub use groupings::{CustomGroupings, GroupingFactories, Rows};
pub use outgoing::{Anchor, Source};
pub use partial::candidates;
pub use route::{Picked, Route};
pub use router::Router;
