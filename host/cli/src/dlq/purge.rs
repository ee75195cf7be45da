//! `dlq purge`: does away with letters.
//!
//! In: a filter, or `--all`. Out: how many are gone, and how many are left. Invariant: nothing is purged without being
//! named, nor while a host has the data folder.

use super::args::PurgeArgs;
use super::{count, failed, filter, look};
use crate::find::{self, Found};
use crate::{Exit, INPUT, say};
use anchorbolt_host::durable::{DataDir, DeadLetters, Filter, Letters, SystemFiles};
use serde_json::json;
use std::sync::Arc;
use std::time::SystemTime;

/// Purges letters.
pub(super) fn purge(args: &PurgeArgs) -> Result<Exit, Exit> {
    if args.all != args.filter.is_empty() {
        match args.all {
            true => tell!("error: --all, and a filter that means only some; give one of the two"),
            false => tell!("error: say which letters: by id, by a filter such as --class, or --all for all"),
        }
        tell!("help: --dry-run says how many it would be");
        return Err(INPUT);
    }
    let found = find::find(&args.find, &[])?;
    let Some(letters) = look(&found)? else { return Ok(tell_numbers(args, 0, 0)) };
    if args.dry_run {
        let fit = fitting(&letters, &filter(&args.filter, &letters)?)?;
        return Ok(tell_numbers(args, fit, letters.len() as u64 - fit));
    }
    drop(letters);
    let (purged, left) = for_good(args, &found)?;
    Ok(tell_numbers(args, purged, left))
}

fn for_good(args: &PurgeArgs, found: &Found) -> Result<(u64, u64), Exit> {
    let held = DataDir::take(found.layout.root()).map_err(|error| {
        let exit = failed(&error);
        tell!("help: `list`, `show` and `export` work while a topology runs; `purge` does not");
        exit
    })?;
    // With no room allowed, what is over is cleared away as soon as it makes up most of the file.
    let open = DeadLetters::open(Arc::new(SystemFiles), &held.layout().dead_letters(), 0);
    let mut letters = open.map_err(|error| failed(&error))?;
    let filter = filter(&args.filter, letters.letters())?;
    let purged = letters.purge(&filter, SystemTime::now().into()).map_err(|error| failed(&error))?;
    Ok((purged as u64, letters.letters().len() as u64))
}

fn fitting(letters: &Letters, filter: &Filter) -> Result<u64, Exit> {
    let mut fit = 0;
    let read = letters.visit(filter, |_, _| {
        fit += 1;
        Ok(())
    });
    read.map(|()| fit).map_err(|error| failed(&error))
}

fn tell_numbers(args: &PurgeArgs, purged: u64, left: u64) -> Exit {
    if args.json {
        return say(&format!("{}\n", json!({ "purged": purged, "left": left, "dry_run": args.dry_run })));
    }
    let text = match (purged, left, args.dry_run) {
        (0, 0, _) => "no dead letters".to_owned(),
        (0, n, _) => format!("none of {} fits: nothing to purge", count(n)),
        (n, left, true) => format!("{} would be purged, {left} left", count(n)),
        (n, left, false) => format!("{} purged, {left} left", count(n)),
    };
    say(&format!("{text}\n"))
}
