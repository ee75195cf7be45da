//! Runs a topology to its end in virtual time.
//!
//! In: a manifest, rows for its spouts. Out: what its components emitted, what its spouts were told. Invariant: a
//! topology that can't end is an error that says where it stands, never a test that hangs.

use super::capture::{CaptureFactory, Captured};
use super::feeder::{Feeder, Tracker};
use crate::assemble::{Host, Loaded, Natives, ReadError, Source, StartError};
use crate::json::{row_of, row_values};
use crate::runtime::{Clock, Ended, How, LaunchError, ManualClock, NativeFactory, Stalled, launch_stepped};
use anchorbolt_core::manifest::kinds::SinkKind;
use anchorbolt_core::plan::{Code, Role};
use anchorbolt_core::port::{Bolt, Collector, Declaration, InstanceFactory, Tuples};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The rows of a stream or of a source: the values of each.
pub type Values = Vec<Vec<Value>>;

/// Why a test could not be run.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    /// wasmtime can't work here.
    #[error("{0}")]
    Host(String),
    /// The manifest can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It has mistakes; each with its code.
    #[error("the topology has mistakes:\n{}", .0.join("\n"))]
    Mistakes(Vec<String>),
    /// A spout that the topology does not have was fed, or one that it has was not.
    #[error("{0}")]
    Feed(String),
    /// It did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It stands still, and nothing is due.
    #[error(transparent)]
    Stalled(#[from] Stalled),
    /// A row can't be said in JSON, or is none.
    #[error("{0}")]
    Row(String),
}

/// Encoded rows for a spout, and what it will be told.
type Feed = (Arc<Vec<Vec<u8>>>, Tracker);

/// A topology under test.
pub struct TopologyTest {
    source: Source,
    natives: Natives,
    feeds: BTreeMap<String, Feed>,
    seed: u64,
}

/// How a test ended.
pub struct Completed {
    /// How the run ended, with its report. Time in it is virtual.
    pub ended: Ended,
    /// How much virtual time went by.
    pub took: Duration,
    trackers: BTreeMap<String, Tracker>,
    /// By bolt: the names of its streams, and what it emitted.
    outputs: BTreeMap<String, (Vec<String>, Captured)>,
}

impl TopologyTest {
    /// Of this manifest, with its real plugins.
    pub fn new(manifest: impl Into<std::path::PathBuf>) -> TopologyTest {
        let (natives, feeds) = (Natives::default(), BTreeMap::new());
        TopologyTest { source: Source::new(manifest), natives, feeds, seed: 0 }
    }

    /// Changes a value of the manifest, as `--set` does: `bolts.count.config.top=20`.
    #[must_use]
    pub fn set(mut self, assignment: &str) -> TopologyTest {
        self.source.sets.push(assignment.to_owned());
        self
    }

    /// A native bolt in the place of the manifest's.
    #[must_use]
    pub fn bolt(
        mut self,
        name: &str,
        declaration: Declaration,
        make: impl Fn() -> Box<dyn Bolt> + Send + Sync + 'static,
    ) -> TopologyTest {
        self.natives = self.natives.bolt(name, declaration, make);
        self
    }

    /// These rows in the place of a spout's source: each a message, with the fields that the spout declares.
    ///
    /// # Errors
    /// A row is nested too deep.
    pub fn feed(mut self, spout: &str, rows: Values) -> Result<TopologyTest, TestError> {
        let rows: Result<Vec<_>, _> = rows.iter().map(|row| row_of(row)).collect();
        let rows = Arc::new(rows.map_err(TestError::Row)?);
        self.feeds.insert(spout.to_owned(), (rows, Tracker::default()));
        Ok(self)
    }

