//! The target `flux`: Storm topologies as Flux describes them, up to the manifest.
//!
//! In: a text; it stands for each file that it includes, too. Out: an error if a diagnostic has no place in its text, if
//! there is not either a manifest or a mistake, if the manifest can't be read, or if it looks anything up.

use super::manifest::placed;
use super::{Shape, Target, ensure, kind, shape, size, tokens};
use anchorbolt_core::manifest::{Diagnostic, Text, parse};
use anchorbolt_flux::{Files, Flux, codes, import};
use fastrand::Rng;
use std::sync::OnceLock;
use std::time::Duration;

pub(super) const TARGET: Target = Target {
    name: "flux",
    bytes_max: 6000,
    wall: Duration::from_secs(3),
    memory_max: 128 << 20,
    seeds,
    mutate,
    check,
};

/// Where Flux files are, from the root of the repository.
const FOLDERS: [&str; 3] = ["host/flux/tests/samples", "host/flux/tests/mistakes", "host/flux/tests/parts"];

/// What is put in beside what the files are made of.
const TOKENS: [&str; 32] = [
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    ": ",
    ", ",
    "\n",
    "\n  ",
    "- ",
    "#",
    "&a ",
    "*a",
    "<<: *a",
    "~",
    "|\n ",
    "!!str ",
    "${a}",
    "${b[1]}",
    "${no}",
    "${",
    "${dollar}",
    "${ENV-A}",
    "$$",
    "\\u0000",
    "ä",
    "\u{feff}",
    "\t",
    "__x",
    "-1",
    "1e999",
];

fn seeds() -> Vec<Vec<u8>> {
    tokens::files(&FOLDERS, "yaml")
}

fn mutate(rng: &mut Rng, input: &mut Vec<u8>) {
    static KNOWN: OnceLock<Vec<String>> = OnceLock::new();
    tokens::mutate(rng, input, &TOKENS, KNOWN.get_or_init(|| tokens::known(&seeds())));
}

/// Each file is this text; every third is not there.
struct Same<'a> {
    text: &'a str,
    read: usize,
}

impl Files for Same<'_> {
    fn read(&mut self, file: &str, _: bool) -> Result<(String, String), String> {
        self.read += 1;
        if self.read.is_multiple_of(3) {
            return Err("there is no such file".to_owned());
        }
        Ok((file.to_owned(), self.text.to_owned()))
    }
}

/// The part of a message that is the same for all names.
fn before_names(message: &str) -> &str {
    message.split(['"', '`']).next().unwrap_or_default()
}

fn check(input: &[u8]) -> Result<Shape, String> {
    let text = String::from_utf8_lossy(input);
    let environment = |name: &str| {
        (name != "UNSET").then(|| if name == "A" { "\n\"v".to_owned() } else { format!("${{{name}}}$$") })
    };
    let properties = Some((
        "p",
        "a = 1\ndollar = ${A}$$\ntimeout = 20\nstop.words = [\"the\", \"a\"]\nb = [\"x\", y]\ntopology.name: t\nkind = $${A}\ngrouping = FIELDS",
    ));
    let flux = Flux { name: "f.yaml", text: &text, properties, environment: Some(&environment) };
    let imported = import(&flux, &mut Same { text: &text, read: 0 });
    imported.diagnostics.iter().try_for_each(|diagnostic| placed(&imported.sources, diagnostic))?;
    let wrong = imported.diagnostics.iter().any(Diagnostic::is_error);
    ensure(wrong != imported.manifest.is_some(), || format!("{:?}", imported.diagnostics))?;
    let mut components = None;
    if let Some(manifest) = &imported.manifest {
        let lookup = |name: &str| Some(format!("looked up {name}"));
        let parsed = parse(&Text { name: "m.toml", text: manifest, sets: &[], lookup: &lookup });
        ensure(parsed.diagnostics.is_empty(), || format!("{:?}\n{manifest}", parsed.diagnostics))?;
        ensure(!format!("{:?}", parsed.manifest).contains("looked up"), || manifest.clone())?;
        let todos = manifest.lines().filter(|line| line.starts_with("# TODO ")).count();
        ensure(todos == imported.need_hand(), || manifest.clone())?;
        let noted =
            imported.diagnostics.iter().all(|d| [codes::NEEDS_HAND, codes::DIFFERS].contains(&d.code));
        ensure(noted, || format!("{:?}", imported.diagnostics))?;
        components = Some((parsed.manifest.spouts.len().min(3), size(parsed.manifest.bolts.len())));
    }
    let mut kinds: Vec<(&str, String)> =
        imported.diagnostics.iter().map(|d| (d.code, kind(before_names(&d.message)))).collect();
    kinds.sort();
    kinds.dedup();
    Ok(shape((kinds, components)))
}
