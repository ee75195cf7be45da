//! The arguments, as `--help` shows them.

use crate::chaos::ChaosArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Runs Storm-style topologies whose bolts are WebAssembly components.
#[derive(Debug, Parser)]
#[command(name = "anchorbolt", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a topology until it is stopped, or drained.
    Run(RunArgs),
    /// Check a manifest and its plugins, and show everything that is wrong.
    Check(CheckArgs),
    /// Show what a plugin declares, imports and exports.
    Inspect(InspectArgs),
    /// Run a topology under faults and kills, and compare what comes out with a calm run.
    Chaos(ChaosArgs),
    /// Look at messages that have failed for good: list, show, export, purge, replay.
    Dlq(crate::dlq::DlqArgs),
    /// Write a manifest from what another system runs: a Flux topology of Apache Storm.
    Import(crate::import::ImportArgs),
}

/// Which topology.
#[derive(Debug, Args)]
pub(crate) struct TopologyArgs {
    /// The manifest.
    #[arg(value_name = "MANIFEST", default_value = "topology.toml")]
    pub(crate) manifest: PathBuf,
    /// Change a value of the manifest: `bolts.count.config.top=20`. May be given several times.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) sets: Vec<String>,
}

/// How to log, on standard error.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// The least important lines to show: error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log_level: tracing::level_filters::LevelFilter,
    /// How to write them.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// `run`
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) topology: TopologyArgs,
    /// End when every spout is done and every message has come to an end.
    #[arg(long)]
    pub(crate) until_drained: bool,
    /// Read this many messages over all spouts, drain and end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    /// Where checkpoints and dead letters are kept; `.anchorbolt/NAME` beside the manifest if not given.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Read from the beginning again: forget the checkpoints, keep the dead letters.
    #[arg(long)]
    pub(crate) reset: bool,
    /// Write the report to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Print the report as JSON on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Faults on purpose, as `chaos` hands them to the hosts that it runs.
    #[arg(long, value_name = "PLAN", hide = true)]
    pub(crate) chaos: Option<String>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// `check`
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) topology: TopologyArgs,
    /// Print the diagnostics as JSON on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `inspect`
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// The plugin's file.
    #[arg(value_name = "PLUGIN")]
    pub(crate) plugin: PathBuf,
    /// The configuration that the plugin is asked with, as a JSON object.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) config: String,
    /// Print as JSON on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}
