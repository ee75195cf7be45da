//! Write Anchorbolt bolts, and groupings, in Rust.
//!
//! A bolt takes tuples, emits others and settles each one it took. It is compiled to a WebAssembly component
//! (`cargo build --target wasm32-wasip2`, crate type `cdylib`) and run by the Anchorbolt host. This crate is all
//! it depends on; it needs no unsafe code, and its tests run natively, without WebAssembly.
//!
//! Most bolts are a [`BasicBolt`], which anchors and acks by itself:
//!
//! ```
//! use anchorbolt_sdk::prelude::*;
//!
//! /// Splits lines into words.
//! struct Split;
//!
//! impl BasicBolt for Split {
//!     fn declare(_: &Config) -> Result<Declaration, Error> {
//!         Ok(Declaration::new().output(["word"]).stateless())
//!     }
//!
//!     fn prepare(_: &Context) -> Result<Self, Error> {
//!         Ok(Self)
//!     }
//!
//!     fn execute(&mut self, tuple: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
//!         for word in tuple.str("line")?.split_whitespace() {
//!             out.emit([word]);
//!         }
//!         Ok(())
//!     }
//! }
//!
//! anchorbolt_sdk::export!(Split);
//!
//! // A test of it, in `#[test]`:
//! use anchorbolt_sdk::testing::Harness;
//!
//! let mut split = Harness::<Split>::new(["line"])?;
//! let line = split.feed(["the cat"]);
//! assert_eq!(split.rows("default"), [["the"], ["cat"]]);
//! assert_eq!(split.acked(), [line]);
//! # Ok::<(), Error>(())
//! ```
//!
//! A [`Bolt`] chooses anchors itself and may hold tuples across calls. A tuple is a value that can be settled once:
//! [`Collector::ack`] and [`Collector::fail`] take it, emitting borrows it, so acking twice, or emitting anchored
//! to a settled tuple, does not compile. One that is dropped unsettled fails at once, and says so.
//!
//! ```
//! use anchorbolt_sdk::prelude::*;
//!
//! /// Adds up numbers, ten at a time.
//! #[derive(Default)]
//! struct Sum {
//!     held: Vec<Held>,
//! }
//!
//! impl Bolt for Sum {
//!     fn declare(_: &Config) -> Result<Declaration, Error> {
//!         Ok(Declaration::new().output(["sum"]))
//!     }
//!
//!     fn prepare(_: &Context) -> Result<Self, Error> {
//!         Ok(Self::default())
//!     }
//!
//!     fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
//!         tuple.i64(0)?; // what is no number fails here, with a text that says so
//!         self.held.push(tuple.hold());
//!         if self.held.len() == 10 { self.flush(out) } else { Ok(()) }
//!     }
//!
//!     fn flush(&mut self, out: &mut Collector) -> Result<(), Error> {
//!         let sum: i64 = self.held.iter().filter_map(|held| held.fields().i64(0).ok()).sum();
//!         out.emit(&self.held, [sum]);
//!         self.held.drain(..).for_each(|held| out.ack(held));
//!         Ok(())
//!     }
//! }
//! # anchorbolt_sdk::export!(Sum);
//! ```
//!
//! A panic kills the instance: the tuple it died on is a fault, its text is shown, everything else runs again in a
//! fresh one. What a bolt keeps in memory is lost with it.
//!
//! A plugin may be a [`Grouping`] instead, which chooses the tasks that the rows of a stream go to.
//!
//! Modules, in the order that data takes: `guest` receives the host's calls and makes [`Tuple`]s (`tuple`, read by
//! way of `fields`); a [`Bolt`] works on them; `collector` gathers what it does in `columns`; `host` sends those.

#[doc(hidden)]
pub mod bindings;
mod bolt;
mod collector;
mod columns;
mod config;
mod context;
mod declaration;
mod error;
mod fields;
mod grouping;
mod guest;
mod host;
pub mod log;
pub mod metrics;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
mod tuple;

pub use anchorbolt_row::{Array, IntoRow, Map, MapWriter, Raw, Row, RowWriter, ToValue, Value};
pub use bindings::anchorbolt::bolt::types::{Failure, TupleInfo};
pub use bindings::exports::anchorbolt::bolt::guest::{Consumer, Input, Output};
pub use serde;
pub use serde_json::{self, json};

pub use bolt::{BasicBolt, Bolt};
pub use collector::{BasicCollector, Collector, Stream, StreamName, StreamRef};
pub use config::Config;
pub use context::Context;
pub use declaration::Declaration;
pub use error::{Error, OrElse};
pub use fields::{Field, Fields, FromValue};
pub use grouping::{Grouping, GroupingContext};
pub use tuple::{Anchors, Batch, Held, Open, Tuple};

/// What [`export!`] expands to needs names; nothing else may use them.
#[doc(hidden)]
pub mod __private {
    pub use crate::bindings;
    pub use crate::grouping::GroupingAdapter;
    pub use crate::guest::Adapter;

    /// Compiles if the type is a bolt.
    pub const fn assert_bolt<B: crate::Bolt>() {}

    /// Compiles if the type is a grouping.
    pub const fn assert_grouping<G: crate::Grouping>() {}
}

/// What most bolts use.
pub mod prelude {
    pub use crate::{
        BasicBolt, BasicCollector, Bolt, Collector, Config, Context, Declaration, Error, Held, OrElse, Tuple,
    };
}

/// Makes a type the bolt of this plugin. Once in each plugin, at the top level of its library.
///
/// Natively it only checks that the type is a bolt, so that the plugin's tests link.
#[macro_export]
macro_rules! export {
    ($bolt:ty) => {
        #[cfg(target_family = "wasm")]
        #[allow(unsafe_code, reason = "the exports of a component are generated")]
        const _: () = {
            type Exported = $crate::__private::Adapter<$bolt>;
    $crate::__private::bindings::__export_bolt!(Exported with_types_in $crate::__private::bindings);
        };
        const _: () = $crate::__private::assert_bolt::<$bolt>();
    };
}

/// Makes a type the grouping of this plugin. Once in each plugin, at the top level of its library, which can't be a
/// bolt, too.
///
/// Natively it only checks that the type is a grouping, so that the plugin's tests link.
#[macro_export]
macro_rules! export_grouping {
    ($grouping:ty) => {
        #[cfg(target_family = "wasm")]
        #[allow(unsafe_code, reason = "the exports of a component are generated")]
        const _: () = {
            type Exported = $crate::__private::GroupingAdapter<$grouping>;
            $crate::__private::bindings::grouping::__export_grouping!(Exported with_types_in $crate::__private::bindings::grouping);
        };
        const _: () = $crate::__private::assert_grouping::<$grouping>();
    };
}
