//! Storm's Flux topologies (YAML) as Anchorbolt manifests (TOML).
//!
//! In: a Flux file's text, the properties and variables that its `${..}` stand for, and a way to read what it
//! includes. Out: [`Imported`]: the manifest with comments where a hand is needed, the same as a list, or every
//! mistake with its place. Nothing is read, asked or written here: files and variables come in as values.
//!
//! The steps, each a module: `substitute` (`${..}` in the text, as Flux does before it reads YAML), `yaml` (text to a
//! tree in which each value knows its place, bounded), `read` (tree to Flux's `model`), `include` (what other files
//! add), `translate` (model to tables), `write` (tables to TOML).
//!
//! Invariant: with a manifest there is no error among the diagnostics, and the manifest can be parsed. A hostile file
//! costs time and memory in proportion to [`TEXT_BYTES_MAX`], no more.

pub mod codes;
mod include;
mod model;
mod names;
mod properties;
mod read;
mod reader;
mod substitute;
mod translate;
mod write;
mod yaml;

pub use include::Files;

use anchorbolt_core::manifest::{Diagnostic, Sources, sort};
use properties::Properties;
use substitute::Lookup;

/// The longest text: of a Flux file, of a file that it includes, of a file of properties, and of a Flux file once its
/// `${..}` are replaced.
pub const TEXT_BYTES_MAX: usize = 1 << 20;

/// So many mistakes are told at once.
const ERRORS_MAX: usize = 100;

/// The value of a variable, if it is set.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What is to be imported.
pub struct Flux<'a> {
    /// What diagnostics call the file.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Name and text of a Java file of properties, for `${name}` (Flux's `--filter`).
    pub properties: Option<(&'a str, &'a str)>,
    /// The environment, for `${ENV-NAME}` (Flux's `--env-filter`); none: such a name is a property's.
    pub environment: Option<Environment<'a>>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The manifest; none when anything is wrong with the Flux files.
    pub manifest: Option<String>,
    /// Errors; or warnings, each of [`codes::NEEDS_HAND`] or [`codes::DIFFERS`]. In the order of the texts.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that the diagnostics point into: the Flux file, then what it includes.
    pub sources: Sources,
}

impl Imported {
    /// How many places need a hand before the manifest says what the Flux file said.
    pub fn need_hand(&self) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.code == codes::NEEDS_HAND).count()
    }
}

/// Translates a Flux topology.
pub fn import(flux: &Flux<'_>, files: &mut dyn Files) -> Imported {
    let mut diagnostics = Vec::new();
    let mut sources = Sources::new(flux.name, flux.text, &[]);
    let properties = flux.properties.map(|(_, text)| Properties::parse(text)).unwrap_or_default();
    let filter = flux.properties.map(|(name, _)| name);
    let lookup = Lookup { properties: &properties, filter, environment: flux.environment };
    let definition = include::load(flux.name, flux.text, &lookup, files, &mut sources, &mut diagnostics);
    let mut manifest = None;
    if let Some(definition) = definition.filter(|_| !diagnostics.iter().any(Diagnostic::is_error)) {
        let tables = translate::translate(&definition, &sources, &mut diagnostics);
        if !diagnostics.iter().any(Diagnostic::is_error) {
            manifest = Some(write::document(&tables));
        }
    }
    // What is wrong comes first: the rest says nothing then.
    if manifest.is_none() {
        diagnostics.retain(Diagnostic::is_error);
    }
    sort(&mut diagnostics);
    if manifest.is_none() {
        diagnostics.truncate(ERRORS_MAX);
    }
    Imported { manifest, diagnostics, sources }
}
