//! The fuzzing, for as long as is wanted: `tests/src/fuzz`.
//!
//! In: the options of the example that runs it. Out: its own output. Invariant: it is built with the features of the
//! tests, so that nothing of theirs is built again.

use crate::sh::{self, Result};

/// Builds and runs it.
pub(crate) fn fuzz(options: &[&str]) -> Result<()> {
    sh::run(sh::cargo("build").args(["--quiet", "--example", "fuzz"]).args(sh::AS_TESTS))?;
    let example = sh::target_dir()?.join("debug/examples/fuzz");
    match sh::code(sh::command(&example).args(options))? {
        0 => Ok(()),
        _ => Err("the fuzzing found something; its own words are above".to_owned()),
    }
}
