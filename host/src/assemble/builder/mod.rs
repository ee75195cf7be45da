//! Topologies that a program puts together, with the names of Storm's `TopologyBuilder`.
//!
//! In: calls. Out: [`Loaded`], as from a manifest's file: what a call sets is a key of the manifest
//! (`docs/reference.md` has them), and the same checks with the same codes hold. Each call is a line of the text that
//! diagnostics point into. Native components, plugins and the host's own kinds go together in one topology.
//!
//! ```
//! use anchorbolt_host::assemble::{Host, Kind, NativeBolt, RunOptions, TopologyBuilder};
//! use anchorbolt_host::core::port::Declaration;
//! use anchorbolt_host::runtime::How;
//! use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
//! use std::sync::Arc;
//!
//! let seen = Arc::new(AtomicUsize::new(0));
//! let count = seen.clone();
//! let sink = NativeBolt::of_fn(Declaration::default(), move |tuples, out| {
//!     count.fetch_add(tuples.len(), Relaxed);
//!     out.ack(&tuples.ids);
//!     Ok(())
//! });
//!
//! let mut builder = TopologyBuilder::new("sentences");
//! builder.set_max_spout_pending(100);
//! builder.set_spout("sentences", Kind::new("generate").set("count", 50), 1);
//! builder.set_bolt("sink", sink, 2).fields_grouping("sentences", ["sentence"]);
//!
//! let loaded = builder.create_topology(&Host::in_process(None)?, ".".as_ref());
//! assert!(loaded.is_ok(), "{:?}", loaded.diagnostics);
//! let how = How { until_drained: true, ..How::default() };
//! let ended = loaded.start(RunOptions { how, ..RunOptions::default() })?.wait(how);
//! assert_eq!((ended.exit_code(), seen.load(Relaxed)), (0, 50));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A mistake names the call:
//!
//! ```
//! # use anchorbolt_host::assemble::{Host, Kind, TopologyBuilder};
//! let mut builder = TopologyBuilder::new("sentences");
//! builder.set_spout("sentences", Kind::new("generate"), 1);
//! builder.set_bolt("sink", Kind::new("null"), 1).shuffle_grouping("sentence");
//!
//! let loaded = builder.create_topology(&Host::in_process(None)?, ".".as_ref());
//! let mistake = &loaded.diagnostics[0];
//! assert_eq!((mistake.code, &*mistake.message), ("AB301", "there is no component \"sentence\""));
//! assert_eq!(mistake.help.as_deref(), Some("did you mean `sentences`?"));
//! let place = mistake.span.and_then(|span| loaded.sources.locate(span)).unwrap();
//! assert_eq!((place.file, place.line), ("TopologyBuilder", 4));
//! let (_, calls) = loaded.sources.get(0).unwrap();
//! assert_eq!(calls.lines().nth(3), Some("    .shuffle_grouping(\"sentence\")"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calls;
mod code;
mod declarer;

pub use code::{BoltCode, Kind, NativeBolt, NativeSpout, SpoutCode};
pub use declarer::{BoltDeclarer, GlobalStreamId, SpoutDeclarer};

use super::{Host, Loaded, Natives};
use anchorbolt_core::manifest::build;
use calls::{Calls, quoted};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// What diagnostics call the text of the calls.
const NAME: &str = "TopologyBuilder";

/// Puts a topology together. Storm's class of this name.
pub struct TopologyBuilder {
    calls: Calls,
    natives: Natives,
}

impl TopologyBuilder {
    /// A topology of this name, without components.
    pub fn new(name: &str) -> TopologyBuilder {
        let mut calls = Calls::default();
        let [at] = calls.call("TopologyBuilder::new", [quoted(name)]);
        calls.set(&["topology", "name"], json!(name), at);
        TopologyBuilder { calls, natives: Natives::default() }
    }

    /// A spout with so many executors: a [`Kind`] of the host, or a [`NativeSpout`].
    pub fn set_spout(
        &mut self,
        id: &str,
        spout: impl Into<SpoutCode>,
        parallelism: u32,
    ) -> SpoutDeclarer<'_> {
        let spout = spout.into();
        let ats = self.calls.call("set_spout", [quoted(id), spout.shown(), parallelism.to_string()]);
        spout.set(id, ats, parallelism, &mut self.calls, &mut self.natives);
        SpoutDeclarer::new(id, &mut self.calls)
    }

    /// A bolt with so many executors: a plugin by its path, a [`Kind`] of the host, or a [`NativeBolt`].
    pub fn set_bolt(&mut self, id: &str, bolt: impl Into<BoltCode>, parallelism: u32) -> BoltDeclarer<'_> {
        let bolt = bolt.into();
        let ats = self.calls.call("set_bolt", [quoted(id), bolt.shown(), parallelism.to_string()]);
        bolt.set(id, ats, parallelism, &mut self.calls, &mut self.natives);
        BoltDeclarer::new(id, &mut self.calls)
    }

    /// `topology.message-timeout`; whole milliseconds.
    pub fn set_message_timeout(&mut self, timeout: Duration) -> &mut TopologyBuilder {
        let text = calls::duration(timeout);
        self.topology("set_message_timeout", "message-timeout", text)
    }

    /// `topology.max-spout-pending`: messages in flight, for each spout task.
    pub fn set_max_spout_pending(&mut self, messages: u32) -> &mut TopologyBuilder {
        self.topology("set_max_spout_pending", "max-spout-pending", messages)
    }

    /// `topology.ackers`: 0 for no tracking, else threads that keep the ledgers.
    pub fn set_num_ackers(&mut self, ackers: u32) -> &mut TopologyBuilder {
        self.topology("set_num_ackers", "ackers", ackers)
    }

    /// Any key of `[topology]`; dots lead into tables: `dead-letters.max-bytes`.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) -> &mut TopologyBuilder {
        self.calls.set_any(None, &["topology"], key, value.into());
        self
    }

    fn topology(&mut self, call: &str, key: &str, value: impl Into<Value>) -> &mut TopologyBuilder {
        let value = value.into();
        let [at] = self.calls.call(call, [value.to_string()]);
        self.calls.set(&["topology", key], value, at);
        self
    }

    /// Loads the plugins, asks each what it declares, and checks how all fits together. Paths are relative to `base`.
    pub fn create_topology(self, host: &Host, base: &Path) -> Loaded {
        let (text, settings) = self.calls.into_parts();
        host.load_parsed(build(NAME, &text, &settings), base, self.natives)
    }
}
