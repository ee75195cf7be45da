//! `anchorbolt chaos`: runs a topology calmly and under faults, and compares what came out.
//!
//! In: a manifest whose spouts end and can be read again, a seed. Out: a verdict: nothing lost, or which rows. Every
//! run is a process of its own, so that it can be killed; what they write goes to a folder of each. Invariant: neither
//! the manifest's own outputs nor its data folder are touched.

mod args;
mod outputs;
mod runs;
mod setup;
mod verdict;

pub(crate) use args::ChaosArgs;

use crate::{ENVIRONMENT, Exit, INPUT, check, render, tell_as_is};
use runs::{Failed, Runs};
use setup::Setup;
use std::path::Path;

/// Runs both and says the verdict.
pub(crate) fn chaos(args: &ChaosArgs) -> Exit {
    let loaded = match check::load(&args.topology) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    tell_as_is(&render::render(&loaded.sources, &loaded.diagnostics, render::colours()));
    let Some(plan) = &loaded.plan else { return INPUT };
    let setup = match Setup::new(args, plan) {
        Ok(setup) => setup,
        Err(text) => {
            tell!("error: {text}");
            return INPUT;
        }
    };
    let folder = match Folder::make(args.keep.as_deref()) {
        Ok(folder) => folder,
        Err(error) => {
            tell!("error: can't make a folder for the runs: {error}");
            return if args.keep.is_some() { INPUT } else { ENVIRONMENT };
        }
    };
    runs::take_interrupts();
    match both(args, &setup, &folder.path) {
        Ok(exit) => exit,
        Err(Failed { exit, text }) => {
            tell!("error: {text}");
            exit
        }
    }
}

fn both(args: &ChaosArgs, setup: &Setup, folder: &Path) -> Result<Exit, Failed> {
    let runs = Runs { args, setup };
    let calm = runs.calm(&folder.join("calm"))?;
    let wild = runs.wild(&folder.join("chaos"), &calm)?;
    verdict::say(args, setup, &calm, &wild).map_err(|text| Failed { exit: ENVIRONMENT, text })
}

/// A folder for the runs, removed at the end unless it is to be kept.
struct Folder {
    path: std::path::PathBuf,
    keep: bool,
}

impl Folder {
    fn make(keep: Option<&Path>) -> std::io::Result<Folder> {
        let temporary = || std::env::temp_dir().join(format!("anchorbolt-chaos-{}", std::process::id()));
        let path = keep.map_or_else(temporary, Path::to_owned);
        std::fs::create_dir_all(&path)?;
        if std::fs::read_dir(&path)?.next().is_some() {
            return Err(std::io::Error::other(format!("{} is not empty", path.display())));
        }
        // The hosts run in the manifest's folder.
        Ok(Folder { path: path.canonicalize()?, keep: keep.is_some() })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep
            && let Err(error) = std::fs::remove_dir_all(&self.path)
        {
            tell!("warning: can't remove {}: {error}", self.path.display());
        }
    }
}
