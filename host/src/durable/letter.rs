//! One dead letter, and its line of JSON.
//!
//! In: a message that has failed for good, with all that is known of it. Out: a line as the reference describes it,
//! and a letter from such a line. A [`Tombstone`] is a line, too: it says that a letter before it is over.
//!
//! Invariant: a letter read back is the letter that was written, to the millisecond.

use super::base64;
use anchorbolt_core::failure::{Class, FailedInput};
use anchorbolt_core::ids::Time;
use anchorbolt_core::messages::Attempt;
use anchorbolt_core::port::read_rows;
use serde_json::{Value, json};
use std::time::Duration;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A message that has failed for good.
#[derive(Clone, Debug, PartialEq)]
pub struct Letter {
    /// `SPOUT@POSITION`, the same whenever the message is read.
    pub id: String,
    /// When it was given up.
    pub time: OffsetDateTime,
    /// The topology.
    pub topology: String,
    /// The spout that read it.
    pub spout: String,
    /// The spout's own name of its place.
    pub position: Value,
    /// The source's bytes.
    pub bytes: Vec<u8>,
    /// The values it was emitted with, by the names of their fields.
    pub fields: Value,
    /// How it failed, the first attempt first.
    pub attempts: Vec<LetterAttempt>,
}

/// One failed attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct LetterAttempt {
    /// Which one, from 1.
    pub n: u32,
    /// When it failed.
    pub time: OffsetDateTime,
    /// Where it failed.
    pub component: String,
    /// The task there; 0 if none can be named.
    pub task: u32,
    /// The kind of failure.
    pub class: Class,
    /// The text for a person.
    pub reason: String,
    /// The guest's last words.
    pub output: String,
    /// What the bolt had before it.
    pub input: Option<LetterInput>,
}

/// The tuple that a bolt failed on.
#[derive(Clone, Debug, PartialEq)]
pub struct LetterInput {
    /// The component and stream it came from, as `component/stream`.
    pub stream: String,
    /// Its row.
    pub row: Value,
}

/// How a letter is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tombstone {
    /// A person did away with it.
    Purged,
    /// Its message was put through the topology again and completed.
    Replayed,
    /// Its message was put through the topology again and failed again: a new letter follows and takes its place.
    /// Until that is there, the old one still counts.
    FailedAgain,
}

impl Tombstone {
    /// The word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Tombstone::Purged => "purged",
            Tombstone::Replayed => "replayed",
            Tombstone::FailedAgain => "failed-again",
        }
    }

    /// The line that says so.
    pub(super) fn encode(self, id: &str, time: OffsetDateTime, out: &mut Vec<u8>) {
        // The order matters: see `Head`.
        let line = json!({ "id": id, "tombstone": self.as_str(), "time": rfc3339(time) });
        out.extend_from_slice(line.to_string().as_bytes());
        out.push(b'\n');
    }
}

impl Letter {
    /// The index of the stream and the encoded row of each tuple; none if `bytes` are the source's own.
    pub fn rows(&self) -> Option<Vec<(u32, &[u8])>> {
        read_rows(&self.bytes)
    }
}

impl LetterAttempt {
    /// An attempt as the table of messages keeps it. `started` is the wall clock at the host's time 0; `row` says
    /// how a row looks in JSON.
    pub fn new(
        attempt: &Attempt,
        started: OffsetDateTime,
        row: impl Fn(&FailedInput) -> Value,
    ) -> LetterAttempt {
        let failure = &attempt.failure;
        let input = |input: &FailedInput| LetterInput { stream: input.stream.clone(), row: row(input) };
        LetterAttempt {
            n: attempt.number,
            time: wall(started, attempt.ended),
            component: failure.component.clone(),
            task: failure.task,
            class: failure.class,
            reason: failure.reason.clone(),
            output: failure.output.clone(),
            input: failure.input.as_ref().map(input),
        }
    }

    fn to_json(&self) -> Value {
        let input = self.input.as_ref().map(|input| json!({ "stream": input.stream, "row": input.row }));
        json!({
            "n": self.n,
            "time": rfc3339(self.time),
            "component": self.component,
            "task": self.task,
            "class": self.class.as_str(),
            "reason": self.reason,
            "output": self.output,
            "input": input,
        })
    }

    fn from_json(value: &Value) -> Result<LetterAttempt, String> {
        let class = text(value, "class")?;
        let class = Class::ALL.into_iter().find(|known| known.as_str() == class);
        let input = match value.get("input") {
            None | Some(Value::Null) => None,
            Some(input) => Some(LetterInput { stream: text(input, "stream")?, row: input["row"].clone() }),
        };
        Ok(LetterAttempt {
            n: number(value, "n")?,
            time: moment(value, "time")?,
            component: text(value, "component")?,
            task: number(value, "task")?,
            class: class.ok_or("`class` is none that is known")?,
            reason: text(value, "reason")?,
            output: text(value, "output")?,
            input,
        })
    }
}

