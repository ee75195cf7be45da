//! A case with what surrounds it: its `--set` arguments, variables and declarations.

use anchorbolt_core::manifest::{Code, Diagnostic, Manifest, Parsed, Text, parse, sort};
use anchorbolt_core::plan::{Plan, plan};
use anchorbolt_core::port::{Declaration, StreamDeclaration};
use std::collections::BTreeMap;

/// Reads and plans a case: all its diagnostics in order, and the plan when there is one.
pub(crate) fn check(name: &str, text: &str) -> (Parsed, Vec<Diagnostic>, Option<Plan>) {
    let pairs = |key: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(key));
        lines.map(|rest| rest.trim().to_owned()).collect()
    };
    let sets = pairs("#set ");
    let env: BTreeMap<String, String> = pairs("#env ")
        .iter()
        .map(|pair| pair.split_once('=').expect("NAME=VALUE"))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let lookup = |name: &str| env.get(name).cloned();
    let parsed = parse(&Text { name, text, sets: &sets, lookup: &lookup });
    let mut declarations = examples(&parsed.manifest);
    for line in pairs("#declare ") {
        let (bolt, streams) = line.split_once(' ').expect("BOLT STREAMS");
        declarations.insert(bolt.to_owned(), declaration(streams));
    }
    for bolt in pairs("#stateless ") {
        declarations.entry(bolt).or_default().stateless = true;
    }
    let planned = plan(&parsed.manifest, &declarations);
    let mut diagnostics = parsed.diagnostics.clone();
    diagnostics.extend(planned.diagnostics);
    sort(&mut diagnostics);
    (parsed, diagnostics, planned.plan)
}

fn examples(manifest: &Manifest) -> BTreeMap<String, Declaration> {
    let mut declarations = BTreeMap::new();
    for bolt in &manifest.bolts {
        let Some(Code::Plugin { path, .. }) = bolt.code.as_ref().map(|code| &code.value) else {
            continue;
        };
        let declaration = match path.as_str() {
            "split.wasm" => Declaration { stateless: true, ..Declaration::fields(["word"]) },
            "count.wasm" => Declaration::fields(["word", "count"]),
            _ => continue,
        };
        declarations.insert(bolt.name.value.clone(), declaration);
    }
    declarations
}

/// `default(word,count) !routed(x)`; a stream or field may be quoted as in Rust to hold anything.
fn declaration(streams: &str) -> Declaration {
    let many = |text: &str| match text.split_once('*') {
        // `f*300`: f0 to f299.
        Some((stem, count)) => (0..count.parse().unwrap()).map(|i: u32| format!("{stem}{i}")).collect(),
        None => vec![text.replace("\\n", "\n").replace("\\s", " ")],
    };
    let mut outputs = Vec::new();
    for stream in streams.split_whitespace().filter(|stream| *stream != "-") {
        let (name, fields) = stream.split_once('(').expect("STREAM(fields)");
        let fields = fields.trim_end_matches(')');
        let fields = if fields.is_empty() { Vec::new() } else { fields.split(',').flat_map(many).collect() };
        let direct = name.starts_with('!');
        for name in many(name.trim_start_matches('!')) {
            outputs.push(StreamDeclaration { name, fields: fields.clone(), direct });
        }
    }
    Declaration { outputs, stateless: false }
}
