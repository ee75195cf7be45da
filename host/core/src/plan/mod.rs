//! A manifest and what its plugins declare, to the graph that the runtime is built from.
//!
//! In come a [`Manifest`] (from text, or built by a program: nothing here needs a span) and the
//! [`Declaration`]s of its plugins by bolt name; out goes a [`Plan`], or every mistake. A declaration may be
//! missing because the plugin did not load: then the rules that need it are passed over, so that this does
//! not hide the mistakes in the rest.
//!
//! `declarations` checks what components say of themselves, `resolve` looks names up, `stages` finds
//! cycles and the order of a drain, `assemble` puts the result together.

mod assemble;
mod context;
mod declarations;
mod model;
mod resolve;
mod stages;

pub use declarations::{FIELDS_MAX, STREAMS_MAX};
pub use model::{BoltPlan, Code, Component, Edge, Grouping, Output, Plan, Role, SpoutPlan};

use crate::ids::RootId;
use crate::manifest::{Bolt, Diagnostic, Manifest, Span, Spout, codes, sort};
use crate::port::Declaration;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The most tasks of a topology.
const TASKS_MAX: u64 = 1 << 20;

/// What [`plan`] found.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Only when there is no error, in the manifest either, and every declaration was there.
    pub plan: Option<Plan>,
    /// In the order of the text; may hold warnings beside a plan.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks how the components fit together and resolves every name.
///
/// The manifest may be one that was read with errors: its other mistakes are found all the same, and no
/// plan comes out. `declarations` has an entry for each plugin that loaded; native kinds need none, but one
/// that is given is preferred (a program's own spout or sink).
pub fn plan(manifest: &Manifest, declarations: &BTreeMap<String, Declaration>) -> Planned {
    let mut diagnostics = Vec::new();
    let parts = parts(manifest, declarations, &mut diagnostics);
    for (name, part) in &parts {
        if let Some(declaration) = &part.declaration {
            declarations::check(name, part, declaration, &mut diagnostics);
        }
    }
    check_whole(manifest, &mut diagnostics);
    let links = resolve::resolve(manifest, &parts, &mut diagnostics);
    let mut plan = None;
    if !manifest.faulty && !diagnostics.iter().any(Diagnostic::is_error) {
        plan = assemble::assemble(manifest, &parts, &links);
        diagnostics.extend(plan.iter().flat_map(|plan| unreached(plan, &parts)));
    }
    sort(&mut diagnostics);
    Planned { plan, diagnostics }
}

/// One component with what is known of it.
struct Part<'m> {
    source: PartSource<'m>,
    declaration: Option<Cow<'m, Declaration>>,
}

#[derive(Clone, Copy)]
enum PartSource<'m> {
    Spout(&'m Spout),
    Bolt(&'m Bolt),
}

impl Part<'_> {
    fn name_span(&self) -> Option<Span> {
        match self.source {
            PartSource::Spout(spout) => spout.name.span,
            PartSource::Bolt(bolt) => bolt.name.span,
        }
    }

    /// Where what it runs is named.
    fn code_span(&self) -> Option<Span> {
        match self.source {
            PartSource::Bolt(Bolt { code: Some(code), .. }) => code.span.or(self.name_span()),
            _ => self.name_span(),
        }
    }
}

/// All components in name order: the order of everything that follows.
type Parts<'m> = BTreeMap<&'m str, Part<'m>>;

fn parts<'m>(
    manifest: &'m Manifest,
    declarations: &'m BTreeMap<String, Declaration>,
    out: &mut Vec<Diagnostic>,
) -> Parts<'m> {
    let given = |name: &str| declarations.get(name).map(Cow::Borrowed);
    let spouts = manifest.spouts.iter().map(|spout| {
        let name = &*spout.name.value;
        let declaration = given(name).or_else(|| Some(Cow::Owned(spout.kind.as_ref()?.declaration())));
        (name, Part { source: PartSource::Spout(spout), declaration })
    });
    let bolts = manifest.bolts.iter().map(|bolt| {
        let name = &*bolt.name.value;
        let native = || match &bolt.code.as_ref()?.value {
            Code::Native(sink) => Some(Cow::Owned(sink.declaration())),
            Code::Plugin { .. } => None,
        };
        (name, Part { source: PartSource::Bolt(bolt), declaration: given(name).or_else(native) })
    });
    let mut parts = Parts::new();
    for (name, part) in spouts.chain(bolts) {
        match parts.entry(name) {
            Entry::Vacant(place) => {
                place.insert(part);
            }
            Entry::Occupied(mut place) => {
                out.push(name_taken(name, place.get(), &part));
                // Whose streams are meant is not known.
                place.insert(Part { declaration: None, ..part });
            }
        }
    }
    parts
}

/// Spouts and bolts share one namespace.
fn name_taken(name: &str, first: &Part<'_>, second: &Part<'_>) -> Diagnostic {
    let is = if matches!(first.source, PartSource::Spout(_)) { "spout" } else { "bolt" };
    Diagnostic::error(codes::NAME_TAKEN, second.name_span(), format!("`{name}` is a {is} already"))
        .help("rename one of the two: spouts and bolts share their names")
        .related(first.name_span(), format!("the {is}"))
}

/// Rules of the topology as a whole.
fn check_whole(manifest: &Manifest, out: &mut Vec<Diagnostic>) {
    if manifest.spouts.is_empty() && !manifest.incomplete {
        let message = "the topology has no spout: nothing would ever flow";
        out.push(Diagnostic::error(codes::NO_SPOUT, manifest.topology_span, message).help(
            "add one, for example `[spouts.lines]` with `kind = \"lines\"` and `path = \"data/*.txt\"`",
        ));
    }
    let spout_tasks: u64 = manifest.spouts.iter().map(|spout| u64::from(spout.tasks)).sum();
    let bolt_tasks: u64 = manifest.bolts.iter().map(|bolt| u64::from(bolt.tasks)).sum();
    let mut bound = |what: &str, count: u64, most: u64| {
        if count > most {
            let message = format!("the topology has {count} tasks of {what}");
            let mistake = Diagnostic::error(codes::TOO_MANY_TASKS, manifest.topology_span, message);
            out.push(mistake.help(format!("it can have {most}: lower `tasks` or `executors`")));
        }
    };
    bound("spouts", spout_tasks, u64::from(RootId::OWNERS_MAX));
    bound("spouts and bolts", spout_tasks + bolt_tasks, TASKS_MAX);
}

/// Bolts that take only from each other never get a tuple from a spout.
fn unreached(plan: &Plan, parts: &Parts<'_>) -> Vec<Diagnostic> {
    let mut reached: Vec<bool> = plan.components.iter().map(|c| matches!(c.role, Role::Spout(_))).collect();
    let mut grown = true;
    while grown {
        grown = false;
        for edge in &plan.edges {
            let from = reached.get(edge.from).copied().unwrap_or_default();
            if let (true, Some(to @ false)) = (from, reached.get_mut(edge.to)) {
                *to = true;
                grown = true;
            }
        }
    }
    let lost = plan.components.iter().zip(&reached).filter(|(_, reached)| !**reached);
    lost.map(|(component, _)| {
        let name = &component.name;
        let span = parts.get(&**name).and_then(Part::name_span);
        Diagnostic::warning(codes::UNREACHED, span, format!("no spout reaches `{name}`"))
            .help("it takes only from bolts of its own cycle: add an input that comes from a spout")
    })
    .collect()
}
