//! Lines into messages: what `lines` and `stdin` have in common.
//!
//! In: lines and places from a [`super::splitter::Splitter`]. Out: rows and refusals to a [`Feeder`].
//!
//! Invariant: each line becomes exactly one message, emitted or refused.

use super::feed::{Closed, Feeder};
use super::format::encode;
use super::splitter::{Line, TakeLine};
use crate::json::row_values;
use anchorbolt_core::failure::{Class, Cost, FailedInput, Failure};
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::manifest::kinds::LineFormat;
use anchorbolt_core::port::{Context, DEFAULT_STREAM, SpoutOutput};
use anchorbolt_row::{Row, write_row};

/// What the second number of a message id is.
#[derive(Clone, Copy)]
pub(crate) enum Numbering {
    /// The offset of its first byte.
    Offset,
    /// The number of the last line given, from 1.
    Line(u64),
}

/// Encodes the lines of one source after the other.
pub(crate) struct LineTaker {
    feeder: Feeder,
    format: LineFormat,
    numbering: Numbering,
    limit: u64,
    component: String,
    task: u32,
    shown: String,
}

impl LineTaker {
    /// Gives rows of this format to the feeder; `shown` is what people call the source.
    pub(crate) fn new(feeder: Feeder, format: LineFormat, numbering: Numbering, limit: u64) -> LineTaker {
        let (component, shown) = (String::new(), String::new());
        LineTaker { feeder, format, numbering, limit, component, task: 0, shown }
    }

    /// Failures are said to be of this task.
    pub(crate) fn of_task(mut self, context: &Context) -> LineTaker {
        self.component.clone_from(&context.component);
        self.task = context.task;
        self
    }

    /// What follows comes from this source; `shown` is what people call it.
    pub(crate) fn source(&mut self, source: u64, shown: &str) -> Result<(), Closed> {
        shown.clone_into(&mut self.shown);
        self.feeder.source(source)
    }

    /// To hand over and to wait.
    pub(crate) fn feeder(&mut self) -> &mut Feeder {
        &mut self.feeder
    }

    /// To say the end.
    pub(crate) fn into_feeder(self) -> Feeder {
        self.feeder
    }

    /// The second number of the next id.
    fn number(&mut self, place: u64) -> u64 {
        match &mut self.numbering {
            Numbering::Offset => place,
            Numbering::Line(last) => {
                *last += 1;
                *last
            }
        }
    }

    /// Where a message is, for a person.
    fn whereabouts(&self, number: u64) -> String {
        match self.numbering {
            Numbering::Offset => format!("the line at byte {number} of `{}`", self.shown),
            Numbering::Line(_) => format!("line {number} of {}", self.shown),
        }
    }

    fn failure(&self, class: Class, reason: String, line: Option<Line<'_>>) -> Failure {
        let input = line.map(|line| {
            let mut row = Vec::new();
            write_row(&mut row, |row| {
                match line {
                    Line::Text(text) => row.str(text),
                    Line::Bytes(bytes) => row.bin(bytes),
                };
            });
            FailedInput { stream: format!("{}/{DEFAULT_STREAM}", self.component), row }
        });
        let (component, task) = (self.component.clone(), self.task);
        Failure { class, cost: Cost::Final, component, task, reason, output: String::new(), input }
    }
}

impl TakeLine for LineTaker {
    #[inline]
    fn line(&mut self, place: u64, line: Line<'_>) -> Result<(), Closed> {
        let number = self.number(place);
        let format = &self.format;
        let line = if place == 0 { without_mark(format, line) } else { line };
        match self.feeder.row(number, |out| encode(format, line, out))? {
            Ok(()) => Ok(()),
            Err(problem) => {
                let reason = format!("{} {problem}", self.whereabouts(number));
                let failure = self.failure(Class::Rejected, reason, Some(line));
                self.feeder.refuse(number, failure)
            }
        }
    }

    fn oversize(&mut self, place: u64, bytes: u64) -> Result<(), Closed> {
        let number = self.number(place);
        let reason = format!(
            "{} has {bytes} bytes, the limit is {}; raise limits.tuple-bytes of the spout if it is meant to be",
            self.whereabouts(number),
            self.limit
        );
        let failure = self.failure(Class::Size, reason, None);
        self.feeder.refuse(number, failure)
    }
}

/// The text of the first field of the first row: the line, where a line is its row.
fn first_field(rows: &[(u32, &[u8])]) -> Vec<u8> {
    let first = rows.first().map(|(_, row)| Row::new(row));
    let bytes = first.and_then(|row| row.str(0).map(str::as_bytes).or_else(|| row.bytes(0)));
    bytes.unwrap_or_default().to_vec()
}

/// Emits a line again from its bytes.
pub(crate) fn revive(
    format: &LineFormat,
    id: MessageId,
    bytes: &[u8],
    out: &mut SpoutOutput,
) -> Result<(), String> {
    out.emit(id, 0, &row_of(format, bytes)?);
    Ok(())
}

/// The row of a line.
pub(crate) fn row_of(format: &LineFormat, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let line = std::str::from_utf8(bytes).map_or(Line::Bytes(bytes), Line::Text);
    let mut row = Vec::new();
    encode(format, without_mark(format, line), &mut row)?;
    Ok(row)
}

/// A line that has this row, where the line itself is not to be had any more.
pub(crate) fn line_of(format: &LineFormat, rows: &[(u32, &[u8])]) -> Vec<u8> {
    let values = rows.first().and_then(|(_, row)| row_values(row).ok()).unwrap_or_default();
    match format {
        LineFormat::Line => first_field(rows),
        LineFormat::Json { fields } => {
            let object: serde_json::Map<_, _> = fields.iter().cloned().zip(values).collect();
            serde_json::Value::Object(object).to_string().into_bytes()
        }
        LineFormat::Csv { .. } => record(&values),
    }
}

/// A record of these values, without a line end.
fn record(values: &[serde_json::Value]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(vec![]);
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    // Writing to a vector can't fail.
    let written = writer.write_record(values.iter().map(text)).is_ok();
    let mut line = writer.into_inner().unwrap_or_default();
    line.pop();
    if written { line } else { vec![] }
}

/// A byte order mark at the start of a file is no part of its first object or column.
fn without_mark<'a>(format: &LineFormat, line: Line<'a>) -> Line<'a> {
    match line {
        Line::Text(text) if *format != LineFormat::Line => {
            Line::Text(text.strip_prefix('\u{feff}').unwrap_or(text))
        }
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_made_of_a_row_gives_that_row_again() {
        let fields = vec!["a".to_owned(), "b".to_owned()];
        let formats = [
            (LineFormat::Line, vec![&b"plain"[..], b"\xff\xfe", b"", b"with \"quotes\", and more"]),
            (
                LineFormat::Json { fields: fields.clone() },
                vec![
                    b"{\"a\":1,\"b\":[true,null,\"x\",{\"k\":-2.5}]}",
                    b"{\"b\":\"\xc3\xa4\\n\",\"c\":0}",
                    b"{}",
                ],
            ),
            (LineFormat::Csv { fields }, vec![b"1,two", b"\"a,b\",\"say \"\"x\"\"\"", b",", b" x , y "]),
        ];
        for (format, lines) in formats {
            for line in lines {
                let row = row_of(&format, line).unwrap();
                let made = line_of(&format, &[(0, &row)]);
                assert_eq!(row_of(&format, &made).as_ref(), Ok(&row), "{format:?} {line:?} {made:?}");
            }
        }
    }
}
