//! Whatever the text: diagnostics or a plan, never a panic, and every place lies in its text.

use crate::surround::check;
use anchorbolt_core::manifest::{Text, parse};
use anchorbolt_core::plan::Role;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/manifest");
    let mut texts = Vec::new();
    for sub in ["invalid", "valid"] {
        for entry in fs::read_dir(folder.join(sub)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "toml") {
                texts.push((path.clone(), fs::read_to_string(path).unwrap()));
            }
        }
    }
    texts.sort();
    texts.into_iter().map(|(_, text)| text).collect()
}

/// Every diagnostic can be shown, and a plan keeps its promises.
fn holds(text: &str) {
    let (parsed, diagnostics, plan) = check("fuzz.toml", text);
    for diagnostic in &diagnostics {
        let span = diagnostic.span.expect("a place");
        parsed.sources.locate(span).expect("a place in a text");
        assert!(!diagnostic.message.is_empty() && !diagnostic.message.contains('\n'), "{diagnostic:?}");
        assert!(parsed.sources.json(diagnostic)["line"].is_u64());
    }
    let errors = diagnostics.iter().any(|d| d.is_error());
    let Some(plan) = plan else { return };
    assert!(!errors);
    for (i, edge) in plan.edges.iter().enumerate() {
        assert!(plan.components[edge.from].outputs[edge.output].consumers.contains(&i));
        assert_eq!(plan.components[edge.to].inputs[edge.input as usize], i);
    }
    let mut staged: Vec<usize> = plan.stages.iter().flatten().copied().collect();
    staged.sort_unstable();
    assert!(staged.into_iter().eq(0..plan.components.len()));
    for (i, component) in plan.components.iter().enumerate() {
        assert!(component.executors >= 1 && component.executors <= component.task_count());
        assert_eq!(component.inputs.is_empty(), matches!(component.role, Role::Spout(_)));
        assert_eq!(plan.context(i, 0).expect("a context").inputs.len(), component.inputs.len());
    }
}

const SNIPPETS: &[&str] = &[
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    ",",
    ".",
    "\n",
    "#",
    "[[bolts.x]]",
    "[bolts.split]",
    "[topology]",
    "${",
    "${A}",
    "$$",
    "0",
    "-1",
    "1e999",
    "nan",
    "99999999999999999999999999999999999999999999",
    "\"0s\"",
    "\"1s\"",
    "\"18446744073709551615h\"",
    "\"16777216TiB\"",
    "executors = 0",
    "inputs = []",
    "kind = \"null\"",
    "plugin = \"split.wasm\"",
    "true",
    "1979-05-27",
    "\u{0}",
    "ä",
    "\u{feff}",
    "\r",
    "grouping = { fields = [\"word\"] }",
    "stream = \"x\"",
    "#set bolts.split.x.y.0=1\n",
    "#set =\n",
    "#set topology.name.0=${A}\n",
    "\"\"\"",
    "\\u0000",
    "[bolts.\"\"]",
];

/// A few cuts, copies and insertions at places of the text's own.
fn mutate(rng: &mut fastrand::Rng, corpus: &[String]) -> String {
    let mut text: Vec<char> = rng.choice(corpus).unwrap().chars().collect();
    for _ in 0..rng.usize(1..6) {
        let at = rng.usize(0..=text.len());
        let end = (at + rng.usize(0..30)).min(text.len());
        match rng.u8(0..4) {
            0 => drop(text.drain(at..end)),
            1 => {
                let copy = text[at..end].to_vec();
                let to = rng.usize(0..=text.len());
                text.splice(to..to, copy);
            }
            2 => {
                let snippet = rng.choice(SNIPPETS).unwrap();
                text.splice(at..at, snippet.chars());
            }
            _ => {
                let snippet = rng.choice(SNIPPETS).unwrap();
                text.splice(at..end, snippet.chars());
            }
        }
    }
    text.into_iter().filter(|c| *c != '\u{1}').collect()
}

#[test]
fn mutated_manifests_never_panic() {
    let corpus = corpus();
    let rounds = std::env::var("FUZZ_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(3_000);
    for seed in 0..rounds {
        let text = mutate(&mut fastrand::Rng::with_seed(seed), &corpus);
        // A case's own comment lines must stay as `surround` needs them.
        let text: String = text.split_inclusive('\n').filter(|line| !broken_comment(line)).collect();
        let result = std::panic::catch_unwind(|| holds(&text));
        assert!(result.is_ok(), "seed {seed}:\n{text}");
    }
}

fn broken_comment(line: &str) -> bool {
    line.starts_with("#declare") || line.starts_with("#env") || line.starts_with("#stateless")
}

#[test]
fn every_prefix_of_every_manifest_is_survived() {
    for text in corpus() {
        let text: String = text.split_inclusive('\n').filter(|line| !broken_comment(line)).collect();
        for (end, _) in text.char_indices().step_by(7) {
            holds(&text[..end]);
        }
    }
}

#[test]
fn depth_and_size_are_survived() {
    let deep = format!("[topology]\nname = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let tables = format!("[topology{}]\nx = 1", ".a".repeat(100_000));
    let dotted = format!("{}a = 1", "a.".repeat(100_000));
    let long = format!("[topology]\nname = \"{}\"", "x".repeat(1_000_000));
    for text in [deep, tables, dotted, long] {
        let parsed = parse(&Text { name: "m", text: &text, sets: &[], lookup: &|_| None });
        assert!(parsed.manifest.faulty);
        assert!(parsed.diagnostics.iter().all(|d| d.message.len() < 1_000));
    }
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "(?s).{0,200}", set in "(?s).{0,60}") {
        let sets = [set];
        let parsed = parse(&Text { name: "m", text: &text, sets: &sets, lookup: &|name| Some(name.to_owned()) });
        for diagnostic in &parsed.diagnostics {
            prop_assert!(parsed.sources.locate(diagnostic.span.unwrap()).is_some());
        }
    }
}
