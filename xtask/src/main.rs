//! The tasks of this repository: `cargo xtask guests`, `demo`, `deny`, `fuzz`, `simulate`, `test` and `tidy`.
//!
//! In: arguments. Out: exit code 0, or 1 with one text that says what is wrong and how to mend it. Which module
//! may use which, in arrows: `main -> demo, fuzz, test, simulate -> guests -> sh`, `test -> deny, tidy`, `demo -> words`. Invariant: no
//! dependencies, so that this crate is built in a second.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a task prints")]

mod demo;
mod deny;
mod fuzz;
mod guests;
mod sh;
mod simulate;
mod test;
mod tidy;
mod words;

use std::process::ExitCode;

const HELP: &str = "\
Tasks of this repository:

  cargo xtask demo [FILES..]     build everything, count the words of the project's documents (or of FILES)
  cargo xtask test               everything that must pass, cheapest first
  cargo xtask test --only STEP   one step of it; may be given several times
  cargo xtask test --list        the steps
  cargo xtask simulate           random topologies, faults and kills for a minute; --for 2h for longer
  cargo xtask simulate --seed N  the case of one seed; --trace shows every step
  cargo xtask fuzz [TARGET]      what comes from outside, changed at random for a minute; --for 1h, --seed N
  cargo xtask guests             build the example bolts and the guests of the tests
  cargo xtask deny               licences, sources and advisories of all dependencies
  cargo xtask tidy               only the rules of the house: sizes, docs, imports, dependencies
";

fn main() -> ExitCode {
    let args: Vec<String> =
        std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        ["demo", files @ ..] => demo::demo(files),
        ["test", options @ ..] => test::test(options),
        ["fuzz", options @ ..] => fuzz::fuzz(options),
        ["simulate", options @ ..] => simulate::simulate(options),
        ["guests"] => guests::all(),
        ["deny"] => deny::deny(),
        ["tidy"] => tidy::tidy(),
        other => Err(format!("there is no task `{}`\n\n{HELP}", other.join(" "))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("\nerror: {}", text.trim_end());
            ExitCode::FAILURE
        }
    }
}
