//! The golden files.

use crate::surround::check;
use anchorbolt_core::manifest::{Diagnostic, Sources, Span, codes};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_mistake_says_what_where_and_how_to_mend_it() {
    compare("invalid", "err", |name, text| {
        let (parsed, diagnostics, plan) = check(name, text);
        assert!(!diagnostics.is_empty(), "{name} has no mistake");
        let errors = diagnostics.iter().any(Diagnostic::is_error);
        assert!(plan.is_none() || !errors, "{name} has errors and a plan");
        diagnostics.iter().map(|diagnostic| render(&parsed.sources, diagnostic)).collect()
    });
}

#[test]
fn a_valid_manifest_becomes_this_plan() {
    compare("valid", "plan", |name, text| {
        let (parsed, diagnostics, plan) = check(name, text);
        let shown: String =
            diagnostics.iter().map(|diagnostic| render(&parsed.sources, diagnostic)).collect();
        assert!(diagnostics.is_empty(), "{name}:\n{shown}");
        format!("{:#?}\n", plan.expect("a plan"))
    });
}

#[test]
fn every_code_has_a_golden() {
    let all: String =
        cases("invalid").iter().map(|case| fs::read_to_string(case.with_extension("err")).unwrap()).collect();
    let missing: Vec<&str> = codes::ALL
        .iter()
        .filter(|c| !c.loading && !all.contains(&format!("[{}]", c.code)))
        .map(|c| c.code)
        .collect();
    assert!(missing.is_empty(), "no golden shows {missing:?}");
}

#[test]
fn codes_rise_and_are_found() {
    let codes: Vec<&str> = codes::ALL.iter().map(|entry| entry.code).collect();
    assert!(codes.is_sorted());
    assert_eq!(codes.iter().collect::<BTreeSet<_>>().len(), codes.len());
    assert_eq!(codes::find("ab301").map(|entry| entry.code), Some("AB301"));
    assert_eq!(codes::find("AB999"), None);
}

#[test]
fn every_mistake_has_a_place_and_a_help() {
    for case in cases("invalid") {
        let (parsed, diagnostics, _) = check("case.toml", &fs::read_to_string(&case).unwrap());
        for diagnostic in diagnostics {
            let span = diagnostic.span.expect("a place");
            assert!(parsed.sources.locate(span).is_some(), "{case:?}: {diagnostic:?}");
            assert!(diagnostic.help.is_some(), "{case:?}: {diagnostic:?}");
            assert!(!diagnostic.message.contains('\n'), "{case:?}: {diagnostic:?}");
        }
    }
}

fn compare(folder: &str, extension: &str, actual: impl Fn(&str, &str) -> String) {
    let bless = std::env::var_os("BLESS").is_some();
    let mut different = String::new();
    for case in cases(folder) {
        let name = case.file_name().unwrap().to_str().unwrap();
        let actual = actual(name, &fs::read_to_string(&case).unwrap());
        let golden = case.with_extension(extension);
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        if bless {
            fs::write(&golden, &actual).unwrap();
        } else if actual != expected {
            writeln!(different, "=== {name}\n--- expected\n{expected}--- actual\n{actual}").unwrap();
        }
    }
    assert!(different.is_empty(), "{different}");
}

fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/manifest").join(folder);
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

/// One diagnostic as plain text: enough to see every part of it.
fn render(sources: &Sources, diagnostic: &Diagnostic) -> String {
    let mut text = format!("{}[{}]: {}\n", diagnostic.severity.as_str(), diagnostic.code, diagnostic.message);
    if let Some(span) = diagnostic.span {
        text += &place(sources, span, "");
    }
    for (span, what) in &diagnostic.related {
        text += &place(sources, *span, what);
    }
    if let Some(help) = &diagnostic.help {
        writeln!(text, "  help: {help}").unwrap();
    }
    text + "\n"
}

fn place(sources: &Sources, span: Span, what: &str) -> String {
    let (_, text) = sources.get(span.source).expect("a source");
    let location = sources.locate(span).expect("a place");
    let line = text.lines().nth(location.line - 1).unwrap_or_default();
    let covered = text.get(span.range()).unwrap_or_default().lines().next().unwrap_or_default();
    let carets = "^".repeat(covered.chars().count().max(1));
    let indent = " ".repeat(location.column - 1);
    let (file, row, column) = (location.file, location.line, location.column);
    format!("  {file}:{row}:{column}\n  | {line}\n  | {indent}{carets} {what}").trim_end().to_owned() + "\n"
}
