//! The verdict: what the run under faults lost, repeated and invented.
//!
//! In: both runs. Out: text or JSON, and the exit code: 1 when a row is lost, or the run hung.

use super::args::ChaosArgs;
use super::outputs::{Rows, rows, some};
use super::runs::Run;
use super::setup::Setup;
use crate::{Exit, FINE, FOUND, safe, say as print};
use serde_json::json;

/// How many lost rows are shown, and how much of each.
const SHOWN: usize = 5;
const ROW_CHARS: usize = 160;

/// The comparison of one output.
struct Compared {
    output: String,
    /// Of the calm run.
    rows: u64,
    lost: u64,
    such_as: Vec<String>,
    repeated: u64,
    other: usize,
    other_such_as: Vec<String>,
}

/// Says it.
pub(super) fn say(args: &ChaosArgs, setup: &Setup, calm: &Run, wild: &Run) -> Result<Exit, String> {
    let mut all = vec![];
    for (name, output) in &setup.outputs {
        let (before, after) = (rows(calm, output, &args.ignore)?, rows(wild, output, &args.ignore)?);
        let lost = |row: &(u64, u64)| missing(row, &before, &after) > 0;
        let other = |row: &(u64, u64)| after.contains_key(row) && !before.contains_key(row);
        all.push(Compared {
            output: name.clone(),
            rows: before.values().map(|n| u64::from(*n)).sum(),
            lost: before.keys().map(|row| missing(row, &before, &after)).sum(),
            such_as: some(calm, output, &args.ignore, SHOWN, lost)?,
            repeated: repeated(&before, &after),
            other: after.keys().filter(|row| other(row)).count(),
            other_such_as: some(wild, output, &args.ignore, SHOWN, other)?,
        });
    }
    let lost = wild.hung || all.iter().any(|one| one.lost > 0);
    let text =
        if args.json { as_json(setup, calm, wild, &all, lost) } else { as_text(setup, calm, wild, &all) };
    Ok(print(&text).max(if lost { FOUND } else { FINE }))
}

/// How often a row is there less than in the calm run. A row may be there several times by right; each of these has to
/// come at least once.
fn missing(row: &(u64, u64), before: &Rows, after: &Rows) -> u64 {
    let times = |rows: &Rows| rows.get(row).copied().unwrap_or(0);
    u64::from(times(before).saturating_sub(times(after)))
}

/// Rows that are there more often than in the calm run.
fn repeated(before: &Rows, after: &Rows) -> u64 {
    let more = |(row, n): (&(u64, u64), &u32)| {
        before.get(row).map_or(0, |expected| u64::from(n.saturating_sub(*expected)))
    };
    after.iter().map(more).sum()
}

/// The faults that were made, by kind.
fn faults(wild: &Run) -> [(&'static str, usize); 6] {
    [
        ("hosts killed", wild.kills as usize),
        ("instances killed", wild.said("fault=KillBefore") + wild.said("fault=KillAfter")),
        ("refused memory", wild.said("fault=RefuseMemory")),
        ("calls stalled", wild.said("fault=Stall")),
        ("batches lost", wild.said("a batch is lost")),
        ("batches late", wild.said("a batch is late")),
    ]
}

fn as_json(setup: &Setup, calm: &Run, wild: &Run, all: &[Compared], lost: bool) -> String {
    let outputs = all.iter().map(|one| {
        json!({
            "output": one.output, "rows": one.rows, "lost": one.lost, "lost_such_as": one.such_as,
            "repeated": one.repeated, "other": one.other, "other_such_as": one.other_such_as,
        })
    });
    let faults: serde_json::Map<_, _> =
        faults(wild).into_iter().map(|(name, n)| (name.replace(' ', "_"), n.into())).collect();
    let verdict = json!({
        "verdict": if lost { "lost" } else { "nothing-lost" }, "hung": wild.hung, "seed": setup.faults.seed,
        "plan": setup.faults.text(), "faults": faults, "processes": wild.processes,
        "calm_s": calm.took.as_secs_f64(), "chaos_s": wild.took.as_secs_f64(),
        "dead_letters": wild.dead.len() - wild.replayed, "dead_letters_replayed": wild.replayed,
        "outputs": outputs.collect::<Vec<_>>(),
    });
    format!("{verdict:#}\n")
}

fn as_text(setup: &Setup, calm: &Run, wild: &Run, all: &[Compared]) -> String {
    let made: Vec<String> =
        faults(wild).iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{n} {name}")).collect();
    let made = if made.is_empty() { "no faults: it was over too soon".to_owned() } else { made.join(", ") };
    let mut out = format!(
        "calm    {} messages completed in {:.1} s\nchaos   seed {}: {made}; {} processes, {:.1} s\n",
        calm.reported("messages", "completed"),
        calm.took.as_secs_f64(),
        setup.faults.seed,
        wild.processes,
        wild.took.as_secs_f64(),
    );
    if !wild.dead.is_empty() {
        out += &format!(
            "dead letters: {}, of which {} only under faults, replayed\n",
            wild.dead.len(),
            wild.replayed
        );
    }
    if wild.kills < setup.kills && !wild.hung {
        out += &format!(
            "it ended before {} of {} kills: give it more input\n",
            setup.kills - wild.kills,
            setup.kills
        );
    }
    for one in all {
        out += &output_text(one);
    }
    out + &verdict_text(setup, wild, all)
}

fn output_text(one: &Compared) -> String {
    let mut out = format!(
        "output  {}: {} rows, {} lost, {} repeated, {} that the calm run has not\n",
        one.output, one.rows, one.lost, one.repeated, one.other
    );
    one.such_as
        .iter()
        .for_each(|row| out += &format!("        lost: {}\n", safe::clip(&safe::line(row), ROW_CHARS)));
    if one.other > 0 && one.lost > 0 {
        one.other_such_as.iter().for_each(|row| {
            out += &format!("        instead: {}\n", safe::clip(&safe::line(row), ROW_CHARS))
        });
    }
    out
}

fn verdict_text(setup: &Setup, wild: &Run, all: &[Compared]) -> String {
    let lost: u64 = all.iter().map(|one| one.lost).sum();
    let repeat =
        format!("repeat it: anchorbolt chaos {} --seed {}\n", setup.manifest.display(), setup.faults.seed);
    if wild.hung {
        return format!("verdict HUNG: the run under faults does not end\n{repeat}");
    }
    if lost == 0 {
        return "verdict nothing lost\n".to_owned();
    }
    let others = all.iter().any(|one| one.other > 0);
    let hint = if others {
        "rows differ: if a field depends on order or on replays, such as a running total, leave it out with --ignore \
         FIELD; else "
    } else {
        ""
    };
    format!(
        "verdict LOST {lost} rows\n{hint}look for a bolt that acks before it emits, emits without anchors, or acks \
         before it has written\n{repeat}"
    )
}
