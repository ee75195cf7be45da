//! `anchorbolt check`: everything that is wrong, at once.

use crate::args::{CheckArgs, TopologyArgs};
use crate::{Exit, INPUT, host, render, say, tell_as_is};
use anchorbolt_host::assemble::{Loaded, Source};
use anchorbolt_host::core::manifest::{Ackers, Limits};
use anchorbolt_host::core::plan::{Plan, Role};
use std::fmt::Write;

/// Checks a topology.
pub(crate) fn check(args: &CheckArgs) -> Exit {
    let loaded = match load(&args.topology) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let said = if args.json {
        let list: Vec<_> = loaded.diagnostics.iter().map(|d| loaded.sources.json(d)).collect();
        say(&format!("{:#}\n", serde_json::json!({ "diagnostics": list })))
    } else {
        tell_as_is(&render::render(&loaded.sources, &loaded.diagnostics, render::colours()));
        say(&loaded.plan.as_ref().map(overview).unwrap_or_default())
    };
    if loaded.plan.is_none() { INPUT } else { said }
}

/// Loads a topology. When its file can't be read, that is said here.
pub(crate) fn load(args: &TopologyArgs) -> Result<Loaded, Exit> {
    let source = Source { path: args.manifest.clone(), sets: args.sets.clone() };
    host()?.load(&source).map_err(|error| {
        tell!("error: {error}");
        if args.manifest.is_dir() {
            tell!(
                "help: name the manifest's file, for example {}",
                args.manifest.join("topology.toml").display()
            );
        }
        INPUT
    })
}

/// What will run, with the limits that hold.
fn overview(plan: &Plan) -> String {
    let mut out = String::new();
    let t = &plan.topology;
    let ackers = match t.ackers {
        Ackers::PerSpout => "in each spout task".to_owned(),
        Ackers::Off => "off: nothing is tracked or replayed".to_owned(),
        Ackers::Threads(n) => format!("on {n} acker threads"),
    };
    line(
        &mut out,
        &format!("topology `{}` is fine: tracking {ackers}, message timeout {:?}", t.name, t.message_timeout),
    );
    for component in &plan.components {
        let n = component.tasks.len();
        let kind = match &component.role {
            Role::Spout(spout) => {
                format!("spout  kind {}, max pending {}", spout.kind.name(), spout.max_pending)
            }
            Role::Bolt(bolt) => match &bolt.code {
                anchorbolt_host::core::plan::Code::Native(kind) => format!("bolt   kind {}", kind.name()),
                anchorbolt_host::core::plan::Code::Plugin { path, .. } => {
                    format!(
                        "bolt   {path}{}\n      limits {}",
                        if bolt.stateless { ", stateless" } else { "" },
                        limits(&bolt.limits)
                    )
                }
            },
        };
        line(
            &mut out,
            &format!(
                "  {:<16} {n} task{} on {} executor{}  {kind}",
                component.name,
                s(n as u64),
                component.executors,
                s(component.executors.into())
            ),
        );
        for edge in plan.edges.iter().filter(|e| plan.components[e.to].name == component.name) {
            let from = &plan.components[edge.from];
            let output = &from.outputs[edge.output];
            let cycle = if edge.closes_cycle { " (closes a cycle)" } else { "" };
            line(
                &mut out,
                &format!(
                    "      from {}/{} [{}] by {}{cycle}",
                    from.name,
                    output.name,
                    output.fields.join(", "),
                    grouping(edge, output)
                ),
            );
        }
    }
    out
}

fn s(n: u64) -> &'static str {
    if n == 1 { "" } else { "s" }
}

fn grouping(
    edge: &anchorbolt_host::core::plan::Edge,
    output: &anchorbolt_host::core::plan::Output,
) -> String {
    use anchorbolt_host::core::plan::Grouping;
    let names = |fields: &[usize]| {
        let names: Vec<&str> =
            fields.iter().filter_map(|f| output.fields.get(*f).map(String::as_str)).collect();
        names.join(", ")
    };
    match &edge.grouping {
        Grouping::Shuffle => "shuffle".to_owned(),
        Grouping::Fields(fields) => format!("fields ({})", names(fields)),
        Grouping::All => "all".to_owned(),
        Grouping::Global => "global".to_owned(),
        Grouping::None => "none".to_owned(),
        Grouping::Direct => "direct".to_owned(),
        Grouping::LocalOrShuffle => "local-or-shuffle".to_owned(),
        Grouping::PartialKey(fields) => format!("partial-key ({})", names(fields)),
        Grouping::Plugin { path, .. } => format!("plugin {path}"),
    }
}

fn limits(l: &Limits) -> String {
    format!(
        "memory {}, deadline {:?}, held {}, per tuple: {} emissions, {}, {} anchors, {} a row",
        size(l.memory_bytes),
        l.deadline,
        l.held_tuples,
        l.emissions_per_tuple,
        size(l.emitted_bytes_per_tuple),
        l.anchors_per_tuple,
        size(l.tuple_bytes)
    )
}

/// A size in the largest unit that divides it.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(bits, _)| bytes > 0 && bytes.is_multiple_of(1 << bits)) {
        Some((bits, unit)) => format!("{}{unit}", bytes >> bits),
        None => format!("{bytes}B"),
    }
}

fn line(out: &mut String, text: &str) {
    // Writing to a String can't fail.
    let _ok = writeln!(out, "{text}").is_ok();
}
