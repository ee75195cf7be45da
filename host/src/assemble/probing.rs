//! A plugin of the manifest, alone with one tuple.
//!
//! In: a loaded topology, a bolt's name and a tuple. Out: a [`Probed`]: what [`probe::run`] found, and what the guest
//! logged, printed and counted meanwhile. Invariant: the instance has the limits and grants of the manifest, and what
//! it says is kept within a bound.

use super::{Loaded, StartError};
use crate::probe::{self, NotReady, Outcome, Tuple};
use anchorbolt_core::manifest::{Code, suggest};
use anchorbolt_core::plan::{BoltPlan, Plan, Role};
use anchorbolt_wasm::{GuestEvents, Level, Metric, Printed};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// No more lines are kept; their rates are limited, too.
const LINES_MAX: usize = 10_000;

/// What came of a tuple, and what the guest said.
#[derive(Clone, Debug)]
pub struct Probed {
    /// What the bolt did with the tuple.
    pub outcome: Outcome,
    /// What it logged and printed, from its start on, in order.
    pub said: Vec<Said>,
    /// Its own figures, by name.
    pub metrics: BTreeMap<String, Figure>,
}

/// One line of a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// How it was said.
    pub way: Way,
    /// The line, without control characters.
    pub text: String,
}

/// How a guest says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As a log line.
    Log(Level),
    /// On its standard output or standard error.
    Print(Printed),
}

/// One figure, over the whole life of the instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// A counter's sum.
    Counter(u64),
    /// A gauge's last value.
    Gauge(f64),
    /// The values of a distribution.
    Histogram {
        /// How many.
        count: u64,
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
        /// All together.
        sum: f64,
    },
}

/// Why a bolt could not be given the tuple.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// It can't be started as the manifest has it.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The topology has no such bolt.
    #[error("the topology has no bolt `{bolt}`; {help}")]
    NoBolt {
        /// The name.
        bolt: String,
        /// Which are there.
        help: String,
    },
    /// It is no plugin.
    #[error("bolt `{bolt}` is the host's own, of kind {kind}; only plugins can be run alone")]
    Native {
        /// The bolt.
        bolt: String,
        /// Its kind.
        kind: &'static str,
    },
    /// The instance did not get as far as the tuple.
    #[error("bolt `{bolt}`: {error}")]
    NotReady {
        /// The bolt.
        bolt: String,
        /// Why.
        error: NotReady,
        /// What it said before.
        said: Vec<Said>,
    },
}

impl Loaded {
    /// Makes one instance of a bolt's plugin and has it work on one tuple. Nothing of the topology runs.
    ///
    /// # Errors
    /// There is no such plugin, it can't have its grants, or it does not prepare.
    pub fn probe(&self, bolt: &str, tuple: &Tuple) -> Result<Probed, ProbeError> {
        let plan = self.plan.as_ref().ok_or(StartError::Mistakes)?;
        let (number, parts) = bolt_of(plan, bolt)?;
        let plugin = match (&parts.code, self.plugins.get(bolt)) {
            (Code::Plugin { .. }, Some(plugin)) => plugin.clone(),
            (Code::Native(kind), _) => {
                return Err(ProbeError::Native { bolt: bolt.to_owned(), kind: kind.name() });
            }
            (Code::Plugin { .. }, None) => {
                return Err(ProbeError::Native { bolt: bolt.to_owned(), kind: "of the embedder" });
            }
        };
        let kept = Arc::new(Kept::default());
        let factory = self.guests(bolt, parts, plugin.0, plugin.1, kept.clone())?;
        let outcome = probe::run(plan, number, &factory, tuple);
        drop(factory);
        let (said, metrics) =
            (std::mem::take(&mut *kept.said.lock()), std::mem::take(&mut *kept.metrics.lock()));
        match outcome {
            Ok(outcome) => Ok(Probed { outcome, said, metrics }),
            Err(error) => Err(ProbeError::NotReady { bolt: bolt.to_owned(), error, said }),
        }
    }
}

fn bolt_of<'p>(plan: &'p Plan, bolt: &str) -> Result<(usize, &'p BoltPlan), ProbeError> {
    if let Some((number, component)) = plan.component(bolt)
        && let Role::Bolt(parts) = &component.role
    {
        return Ok((number, parts));
    }
    let names = plan.components.iter().filter(|c| matches!(c.role, Role::Bolt(_))).map(|c| &*c.name);
    let help = suggest::help(bolt, "bolts", names.collect::<Vec<_>>());
    Err(ProbeError::NoBolt { bolt: bolt.to_owned(), help })
}

/// Keeps what a guest says.
#[derive(Default)]
struct Kept {
    said: Mutex<Vec<Said>>,
    metrics: Mutex<BTreeMap<String, Figure>>,
}

impl Kept {
    fn keep(&self, way: Way, line: &str) {
        let mut said = self.said.lock();
        if said.len() < LINES_MAX {
            said.push(Said { way, text: line.to_owned() });
        }
    }
}

impl GuestEvents for Kept {
    fn log(&self, level: Level, line: &str) {
        self.keep(Way::Log(level), line);
    }

    fn print(&self, to: Printed, line: &str) {
        self.keep(Way::Print(to), line);
    }

    fn metric(&self, name: &str, value: Metric) {
        let mut metrics = self.metrics.lock();
        let old = metrics.get(name).copied();
        metrics.insert(name.to_owned(), add(old, value));
    }
}

/// A figure with one more value; one of another kind begins anew.
fn add(old: Option<Figure>, value: Metric) -> Figure {
    match (value, old) {
        (Metric::Counter(n), Some(Figure::Counter(sum))) => Figure::Counter(sum.saturating_add(n)),
        (Metric::Counter(n), _) => Figure::Counter(n),
        (Metric::Gauge(v), _) => Figure::Gauge(v),
        (Metric::Histogram(v), Some(Figure::Histogram { count, min, max, sum })) => {
            Figure::Histogram { count: count + 1, min: min.min(v), max: max.max(v), sum: sum + v }
        }
        (Metric::Histogram(v), _) => Figure::Histogram { count: 1, min: v, max: v, sum: v },
    }
}
