//! The state of a spout task behind one lock, and what others may ask of it.
//!
//! In: questions of reports, of the drain, of `describe`. Out: copies. Invariant: the lock is never held while its
//! holder waits for a queue.

use super::env::Directory;
use crate::telemetry::{LatencyFigures, SpoutFigures};
use anchorbolt_core::ack::Ledger;
use anchorbolt_core::ids::{RootId, Time};
use anchorbolt_core::messages::Messages;
use anchorbolt_core::port::Spout;
use hdrhistogram::Histogram;
use parking_lot::Mutex;

/// What others may look at.
pub(crate) struct SpoutCell {
    pub(super) name: String,
    pub(super) state: Mutex<State>,
}

/// The source, its messages and, unless ackers have it, the ledger of their trees.
pub(super) struct State {
    pub(super) spout: Box<dyn Spout>,
    pub(super) messages: Messages,
    pub(super) ledgers: Vec<Ledger>,
    pub(super) latency: Histogram<u64>,
}

impl SpoutCell {
    /// The figures.
    pub(crate) fn figures(&self) -> SpoutFigures {
        let c = self.state.lock().messages.counts();
        SpoutFigures {
            read: c.read,
            completed: c.completed,
            untracked: c.untracked,
            dead_lettered: c.dead_lettered,
            dropped: c.dropped,
            handed_back: c.handed_back,
            pending: c.pending,
            skipped: 0,
            trees_emitted: c.trees_emitted,
            trees_acked: c.trees_acked,
            trees_failed: c.trees_failed,
            trees_timed_out: c.trees_timed_out,
            trees_pending: c.trees_pending,
            replayed: c.trees_replayed,
        }
    }

    /// Whether a message waits for a retry by the host.
    pub(crate) fn waits_for_retry(&self) -> bool {
        self.state.lock().messages.next_due().is_some()
    }

    /// Complete latency over several tasks.
    pub(crate) fn latency<'a>(cells: impl Iterator<Item = &'a SpoutCell>) -> LatencyFigures {
        let mut sum = histogram();
        for cell in cells {
            if let Err(e) = sum.add(&cell.state.lock().latency) {
                tracing::debug!("latency: {e}");
            }
        }
        let us = |ns: u64| ns.div_ceil(1000);
        LatencyFigures {
            mean: sum.mean() / 1000.0,
            p50: us(sum.value_at_quantile(0.5)),
            p99: us(sum.value_at_quantile(0.99)),
            p999: us(sum.value_at_quantile(0.999)),
            max: us(sum.max()),
        }
    }
}

impl Directory for SpoutCell {
    fn message(&self, root: RootId) -> Option<(String, Time)> {
        let state = self.state.lock();
        let message = state.messages.message_of(root)?;
        let position = state.spout.position(message.id);
        Some((format!("{}@{}", self.name, plain(&position)), message.started))
    }
}

/// A position as part of an id: `a.md:17` for `{"path": "a.md", "offset": 17}`.
pub(super) fn plain(position: &serde_json::Value) -> String {
    match position {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Object(map) => map.values().map(plain).collect::<Vec<_>>().join(":"),
        other => other.to_string(),
    }
}

/// Latencies from a nanosecond to an hour, to three digits.
pub(super) fn histogram() -> Histogram<u64> {
    // The bounds are constants and fit, so the other branch is never taken.
    Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap_or_else(|_| Histogram::new_from(&fallback()))
}

fn fallback() -> Histogram<u64> {
    #[allow(clippy::unwrap_used, reason = "three significant digits are legal")]
    Histogram::new(3).unwrap()
}
