//! The whole story in one run: orders, a server with moods, a host that is killed, a report.
//!
//! In: [`Plan`]. Out: an [`Outcome`], and lines that say what happens. `host` runs the program under test, `kills`
//! chooses the moments, `told` counts what came out. Invariant: no process outlives this, and each kill hit a host that ran.

mod host;
mod kills;
mod told;

use crate::generate;
use crate::report::{Files, Tally};
use crate::server::{Counts, Server, Settings};
use host::{Host, LastRun};
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The host's program.
    pub bin: PathBuf,
    /// The manifest.
    pub topology: PathBuf,
    /// The folder for all files; those of an earlier run are removed.
    pub work: PathBuf,
    /// How many orders.
    pub count: u64,
    /// The share of orders whose amount is a text.
    pub poison: f64,
    /// Whether the fraud check can read such amounts.
    pub text_amounts: bool,
    /// How often the host is killed.
    pub kills: u32,
    /// Whether charges have an idempotency key.
    pub key: bool,
    /// How the server behaves; its port is chosen by the system.
    pub server: Settings,
    /// Orders, luck and moments follow from it.
    pub seed: u64,
    /// Further `--set` arguments for the host.
    pub sets: Vec<String>,
    /// Further environment variables of the host.
    pub envs: Vec<(OsString, OsString)>,
    /// How long one run of the host may take.
    pub patience: Duration,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The comparison of the files.
    pub tally: Tally,
    /// What the server did.
    pub counts: Counts,
    /// The exit code of the last run: 0, or 1 if something was given up.
    pub exit_code: i32,
    /// How long that run took.
    pub last_run: Duration,
}

/// Does it.
///
/// # Errors
/// When a part can't be done, a kill hit nobody, or the host ended with an error.
pub fn run(plan: &Plan, say: &dyn Fn(&str)) -> Result<Outcome, String> {
    let work = Work::new(&plan.work)?;
    generate::write(&work.path("orders.jsonl"), plan.count, plan.poison, plan.seed)?;
    let server = Server::start(plan.server.clone(), &work.path("charges.jsonl"))?;
    say(&format!(
        "{} orders in {}; a payment server at {}",
        plan.count,
        plan.work.display(),
        server.address()
    ));

    let mut host = Host::new(plan, &work, server.port());
    for (n, moment) in kills::moments(plan.kills, plan.count, plan.seed).into_iter().enumerate() {
        let killed = host.kill_at(moment).map_err(|error| format!("kill {}: {error}", n + 1))?;
        say(&format!(
            "kill {}: {} fates, {:.1} s into its run",
            n + 1,
            killed.fates,
            killed.after.as_secs_f64()
        ));
    }
    let LastRun { exit_code, fates, elapsed } = host.run_to_the_end()?;
    let seconds = elapsed.as_secs_f64();
    let rate = fates as f64 / seconds;
    say(&format!("the last run ended with {exit_code}: {fates} fates in {seconds:.1} s, {rate:.0} a second"));

    let counts = server.counts();
    say(&format!(
        "the server: {} requests on {} connections, {} charges, {} asked for again by key, {} failed on purpose",
        counts.requests, counts.connections, counts.charges, counts.known_keys, counts.failed
    ));
    Ok(Outcome { tally: Tally::read(&work.files())?, counts, exit_code, last_run: elapsed })
}

/// The folder of a run.
struct Work(PathBuf);

impl Work {
    /// Makes it, without what an earlier run left.
    fn new(folder: &Path) -> Result<Work, String> {
        let refuse = |path: &Path, error| format!("can't use {}: {error}", path.display());
        fs::create_dir_all(folder).map_err(|error| refuse(folder, error))?;
        // Absolute, since the host takes paths relative to its manifest.
        let work = Work(fs::canonicalize(folder).map_err(|error| refuse(folder, error))?);
        for name in ["orders.jsonl", "charges.jsonl", "fates.jsonl", "host.log", "data"] {
            let path = work.path(name);
            let gone = if name == "data" { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            match gone {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(refuse(&path, error)),
                _ => {}
            }
        }
        Ok(work)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Where the host keeps what outlives it.
    fn data(&self) -> PathBuf {
        self.path("data")
    }

    fn files(&self) -> Files {
        Files {
            orders: self.path("orders.jsonl"),
            charges: self.path("charges.jsonl"),
            fates: self.path("fates.jsonl"),
            dead_letters: Some(self.data().join("dead-letters.jsonl")),
        }
    }
}
