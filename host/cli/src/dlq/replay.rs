//! `dlq replay --only ID --bolt BOLT`: a debugger for a poison message.
//!
//! In: a letter and a bolt of the manifest. Out: what one fresh instance of the bolt does with the row that it had.
//! Invariant: neither the letter nor anything else of the topology is changed, and no lock is taken.

use super::args::ReplayArgs;
use super::{letter, look, probed};
use crate::args::TopologyArgs;
use crate::{Exit, FINE, FOUND, INPUT, check, find, render, safe, tell_as_is};
use anchorbolt_host::assemble::{Loaded, ProbeError, StartError};
use anchorbolt_host::core::plan::Role;
use anchorbolt_host::core::port::CallError;
use anchorbolt_host::probe::{End, NotReady, choose};

/// Runs the message of a letter in one bolt.
pub(super) fn replay(args: &ReplayArgs, only: &str, bolt: &str) -> Result<Exit, Exit> {
    let found = find::find(&args.find, &args.sets)?;
    let letters = look(&found)?;
    let letter = letter(letters.as_ref(), only)?;
    let topology = TopologyArgs { manifest: found.manifest()?, sets: args.sets.clone() };
    let loaded = check::load(&topology)?;
    let Some(plan) = &loaded.plan else {
        tell_as_is(&render::render(&loaded.sources, &loaded.diagnostics, render::colours()));
        return Err(INPUT);
    };
    let tuple = choose(plan, &letter, bolt, args.attempt).map_err(|error| {
        tell!("error: `{}`: {}", safe::line(&letter.id), safe::line(&error.to_string()));
        INPUT
    })?;
    warn_of_grants(&loaded, bolt);
    let probed = loaded.probe(bolt, &tuple).map_err(|error| not_run(&error))?;
    let said = if args.json {
        probed::json(&letter, &tuple, &probed)
    } else {
        probed::text(&letter, &tuple, &probed, args.all)
    };
    let exit = crate::say(&said);
    let fine = probed.outcome.end == End::Acked;
    Ok(if exit != FINE || fine { exit } else { FOUND })
}

/// What the instance does outside is done.
fn warn_of_grants(loaded: &Loaded, bolt: &str) {
    let component = loaded.plan.as_ref().and_then(|plan| plan.component(bolt));
    let Some((_, component)) = component else { return };
    let Role::Bolt(parts) = &component.role else { return };
    if parts.allow.effects() {
        tell!("warning: bolt `{bolt}` has its grants: what it sends or writes is sent and written");
    }
}

fn not_run(error: &ProbeError) -> Exit {
    tell!("error: {error}");
    let ProbeError::NotReady { error, said, .. } = error else {
        return match error {
            ProbeError::Start(StartError::Launch(_)) => crate::ENVIRONMENT,
            _ => INPUT,
        };
    };
    said.iter().for_each(|said| tell!("  {}", safe::line(&said.text)));
    if let NotReady::Prepare(CallError::Died(death)) = error
        && !death.output.is_empty()
    {
        tell_as_is(&format!("last words\n{}\n", safe::lines(&death.output)));
    }
    INPUT
}