    /// What all random numbers of the host begin with: edges, pauses before retries. 0 unless set.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> TopologyTest {
        self.seed = seed;
        self
    }

    /// Runs it until every message has come to its end.
    ///
    /// # Errors
    /// The topology has mistakes, does not start, or stands still before the end.
    pub fn complete(mut self) -> Result<Completed, TestError> {
        let mut loaded = host()?.load_with(&self.source, std::mem::take(&mut self.natives))?;
        if !loaded.is_ok() {
            let texts = loaded.diagnostics.iter().map(|d| format!("{}: {}", d.code, d.message));
            return Err(TestError::Mistakes(texts.collect()));
        }
        self.replace(&mut loaded)?;
        let clock = ManualClock::new();
        let how = How { until_drained: true, limit: None };
        let (plan, mut parts) = loaded.into_parts(how, clock.clone())?;
        parts.seed = Some(self.seed);
        let mut outputs = BTreeMap::new();
        for component in plan.components.iter().filter(|c| matches!(c.role, Role::Bolt(_))) {
            let Some(bolt) = parts.bolts.remove(&component.name) else { continue };
            let captured = Captured::default();
            let factory = CaptureFactory { bolt, captured: Arc::clone(&captured) };
            parts.bolts.insert(component.name.clone(), Arc::new(factory));
            let names = component.outputs.iter().map(|output| output.name.clone()).collect();
            outputs.insert(component.name.clone(), (names, captured));
        }
        let ended = launch_stepped(plan, parts)?.run(&clock)?;
        let trackers = self.feeds.into_iter().map(|(name, (_, tracker))| (name, tracker)).collect();
        let took = Duration::from_nanos(clock.now().0);
        Ok(Completed { ended, took, trackers, outputs })
    }

    /// Feeders in the place of spouts, and sinks that write nothing.
    fn replace(&self, loaded: &mut Loaded) -> Result<(), TestError> {
        let components = loaded.plan.iter().flat_map(|plan| plan.components.clone()).collect::<Vec<_>>();
        let spouts: Vec<&str> =
            components.iter().filter(|c| matches!(c.role, Role::Spout(_))).map(|c| c.name.as_str()).collect();
        if let Some(name) = self.feeds.keys().find(|name| !spouts.contains(&name.as_str())) {
            return Err(TestError::Feed(format!("`{name}` was fed, and is no spout of the topology")));
        }
        for component in &components {
            match &component.role {
                Role::Spout(_) => {
                    let Some((rows, tracker)) = self.feeds.get(&component.name).cloned() else {
                        let text = format!("spout `{}` was not fed: give it rows, or none", component.name);
                        return Err(TestError::Feed(text));
                    };
                    loaded.replace_spout(&component.name, move |_| {
                        Box::new(Feeder::new(Arc::clone(&rows), tracker.clone()))
                    });
                }
                Role::Bolt(bolt) => {
                    if let Code::Native(SinkKind::Jsonl { .. } | SinkKind::Stdout) = bolt.code {
                        let silent = NativeFactory::new(Declaration::default(), || Box::new(Silent));
                        loaded.replace_bolt(&component.name, Arc::new(silent) as Arc<dyn InstanceFactory>);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Completed {
    /// The rows that a component emitted on stream `default`, or on the only one it has.
    ///
    /// # Panics
    /// There is no such bolt.
    pub fn rows(&self, bolt: &str) -> Values {
        let (streams, _) = self.output(bolt);
        let stream = if streams.len() == 1 { streams[0].clone() } else { "default".to_owned() };
        self.rows_of(bolt, &stream)
    }

    /// The rows that a bolt emitted on a stream, in the order in which its calls returned.
    ///
    /// # Panics
    /// There is no such bolt or stream, or a row can't be said in JSON.
    pub fn rows_of(&self, bolt: &str, stream: &str) -> Values {
        let (streams, captured) = self.output(bolt);
        let index = streams.iter().position(|name| name == stream);
        let index =
            index.unwrap_or_else(|| panic!("bolt `{bolt}` has no stream `{stream}`, only {streams:?}"));
        let captured = captured.lock();
        let rows = captured.iter().filter(|(of, _)| *of as usize == index);
        rows.map(|(_, row)| row_values(row).unwrap_or_else(|error| panic!("{bolt}: {error}"))).collect()
    }

    /// What a spout was told of its messages.
    ///
    /// # Panics
    /// That spout was not fed.
    pub fn tracker(&self, spout: &str) -> &Tracker {
        self.trackers.get(spout).unwrap_or_else(|| panic!("`{spout}` was not fed"))
    }

    fn output(&self, bolt: &str) -> &(Vec<String>, Captured) {
        self.outputs.get(bolt).unwrap_or_else(|| panic!("the topology has no bolt `{bolt}`"))
    }
}

/// Runs a topology over these rows in the place of its spouts' sources; gives what each bolt emitted on its first
/// stream. For more, see [`TopologyTest`].
///
/// # Errors
/// As [`TopologyTest::complete`].
pub fn complete_topology<'a>(
    manifest: &Path,
    inputs: impl IntoIterator<Item = (&'a str, Values)>,
) -> Result<BTreeMap<String, Values>, TestError> {
    let mut test = TopologyTest::new(manifest);
    for (spout, rows) in inputs {
        test = test.feed(spout, rows)?;
    }
    let completed = test.complete()?;
    let emit = completed.outputs.iter().filter_map(|(bolt, (streams, _))| Some((bolt, streams.first()?)));
    Ok(emit.map(|(bolt, stream)| (bolt.clone(), completed.rows_of(bolt, stream))).collect())
}

/// One engine for all tests of a process; compiled plugins are kept where the command keeps them.
fn host() -> Result<&'static Host, TestError> {
    static HOST: OnceLock<Result<Host, String>> = OnceLock::new();
    let made = HOST.get_or_init(|| Host::in_process(crate::assemble::cache_dir()).map_err(|e| e.to_string()));
    made.as_ref().map_err(|text| TestError::Host(text.clone()))
}

/// A sink that takes everything and writes nothing.
struct Silent;

impl Bolt for Silent {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        out.ack(&tuples.ids);
        Ok(())
    }
}

impl From<LaunchError> for TestError {
    fn from(error: LaunchError) -> TestError {
        TestError::Start(error.into())
    }
}
