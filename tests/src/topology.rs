//! Runs topologies in this process.
//!
//! In: a manifest in which `"guest:NAME"` stands for a plugin. Out: [`Ended`], with the sums of its report
//! checked. Invariant: nothing here waits for ever.

use crate::artifacts;
use anchorbolt_core::failure::Class;
use anchorbolt_core::port::{Bolt, Declaration, Spout};
use anchorbolt_host::assemble::{Host, Loaded, Natives, RunOptions, StartError};
use anchorbolt_host::runtime::{Ended, How, Running};
use anchorbolt_host::telemetry::{BoltFigures, ErrorLine, Report, SpoutFigures};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::Duration;
use tempfile::TempDir;

/// No run of a suite takes this long.
const LONGEST: Duration = Duration::from_secs(90);

/// A topology to be run, in a folder of its own.
pub struct Topology {
    text: String,
    dir: TempDir,
    natives: Natives,
}

/// The host of this process: plugins are compiled once.
pub fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| {
        // Shown for a test that fails.
        let log = tracing_subscriber::fmt().with_test_writer().with_ansi(false).try_init();
        log.expect("nobody else logs here");
        Host::in_process(Some(artifacts::cache_dir())).expect("wasmtime works here")
    })
}

impl Topology {
    /// A topology with this manifest.
    pub fn new(text: &str) -> Topology {
        Topology {
            text: with_guests(text),
            dir: tempfile::tempdir().expect("a temporary folder"),
            natives: Natives::default(),
        }
    }

    /// Its folder.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file into its folder.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir().join(name);
        std::fs::write(&path, bytes).expect("a file is written");
        path
    }

    /// Puts a native spout in the place of the one that the manifest names.
    #[must_use]
    pub fn spout<S: Spout + 'static>(
        mut self,
        name: &str,
        declaration: Declaration,
        make: impl Fn(u32) -> S + Send + 'static,
    ) -> Topology {
        self.natives = self.natives.spout(name, declaration, move |task| Box::new(make(task)));
        self
    }

    /// Puts a native bolt in the place of the one that the manifest names.
    #[must_use]
    pub fn bolt<B: Bolt + 'static>(
        mut self,
        name: &str,
        declaration: Declaration,
        make: impl Fn() -> B + Send + Sync + 'static,
    ) -> Topology {
        self.natives = self.natives.bolt(name, declaration, move || Box::new(make()));
        self
    }

    /// Loads it, with whatever mistakes it has.
    pub fn load(&mut self) -> Loaded {
        let natives = std::mem::take(&mut self.natives);
        host().load_text(&self.text, "topology.toml", &[], self.dir.path(), natives)
    }

    /// Starts it, if it can.
    ///
    /// # Errors
    /// As [`Loaded::start`].
    pub fn try_start(&mut self, how: How) -> Result<Running, StartError> {
        let loaded = self.load();
        assert!(loaded.is_ok(), "{:#?}", loaded.diagnostics);
        loaded.start(RunOptions { how, ..RunOptions::default() })
    }

    /// Starts it.
    pub fn start(&mut self, how: How) -> Running {
        self.try_start(how).unwrap_or_else(|e| panic!("it did not start: {e}"))
    }

    /// Runs it until it is drained.
    pub fn run(&mut self) -> Ended {
        let how = How { until_drained: true, limit: None };
        wait(self.start(how), how)
    }
}

/// Waits for the end of a run.
pub fn wait(running: Running, how: How) -> Ended {
    let watch = running.watch();
    let (sender, ended) = channel();
    std::thread::spawn(move || sender.send(running.wait(how)).is_ok());
    match ended.recv_timeout(LONGEST) {
        Ok(ended) => {
            check_sums(&ended.report);
            ended
        }
        Err(e) => panic!("the run hangs ({e}); so far: {:#}", watch.report().json()),
    }
}

/// The two sums of the contract.
pub fn check_sums(report: &Report) {
    let t = report.totals();
    let ends = t.completed + t.untracked + t.dead_lettered + t.dropped + t.handed_back + t.pending;
    assert_eq!(t.read, ends, "messages: {t:?}");
    let ends = t.trees_acked + t.trees_failed + t.trees_timed_out + t.trees_pending;
    assert_eq!(t.trees_emitted, ends, "trees: {t:?}");
}

/// The run went as well as a run can: all completed at the first attempt, nothing left anywhere.
pub fn check_flawless(ended: &Ended, messages: u64) -> SpoutFigures {
    let t = ended.report.totals();
    let json = || format!("{:#}", ended.report.json());
    assert_eq!((t.read, t.completed, t.untracked, t.pending), (messages, messages, 0, 0), "{}", json());
    let bad = (t.dropped, t.dead_lettered, t.trees_failed, t.trees_timed_out, t.replayed, t.trees_pending);
    assert_eq!(bad, (0, 0, 0, 0, 0, 0), "{}", json());
    for (name, b) in &ended.report.bolts {
        assert_eq!((b.deaths, b.failed, b.stale, b.held, b.queued), (0, 0, 0, 0, 0), "{name}: {}", json());
    }
    assert!(ended.report.errors.is_empty(), "{}", json());
    assert_eq!(ended.exit_code(), 0);
    t
}

/// The figures of a bolt.
pub fn bolt<'a>(report: &'a Report, name: &str) -> &'a BoltFigures {
    let found = report.bolts.iter().find(|(n, _)| n == name);
    &found.unwrap_or_else(|| panic!("no bolt `{name}` in the report")).1
}

/// The only error of a class.
pub fn error(report: &Report, class: Class) -> &ErrorLine {
    let mut of_class = report.errors.iter().filter(|e| e.class == class);
    match (of_class.next(), of_class.next()) {
        (Some(one), None) => one,
        _ => panic!("not one error of class {class}: {:#?}", report.errors),
    }
}

/// `"guest:NAME"` becomes the path of the plugin.
pub fn with_guests(text: &str) -> String {
    let mut parts = text.split("guest:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('"').expect("a guest's name ends with a quote");
        out += &format!("{}\"{rest}", artifacts::guest(name).display());
    }
    out
}
