//! The report of a run, as `contract.md` lays it out.
//!
//! Two sums always hold: messages read are completed, untracked, dead-lettered, dropped, handed back or
//! pending; trees emitted are acked, failed, timed out or pending.

use super::counters::BoltCounters;
use super::errors::ErrorLine;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Messages, trees and their spout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpoutFigures {
    /// Messages read.
    pub read: u64,
    /// Messages whose trees were all acked.
    pub completed: u64,
    /// Messages emitted without tracking.
    pub untracked: u64,
    /// Messages kept as dead letters.
    pub dead_lettered: u64,
    /// Messages given up for good.
    pub dropped: u64,
    /// Messages whose partition went to another process.
    pub handed_back: u64,
    /// Messages without an end yet.
    pub pending: u64,
    /// Offsets passed over by configuration.
    pub skipped: u64,
    /// Trees begun.
    pub trees_emitted: u64,
    /// Trees acked.
    pub trees_acked: u64,
    /// Trees failed.
    pub trees_failed: u64,
    /// Trees timed out.
    pub trees_timed_out: u64,
    /// Trees without an end yet.
    pub trees_pending: u64,
    /// Replays of messages.
    pub replayed: u64,
}

impl SpoutFigures {
    /// Adds another task's or spout's.
    pub fn add(&mut self, other: &SpoutFigures) {
        self.read += other.read;
        self.completed += other.completed;
        self.untracked += other.untracked;
        self.dead_lettered += other.dead_lettered;
        self.dropped += other.dropped;
        self.handed_back += other.handed_back;
        self.pending += other.pending;
        self.skipped += other.skipped;
        self.trees_emitted += other.trees_emitted;
        self.trees_acked += other.trees_acked;
        self.trees_failed += other.trees_failed;
        self.trees_timed_out += other.trees_timed_out;
        self.trees_pending += other.trees_pending;
        self.replayed += other.replayed;
    }
}

/// A bolt over all its tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoltFigures {
    /// See [`BoltCounters`].
    pub executed: u64,
    /// See [`BoltCounters`].
    pub emitted: u64,
    /// See [`BoltCounters`].
    pub transferred: u64,
    /// See [`BoltCounters`].
    pub acked: u64,
    /// See [`BoltCounters`].
    pub failed: u64,
    /// In the order of [`BoltCounters::FAULTS`].
    pub faults: [u64; 5],
    /// See [`BoltCounters`].
    pub deaths: u64,
    /// See [`BoltCounters`].
    pub restarts: u64,
    /// See [`BoltCounters`].
    pub state_lost: u64,
    /// See [`BoltCounters`].
    pub stale: u64,
    /// See [`BoltCounters`].
    pub repeated: u64,
    /// See [`BoltCounters`].
    pub held: u64,
    /// Tuples in queues.
    pub queued: u64,
    /// Time in calls.
    pub execute_ns: u64,
    /// Memory of all instances.
    pub memory_bytes: u64,
    /// CPU time of the executors.
    pub cpu_ns: u64,
}

impl BoltFigures {
    /// Adds a task's counters.
    pub fn add(&mut self, c: &BoltCounters) {
        let get = |counter: &AtomicU64| counter.load(Relaxed);
        self.executed += get(&c.executed);
        self.emitted += get(&c.emitted);
        self.transferred += get(&c.transferred);
        self.acked += get(&c.acked);
        self.failed += get(&c.failed);
        self.faults.iter_mut().zip(&c.faults).for_each(|(sum, f)| *sum += get(f));
        self.deaths += get(&c.deaths);
        self.restarts += get(&c.restarts);
        self.state_lost += get(&c.state_lost);
        self.stale += get(&c.stale);
        self.repeated += get(&c.repeated);
        self.held += get(&c.held);
        self.execute_ns += get(&c.execute_ns);
        self.memory_bytes += get(&c.memory_bytes);
        self.cpu_ns += get(&c.cpu_ns);
    }

