//! The native sinks: bolts of the host that take tuples out of the topology.
//!
//! In: the typed options of a manifest's sink. Out: a boxed [`Bolt`]. One module a kind, and beside them what
//! `jsonl` and `stdout` share: `batch` (a call's tuples as lines) and `append` (a file that only grows by whole
//! batches). They know the ports of the core and nothing of the runtime.
//!
//! Invariant: a tuple is acked only once its line is where the sink promises it to be. Where that fails the tuple
//! fails as `retry`, for the fault is outside: nothing is lost, and it goes on once the outage is over.

mod append;
mod batch;
mod jsonl;
mod null;
mod stdout;

pub use jsonl::JsonlSink;
pub use null::NullSink;
pub use stdout::StdoutSink;

use anchorbolt_core::manifest::kinds::SinkKind;
use anchorbolt_core::port::{Bolt, Waker};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};

/// The sink of a manifest. Paths are relative to `base`, the manifest's folder. `closed` is told once standard
/// output is found closed: the run then ends quietly.
pub fn open(kind: &SinkKind, base: &Path, closed: &OutputClosed) -> Box<dyn Bolt> {
    match kind {
        SinkKind::Jsonl { path, fsync } => Box::new(JsonlSink::new(&base.join(path), path, *fsync)),
        SinkKind::Stdout => Box::new(StdoutSink::new(closed.clone())),
        SinkKind::Null => Box::new(NullSink),
    }
}

/// Whether the reader of standard output has gone, and whom to tell.
#[derive(Clone, Default)]
pub struct OutputClosed(Arc<Closed>);

#[derive(Default)]
struct Closed {
    closed: AtomicBool,
    hook: OnceLock<Waker>,
}

impl OutputClosed {
    /// Tells `hook` once output is found closed, or now if it was. The first hook counts.
    pub fn tell(&self, hook: Waker) {
        if self.0.hook.set(hook).is_ok() && self.is_closed() {
            self.close();
        }
    }

    /// The reader has gone.
    pub fn close(&self) {
        self.0.closed.store(true, SeqCst);
        if let Some(hook) = self.0.hook.get() {
            hook.wake();
        }
    }

    /// Whether it has.
    pub fn is_closed(&self) -> bool {
        self.0.closed.load(SeqCst)
    }
}
