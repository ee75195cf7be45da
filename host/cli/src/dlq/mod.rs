//! `anchorbolt dlq`: dead letters, listed, shown, exported, purged, and run again in one bolt.
//!
//! In: arguments and a topology's data folder. Out: what a person or a script reads. All but `purge` and `replay` only
//! look, so they work while a host runs. Invariant: nothing that a guest or a source wrote reaches a terminal as it is.

mod args;
mod export;
mod list;
mod moment;
mod out;
mod probed;
mod purge;
mod replay;
mod show;
mod through;

pub(crate) use args::{DlqArgs, DlqCommand};

use crate::find::Found;
use crate::{ENVIRONMENT, Exit, INPUT, safe};
use anchorbolt_host::core::manifest::suggest;
use anchorbolt_host::durable::{DurableError, Filter, Letter, Letters, SystemFiles};
use args::FilterArgs;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// So many ids are shown of those that are near an unknown one.
const NEAR_MAX: usize = 5;
/// Among so many the nearest is looked for.
const COMPARED_MAX: usize = 100_000;

/// Does what the arguments say.
pub(crate) fn dlq(args: &DlqArgs) -> Exit {
    let done = match &args.command {
        DlqCommand::List(args) => list::list(args),
        DlqCommand::Show(args) => show::show(args),
        DlqCommand::Export(args) => export::export(args),
        DlqCommand::Purge(args) => purge::purge(args),
        DlqCommand::Replay(args) => match (&args.only, &args.bolt) {
            (Some(only), Some(bolt)) => replay::replay(args, only, bolt),
            _ => through::replay(args),
        },
    };
    done.unwrap_or_else(|exit| exit)
}

/// The letters of a topology; none if it has no file of them.
fn look(found: &Found) -> Result<Option<Letters>, Exit> {
    let letters =
        Letters::look(&SystemFiles, &found.layout.dead_letters()).map_err(|error| failed(&error))?;
    if let Some(damaged) = letters.as_ref().map(Letters::damaged).filter(|damaged| *damaged > 0) {
        let (lines, are) = if damaged == 1 { ("line", "is") } else { ("lines", "are") };
        let path = found.layout.dead_letters();
        tell!("warning: {damaged} {lines} of {} {are} no dead letter and passed over", path.display());
    }
    Ok(letters)
}

/// Says what the disk said.
fn failed(error: &DurableError) -> Exit {
    tell!("error: {error}");
    ENVIRONMENT
}

/// What the arguments mean. An id that no letter has is an error.
fn filter(args: &FilterArgs, letters: &Letters) -> Result<Filter, Exit> {
    let ids: Result<Vec<String>, Exit> =
        args.ids.iter().chain(&args.more_ids).map(|id| known(letters, id)).collect();
    Ok(args.filter(ids?))
}

/// The id of a letter: this one, or the one that is shown like this.
fn known(letters: &Letters, id: &str) -> Result<String, Exit> {
    if letters.contains(id) {
        return Ok(id.to_owned());
    }
    let (mut same, mut ids) = (None, Vec::new());
    let read = letters.each_id(|one| {
        if safe::line(&one) == id {
            same = Some(one);
        } else if ids.len() < COMPARED_MAX || one.contains(id) {
            ids.push(one);
        }
    });
    read.map_err(|error| failed(&error))?;
    same.ok_or_else(|| {
        tell!("error: no dead letter has the id `{}`", safe::line(id));
        let near = near(id, &ids);
        match near.len() {
            0 => tell!("help: `dlq list` shows them all"),
            _ => tell!("help: did you mean one of these?"),
        }
        near.iter().for_each(|id| tell!("  {}", safe::line(id)));
        INPUT
    })
}

/// The ids that are most like one that is not there: those that contain it, then the nearest.
fn near<'a>(id: &str, ids: &'a [String]) -> Vec<&'a str> {
    let mut rest: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut found: Vec<&str> =
        rest.iter().copied().filter(|one| !id.is_empty() && one.contains(id)).take(NEAR_MAX).collect();
    while found.len() < NEAR_MAX {
        rest.retain(|one| !found.contains(one));
        let Some(next) = suggest::nearest(id, rest.iter().copied()) else { break };
        found.push(next);
    }
    found
}

/// The letter with this id.
fn letter(letters: Option<&Letters>, id: &str) -> Result<Letter, Exit> {
    let Some(letters) = letters else {
        tell!("error: no dead letter has the id `{}`: there are none", safe::line(id));
        return Err(INPUT);
    };
    let id = known(letters, id)?;
    let found = letters.get(&id).map_err(|error| failed(&error))?;
    found.ok_or_else(|| {
        tell!("error: the dead letter `{}` has gone", safe::line(&id));
        ENVIRONMENT
    })
}

/// A moment for people: UTC, to the second.
fn second(moment: OffsetDateTime) -> String {
    let utc = moment.to_offset(time::UtcOffset::UTC);
    utc.replace_nanosecond(0).unwrap_or(utc).format(&Rfc3339).unwrap_or_default()
}

/// `1 letter`, `2 letters`.
fn count(n: u64) -> String {
    if n == 1 { "1 letter".to_owned() } else { format!("{n} letters") }
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn near_ids_are_those_that_contain_it_and_then_the_nearest() {
        let ids = ["lines@a.md:7", "lines@a.md:17", "lines@b.md:7", "words@1"].map(str::to_owned);
        assert_eq!(near("a.md:7", &ids), ["lines@a.md:7"]);
        assert_eq!(near("lines@a.md:8", &ids)[0], "lines@a.md:7");
        assert_eq!(near("lines@", &ids)[..3], ["lines@a.md:7", "lines@a.md:17", "lines@b.md:7"]);
        assert_eq!(near("something else", &ids), [""; 0]);
        assert!(near("", &ids).is_empty());
        let many: Vec<String> = (0..50).map(|i| format!("x@{i}")).collect();
        assert_eq!(near("x@", &many).len(), 5);
    }
}