    fn json(&self) -> Value {
        let faults: Map<String, Value> = BoltCounters::FAULTS
            .iter()
            .zip(self.faults)
            .map(|(class, n)| (class.as_str().to_owned(), n.into()))
            .collect();
        json!({
            "executed": self.executed, "emitted": self.emitted, "transferred": self.transferred,
            "acked": self.acked, "failed": self.failed, "faults": faults, "deaths": self.deaths,
            "restarts": self.restarts, "state_lost": self.state_lost, "stale": self.stale,
            "settled_twice": self.repeated, "held": self.held, "queued": self.queued,
            "execute_ns_per_tuple": self.execute_ns.checked_div(self.executed).unwrap_or(0),
            "memory_bytes": self.memory_bytes, "cpu_s": seconds(Duration::from_nanos(self.cpu_ns)),
        })
    }
}

/// Complete latency: from the emission of a tree to its last ack, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatencyFigures {
    /// The mean.
    pub mean: f64,
    /// Half are faster.
    pub p50: u64,
    /// 99 of 100 are faster.
    pub p99: u64,
    /// 999 of 1,000 are faster.
    pub p999: u64,
    /// The slowest.
    pub max: u64,
}

/// The report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The topology's name.
    pub topology: String,
    /// When the run began, RFC 3339.
    pub started: String,
    /// How long it took.
    pub elapsed: Duration,
    /// sha256 of each plugin, by bolt.
    pub plugins: Vec<(String, String)>,
    /// Complete latency over all spouts.
    pub latency: LatencyFigures,
    /// By spout.
    pub spouts: Vec<(String, SpoutFigures)>,
    /// By bolt.
    pub bolts: Vec<(String, BoltFigures)>,
    /// What went wrong.
    pub errors: Vec<ErrorLine>,
}

impl Report {
    /// The figures of all spouts together.
    pub fn totals(&self) -> SpoutFigures {
        let mut sum = SpoutFigures::default();
        self.spouts.iter().for_each(|(_, s)| sum.add(s));
        sum
    }

    /// The report as `contract.md` has it.
    pub fn json(&self) -> Value {
        let t = self.totals();
        let plugins: Map<String, Value> =
            self.plugins.iter().map(|(name, sha)| (name.clone(), format!("sha256:{sha}").into())).collect();
        let bolts: Map<String, Value> = self.bolts.iter().map(|(n, b)| (n.clone(), b.json())).collect();
        json!({
            "version": 1,
            "anchorbolt": env!("CARGO_PKG_VERSION"),
            "topology": self.topology,
            "started": self.started,
            "elapsed_s": seconds(self.elapsed),
            "plugins": plugins,
            "messages": {
                "read": t.read, "completed": t.completed, "untracked": t.untracked,
                "dead_lettered": t.dead_lettered, "dropped": t.dropped, "handed_back": t.handed_back,
                "pending": t.pending, "skipped": t.skipped,
            },
            "trees": {
                "emitted": t.trees_emitted, "acked": t.trees_acked, "failed": t.trees_failed,
                "timed_out": t.trees_timed_out, "pending": t.trees_pending, "replayed": t.replayed,
            },
            "latency_us": {
                "mean": (self.latency.mean * 10.0).round() / 10.0, "p50": self.latency.p50,
                "p99": self.latency.p99, "p999": self.latency.p999, "max": self.latency.max,
            },
            "spouts": self.spouts.iter().map(|(n, s)| (n.clone(), spout_json(s))).collect::<Map<_, _>>(),
            "bolts": bolts,
            "errors": self.errors.iter().map(error_json).collect::<Vec<_>>(),
        })
    }
}

fn spout_json(s: &SpoutFigures) -> Value {
    json!({
        "read": s.read, "emitted": s.trees_emitted + s.untracked, "acked": s.trees_acked,
        "failed": s.trees_failed + s.trees_timed_out, "pending": s.pending,
    })
}

fn error_json(e: &ErrorLine) -> Value {
    json!({
        "component": e.component, "class": e.class.as_str(), "message": e.message, "count": e.count,
    })
}

fn seconds(d: Duration) -> f64 {
    (d.as_secs_f64() * 1000.0).round() / 1000.0
}
