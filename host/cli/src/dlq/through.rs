//! `dlq replay`: dead letters put through the topology again.
//!
//! In: which letters, and the manifest. Out: a run, and how many of their messages completed: those letters are over.
//! Invariant: while it runs it has the data folder's lock, so no host does.

use super::args::ReplayArgs;
use super::{count, filter, look};
use crate::args::{LogArgs, LogFormat, TopologyArgs};
use crate::live::Live;
use crate::{ENVIRONMENT, Exit, FINE, FOUND, INPUT, check, find, logs, render, run, say, table, tell_as_is};
use anchorbolt_host::assemble::Replayed;
use serde_json::json;

/// Puts them through.
pub(super) fn replay(args: &ReplayArgs) -> Result<Exit, Exit> {
    logs::start(&LogArgs { log_level: args.log_level, log_format: LogFormat::Text });
    let found = find::find(&args.find, &args.sets)?;
    let filter = match look(&found)? {
        Some(letters) => filter(&args.filter, &letters)?,
        None => args.filter.filter(vec![]),
    };
    let topology = TopologyArgs { manifest: found.manifest()?, sets: args.sets.clone() };
    let loaded = check::load(&topology)?;
    tell_as_is(&render::render(&loaded.sources, &loaded.diagnostics, render::colours()));
    if loaded.plan.is_none() {
        return Err(INPUT);
    }
    let stopper = run::signals();
    let replaying = loaded.replay(found.layout.root(), &filter).map_err(|error| run::not_started(&error))?;
    if stopper.set(replaying.stopper()).is_err() {
        tracing::error!("signals were taken before");
    }
    let live = Live::start(replaying.watch());
    let replayed = replaying.wait();
    drop(live);
    match replayed {
        Ok(replayed) => Ok(tell(args, &replayed)),
        Err(error) => {
            tell!("error: {error}; messages that completed keep their letters and would be replayed again");
            Err(ENVIRONMENT)
        }
    }
}

fn tell(args: &ReplayArgs, replayed: &Replayed) -> Exit {
    let Replayed { ended, chosen, completed } = replayed;
    let left = chosen - completed;
    let mut exit = ended.exit_code().max(if left > 0 { FOUND } else { FINE });
    if args.json {
        let all = json!({
            "letters": chosen, "completed": completed, "left": left, "report": ended.report.json(),
        });
        exit = exit.max(say(&format!("{all:#}\n")));
    } else if *chosen > 0 {
        tell_as_is(&table::table(ended));
    }
    let left = if left > 0 { format!(", {left} are still dead letters") } else { String::new() };
    tell!("{} put through again: {completed} completed{left}", count(*chosen as u64));
    exit
}
