//! The command `anchorbolt`.
//!
//! In: arguments. Out: what a person or a script reads, and the exit code of the contract: 0 fine, 1 ran but
//! something was lost or given up, 2 the user's input is wrong, 3 the environment is.

/// A line on standard error. That it can't be written is no reason to fail: there is nowhere left to say so.
macro_rules! tell {
    ($($text:tt)*) => { $crate::tell_as_is(&format!("{}\n", format_args!($($text)*))) };
}

mod args;
mod chaos;
mod check;
mod dlq;
mod find;
mod import;
mod inspect;
mod live;
mod logs;
mod render;
mod run;
mod safe;
mod table;
mod whole;

use args::{Cli, Command};
use clap::Parser;
use std::process::ExitCode;

/// How a command ended.
type Exit = u8;
/// Everything is fine.
const FINE: Exit = 0;
/// It ran, but lost something or gave it up.
const FOUND: Exit = 1;
/// The user's input is wrong.
const INPUT: Exit = 2;
/// The environment, or the host itself.
const ENVIRONMENT: Exit = 3;
/// Ended by the user, at once.
const INTERRUPTED: Exit = 130;

/// The argument with which the host runs itself as a bounded compiler.
const COMPILE: &str = "__compile";

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|arg| arg == COMPILE) {
        return ExitCode::from(
            u8::try_from(anchorbolt_host::wasm::compile_child_main()).unwrap_or(ENVIRONMENT),
        );
    }
    let cli = Cli::parse();
    let code = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::check(&args),
        Command::Inspect(args) => inspect::inspect(&args),
        Command::Chaos(args) => chaos::chaos(&args),
        Command::Dlq(args) => dlq::dlq(&args),
        Command::Import(args) => import::import(&args),
    };
    ExitCode::from(code)
}

/// A host that compiles plugins in a bounded child of this binary. Says what is wrong when there is none.
fn host() -> Result<anchorbolt_host::assemble::Host, Exit> {
    use anchorbolt_host::wasm::ChildProcess;
    let exe = std::env::current_exe().map_err(|e| {
        tell!("error: can't find this program's own file: {e}");
        ENVIRONMENT
    })?;
    let compiler = ChildProcess { exe, args: vec![COMPILE.into()] };
    anchorbolt_host::wasm::raise_descriptor_limit();
    anchorbolt_host::assemble::Host::new(
        std::sync::Arc::new(compiler),
        anchorbolt_host::assemble::cache_dir(),
    )
    .map_err(|e| {
        tell!("error: {e}");
        ENVIRONMENT
    })
}

/// Writes to standard error, as far as that goes.
fn tell_as_is(text: &str) {
    use std::io::Write;
    drop(std::io::stderr().lock().write_all(text.as_bytes()));
}

/// Writes to standard output; what is returned is the exit code that comes of it. A reader that has gone is no
/// error, a full disk is.
fn say(text: &str) -> Exit {
    use std::io::{ErrorKind, Write};
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => FINE,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => FINE,
        Err(error) => {
            tell!("error: can't write to standard output: {error}");
            ENVIRONMENT
        }
    }
}
