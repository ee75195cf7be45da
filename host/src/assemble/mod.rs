//! From a manifest to a running topology: the only file that knows every module.
//!
//! In: the manifest's file and `--set` arguments. Out: [`Loaded`] with every mistake at once, and from it a
//! [`Running`](crate::runtime::Running) topology. Invariant: a plugin that does not load hides no mistake elsewhere.
//!
//! ```no_run
//! use anchorbolt_host::assemble::{Host, RunOptions, Source};
//! use anchorbolt_host::runtime::How;
//!
//! let host = Host::in_process(None)?;
//! let loaded = host.load(&Source::new("topology.toml"))?;
//! for diagnostic in &loaded.diagnostics {
//!     eprintln!("{}", diagnostic.message);
//! }
//! let how = How { until_drained: true, ..How::default() };
//! let running = loaded.start(RunOptions { how, ..RunOptions::default() })?;
//! let ended = running.wait(how);
//! println!("{:#}", ended.report.json());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod groupings;
mod natives;
mod plugins;
mod probing;
mod replay;
mod start;

pub use builder::{
    BoltCode, BoltDeclarer, GlobalStreamId, Kind, NativeBolt, NativeSpout, SpoutCode, SpoutDeclarer,
    TopologyBuilder,
};
use groupings::Groupings;
pub use natives::Natives;
pub use probing::{Figure, ProbeError, Probed, Said, Way};
pub use replay::{Replayed, Replaying};

use crate::chaos;
use crate::durable::DurableError;
use crate::runtime::{How, LaunchError, SpoutFactory};
use crate::sinks::OutputClosed;
use crate::telemetry::Errors;
use anchorbolt_core::manifest::{Diagnostic, Manifest, Parsed, Sources, SpoutKind, Text, parse, sort};
use anchorbolt_core::plan::{Plan, Role, plan};
use anchorbolt_core::port::{Declaration, InstanceFactory};
use anchorbolt_wasm::{
    Compiler, Engine, EngineError, EngineOptions, GroupingPlugin, InProcess, Inspection, LoadError, Plugin,
    Settings,
};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where compiled plugins are kept unless asked otherwise: `$XDG_CACHE_HOME/anchorbolt`, or `~/.cache/anchorbolt`.
pub fn cache_dir() -> Option<PathBuf> {
    let var = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = var("XDG_CACHE_HOME").or_else(|| Some(var("HOME")?.join(".cache")));
    base.filter(|dir| dir.is_absolute()).map(|dir| dir.join("anchorbolt"))
}

/// A manifest is no longer than this.
const MANIFEST_BYTES_MAX: u64 = 16 << 20;

/// Where a topology comes from.
#[derive(Clone, Debug)]
pub struct Source {
    /// The manifest's file.
    pub path: PathBuf,
    /// `--set` arguments, each `PATH=VALUE`.
    pub sets: Vec<String>,
}

impl Source {
    /// A manifest as it is.
    pub fn new(path: impl Into<PathBuf>) -> Source {
        Source { path: path.into(), sets: vec![] }
    }

    /// Reads the manifest alone, without its plugins: enough for its name, whatever else is wrong with it.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn read(&self) -> Result<Parsed, ReadError> {
        let text = read_manifest(&self.path)?;
        let lookup = |name: &str| std::env::var(name).ok();
        let name = self.path.to_string_lossy();
        Ok(parse(&Text { name: &name, text: &text, sets: &self.sets, lookup: &lookup }))
    }
}

/// The manifest's file could not be read.
#[derive(Debug, thiserror::Error)]
#[error("can't read the manifest {}: {error}", .path.display())]
pub struct ReadError {
    /// Which file.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// Loads topologies. One engine serves all of a process.
pub struct Host {
    engine: Engine,
}

/// A manifest that was read, its plugins, and all that is wrong with them.
pub struct Loaded {
    /// What the manifest says.
    pub manifest: Manifest,
    /// The checked graph; none when anything is wrong.
    pub plan: Option<Plan>,
    /// Every mistake and warning, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that the diagnostics point into.
    pub sources: Sources,
    base: PathBuf,
    plugins: BTreeMap<String, (Plugin, Declaration)>,
    groupings: Groupings,
    native_bolts: BTreeMap<String, Arc<dyn InstanceFactory>>,
    native_spouts: BTreeMap<String, SpoutFactory>,
    output_closed: OutputClosed,
    errors: Arc<Errors>,
}

/// How to run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// When the run ends by itself.
    pub how: How,
    /// The data folder: what of the run outlives the process. None: nothing does, and messages that have failed for
    /// good are dropped.
    pub data_dir: Option<PathBuf>,
    /// Read from the beginning again: what was saved is removed, dead letters stay.
    pub reset: bool,
    /// Spouts read only when [`Control::activate`](crate::runtime::Control::activate) says so.
    pub inactive: bool,
    /// Faults on purpose.
    pub chaos: Option<chaos::Plan>,
}

