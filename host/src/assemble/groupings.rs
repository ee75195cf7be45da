//! The plugins of custom groupings: loaded, and tried once on the edge that each is for.
//!
//! In: a manifest, and the plan if there is one. Out: what makes instances for each edge, and a diagnostic for each
//! grouping that does not load or prepare. Invariant: one that does not load hides no mistake elsewhere.

use super::plugins::{GuestLog, explain};
use crate::telemetry::Errors;
use anchorbolt_core::failure::Class;
use anchorbolt_core::grouping::GroupingFactories;
use anchorbolt_core::ids::TaskId;
use anchorbolt_core::manifest::{self, Diagnostic, Limits, Manifest, Span, codes};
use anchorbolt_core::plan::{Grouping, Plan};
use anchorbolt_core::port::{CallError, GroupingFactory};
use anchorbolt_wasm::{Engine, GroupingMaker, GroupingPlugin, GuestEvents, Settings, Silent};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Those that load, by the path in the manifest.
#[derive(Default)]
pub(super) struct Groupings(BTreeMap<String, GroupingPlugin>);

impl Groupings {
    /// Loads all that the manifest names, each file once.
    pub(super) fn load(
        engine: &Engine,
        manifest: &Manifest,
        base: &Path,
        out: &mut Vec<Diagnostic>,
    ) -> Groupings {
        let mut loaded = Groupings::default();
        for (path, span) in named(manifest) {
            if loaded.0.contains_key(path) {
                continue;
            }
            let file = base.join(path);
            match GroupingPlugin::load(engine, &file) {
                Ok(plugin) => drop(loaded.0.insert(path.to_owned(), plugin)),
                Err(error) => {
                    let (code, help) = explain(&error);
                    let message = format!("plugin {}: {error}", file.display());
                    out.push(Diagnostic::error(code, span, message).help(help));
                }
            }
        }
        loaded
    }

    /// Prepares each on its edge, as its tasks will be, so that a `config` that it refuses is found before a run.
    pub(super) fn check(&self, plan: &Plan, manifest: &Manifest, base: &Path, out: &mut Vec<Diagnostic>) {
        for (&e, factory) in &self.factories(plan, base, |_| Arc::new(Silent)) {
            let edge = &plan.edges[e];
            let Grouping::Plugin { path, config } = &edge.grouping else { continue };
            let fields = &plan.components[edge.from].outputs[edge.output].fields;
            let to = &plan.components[edge.to];
            let targets: Vec<TaskId> = to.tasks.clone().collect();
            let prepared =
                factory.create().and_then(|mut made| made.prepare(fields, &targets, &config.to_string()));
            let Err(error) = prepared else { continue };
            let (code, help) = advise(&error);
            let message = format!("plugin {}: {}", base.join(path).display(), text(&error));
            let bolt = manifest.bolts.iter().find(|bolt| bolt.name.value == to.name);
            let input = bolt.and_then(|bolt| bolt.inputs.list.get(edge.input as usize));
            let span = input.and_then(|input| input.grouping.as_ref()?.span);
            out.push(Diagnostic::error(code, span, message).help(help));
        }
    }

    /// What makes the instances of each edge whose grouping is a plugin that loaded.
    pub(super) fn factories(
        &self,
        plan: &Plan,
        base: &Path,
        events: impl Fn(&str) -> Arc<dyn GuestEvents>,
    ) -> GroupingFactories {
        let mut factories = GroupingFactories::new();
        for (e, edge) in plan.edges.iter().enumerate() {
            let Grouping::Plugin { path, config } = &edge.grouping else { continue };
            let Some(plugin) = self.0.get(path) else { continue };
            let component = plan.components[edge.to].name.clone();
            let events = events(&component);
            let settings = Settings {
                component,
                limits: Limits::new(plan.topology.message_timeout),
                allow: Default::default(),
                config_json: config.to_string(),
                base: base.to_owned(),
            };
            let maker = GroupingMaker::new(plugin.clone(), settings, events);
            factories.insert(e, Arc::new(maker) as Arc<dyn GroupingFactory>);
        }
        factories
    }
}

/// Where a grouping's log lines go: under the name of the bolt that takes by it.
pub(super) fn log(errors: &Arc<Errors>) -> impl Fn(&str) -> Arc<dyn GuestEvents> {
    let errors = errors.clone();
    move |component| Arc::new(GuestLog { component: component.to_owned(), errors: errors.clone() })
}

/// The paths of the manifest, each with the place where it is.
fn named(manifest: &Manifest) -> impl Iterator<Item = (&str, Option<Span>)> {
    let inputs = manifest.bolts.iter().flat_map(|bolt| &bolt.inputs.list);
    inputs.filter_map(|input| {
        let grouping = input.grouping.as_ref()?;
        match &grouping.value {
            manifest::Grouping::Plugin { path, .. } => Some((path.as_str(), grouping.span)),
            _ => None,
        }
    })
}

fn text(error: &CallError) -> String {
    match error {
        CallError::Declared(text) => format!("it refuses its configuration: {text}"),
        CallError::Died(death) if death.output.trim().is_empty() => {
            format!("it died before it could choose: {}", death.reason)
        }
        CallError::Died(death) => {
            format!("it died before it could choose: {}; it printed: {}", death.reason, death.output.trim())
        }
    }
}

fn advise(error: &CallError) -> (&'static str, &'static str) {
    match error {
        CallError::Died(death) if matches!(death.class, Class::Memory | Class::Deadline) => (
            codes::PLUGIN_LIMITS,
            "mend the plugin: the limits of a grouping are those of a bolt that sets none",
        ),
        _ => {
            (codes::PLUGIN_DECLARE, "change `config` of the grouping as the plugin asks, or mend the plugin")
        }
    }
}
