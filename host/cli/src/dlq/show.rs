//! `dlq show`: everything about one letter.
//!
//! In: a letter. Out: its place, the source's bytes as text or as a hex dump, the fields, and each attempt. Long values
//! are cut unless `--all` is given. Invariant: what is cut says so, and how long it is.

use super::args::ShowArgs;
use super::out::Out;
use super::{failed, letter, look};
use crate::{Exit, find, safe};
use anchorbolt_host::durable::{Filter, Letter, LetterAttempt};
use serde_json::Value;
use time::format_description::well_known::Rfc3339;

/// Text of a source is cut at so many characters, and a value or row at so many.
const TEXT_CHARS: usize = 4000;
const VALUE_CHARS: usize = 1000;
/// A hex dump is cut at so many bytes.
const HEX_BYTES: usize = 512;
/// Bytes on a line of it.
const HEX_WIDTH: usize = 16;

/// Shows a letter.
pub(super) fn show(args: &ShowArgs) -> Result<Exit, Exit> {
    let found = find::find(&args.find, &[])?;
    let letters = look(&found)?;
    let letter = letter(letters.as_ref(), &args.id)?;
    let mut out = Out::new();
    if !args.json {
        as_text(&letter, args.all, &mut out);
        return Ok(out.finish(Ok(())));
    }
    let mut line = Vec::new();
    if let Some(letters) = letters {
        let filter = Filter { ids: vec![letter.id], ..Filter::default() };
        letters.export(&filter, &mut line).map_err(|error| failed(&error))?;
    }
    let value: Value = serde_json::from_slice(&line).unwrap_or_default();
    out.line(&safe::json(&format!("{value:#}")));
    Ok(out.finish(Ok(())))
}

fn as_text(letter: &Letter, all: bool, out: &mut Out) {
    let position = letter.position.to_string();
    for (name, text) in [
        ("id", &*letter.id),
        ("time", &letter.time.format(&Rfc3339).unwrap_or_default()),
        ("topology", &letter.topology),
        ("spout", &letter.spout),
        ("position", &position),
    ] {
        out.line(&format!("{name:<9} {}", safe::line(text)));
    }
    bytes(letter, all, out);
    fields(letter, all, out);
    let most = letter.attempts.last().map_or(0, |last| last.n);
    for one in &letter.attempts {
        attempt(one, most, all, out);
    }
}

fn bytes(letter: &Letter, all: bool, out: &mut Out) {
    let found = &letter.bytes;
    let what = if letter.rows().is_some() {
        "its rows as MessagePack, for its spout has no bytes of its own: "
    } else {
        ""
    };
    out.line(&format!("\nbytes ({what}{})", found.len()));
    match str::from_utf8(found) {
        Ok("") => {}
        Ok(text) => indent(&cut(text, TEXT_CHARS, all), "  ", out),
        Err(_) => hex_dump(found, all, out),
    }
}

/// Text, made safe and cut.
fn cut(text: &str, most: usize, all: bool) -> String {
    let chars = text.chars().count();
    if all || chars <= most {
        return safe::lines(text);
    }
    let shown: String = text.chars().take(most).collect();
    format!("{} .. ({chars} characters; --all shows them)", safe::lines(&shown))
}

fn indent(text: &str, by: &str, out: &mut Out) {
    text.lines().for_each(|line| out.line(format!("{by}{line}").trim_end()));
}

fn hex_dump(bytes: &[u8], all: bool, out: &mut Out) {
    let most = if all { bytes.len() } else { HEX_BYTES };
    for (i, line) in bytes.chunks(HEX_WIDTH).take(most.div_ceil(HEX_WIDTH)).enumerate() {
        let mut hex = String::new();
        for (i, byte) in line.iter().enumerate() {
            hex += if i == HEX_WIDTH / 2 { "  " } else { " " };
            hex += &format!("{byte:02x}");
        }
        let seen = |byte: &u8| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' };
        let text: String = line.iter().map(seen).collect();
        out.line(&format!("  {:08x} {hex:<49}  |{text}|", i * HEX_WIDTH));
    }
    if bytes.len() > most {
        out.line(&format!("  .. ({} bytes; --all shows them)", bytes.len()));
    }
}

fn fields(letter: &Letter, all: bool, out: &mut Out) {
    out.line("\nfields");
    match letter.fields.as_object() {
        Some(fields) => {
            let width = fields.keys().map(|name| safe::line(name).chars().count()).max().unwrap_or(0);
            for (name, value) in fields {
                out.line(&format!("  {:<width$}  {}", safe::line(name), json(value, all)));
            }
        }
        None => out.line(&format!("  {}", json(&letter.fields, all))),
    }
}

/// A value on one line.
fn json(value: &Value, all: bool) -> String {
    cut(&safe::json(&value.to_string()), VALUE_CHARS, all)
}

fn attempt(attempt: &LetterAttempt, most: u32, all: bool, out: &mut Out) {
    let task = if attempt.task == 0 { String::new() } else { format!(" (task {})", attempt.task) };
    out.line(&format!(
        "\nattempt {} of {most}: {} in {}{task} at {}",
        attempt.n,
        attempt.class,
        safe::line(&attempt.component),
        attempt.time.format(&Rfc3339).unwrap_or_default()
    ));
    indent(&safe::lines(&attempt.reason), "  ", out);
    if !attempt.output.trim().is_empty() {
        out.line("  last words");
        indent(&safe::lines(&attempt.output), "    ", out);
    }
    if let Some(input) = &attempt.input {
        out.line(&format!("  input from {}\n    {}", safe::line(&input.stream), json(&input.row, all)));
    }
}
