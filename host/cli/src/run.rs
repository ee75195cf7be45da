//! `anchorbolt run`: runs a topology, shows how it goes, and says how it ended.

use crate::args::RunArgs;
use crate::live::Live;
use crate::{
    ENVIRONMENT, Exit, FINE, FOUND, INPUT, INTERRUPTED, check, logs, render, say, table, tell_as_is, whole,
};
use anchorbolt_host::assemble::{Loaded, RunOptions, StartError};
use anchorbolt_host::chaos::Plan;
use anchorbolt_host::core::port::SpoutError;
use anchorbolt_host::durable::Layout;
use anchorbolt_host::runtime::{Ended, How, LaunchError, Running, Stopper};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Runs a topology.
pub(crate) fn run(args: &RunArgs) -> Exit {
    logs::start(&args.log);
    let loaded = match check::load(&args.topology) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    tell_as_is(&render::render(&loaded.sources, &loaded.diagnostics, render::colours()));
    if let Err(exit) = can_run(&loaded, args) {
        return exit;
    }
    let how = How { until_drained: args.until_drained, limit: args.limit };
    let stopper = signals();
    let closed = loaded.output_closed();
    let data_dir = data_dir(args, &loaded);
    let chaos = match args.chaos.as_deref().map(Plan::parse).transpose() {
        Ok(chaos) => chaos,
        Err(error) => {
            tell!("error: --chaos: {error}");
            return INPUT;
        }
    };
    let options =
        RunOptions { how, data_dir: Some(data_dir.clone()), reset: args.reset, inactive: false, chaos };
    let running = match loaded.start(options) {
        Ok(running) => running,
        Err(error) => return not_started(&error),
    };
    if stopper.set(running.stopper()).is_err() {
        tracing::error!("signals were taken before");
    }
    let ended = wait(running, how);
    let quiet = closed.is_closed();
    keep_report(&data_dir, &ended);
    finish(args, &ended, quiet)
}

/// Where what outlives the process is kept.
fn data_dir(args: &RunArgs, loaded: &Loaded) -> PathBuf {
    let beside = || Layout::beside(&args.topology.manifest, &loaded.manifest.topology.name);
    args.data_dir.clone().unwrap_or_else(beside)
}

/// The report of the last run, for those who look at the topology afterwards.
pub(crate) fn keep_report(data_dir: &Path, ended: &Ended) {
    let kept = Layout::look(data_dir).map_err(|e| e.to_string()).and_then(|layout| {
        let text = format!("{:#}\n", ended.report.json());
        whole::write(&layout.last_report(), &text).map_err(|e| e.to_string())
    });
    if let Err(error) = kept {
        tracing::warn!("the report of this run is not kept in the data folder: {error}");
    }
}

/// `--until-drained` needs sources that end.
fn can_run(loaded: &Loaded, args: &RunArgs) -> Result<(), Exit> {
    if loaded.plan.is_none() {
        return Err(INPUT);
    }
    if args.until_drained && args.limit.is_none() && !loaded.has_end() {
        tell!("error: --until-drained, but no spout of this topology ever ends");
        tell!(
            "help: give `count` to a `generate` spout, leave `follow` out of a `lines` spout, or use --limit N"
        );
        return Err(INPUT);
    }
    if let Some(path) = &args.report
        && let Err(error) = whole::probe(path)
    {
        tell!("error: can't write the report {}: {error}", path.display());
        return Err(ENVIRONMENT);
    }
    Ok(())
}

fn wait(running: Running, how: How) -> Ended {
    let live = Live::start(running.watch());
    let ended = running.wait(how);
    drop(live);
    ended
}

/// The first signal drains, the second ends at once.
pub(crate) fn signals() -> &'static OnceLock<Stopper> {
    static STOPPER: OnceLock<Stopper> = OnceLock::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let handler = || match (COUNT.fetch_add(1, SeqCst), STOPPER.get()) {
        (0, Some(stopper)) => {
            tracing::info!(
                "stopping: spouts read no more, what is in flight is drained; once more to end at once"
            );
            stopper.stop();
        }
        _ => std::process::exit(INTERRUPTED.into()),
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        tracing::warn!("signals are not handled: {error}");
    }
    &STOPPER
}

pub(crate) fn not_started(error: &StartError) -> Exit {
    tell!("error: {error}");
    match error {
        StartError::Mistakes
        | StartError::NoSpout(_)
        | StartError::Grant { .. }
        | StartError::Launch(LaunchError::Bolt { .. }) => INPUT,
        StartError::Launch(LaunchError::Spout { error: SpoutError::Input(_), .. }) => INPUT,
        StartError::Data(_) | StartError::Launch(_) => ENVIRONMENT,
    }
}

fn finish(args: &RunArgs, ended: &Ended, quiet: bool) -> Exit {
    let json = ended.report.json();
    let mut code = ended.exit_code();
    if let Some(path) = &args.report
        && let Err(error) = whole::write(path, &format!("{json:#}\n"))
    {
        tell!("error: can't write the report {}: {error}", path.display());
        code = code.max(ENVIRONMENT);
    }
    if args.json {
        code = code.max(say(&format!("{json:#}\n")));
    }
    if quiet {
        // Nobody reads any more, as after `| head`: that is no failure.
        return if code == FOUND { FINE } else { code };
    }
    tell_as_is(&table::table(ended));
    code
}
