//! Flux files as users have them, each with the manifest and the notes that come of it, and broken ones with what is said.
//!
//! `BLESS=1 cargo test -p anchorbolt-flux` writes the golden files anew. Read the difference before you keep it.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use anchorbolt_core::manifest::{Diagnostic, Text, codes as manifest_codes, parse};
use anchorbolt_core::plan::plan;
use anchorbolt_flux::{Files, Flux, Imported, codes, import};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The folder `parts`; resources lie in the folder of the tests.
struct Parts;

impl Files for Parts {
    fn read(&mut self, file: &str, resource: bool) -> Result<(String, String), String> {
        let folder = if resource { root() } else { root().join("parts") };
        let text = fs::read_to_string(folder.join(file.trim_start_matches('/')));
        Ok((file.to_owned(), text.map_err(|_| "there is no such file".to_owned())?))
    }
}

fn imported(path: &Path) -> Imported {
    let name = path.file_name().unwrap().to_str().unwrap();
    let text = fs::read_to_string(path).unwrap();
    let properties = fs::read_to_string(root().join("parts/filter.properties")).unwrap();
    let environment = |name: &str| (name == "REGION").then(|| "north".to_owned());
    let flux = Flux {
        name,
        text: &text,
        properties: Some(("filter.properties", &properties)),
        environment: Some(&environment),
    };
    import(&flux, &mut Parts)
}

fn cases(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "yaml")).collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

fn shown(imported: &Imported) -> String {
    let mut out = String::new();
    for diagnostic in &imported.diagnostics {
        let at = diagnostic.span.and_then(|span| imported.sources.locate(span)).expect("a place");
        writeln!(out, "{}:{}:{}: [{}] {}", at.file, at.line, at.column, diagnostic.code, diagnostic.message)
            .unwrap();
        if let Some(help) = &diagnostic.help {
            writeln!(out, "  {help}").unwrap();
        }
        for (span, what) in &diagnostic.related {
            let at = imported.sources.locate(*span).expect("a place");
            writeln!(out, "  {}:{}:{}: {what}", at.file, at.line, at.column).unwrap();
        }
    }
    out
}

/// Each golden file and what it should have.
fn compare(goldens: impl IntoIterator<Item = (PathBuf, String)>) {
    let mut different = String::new();
    for (path, actual) in goldens {
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &actual).unwrap();
        } else if expected != actual {
            writeln!(different, "=== {}\n--- expected\n{expected}--- actual\n{actual}", path.display())
                .unwrap();
        }
    }
    assert!(different.is_empty(), "{different}");
}

#[test]
fn a_sample_becomes_this_manifest_with_these_notes() {
    let goldens = cases("samples").into_iter().flat_map(|path| {
        let imported = imported(&path);
        let notes = shown(&imported);
        let manifest = imported.manifest.unwrap_or_else(|| panic!("{path:?}:\n{notes}"));
        [(path.with_extension("toml"), manifest), (path.with_extension("notes"), notes)]
    });
    compare(goldens);
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_a_help() {
    let goldens = cases("mistakes").into_iter().map(|path| {
        let imported = imported(&path);
        assert!(imported.manifest.is_none(), "{path:?}");
        assert!(imported.diagnostics.iter().all(|d| d.is_error() && d.help.is_some()), "{path:?}");
        (path.with_extension("err"), shown(&imported))
    });
    compare(goldens);
}

#[test]
fn every_manifest_can_be_read_and_lacks_only_plugins() {
    for path in cases("samples") {
        let text = imported(&path).manifest.unwrap();
        let lookup = |name: &str| panic!("{path:?} looks up {name}");
        let parsed = parse(&Text { name: "topology.toml", text: &text, sets: &[], lookup: &lookup });
        // As if no plugin had loaded.
        let planned = plan(&parsed.manifest, &BTreeMap::new());
        let said: Vec<&Diagnostic> = parsed.diagnostics.iter().chain(&planned.diagnostics).collect();
        assert!(said.is_empty(), "{path:?}: {said:#?}\n{text}");
    }
}

#[test]
fn each_note_is_a_comment_of_the_manifest_too() {
    for path in cases("samples") {
        let imported = imported(&path);
        let text = imported.manifest.as_ref().unwrap();
        let todos = text.lines().filter(|line| line.starts_with("# TODO ")).count();
        assert_eq!(todos, imported.need_hand(), "{path:?}");
        let of_an_include = |d: &&Diagnostic| d.related.is_empty();
        for note in imported.diagnostics.iter().filter(of_an_include) {
            assert!(text.contains(&note.message), "{path:?}: {note:?}");
        }
    }
}

#[test]
fn every_code_is_shown_by_a_golden() {
    let read = |path: PathBuf, extension: &str| fs::read_to_string(path.with_extension(extension)).unwrap();
    let mut all: String = cases("samples").into_iter().map(|path| read(path, "notes")).collect();
    all.extend(cases("mistakes").into_iter().map(|path| read(path, "err")));
    // What is too large would be a large golden: see `hostile`.
    let missing: Vec<_> =
        codes::ALL.iter().filter(|(code, _)| *code != codes::TOO_LARGE && !all.contains(code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(codes::ALL.is_sorted());
    let reference = fs::read_to_string(root().join("../../../docs/reference.md")).unwrap();
    let lacking: Vec<_> = codes::ALL
        .iter()
        .filter(|(code, what)| !reference.contains(&format!("| {code} | {what} |")))
        .collect();
    assert!(lacking.is_empty(), "docs/reference.md lacks {lacking:?}");
    assert!(
        codes::ALL.iter().all(|(code, _)| manifest_codes::find(code).is_none()),
        "a code means two things"
    );
}
