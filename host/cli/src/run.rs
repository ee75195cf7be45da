//! `anchorbolt run`: runs a topology, shows how it goes, and says how it ended.

use crate::args::RunArgs;
use crate::live::Live;
use crate::{ENVIRONMENT, Exit, FINE, FOUND, INPUT, check, logs, render, say, table};
use anchorbolt_host::assemble::{Loaded, RunOptions, StartError};
use anchorbolt_host::core::port::SpoutError;
use anchorbolt_host::runtime::{Ended, How, LaunchError, Running, Stopper};
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// The exit code after a second Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Runs a topology.
pub(crate) fn run(args: &RunArgs) -> Exit {
    logs::start(&args.log);
    let loaded = match check::load(&args.topology) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    eprint!("{}", render::render(&loaded.sources, &loaded.diagnostics, render::colours()));
    if let Err(exit) = can_run(&loaded, args) {
        return exit;
    }
    let how = How { until_drained: args.until_drained, limit: args.limit };
    let stopper = signals();
    let closed = loaded.output_closed();
    let running = match loaded.start(RunOptions { how }) {
        Ok(running) => running,
        Err(error) => return not_started(&error),
    };
    if stopper.set(running.stopper()).is_err() {
        tracing::error!("signals were taken before");
    }
    let ended = wait(running, how);
    let quiet = closed.is_closed();
    finish(args, &ended, quiet)
}

/// `--until-drained` needs sources that end.
fn can_run(loaded: &Loaded, args: &RunArgs) -> Result<(), Exit> {
    if loaded.plan.is_none() {
        return Err(INPUT);
    }
    if args.until_drained && args.limit.is_none() && !loaded.has_end() {
        eprintln!("error: --until-drained, but no spout of this topology ever ends");
        eprintln!(
            "help: give `count` to a `generate` spout, leave `follow` out of a `lines` spout, or use --limit N"
        );
        return Err(INPUT);
    }
    if let Some(path) = &args.report
        && let Err(error) = std::fs::OpenOptions::new().create(true).append(true).open(path)
    {
        eprintln!("error: can't write the report {}: {error}", path.display());
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
fn signals() -> &'static OnceLock<Stopper> {
    static STOPPER: OnceLock<Stopper> = OnceLock::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let handler = || match (COUNT.fetch_add(1, SeqCst), STOPPER.get()) {
        (0, Some(stopper)) => {
            tracing::info!(
                "stopping: spouts read no more, what is in flight is drained; once more to end at once"
            );
            stopper.stop();
        }
        _ => std::process::exit(INTERRUPTED),
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        tracing::warn!("signals are not handled: {error}");
    }
    &STOPPER
}

fn not_started(error: &StartError) -> Exit {
    eprintln!("error: {error}");
    match error {
        StartError::Mistakes | StartError::Grant { .. } | StartError::Launch(LaunchError::Bolt { .. }) => {
            INPUT
        }
        StartError::Launch(LaunchError::Spout { error: SpoutError::Input(_), .. }) => INPUT,
        StartError::Launch(_) => ENVIRONMENT,
    }
}

fn finish(args: &RunArgs, ended: &Ended, quiet: bool) -> Exit {
    let json = ended.report.json();
    let mut code = ended.exit_code();
    if let Some(path) = &args.report
        && let Err(error) = write_whole(path, &format!("{json:#}\n"))
    {
        eprintln!("error: can't write the report {}: {error}", path.display());
        code = code.max(ENVIRONMENT);
    }
    if args.json {
        say(&format!("{json:#}\n"));
    }
    if quiet {
        // Nobody reads any more, as after `| head`: that is no failure.
        return if code == FOUND { FINE } else { code };
    }
    eprint!("{}", table::table(ended));
    code
}

/// Never leaves half a report in a file. Links are followed, and what is no file (a pipe, a device) is
/// written to as it is.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return std::fs::OpenOptions::new().write(true).open(&path)?.write_all(text.as_bytes());
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    std::fs::write(&part, text)?;
    std::fs::rename(&part, &path)
}
