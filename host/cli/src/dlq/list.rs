//! `dlq list`: a line for each letter.
//!
//! In: letters in the order of the file. Out: an aligned table with a count below it, or an object a line.
//! Invariant: with `--limit` the newest are shown, in the same order.

use super::args::ListArgs;
use super::out::Out;
use super::{count, filter, look, second};
use crate::table::aligned;
use crate::{Exit, find, safe};
use anchorbolt_host::durable::{Letter, Letters};
use serde_json::json;
use std::collections::VecDeque;
use time::format_description::well_known::Rfc3339;

/// A reason is cut at so many characters.
const REASON_CHARS: usize = 100;
const HEAD: [&str; 6] = ["id", "time", "class", "component", "attempts", "reason"];
/// The column to the right.
const ATTEMPTS: usize = 4;

/// Lists letters.
pub(super) fn list(args: &ListArgs) -> Result<Exit, Exit> {
    let found = find::find(&args.find, &[])?;
    let Some(letters) = look(&found)? else { return Ok(nothing(args, 0)) };
    let filter = filter(&args.filter, &letters)?;
    let most = args.limit.map_or(usize::MAX, |limit| limit as usize);
    let (mut out, mut taken, mut kept) = (Out::new(), 0, VecDeque::new());
    let read = letters.visit(&filter, |letter, _| {
        taken += 1;
        if args.json && args.limit.is_none() {
            out.line(&as_json(letter));
            return out.go_on();
        }
        kept.push_back(if args.json { vec![as_json(letter)] } else { cells(letter) });
        if kept.len() > most {
            kept.pop_front();
        }
        Ok(())
    });
    if taken == 0 && read.is_ok() {
        return Ok(nothing(args, letters.len()));
    }
    if args.json {
        kept.iter().flatten().for_each(|line| out.line(line));
    } else {
        let head = HEAD.map(str::to_owned).to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(kept).collect();
        aligned(&rows, |c| c == ATTEMPTS).for_each(|line| out.line(&line));
        out.line(&foot(args, taken, &letters));
    }
    Ok(out.finish(read))
}

/// Says that there are none, and whether that is for the filter.
fn nothing(args: &ListArgs, all: usize) -> Exit {
    let text = match all {
        0 => "no dead letters".to_owned(),
        n => format!("none of {} fits", count(n as u64)),
    };
    if args.json {
        tell!("{text}");
        return crate::FINE;
    }
    crate::say(&format!("{text}\n"))
}

fn foot(args: &ListArgs, taken: u64, letters: &Letters) -> String {
    let mut text = count(taken);
    if let Some(limit) = args.limit.filter(|limit| u64::from(*limit) < taken) {
        text = format!("the newest {limit} of {text}");
    }
    if taken < letters.len() as u64 {
        text += &format!(" that fit, of {}", letters.len());
    }
    text
}

fn cells(letter: &Letter) -> Vec<String> {
    let last = letter.attempts.last();
    let dash = || "-".to_owned();
    vec![
        safe::line(&letter.id),
        second(letter.time),
        last.map_or_else(dash, |last| last.class.to_string()),
        last.map_or_else(dash, |last| safe::line(&last.component)),
        last.map_or_else(dash, |last| last.n.to_string()),
        last.map_or_else(dash, |last| safe::first_line(&last.reason, REASON_CHARS)),
    ]
}

fn as_json(letter: &Letter) -> String {
    let last = letter.attempts.last();
    let line = json!({
        "id": letter.id,
        "time": letter.time.format(&Rfc3339).unwrap_or_default(),
        "spout": letter.spout,
        "class": last.map(|last| last.class.as_str()),
        "component": last.map(|last| &last.component),
        "task": last.map(|last| last.task),
        "attempts": last.map_or(0, |last| last.n),
        "reason": last.map(|last| &last.reason),
        "bytes": letter.bytes.len(),
    });
    safe::json(&line.to_string())
}
