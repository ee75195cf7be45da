//! The simulation, for as long as is wanted: `tests/src/simulation`.
//!
//! In: the options of the example that runs it. Out: its own output. Invariant: it is built with the features of the
//! tests, so that nothing of theirs is built again.

use crate::sh::{self, Result};

/// Builds and runs it.
pub(crate) fn simulate(options: &[&str]) -> Result<()> {
    sh::run(sh::cargo("build").args(["--quiet", "--example", "simulate"]).args(sh::AS_TESTS))?;
    let example = sh::target_dir()?.join("debug/examples/simulate");
    match sh::code(sh::command(&example).args(options))? {
        0 => Ok(()),
        code => Err(format!("the simulation ended with {code}; its own words are above")),
    }
}
