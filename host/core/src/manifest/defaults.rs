//! What holds when a manifest says nothing. Each number here is part of the contract.

use super::model::{Ackers, Bolt, Code, Inputs, Limits, Restart, Spout, Topology};
use super::model::{Allow, OnCircuitOpen};
use super::{Spanned, SpoutKind};
use crate::retry::RetryPolicy;
use std::time::Duration;

/// `message-timeout`
pub(super) const MESSAGE_TIMEOUT: Duration = Duration::from_secs(30);
/// `max-spout-pending`
pub(super) const MAX_SPOUT_PENDING: u32 = 2048;
/// `limits.tuple-bytes`
pub(super) const TUPLE_BYTES: u64 = 16 << 20;
const DEADLINE_MAX: Duration = Duration::from_secs(1);

/// The default deadline of a tuple: a second, but never more than half the message timeout.
pub fn deadline(message_timeout: Duration) -> Duration {
    DEADLINE_MAX.min(message_timeout / 2)
}

impl Topology {
    /// A topology of this name and message timeout, all else as by default.
    pub fn new(name: impl Into<String>, message_timeout: Duration) -> Topology {
        Topology {
            name: name.into(),
            message_timeout,
            ackers: Ackers::PerSpout,
            queue_tuples: 1024,
            queue_bytes: 64 << 20,
            cycle_bytes: 64 << 20,
            max_tree_age: message_timeout.saturating_mul(10),
            drain_timeout: message_timeout,
            dead_letters_max_bytes: 1 << 30,
            dead_letters_retention: None,
        }
    }
}

impl Default for Topology {
    fn default() -> Topology {
        Topology::new("", MESSAGE_TIMEOUT)
    }
}

impl Limits {
    /// The limits under this message timeout.
    pub fn new(message_timeout: Duration) -> Limits {
        Limits {
            memory_bytes: 64 << 20,
            deadline: deadline(message_timeout),
            table_elements: 100_000,
            emissions_per_tuple: 100_000,
            emitted_bytes_per_tuple: 64 << 20,
            anchors_per_tuple: 100_000,
            held_tuples: 1_000_000,
            tuple_bytes: TUPLE_BYTES,
            log_bytes_per_second: 64 << 10,
            log_lines_per_second: 1000,
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::new(MESSAGE_TIMEOUT)
    }
}

impl Default for Restart {
    fn default() -> Restart {
        Restart {
            backoff: Duration::from_millis(100),
            budget: 10,
            window: Duration::from_secs(60),
            on_circuit_open: OnCircuitOpen::Pause,
        }
    }
}

impl Spout {
    /// A spout of one task, all else as by default.
    pub fn new(name: impl Into<String>, kind: SpoutKind) -> Spout {
        Spout {
            name: Spanned::bare(name.into()),
            kind: Some(kind),
            executors: 1,
            tasks: 1,
            max_pending: MAX_SPOUT_PENDING,
            retry: RetryPolicy::default(),
            tuple_bytes_max: TUPLE_BYTES,
        }
    }
}

impl Bolt {
    /// A bolt of one task without inputs, all else as by default.
    pub fn new(name: impl Into<String>, code: Code, message_timeout: Duration) -> Bolt {
        Bolt {
            name: Spanned::bare(name.into()),
            code: Some(Spanned::bare(code)),
            source: None,
            executors: 1,
            tasks: 1,
            inputs: Inputs::default(),
            tick: None,
            stateless: None,
            recycle_at: None,
            batch: None,
            config: serde_json::Value::Object(serde_json::Map::new()),
            limits: Limits::new(message_timeout),
            allow: Allow::default(),
            restart: Restart::default(),
        }
    }
}
