//! What a component says of itself, checked before anything relies on it.
//!
//! A plugin is not trusted: its names go into reports, files and messages, and its counts size tables.

use super::{Part, PartSource};
use crate::manifest::names::{self, BadName, quote};
use crate::manifest::{Diagnostic, codes};
use crate::port::{Declaration, StreamDeclaration};
use std::collections::BTreeSet;

/// The most output streams of a component.
pub const STREAMS_MAX: usize = 256;
/// The most fields of a stream.
pub const FIELDS_MAX: usize = crate::manifest::FIELDS_MAX;

/// Reports all that a component must not declare. Stream names are as those of components; a field's name
/// has 1 to 128 bytes and no control characters; neither begins with `__` or comes twice.
pub(super) fn check(name: &str, part: &Part<'_>, declaration: &Declaration, out: &mut Vec<Diagnostic>) {
    let mut report = Report { name, part, out, said: 0 };
    let count = declaration.outputs.len();
    if count > STREAMS_MAX {
        report.add(
            codes::TOO_MANY_DECLARED,
            format!("{count} streams"),
            &format!("at most {STREAMS_MAX} streams"),
        );
        // Going through thousands of them would only bury this.
        return;
    }
    let mut seen = BTreeSet::new();
    for stream in &declaration.outputs {
        check_stream_name(&stream.name, &mut report);
        if !seen.insert(&*stream.name) {
            let what = format!("the stream {} twice", quote(&stream.name));
            report.add(codes::REPEATED_DECLARATION, what, "each stream once");
        }
        check_fields(stream, &mut report);
    }
}

/// So many mistakes of one declaration are said: it may be made to have thousands.
const SAID_MAX: usize = 20;

struct Report<'r, 'm> {
    name: &'r str,
    part: &'r Part<'m>,
    out: &'r mut Vec<Diagnostic>,
    said: usize,
}

impl Report<'_, '_> {
    fn add(&mut self, code: &'static str, what: String, allowed: &str) {
        let who = match self.part.source {
            PartSource::Spout(_) => "spout",
            PartSource::Bolt(_) => "plugin of",
        };
        self.said += 1;
        let what = match self.said {
            0..=SAID_MAX => what,
            n if n == SAID_MAX + 1 => "more that can't be".to_owned(),
            _ => return,
        };
        let message = format!("the {who} `{}` declares {what}", self.name);
        let help = format!("change its `declare` and build it again: it may declare {allowed}");
        self.out.push(Diagnostic::error(code, self.part.code_span(), message).help(help));
    }
}

fn check_stream_name(name: &str, report: &mut Report<'_, '_>) {
    let why = match names::check(name) {
        Ok(()) => return,
        Err(BadName::Reserved) => ", a reserved name",
        Err(BadName::Form) => "",
    };
    let allowed =
        format!("names of 1 to {} of a-z, 0-9, `_` and `-`, a letter first, not `__`", names::NAME_BYTES_MAX);
    report.add(codes::BAD_STREAM_NAME, format!("a stream called {}{why}", quote(name)), &allowed);
}

fn check_fields(stream: &StreamDeclaration, report: &mut Report<'_, '_>) {
    let place = quote(&stream.name);
    let count = stream.fields.len();
    if count > FIELDS_MAX {
        let what = format!("{count} fields for the stream {place}");
        report.add(codes::TOO_MANY_DECLARED, what, &format!("at most {FIELDS_MAX} fields"));
        return;
    }
    let mut seen = BTreeSet::new();
    for field in &stream.fields {
        if let Err(bad) = names::check_field(field) {
            let why = if bad == BadName::Reserved { ", a reserved name," } else { "" };
            let what = format!("a field called {}{why} on the stream {place}", quote(field));
            let bytes = names::FIELD_BYTES_MAX;
            let allowed =
                format!("names of 1 to {bytes} bytes without control characters, not beginning with `__`");
            report.add(codes::BAD_FIELD_NAME, what, &allowed);
        }
        if !seen.insert(field) {
            let what = format!("the field {} of the stream {place} twice", quote(field));
            report.add(codes::REPEATED_DECLARATION, what, "each field of a stream once");
        }
    }
}
