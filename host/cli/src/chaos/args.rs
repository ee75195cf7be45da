//! The arguments of `chaos`, and the plan's file.

use crate::args::TopologyArgs;
use anchorbolt_host::chaos::Plan;
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `chaos`
#[derive(Debug, Args)]
pub(crate) struct ChaosArgs {
    #[command(flatten)]
    pub(crate) topology: TopologyArgs,
    /// Says when faults come; the same seed plans the same ones. Random if not given.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// How many faults of which kind, as TOML: `kills`, `kill`, `refuse-memory`, `stall`, `stall-for`, `drop`, `delay`,
    /// `delay-for`, `one-in`.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Change a value of the plan: `kill=40`. May be given several times.
    #[arg(long = "fault", value_name = "KEY=VALUE")]
    pub(crate) faults: Vec<String>,
    /// How often the whole host is killed; 3 if the plan does not say.
    #[arg(long, value_name = "N")]
    pub(crate) kills: Option<u32>,
    /// Leave this field of outputs out of the comparison: one that depends on order or on replays, such as a running
    /// total. May be given several times.
    #[arg(long = "ignore", value_name = "FIELD")]
    pub(crate) ignore: Vec<String>,
    /// The message timeout under faults: lost batches are replayed after it.
    #[arg(long, value_name = "MS", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(10..))]
    pub(crate) timeout_ms: u64,
    /// A run that takes longer than this many seconds has hung.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) patience: u64,
    /// Keep what the runs wrote in this folder, which must be empty or new.
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Print the verdict as JSON on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

impl ChaosArgs {
    pub(crate) fn patience(&self) -> Duration {
        Duration::from_secs(self.patience)
    }

    /// The plan of one process, and how often the host is killed.
    pub(super) fn plan(&self) -> Result<(Plan, u32), String> {
        let (mut plan, mut kills) = (Plan::default(), 3);
        if let Some(path) = &self.plan {
            kills = read(path, &mut plan)?.unwrap_or(kills);
        }
        for fault in &self.faults {
            let (key, value) = fault
                .split_once('=')
                .ok_or_else(|| format!("--fault {fault}: it is KEY=VALUE, such as kill=40"))?;
            plan.set(key, value).map_err(|error| format!("--fault {fault}: {error}"))?;
        }
        plan.seed = self.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        Ok((plan, self.kills.unwrap_or(kills)))
    }
}

/// Reads a plan's file; answers `kills`.
fn read(path: &Path, plan: &mut Plan) -> Result<Option<u32>, String> {
    let wrong = |what: String| format!("the plan {}: {what}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    let mut kills = None;
    for (key, value) in &table {
        if key == "kills" {
            let number = value.as_integer().and_then(|n| u32::try_from(n).ok());
            kills = Some(number.ok_or_else(|| wrong("`kills` is a whole number".to_owned()))?);
            continue;
        }
        let value = match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Integer(number) => number.to_string(),
            _ => return Err(wrong(format!("`{key}` is a whole number, or a duration such as \"300ms\""))),
        };
        plan.set(key, &value).map_err(|error| wrong(error.to_string()))?;
    }
    Ok(kills)
}
