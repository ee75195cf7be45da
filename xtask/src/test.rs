//! Everything that must pass before a change goes in, cheapest first.
//!
//! In: `--only STEP`, or nothing for all. Out: each step's own output with its time, a table at the end.
//! Invariant: CI runs exactly this, so what passes here passes there.

use crate::deny;
use crate::guests::{self, TARGET};
use crate::sh::{self, Result};
use crate::tidy;
use std::time::{Duration, Instant};

/// One step.
struct Step {
    /// What `--only` calls it.
    name: &'static str,
    /// What it is for.
    what: &'static str,
    /// Does it.
    run: fn() -> Result<()>,
}

const STEPS: &[Step] = &[
    Step { name: "fmt", what: "the layout of the code", run: fmt },
    Step { name: "tidy", what: "the rules of the house", run: tidy::tidy },
    Step { name: "guests", what: "the bolts and the guests of the tests, as components", run: guests::all },
    Step { name: "core", what: "the core compiles for WebAssembly: it needs no system", run: core },
    Step { name: "clippy", what: "lints, warnings denied", run: clippy },
    Step { name: "test", what: "all tests", run: tests },
    Step { name: "docs", what: "the documentation, warnings denied", run: docs },
    Step { name: "deny", what: "licences, sources and advisories of what is depended on", run: deny::deny },
];

/// Runs all steps, or those that the options name, in this order. Stops at the first that fails.
pub(crate) fn test(options: &[&str]) -> Result<()> {
    if options == ["--list"] {
        STEPS.iter().for_each(|step| println!("{:<8} {}", step.name, step.what));
        return Ok(());
    }
    let steps = chosen(options)?;
    let mut times = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        println!("\n== {}/{} {}: {}", i + 1, steps.len(), step.name, step.what);
        let start = Instant::now();
        (step.run)().map_err(|error| {
            format!("step `{}`: {error}\nhelp: only this step again: cargo xtask test --only {0}", step.name)
        })?;
        println!("== {} passed in {}", step.name, seconds(start.elapsed()));
        times.push((step.name, start.elapsed()));
    }
    println!("\nAll passed:");
    times.iter().for_each(|(name, time)| println!("{name:>8} {:>8}", seconds(*time)));
    println!("{:>8} {:>8}", "total", seconds(times.iter().map(|(_, time)| *time).sum()));
    Ok(())
}

fn chosen(options: &[&str]) -> Result<Vec<&'static Step>> {
    let mut names = Vec::new();
    for pair in options.chunks(2) {
        let [flag @ "--only", name] = pair else {
            return Err(format!("`{}` is not an option; see cargo xtask help", pair.join(" ")));
        };
        if !STEPS.iter().any(|step| step.name == *name) {
            let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            return Err(format!("{flag} {name}: there is no such step; steps: {}", known.join(", ")));
        }
        names.push(*name);
    }
    Ok(STEPS.iter().filter(|step| names.is_empty() || names.contains(&step.name)).collect())
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

fn fmt() -> Result<()> {
    component("fmt", "rustfmt")?;
    let mend = |error| format!("{error}\nhelp: cargo fmt --all mends it");
    sh::run(sh::cargo("fmt").args(["--all", "--check"])).map_err(mend)
}

fn core() -> Result<()> {
    guests::target()?;
    sh::run(sh::cargo("check").args(["-p", "anchorbolt-core", "--target", TARGET]))
}

fn clippy() -> Result<()> {
    component("clippy", "clippy")?;
    sh::run(sh::cargo("clippy").args(["--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn tests() -> Result<()> {
    // A minute of fresh seeds for the simulation, which takes a third of it by itself, and more for the fuzzing.
    let mut test = sh::cargo("test");
    for (name, seconds) in [("ANCHORBOLT_SIMULATE_SECONDS", "60"), ("ANCHORBOLT_FUZZ_SECONDS", "40")] {
        test.env(name, std::env::var(name).unwrap_or_else(|_| seconds.to_owned()));
    }
    sh::run(test.arg("--workspace"))
}

fn docs() -> Result<()> {
    let mut doc = sh::cargo("doc");
    doc.args(["--no-deps", "--lib", "--bins"]).args(sh::AS_TESTS);
    sh::run(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

/// Whether a cargo command that comes as a component of the toolchain is there.
fn component(subcommand: &str, component: &str) -> Result<()> {
    let mut version =
        sh::command(std::env::var_os("CARGO").unwrap_or_else(|| std::ffi::OsString::from("cargo")));
    sh::read(version.args([subcommand, "--version"])).map(|_| ()).map_err(|_| {
        format!(
            "`cargo {subcommand}` is missing\n\
             help: rustup component add {component}, or your system's package of it; then try again"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(options: &[&str]) -> Result<Vec<&'static str>> {
        chosen(options).map(|steps| steps.iter().map(|step| step.name).collect())
    }

    #[test]
    fn steps_keep_their_order() {
        assert_eq!(names(&[]).unwrap().len(), STEPS.len());
        assert_eq!(names(&["--only", "test", "--only", "fmt"]).unwrap(), ["fmt", "test"]);
    }

    #[test]
    fn what_is_no_option_or_step_is_refused() {
        for options in [&["--only"][..], &["fmt"], &["--only", "fmt", "-v"], &["--only", "none"]] {
            assert!(names(options).is_err(), "{options:?}");
        }
    }
}
