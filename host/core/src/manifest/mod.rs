//! A manifest's text to a typed [`Manifest`], with every mistake at once.
//!
//! In come the text, the `--set` arguments and a lookup for `${NAME}`; out goes [`Parsed`]: the manifest as
//! far as it could be read, the diagnostics, and the texts that their spans point into. Nothing stops at the
//! first mistake, and what was wrong once is not reported again: a value that could not be read takes its
//! default and `plan` still checks the rest. Names of other components are not resolved here.
//!
//! A program that makes its manifest itself hands over what it sets ([`build`]); the readers are the same.
//!
//! The steps, each a module: `document` (text to a tree), `overrides`, `substitute`, then `topology`,
//! `spout` and `bolt` with their parts read tables through `reader` and `values`.

mod allow;
mod bolt;
mod bounds;
mod built;
pub mod codes;
mod defaults;
mod diagnostic;
mod document;
mod inputs;
pub mod kinds;
mod model;
pub mod names;
mod options;
mod overrides;
mod reader;
mod spout;
mod substitute;
pub mod suggest;
mod topology;
mod units;
mod values;

pub use built::{Setting, build};
pub use defaults::deadline;
pub use diagnostic::{Diagnostic, Location, Severity, Sources, Span, Spanned, sort};
pub use kinds::{Fsync, Generate, LineFormat, Lines, RandomField, SinkKind, SpoutKind};
pub use model::{
    Ackers, Allow, Bolt, Code, Dir, Grouping, Input, Inputs, Limits, Manifest, OnCircuitOpen, Restart, Spout,
    Topology,
};
pub use names::is_unseen;
pub use options::FIELDS_MAX;

use document::{Entry, Node};
use reader::{Field, Reader, keep};
use topology::Shared;

/// What a manifest is made of.
pub struct Text<'a> {
    /// What diagnostics call the file.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// The arguments of `--set`, in their order.
    pub sets: &'a [String],
    /// What `${NAME}` stands for.
    pub lookup: &'a dyn Fn(&str) -> Option<String>,
}

/// A manifest as far as it could be read, and all that is wrong with it.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// With an error among the diagnostics it is [`Manifest::faulty`].
    pub manifest: Manifest,
    /// In the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that spans point into.
    pub sources: Sources,
}

/// Reads a manifest.
pub fn parse(text: &Text<'_>) -> Parsed {
    let mut diagnostics = Vec::new();
    let out = &mut diagnostics;
    let mut document = document::parse(text.text, out);
    overrides::apply(&mut document.root, text.sets, out);
    substitute::substitute(&mut document.root, text.lookup, out);
    let sources = Sources::new(text.name, text.text, text.sets);
    finish(&document.root, document.damaged, diagnostics, sources)
}

/// Reads a tree; `damaged`: parts of it are missing.
fn finish(root: &Node, damaged: bool, mut diagnostics: Vec<Diagnostic>, sources: Sources) -> Parsed {
    let mut manifest = read(root, &mut diagnostics);
    if damaged {
        manifest.incomplete = true;
        diagnostics.retain(|diagnostic| !doubtful(diagnostic.code));
    }
    manifest.faulty = diagnostics.iter().any(Diagnostic::is_error);
    sort(&mut diagnostics);
    Parsed { manifest, diagnostics, sources }
}

/// Mistakes that vanish when the part of the text that is lost comes back.
fn doubtful(code: &str) -> bool {
    [
        codes::MISSING_KEY,
        codes::PLUGIN_OR_KIND,
        codes::KEY_MISPLACED,
        codes::DEADLINE_TOO_LONG,
        codes::CONTRADICTION,
        codes::TOO_FEW_TASKS,
    ]
    .contains(&code)
}

fn read(root: &Node, out: &mut Vec<Diagnostic>) -> Manifest {
    let mut manifest = Manifest::default();
    let field = Field { path: String::new(), key_span: root.span, node: root };
    let Some(mut t) = Reader::open(field, "", out) else {
        return manifest;
    };
    let shared = match t.field("topology") {
        Some(field) => {
            manifest.topology_span = Some(field.key_span);
            let (topology, shared) = topology::read(field, t.out);
            manifest.topology = topology;
            shared
        }
        None => {
            t.out.push(
                Diagnostic::error(codes::MISSING_KEY, root.span, "the manifest lacks the table `[topology]`")
                    .help("add `[topology]` and below it `name = \"my-topology\"`"),
            );
            Shared::new()
        }
    };
    let spouts = t.field("spouts");
    let bolts = t.field("bolts");
    t.finish();
    manifest.topology_span = manifest.topology_span.or(Some(root.span));
    manifest.spouts = section(spouts, &mut manifest.incomplete, out, |entry, field, out| {
        spout::read(entry, field, &shared, out)
    });
    manifest.bolts = section(bolts, &mut manifest.incomplete, out, |entry, field, out| {
        bolt::read(entry, field, &shared, out)
    });
    manifest
}

/// All components of `[spouts]` or `[bolts]`.
fn section<'n, T>(
    field: Option<Field<'n>>,
    incomplete: &mut bool,
    out: &mut Vec<Diagnostic>,
    read: impl Fn(&'n Entry, Field<'n>, &mut Vec<Diagnostic>) -> Option<T>,
) -> Vec<T> {
    let Some(field) = field else { return Vec::new() };
    let Some(entries) = keep(field.entries("write each component as a table: `[bolts.name]`"), out) else {
        *incomplete = true;
        return Vec::new();
    };
    let components: Vec<T> =
        entries.iter().filter_map(|(entry, field)| read(entry, field.clone(), out)).collect();
    *incomplete |= components.len() < entries.len();
    components
}