/// Why a loaded topology did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It has mistakes: see [`Loaded::diagnostics`].
    #[error("the topology has mistakes")]
    Mistakes,
    /// A grant can't be given.
    #[error("bolt `{component}`: {reason}")]
    Grant {
        /// The bolt.
        component: String,
        /// Why.
        reason: String,
    },
    /// The data folder can't be used.
    #[error(transparent)]
    Data(#[from] DurableError),
    /// There are dead letters of spouts that the topology does not have.
    #[error("there are dead letters of spouts that the topology does not have: {}", .0.join(", "))]
    NoSpout(Vec<String>),
    /// It could not be launched.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

impl Host {
    /// A host with this compiler; compiled code is kept in `cache_dir`.
    ///
    /// # Errors
    /// When wasmtime can't work on this machine, or threads can't be had.
    pub fn new(compiler: Arc<dyn Compiler>, cache_dir: Option<PathBuf>) -> Result<Host, EngineError> {
        Ok(Host { engine: Engine::new(EngineOptions { compiler, cache_dir })? })
    }

    /// A host that compiles in this process: for tests, and for those who trust their plugins.
    ///
    /// # Errors
    /// As [`Host::new`].
    pub fn in_process(cache_dir: Option<PathBuf>) -> Result<Host, EngineError> {
        Host::new(Arc::new(InProcess), cache_dir)
    }

    /// Reads a manifest, loads its plugins, asks each what it declares, and checks how all fits together.
    ///
    /// # Errors
    /// Only when the file can't be read; mistakes in it are diagnostics.
    pub fn load(&self, source: &Source) -> Result<Loaded, ReadError> {
        self.load_with(source, Natives::default())
    }

    /// As [`Host::load`], with native components of the embedder's own.
    ///
    /// # Errors
    /// As [`Host::load`].
    pub fn load_with(&self, source: &Source, natives: Natives) -> Result<Loaded, ReadError> {
        let text = read_manifest(&source.path)?;
        let base = source.path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(self.load_text(&text, &source.path.to_string_lossy(), &source.sets, &base, natives))
    }

    /// As [`Host::load_with`], from text; `base` is the folder that paths are relative to.
    pub fn load_text(
        &self,
        text: &str,
        name: &str,
        sets: &[String],
        base: &Path,
        natives: Natives,
    ) -> Loaded {
        let lookup = |name: &str| std::env::var(name).ok();
        self.load_parsed(parse(&Text { name, text, sets, lookup: &lookup }), base, natives)
    }

    /// Loads the plugins of a manifest that was read, and checks how all fits together.
    fn load_parsed(&self, parsed: Parsed, base: &Path, natives: Natives) -> Loaded {
        let mut loaded = Loaded {
            manifest: parsed.manifest,
            plan: None,
            diagnostics: parsed.diagnostics,
            sources: parsed.sources,
            base: base.to_owned(),
            plugins: BTreeMap::new(),
            groupings: Groupings::default(),
            native_bolts: natives.bolts,
            native_spouts: natives.spouts,
            output_closed: OutputClosed::default(),
            errors: Arc::default(),
        };
        let mut declarations = natives.declarations;
        for bolt in &loaded.manifest.bolts {
            match plugins::load(&self.engine, bolt, base, &loaded.native_bolts) {
                None => {}
                Some(Ok((plugin, declaration))) => {
                    declarations.insert(bolt.name.value.clone(), declaration.clone());
                    loaded.plugins.insert(bolt.name.value.clone(), (plugin, declaration));
                }
                Some(Err(diagnostic)) => loaded.diagnostics.push(*diagnostic),
            }
        }
        loaded.groupings = Groupings::load(&self.engine, &loaded.manifest, base, &mut loaded.diagnostics);
        let planned = plan(&loaded.manifest, &declarations);
        loaded.diagnostics.extend(planned.diagnostics);
        if let Some(plan) = &planned.plan {
            loaded.groupings.check(plan, &loaded.manifest, base, &mut loaded.diagnostics);
        }
        sort(&mut loaded.diagnostics);
        let fine = !loaded.diagnostics.iter().any(Diagnostic::is_error);
        loaded.plan = planned.plan.filter(|_| fine);
        loaded
    }

    /// Loads one plugin and says what it is.
    ///
    /// # Errors
    /// When the file is neither a bolt nor a grouping for this host.
    pub fn inspect(&self, path: &Path, config_json: &str) -> Result<Inspection, LoadError> {
        let plugin = match Plugin::load(&self.engine, path) {
            Err(LoadError::IsGrouping) => return Ok(GroupingPlugin::load(&self.engine, path)?.inspect()),
            loaded => loaded?,
        };
        let settings = Settings {
            component: "inspect".to_owned(),
            limits: anchorbolt_core::manifest::Limits::default(),
            allow: Default::default(),
            config_json: config_json.to_owned(),
            base: PathBuf::new(),
        };
        Ok(plugin.inspect(&settings))
    }
}

impl Loaded {
    /// Whether it can run.
    pub fn is_ok(&self) -> bool {
        self.plan.is_some()
    }

    /// Whether any spout comes to an end by itself. An embedder's own spouts are believed to.
    pub fn has_end(&self) -> bool {
        let ends = |kind: &SpoutKind| match kind {
            SpoutKind::Lines(lines) => !lines.follow,
            SpoutKind::Generate(generate) => generate.count.is_some(),
            SpoutKind::Stdin => true,
        };
        let spouts = self.plan.iter().flat_map(|plan| &plan.components).filter_map(|c| match &c.role {
            Role::Spout(spout) => Some((&c.name, spout)),
            Role::Bolt(_) => None,
        });
        spouts.into_iter().any(|(name, spout)| self.native_spouts.contains_key(name) || ends(&spout.kind))
    }

    /// Says when the reader of standard output has gone: the run ends then.
    pub fn output_closed(&self) -> OutputClosed {
        self.output_closed.clone()
    }
}

fn read_manifest(path: &Path) -> Result<String, ReadError> {
    let wrap = |error| ReadError { path: path.to_owned(), error };
    let length = std::fs::metadata(path).map_err(wrap)?.len();
    if length > MANIFEST_BYTES_MAX {
        let text = format!("it has {length} bytes, more than {MANIFEST_BYTES_MAX}");
        return Err(wrap(io::Error::new(io::ErrorKind::FileTooLarge, text)));
    }
    std::fs::read_to_string(path).map_err(wrap)
}
