//! The target `manifest`: texts of manifests, up to a plan and to what a person is shown.
//!
//! In: a text; its lines `#set ..` are the arguments of `--set`. Out: an error if a diagnostic has no place in its text,
//! or can't be shown, if there is neither a plan nor a mistake, or if a plan is not whole. Invariant: the declarations
//! depend on the text alone.

use super::{Shape, Target, ensure, shape, size, tokens};
use anchorbolt_core::manifest::{Code, Diagnostic, Manifest, Sources, Span, Text, parse, sort};
use anchorbolt_core::plan::{Plan, Role, plan};
use anchorbolt_core::port::Declaration;
use fastrand::Rng;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

#[path = "../../../host/cli/src/render.rs"]
#[allow(dead_code, reason = "colours are for terminals")]
mod render;

pub(super) const TARGET: Target = Target {
    name: "manifest",
    bytes_max: 6000,
    wall: Duration::from_secs(3),
    memory_max: 128 << 20,
    seeds,
    mutate,
    check,
};

/// Where manifests are, from the root of the repository.
const FOLDERS: [&str; 4] = [
    "host/core/tests/manifest/valid",
    "host/core/tests/manifest/invalid",
    "examples/word-count",
    "examples/orders",
];

/// What is put in beside what manifests are made of.
const TOKENS: [&str; 34] = [
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
    "${",
    "${A}",
    "$$",
    "-1",
    "1e999",
    "nan",
    "\"0s\"",
    "\"18446744073709551615h\"",
    "\"16777216TiB\"",
    "1979-05-27",
    "\0",
    "ä",
    "\u{feff}",
    "\r",
    "\"\"\"",
    "\\u0000",
    "[bolts.\"\"]",
    "\n#set topology.name=${A}\n",
    "\n#set =\n",
    "\n#set bolts.x.tasks=4294967296\n",
    "[[bolts.x]]",
    "a.b.c",
    "1_000_000_000_000",
];

fn seeds() -> Vec<Vec<u8>> {
    tokens::files(&FOLDERS, "toml")
}

fn mutate(rng: &mut Rng, input: &mut Vec<u8>) {
    static KNOWN: OnceLock<Vec<String>> = OnceLock::new();
    tokens::mutate(rng, input, &TOKENS, KNOWN.get_or_init(|| tokens::known(&seeds())));
}

fn check(input: &[u8]) -> Result<Shape, String> {
    let text = String::from_utf8_lossy(input);
    let sets: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix("#set ")).map(str::to_owned).collect();
    let lookup = |name: &str| (name != "UNSET").then(|| format!("{name}\n\"v"));
    let parsed = parse(&Text { name: "m.toml", text: &text, sets: &sets, lookup: &lookup });
    let (declarations, missing) = declarations(&parsed.manifest);
    let planned = plan(&parsed.manifest, &declarations);
    let mut diagnostics = parsed.diagnostics.clone();
    diagnostics.extend(planned.diagnostics);
    sort(&mut diagnostics);
    diagnostics.iter().try_for_each(|diagnostic| placed(&parsed.sources, diagnostic))?;
    let shown = render::render(&parsed.sources, &diagnostics, false);
    ensure(diagnostics.is_empty() || shown.contains("m.toml") || shown.contains("--set"), || shown)?;
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    ensure(parsed.manifest.faulty == parsed.diagnostics.iter().any(Diagnostic::is_error), || {
        "faulty".to_owned()
    })?;
    match &planned.plan {
        Some(_) if errors > 0 => return Err(format!("a plan beside errors: {diagnostics:?}")),
        None if errors == 0 && !missing => return Err("neither a plan nor an error".to_owned()),
        Some(plan) => whole(plan)?,
        None => {}
    }
    let codes: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    let plan = planned.plan.map(|plan| (plan.components.len(), size(plan.edges.len()), plan.stages.len()));
    Ok(shape((codes, plan, sets.len().min(3))))
}

/// Each plugin declares something; those of one path the same. Some do not load.
fn declarations(manifest: &Manifest) -> (BTreeMap<String, Declaration>, bool) {
    let (mut declarations, mut missing) = (BTreeMap::new(), false);
    for bolt in &manifest.bolts {
        let Some(Code::Plugin { path, .. }) = bolt.code.as_ref().map(|code| &code.value) else { continue };
        let declaration = match path.as_str() {
            path if path.ends_with("split.wasm") => {
                Declaration { stateless: true, ..Declaration::fields(["word"]) }
            }
            path if path.contains("none") => {
                missing = true;
                continue;
            }
            _ => Declaration::fields(["word", "count"]).stream("routed", ["x"]),
        };
        declarations.insert(bolt.name.value.clone(), declaration);
    }
    (declarations, missing)
}

/// Every place of a mistake lies in its text, between characters.
pub(super) fn placed(sources: &Sources, diagnostic: &Diagnostic) -> Result<(), String> {
    let wrong = |what: &str| format!("{what}: {diagnostic:?}");
    let first = diagnostic.span.ok_or_else(|| wrong("no place"))?;
    let others = diagnostic.related.iter().map(|(span, _)| *span);
    for Span { source, start, end } in std::iter::once(first).chain(others) {
        let (_, text) = sources.get(source).ok_or_else(|| wrong("a place in no text"))?;
        ensure(text.get(start as usize..end as usize).is_some(), || wrong("a place outside its text"))?;
        ensure(sources.locate(Span { source, start, end }).is_some(), || wrong("a place that is nowhere"))?;
    }
    let json = sources.json(diagnostic);
    ensure(json["line"].is_u64() && json["column"].is_u64(), || wrong("no line"))?;
    let lines = diagnostic.message.contains('\n') || diagnostic.message.is_empty();
    ensure(!lines && diagnostic.message.len() < 4000, || wrong("a message is one line"))
}

/// Edges, inputs and stages fit together.
fn whole(plan: &Plan) -> Result<(), String> {
    let known = plan.edges.iter().enumerate().all(|(i, edge)| {
        plan.components[edge.from].outputs[edge.output].consumers.contains(&i)
            && plan.components[edge.to].inputs[edge.input as usize] == i
    });
    let mut staged: Vec<usize> = plan.stages.iter().flatten().copied().collect();
    staged.sort_unstable();
    let sound = plan.components.iter().enumerate().all(|(i, component)| {
        (1..=component.task_count()).contains(&component.executors)
            && component.inputs.is_empty() == matches!(component.role, Role::Spout(_))
            && plan.context(i, 0).is_some_and(|context| context.inputs.len() == component.inputs.len())
    });
    ensure(known && sound && staged.into_iter().eq(0..plan.components.len()), || {
        format!("a plan that is not whole: {plan:?}")
    })
}
