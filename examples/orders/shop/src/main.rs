//! The command `orders`.
//!
//! In: arguments. Out: what a person reads, and an exit code: 0 fine, 1 an order has neither a fate nor a dead letter,
//! 2 something could not be done. Invariant: all the work is the library's.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command prints")]

mod args;

use args::{Cli, Command, DemoArgs};
use clap::Parser;
use orders_shop::report::Tally;
use orders_shop::server::{Server, Settings};
use orders_shop::{demo, generate};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// An order has neither a fate nor a dead letter.
const INCOMPLETE: u8 = 1;
/// Something could not be done.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Generate(args) => {
            generate::write(&args.file, args.count, args.poison, args.seed).map(|()| ExitCode::SUCCESS)
        }
        Command::Serve(args) => serve(args.settings(), &args.charges).map(|()| ExitCode::SUCCESS),
        Command::Report(args) => Tally::read(&args.files()).map(|tally| show(&tally)),
        Command::Demo(args) => demonstrate(&args),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(FAILED)
    })
}

fn serve(settings: Settings, charges: &Path) -> Result<(), String> {
    let server = Server::start(settings, charges)?;
    say(&format!("listening on {}; stop it with Ctrl-C", server.address()));
    server.wait()
}

fn demonstrate(args: &DemoArgs) -> Result<ExitCode, String> {
    let plan = args.plan();
    if !plan.topology.exists() {
        let text = format!("there is no {}", plan.topology.display());
        return Err(format!(
            "{text}\nhelp: run this in the repository's root, or name the manifest with --topology"
        ));
    }
    let outcome = demo::run(&plan, &say)?;
    say("");
    Ok(show(&outcome.tally))
}

fn show(tally: &Tally) -> ExitCode {
    say(&tally.to_string());
    if tally.is_complete() {
        return ExitCode::SUCCESS;
    }
    eprintln!("error: {} orders have neither a fate nor a dead letter", tally.missing.len());
    ExitCode::from(INCOMPLETE)
}

/// A line on standard output. A reader that is gone needs none.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).ok();
}

/// How long a run of the host may take in a demonstration.
const PATIENCE: Duration = Duration::from_secs(1800);
