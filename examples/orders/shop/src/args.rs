//! The arguments, as `--help` shows them.

use clap::{Args, Parser, Subcommand};
use orders_shop::demo::Plan;
use orders_shop::report::Files;
use orders_shop::server::{Outage, Settings};
use orders_shop::units::{duration, percent, share};
use std::path::PathBuf;
use std::time::Duration;

/// What is around the orders pipeline: its input, its payment server, the check of its output.
#[derive(Debug, Parser)]
#[command(name = "orders", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a file of orders.
    Generate(GenerateArgs),
    /// Be the payment server.
    Serve(ServeArgs),
    /// Compare orders, charges, fates and dead letters.
    Report(ReportArgs),
    /// Do all of it, with a host that is killed.
    Demo(Box<DemoArgs>),
}

/// `generate`
#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// How many.
    #[arg(long, value_name = "N")]
    pub(crate) count: u64,
    /// How many of a hundred have their amount as a text such as "12,50".
    #[arg(long, value_name = "PERCENT", default_value = "0", value_parser = percent)]
    pub(crate) poison: f64,
    /// The same seed gives the same orders.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// The file, which is made anew.
    pub(crate) file: PathBuf,
}

/// How the server fails.
#[derive(Debug, Args)]
pub(crate) struct MoodArgs {
    /// The share of requests that fail, from 0 to 1: half are refused, half are done and not answered.
    #[arg(long, value_name = "RATE", default_value = "0", value_parser = share)]
    fail_rate: f64,
    /// The share of requests that are slow.
    #[arg(long, value_name = "RATE", default_value = "0", value_parser = share)]
    slow_rate: f64,
    /// How slow.
    #[arg(long, value_name = "TIME", default_value = "300ms", value_parser = duration)]
    slow: Duration,
    /// When an outage begins, after the start.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    outage_after: Duration,
    /// How long it lasts. Without this there is none.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    outage: Option<Duration>,
    /// The same seed gives the same orders, failures and kills, as far as threads allow.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// `serve`
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The port, on the loopback address.
    #[arg(long, value_name = "PORT", default_value_t = 7171)]
    port: u16,
    /// The file to which charges are appended.
    #[arg(long, value_name = "FILE")]
    pub(crate) charges: PathBuf,
    #[command(flatten)]
    mood: MoodArgs,
}

/// `report`
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The orders.
    #[arg(long, value_name = "FILE")]
    orders: PathBuf,
    /// What the server charged.
    #[arg(long, value_name = "FILE")]
    charges: PathBuf,
    /// What the pipeline told.
    #[arg(long, value_name = "FILE")]
    fates: PathBuf,
    /// The host's dead letters.
    #[arg(long, value_name = "FILE")]
    dead_letters: Option<PathBuf>,
}

/// `demo`
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The program anchorbolt.
    #[arg(long, value_name = "FILE")]
    bin: PathBuf,
    /// The manifest.
    #[arg(long, value_name = "FILE", default_value = "examples/orders/topology.toml")]
    topology: PathBuf,
    /// The folder for all files; without it one below the system's temporary folder.
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// How many orders.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    count: u64,
    /// How many of a hundred have their amount as a text.
    #[arg(long, value_name = "PERCENT", default_value = "0", value_parser = percent)]
    poison: f64,
    /// Let the fraud check read such amounts.
    #[arg(long)]
    text_amounts: bool,
    /// How often the host is killed.
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1000))]
    kills: u32,
    /// Charge without idempotency keys.
    #[arg(long)]
    no_key: bool,
    /// Passed on to the host.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
    #[command(flatten)]
    mood: MoodArgs,
}

impl MoodArgs {
    fn settings(&self, port: u16) -> Settings {
        let MoodArgs { fail_rate, slow_rate, slow, outage_after, outage, seed } = *self;
        let outage = outage.map(|length| Outage { after: outage_after, length });
        Settings { port, fail_rate, slow_rate, slow, outage, seed }
    }
}

impl ServeArgs {
    pub(crate) fn settings(&self) -> Settings {
        self.mood.settings(self.port)
    }
}

impl ReportArgs {
    pub(crate) fn files(&self) -> Files {
        let ReportArgs { orders, charges, fates, dead_letters } = self;
        Files {
            orders: orders.clone(),
            charges: charges.clone(),
            fates: fates.clone(),
            dead_letters: dead_letters.clone(),
        }
    }
}

impl DemoArgs {
    pub(crate) fn plan(&self) -> Plan {
        let temporary = || std::env::temp_dir().join(format!("orders-demo-{}", std::process::id()));
        Plan {
            bin: self.bin.clone(),
            topology: self.topology.clone(),
            work: self.work.clone().unwrap_or_else(temporary),
            count: self.count,
            poison: self.poison,
            text_amounts: self.text_amounts,
            kills: self.kills,
            key: !self.no_key,
            server: self.mood.settings(0),
            seed: self.mood.seed,
            sets: self.sets.clone(),
            envs: vec![],
            patience: crate::PATIENCE,
        }
    }
}
