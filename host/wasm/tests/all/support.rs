//! Finds or builds the probe guest, and makes instances of it with few words.

use anchorbolt_core::failure::Class;
use anchorbolt_core::manifest::{Allow, Limits};
use anchorbolt_core::port::{
    Call, CallError, CallServices, Context, Death, Emissions, Instance, InstanceFactory, Op,
};
use anchorbolt_core::port::{TupleInfo, Tuples};
use anchorbolt_wasm::{
    Engine, EngineOptions, Factory, GuestEvents, InProcess, Level, Metric, Plugin, Settings,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// The bytes of the probe, built once for all tests.
pub fn probe_bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/probe");
        let target = target_dir().join("probe");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--quiet", "--release", "--target", "wasm32-wasip2"]);
        cargo.arg("--target-dir").arg(&target).current_dir(source);
        assert!(cargo.status().expect("cargo runs").success(), "the probe does not build");
        std::fs::read(target.join("wasm32-wasip2/release/probe.wasm")).expect("built")
    })
}

/// The target folder that this test was built into.
fn target_dir() -> PathBuf {
    let exe = std::env::current_exe().expect("path");
    exe.ancestors().find(|dir| dir.join("CACHEDIR.TAG").exists()).expect("a target folder").to_owned()
}

pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| new_engine(None))
}

pub fn new_engine(cache_dir: Option<PathBuf>) -> Engine {
    Engine::new(EngineOptions { compiler: Arc::new(InProcess), cache_dir }).expect("engine")
}

pub fn plugin() -> &'static Plugin {
    static PLUGIN: OnceLock<Plugin> = OnceLock::new();
    PLUGIN.get_or_init(|| Plugin::from_bytes(engine(), probe_bytes()).expect("loads"))
}

pub fn settings() -> Settings {
    Settings {
        component: "probe".into(),
        limits: Limits {
            memory_bytes: 64 << 20,
            deadline: Duration::from_secs(1),
            table_elements: 100_000,
            emissions_per_tuple: 100_000,
            emitted_bytes_per_tuple: 64 << 20,
            anchors_per_tuple: 100_000,
            held_tuples: 1_000_000,
            tuple_bytes: 16 << 20,
            log_bytes_per_second: 64 << 10,
            log_lines_per_second: 1000,
        },
        allow: Allow::default(),
        config_json: String::new(),
        base: std::env::temp_dir(),
    }
}

/// Keeps what a guest logs and counts.
#[derive(Default)]
pub struct Kept {
    pub lines: Mutex<Vec<(Level, String)>>,
    pub metrics: Mutex<Vec<(String, Metric)>>,
    pub refused: Mutex<Vec<String>>,
}

impl GuestEvents for Kept {
    fn log(&self, level: Level, line: &str) {
        self.lines.lock().unwrap().push((level, line.to_owned()));
    }
    fn metric(&self, name: &str, value: Metric) {
        self.metrics.lock().unwrap().push((name.to_owned(), value));
    }
    fn refused(&self, text: &str) {
        self.refused.lock().unwrap().push(text.to_owned());
    }
}

/// An instance of the probe with its factory.
pub struct Probe {
    pub factory: Factory,
    pub kept: Arc<Kept>,
    pub instance: Box<dyn Instance>,
}

impl Probe {
    pub fn new() -> Probe {
        Probe::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut Settings)) -> Probe {
        let mut settings = settings();
        change(&mut settings);
        let declaration = plugin().declare(&settings).expect("declares");
        let kept = Arc::new(Kept::default());
        let factory = Factory::new(plugin().clone(), declaration, settings, kept.clone()).expect("grants");
        let instance = factory.create().expect("instance");
        Probe { factory, kept, instance }
    }

    pub fn fresh(&mut self) {
        self.instance = self.factory.create().expect("instance");
    }

    /// What it was refused since the last look.
    pub fn refused(&self) -> Vec<String> {
        std::mem::take(&mut *self.kept.refused.lock().unwrap())
    }

    pub fn prepare(&mut self, config: &str) -> Result<(), CallError> {
        self.instance.prepare(&Context { config: config.into(), ..Context::default() })
    }

    /// One call with `n` tuples, the first of which is the command. The log comes back.
    pub fn batch(&mut self, command: &str, n: u32) -> Result<Vec<Op>, CallError> {
        let mut call = Call { log: vec![], tuples: n, services: Some(Box::new(Answers)) };
        let done = self.instance.execute(&mut tuples(command, n), &mut call);
        assert!(call.services.is_some(), "the services come back");
        if matches!(done, Err(CallError::Died(_))) {
            assert!(call.log.is_empty(), "a death leaves nothing");
        }
        done.map(|()| call.log)
    }

    pub fn run(&mut self, command: &str) -> Result<Vec<Op>, CallError> {
        self.batch(command, 1)
    }

    /// The text that the command answers with.
    pub fn ask(&mut self, command: &str) -> String {
        let log = self.run(command).expect(command);
        match log.last() {
            Some(Op::Emit(e)) => String::from_utf8_lossy(&e.data).into_owned(),
            other => panic!("{command} answered {other:?}"),
        }
    }

    /// The death that the command leads to; a fresh instance follows.
    pub fn dies(&mut self, command: &str) -> Death {
        let death = died(self.run(command).map(|_| ()));
        self.fresh();
        death
    }
}

pub fn tuples(command: &str, n: u32) -> Tuples {
    let mut t = Tuples { offsets: vec![0], data: command.as_bytes().to_vec(), ..Tuples::default() };
    for id in 0..n {
        t.ids.push(id + 1);
        t.inputs.push(0);
        t.offsets.push(t.data.len() as u32);
    }
    t
}

pub fn died<T: std::fmt::Debug>(result: Result<T, CallError>) -> Death {
    match result {
        Err(CallError::Died(death)) => death,
        other => panic!("no death: {other:?}"),
    }
}

pub fn assert_death(death: &Death, class: Class, text: &str) {
    assert!(death.class == class && death.reason.contains(text), "{death:?} is not {class} with {text:?}");
}

/// Services that refuse handle 13.
struct Answers;

impl CallServices for Answers {
    fn place(&mut self, emissions: &Emissions) -> Result<Vec<Vec<u32>>, String> {
        Ok(emissions.streams.iter().map(|_| vec![7, 8]).collect())
    }
    fn describe(&mut self, ids: &[u32]) -> Result<Vec<TupleInfo>, String> {
        if ids.contains(&13) {
            return Err("handle 13 is not live".into());
        }
        Ok(ids.iter().map(|&id| TupleInfo { source_task: id, attempt: 1, ..TupleInfo::default() }).collect())
    }
    fn progress(&mut self, _: u32) {}
}