impl Letter {
    /// Appends the letter's line.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let attempts: Vec<Value> = self.attempts.iter().map(LetterAttempt::to_json).collect();
        // `id` is first: see `Head`.
        let line = json!({
            "id": self.id,
            "time": rfc3339(self.time),
            "topology": self.topology,
            "spout": self.spout,
            "position": self.position,
            "bytes": base64::text(&self.bytes),
            "fields": self.fields,
            "attempts": attempts,
        });
        out.extend_from_slice(line.to_string().as_bytes());
        out.push(b'\n');
    }

    /// The letter of a line.
    pub(super) fn decode(line: &[u8]) -> Result<Letter, String> {
        let value: Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let attempts = value["attempts"].as_array().ok_or("`attempts` is missing")?;
        Ok(Letter {
            id: text(&value, "id")?,
            time: moment(&value, "time")?,
            topology: text(&value, "topology")?,
            spout: text(&value, "spout")?,
            position: value["position"].clone(),
            bytes: base64::decode(&text(&value, "bytes")?).ok_or("`bytes` is not base64")?,
            fields: value["fields"].clone(),
            attempts: attempts.iter().map(LetterAttempt::from_json).collect::<Result<_, _>>()?,
        })
    }
}

/// Which letters are meant. The default means all.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// With one of these ids; none given, any.
    pub ids: Vec<String>,
    /// Read by this spout.
    pub spout: Option<String>,
    /// Whose last attempt failed in this component.
    pub component: Option<String>,
    /// Whose last attempt failed in one of these ways; none given, in any.
    pub classes: Vec<Class>,
    /// Given up then or later.
    pub since: Option<OffsetDateTime>,
    /// Given up before that.
    pub until: Option<OffsetDateTime>,
}

impl Filter {
    /// Whether this letter is meant.
    pub fn takes(&self, letter: &Letter) -> bool {
        let last = letter.attempts.last();
        (self.ids.is_empty() || self.ids.contains(&letter.id))
            && self.spout.as_ref().is_none_or(|spout| *spout == letter.spout)
            && self.component.as_ref().is_none_or(|name| last.is_some_and(|last| last.component == *name))
            && (self.classes.is_empty() || last.is_some_and(|last| self.classes.contains(&last.class)))
            && self.since.is_none_or(|since| letter.time >= since)
            && self.until.is_none_or(|until| letter.time < until)
    }
}

/// What a line is about, without reading all of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) id: String,
    pub(super) kind: LineKind,
}

/// What a line says of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// It has failed for good.
    Letter,
    /// Its letter is over.
    Over,
    /// Its letter is over once another follows.
    Replaced,
}

impl Head {
    /// None if the line is no letter and no tombstone.
    pub(super) fn of(line: &[u8]) -> Option<Head> {
        if !line.ends_with(b"}") {
            return None;
        }
        Head::at_start(line).or_else(|| Head::anywhere(line))
    }

    /// As this program writes it: `id` is the first key, and `tombstone` the second if it is there.
    fn at_start(line: &[u8]) -> Option<Head> {
        let rest = line.strip_prefix(b"{\"id\":")?;
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
        let Some(Ok(Value::String(id))) = values.next() else { return None };
        let rest = rest.get(values.byte_offset()..)?;
        let kind = match rest.strip_prefix(b",\"tombstone\":") {
            Some(how) if how.starts_with(b"\"failed-again\"") => LineKind::Replaced,
            Some(_) => LineKind::Over,
            None if begins_letter(rest) => LineKind::Letter,
            // A tool that sorts keys puts `time` before `tombstone`.
            None => return None,
        };
        Some(Head { id, kind })
    }

    /// As a person or a tool may have written it again.
    fn anywhere(line: &[u8]) -> Option<Head> {
        let value: Value = serde_json::from_slice(line).ok()?;
        let id = value["id"].as_str()?.to_owned();
        let kind = match value.get("tombstone") {
            None => LineKind::Letter,
            Some(how) if *how == Tombstone::FailedAgain.as_str() => LineKind::Replaced,
            Some(_) => LineKind::Over,
        };
        Some(Head { id, kind })
    }
}

/// Whether what follows the id is what this program writes of a letter there.
fn begins_letter(rest: &[u8]) -> bool {
    let Some(rest) = rest.strip_prefix(b",\"time\":\"") else { return false };
    let end = memchr::memchr(b'"', rest).unwrap_or(rest.len());
    rest.get(end..).is_some_and(|rest| rest.starts_with(b"\",\"topology\":"))
}

/// The wall clock at a time of the host, which was `started` at time 0.
pub fn wall(started: OffsetDateTime, at: Time) -> OffsetDateTime {
    started
        .checked_add(time::Duration::try_from(Duration::from_nanos(at.0)).unwrap_or_default())
        .unwrap_or(started)
}

/// To the millisecond, as the file has it.
pub fn to_millisecond(moment: OffsetDateTime) -> OffsetDateTime {
    let nanos = u32::from(moment.millisecond()) * 1_000_000;
    moment.replace_nanosecond(nanos).unwrap_or(moment)
}

fn rfc3339(moment: OffsetDateTime) -> String {
    // Only years that no clock shows can't be written.
    to_millisecond(moment).format(&Rfc3339).unwrap_or_else(|_| "1970-01-01T00:00:00Z".to_owned())
}

fn text(value: &Value, key: &str) -> Result<String, String> {
    value[key].as_str().map(str::to_owned).ok_or_else(|| format!("`{key}` is missing or is no string"))
}

fn number(value: &Value, key: &str) -> Result<u32, String> {
    let number = value[key].as_u64().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| format!("`{key}` is missing or is no whole number"))
}

fn moment(value: &Value, key: &str) -> Result<OffsetDateTime, String> {
    OffsetDateTime::parse(&text(value, key)?, &Rfc3339).map_err(|_| format!("`{key}` is not RFC 3339"))
}
