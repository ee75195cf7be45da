//! What a topology needs so that its runs can be compared: outputs of their own, and values that bear faults.
//!
//! In: a checked plan. Out: the `--set` arguments of each run, and where its outputs are; or why this topology can't be
//! compared. Invariant: an override only moves an output, or lets the run outlive more faults.

use super::args::ChaosArgs;
use anchorbolt_host::chaos::Plan as Faults;
use anchorbolt_host::core::manifest::Ackers;
use anchorbolt_host::core::manifest::kinds::{SinkKind, SpoutKind};
use anchorbolt_host::core::plan::{BoltPlan, Code, Plan, Role};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the rows of one output are, below the folder of a run.
#[derive(Clone, Debug)]
pub(super) enum Output {
    /// A file of JSON lines.
    File(String),
    /// Standard output of each process.
    Stdout,
    /// A folder that a plugin may write to.
    Folder(String),
}

/// What is the same for all runs.
pub(super) struct Setup {
    pub(super) manifest: PathBuf,
    sets: Vec<String>,
    pub(super) faults: Faults,
    pub(super) kills: u32,
    /// By the bolt that writes it.
    pub(super) outputs: Vec<(String, Output)>,
    granted: Vec<(String, BoltPlan)>,
    bolts: Vec<String>,
    timeout: Duration,
}

impl Setup {
    /// Looks at the topology.
    pub(super) fn new(args: &ChaosArgs, plan: &Plan) -> Result<Setup, String> {
        let (faults, kills) = args.plan()?;
        if plan.topology.ackers == Ackers::Off {
            return Err(
                "tracking is off (`ackers = 0`), so nothing is replayed and every fault loses something"
                    .to_owned(),
            );
        }
        let mut setup = Setup {
            manifest: args.topology.manifest.clone(),
            sets: args.topology.sets.clone(),
            faults,
            kills,
            outputs: vec![],
            granted: vec![],
            bolts: vec![],
            timeout: Duration::from_millis(args.timeout_ms),
        };
        for component in &plan.components {
            match &component.role {
                Role::Spout(spout) => {
                    ends_and_repeats(&component.name, &spout.kind)?;
                    // What would be dropped, or end the run, is kept: dead letters can be compared.
                    let kept = format!("spouts.{}.retry.on-exhausted=\"dead-letter\"", component.name);
                    setup.sets.push(kept);
                }
                Role::Bolt(bolt) => setup.look_at(&component.name, bolt),
            }
        }
        if setup.outputs.is_empty() {
            return Err("there is nothing to compare: give the topology a `jsonl` or `stdout` sink, or a plugin that \
                        may write to a folder (`allow.dirs`)"
                .to_owned());
        }
        setup.timeout = setup.timeout.min(plan.topology.message_timeout);
        Ok(setup)
    }

    fn look_at(&mut self, name: &str, bolt: &BoltPlan) {
        self.bolts.push(name.to_owned());
        if let Code::Plugin { .. } = &bolt.code {
            // A deadline that the manifest names must stay below the timeout.
            self.timeout = self.timeout.max(bolt.limits.deadline.saturating_mul(2));
        }
        let output = match &bolt.code {
            Code::Native(SinkKind::Jsonl { .. }) => Output::File(format!("{name}.jsonl")),
            Code::Native(SinkKind::Stdout) => Output::Stdout,
            Code::Plugin { .. } if bolt.allow.dirs.iter().any(|dir| dir.write) => {
                self.granted.push((name.to_owned(), bolt.clone()));
                Output::Folder(format!("{name}.dirs"))
            }
            _ => return,
        };
        self.outputs.push((name.to_owned(), output));
    }

    /// The `--set` arguments of a run that writes into this folder, which has the folders that plugins write to.
    pub(super) fn sets(&self, folder: &Path, under_faults: bool) -> Result<Vec<String>, String> {
        let mut sets = self.sets.clone();
        for (name, output) in &self.outputs {
            if let Output::File(file) = output {
                sets.push(format!("bolts.{name}.path={}", quoted(&folder.join(file))));
            }
        }
        for (name, bolt) in &self.granted {
            sets.push(format!("bolts.{name}.allow.dirs=[{}]", self.dirs(name, bolt, folder)?.join(", ")));
        }
        if under_faults {
            sets.push(format!("topology.message-timeout=\"{}ms\"", self.timeout.as_millis()));
            sets.extend(self.bolts.iter().map(|name| format!("bolts.{name}.restart.budget=1000000")));
        }
        Ok(sets)
    }

    /// The grants of a bolt, with folders of the run where it may write.
    fn dirs(&self, name: &str, bolt: &BoltPlan, folder: &Path) -> Result<Vec<String>, String> {
        let mut dirs = vec![];
        for (i, dir) in bolt.allow.dirs.iter().enumerate() {
            let (host, access) = if dir.write {
                let own = folder.join(format!("{name}.dirs")).join(i.to_string());
                std::fs::create_dir_all(&own).map_err(|e| format!("can't make {}: {e}", own.display()))?;
                (own, "read-write")
            } else {
                (PathBuf::from(&dir.host), "read")
            };
            let guest = serde_json::Value::from(dir.guest.as_str());
            dirs.push(format!("{{ host = {}, guest = {guest}, access = \"{access}\" }}", quoted(&host)));
        }
        Ok(dirs)
    }
}

/// A TOML string.
fn quoted(path: &Path) -> String {
    serde_json::Value::from(path.to_string_lossy()).to_string()
}

/// Only what ends by itself and can be read again after a kill can be compared.
fn ends_and_repeats(name: &str, kind: &SpoutKind) -> Result<(), String> {
    let why = match kind {
        SpoutKind::Lines(lines) if lines.follow => "follows its files and never ends: leave `follow` out",
        SpoutKind::Generate(generate) if generate.count.is_none() => "never ends: give it a `count`",
        SpoutKind::Stdin => {
            "can't be read again after a kill: put the lines into a file and use kind = \"lines\""
        }
        _ => return Ok(()),
    };
    Err(format!("spout `{name}` {why}"))
}
