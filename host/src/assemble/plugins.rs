//! A bolt's plugin: loaded, checked against its hash, asked what it is; and its log.
//!
//! In: a bolt of a manifest. Out: the plugin and its declaration, or the one diagnostic that says why not.

use crate::telemetry::Errors;
use anchorbolt_core::failure::Class;
use anchorbolt_core::manifest::{Bolt, Code, Diagnostic, codes};
use anchorbolt_core::port::{CallError, Declaration, InstanceFactory};
use anchorbolt_wasm::{Engine, GuestEvents, Level, LoadError, Metric, Plugin, Settings};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

#[allow(clippy::type_complexity, reason = "none: not a plugin; else what loading came to")]
/// Loads a bolt's plugin; none when it has none.
pub(super) fn load(
    engine: &Engine,
    bolt: &Bolt,
    base: &Path,
    natives: &BTreeMap<String, Arc<dyn InstanceFactory>>,
) -> Option<Result<(Plugin, Declaration), Box<Diagnostic>>> {
    let code = bolt.code.as_ref()?;
    let Code::Plugin { path, sha256 } = &code.value else { return None };
    if natives.contains_key(&bolt.name.value) {
        return None;
    }
    let wrong = |code_: &'static str, message: String, help: String| {
        Box::new(Diagnostic::error(code_, code.span, message).help(help))
    };
    let file = base.join(path);
    let plugin = match Plugin::load(engine, &file) {
        Ok(plugin) => plugin,
        Err(error) => {
            let (code_, help) = explain(&error);
            let message = format!("plugin {}: {error}", file.display());
            return Some(Err(wrong(code_, message, help.to_owned())));
        }
    };
    if let Some(wanted) = sha256.as_ref().filter(|s| !s.eq_ignore_ascii_case(plugin.sha256())) {
        let message = format!("plugin {}: its sha256 is {}, not {wanted}", file.display(), plugin.sha256());
        let help = "put the right file there, or set `sha256` to the file's if you trust it".to_owned();
        return Some(Err(wrong(codes::PLUGIN_SHA256, message, help)));
    }
    Some(match plugin.declare(&settings(bolt, base)) {
        Ok(declaration) => Ok((plugin, declaration)),
        Err(error) => {
            let message = format!("plugin {}: {}", file.display(), declare_text(&error));
            let (code_, help) = match &error {
                CallError::Died(death) if death.class == Class::Memory => {
                    (codes::PLUGIN_LIMITS, "raise `limits.memory`, or mend the plugin")
                }
                CallError::Died(death) if death.class == Class::Deadline => {
                    (codes::PLUGIN_LIMITS, "raise `limits.deadline`, or mend the plugin")
                }
                _ => (codes::PLUGIN_DECLARE, "change `config` as the plugin asks, or mend the plugin"),
            };
            Err(wrong(code_, message, help.to_owned()))
        }
    })
}

fn settings(bolt: &Bolt, base: &Path) -> Settings {
    Settings {
        component: bolt.name.value.clone(),
        limits: bolt.limits.clone(),
        allow: bolt.allow.clone(),
        config_json: bolt.config.to_string(),
        base: base.to_owned(),
    }
}

fn declare_text(error: &CallError) -> String {
    match error {
        CallError::Declared(text) => format!("it refuses its configuration: {text}"),
        CallError::Died(death) if death.output.trim().is_empty() => {
            format!("it died while it declared itself: {}", death.reason)
        }
        CallError::Died(death) => {
            format!("it died while it declared itself: {}; it printed: {}", death.reason, death.output.trim())
        }
    }
}

/// The code of a load error, and what to do about it.
pub(super) fn explain(error: &LoadError) -> (&'static str, &'static str) {
    match error {
        LoadError::Read(_) => {
            (codes::PLUGIN_MISSING, "build the plugin, or mend the path; it is relative to the manifest")
        }
        LoadError::Empty => (codes::PLUGIN_EMPTY, "build the plugin again"),
        LoadError::CoreModule => {
            (codes::PLUGIN_CORE_MODULE, "build it with `cargo build --target wasm32-wasip2`")
        }
        LoadError::Version { .. } => {
            (codes::PLUGIN_VERSION, "build the plugin with the SDK of this host's version")
        }
        LoadError::MissingInterface(_) => (
            codes::PLUGIN_INTERFACE,
            "a bolt may import WASI p2 and the interfaces of anchorbolt:bolt, nothing else",
        ),
        LoadError::NotABolt(_) => {
            (codes::PLUGIN_NOT_A_BOLT, "export the bolt with `anchorbolt_sdk::export!(MyBolt);`")
        }
        LoadError::NotAGrouping(_) => (
            codes::PLUGIN_NOT_A_BOLT,
            "export the grouping with `anchorbolt_sdk::export_grouping!(MyGrouping);`",
        ),
        LoadError::IsGrouping => (
            codes::PLUGIN_NOT_A_BOLT,
            "name it in an input: `grouping = { plugin = \"..\" }`; here a bolt is needed",
        ),
        LoadError::IsBolt => {
            (codes::PLUGIN_NOT_A_BOLT, "name it as `plugin` of `[bolts.NAME]`; here a grouping is needed")
        }
        LoadError::TooMany { .. } => {
            (codes::PLUGIN_LIMITS, "build the plugin with fewer memories and tables")
        }
        LoadError::TooWide(_) => (
            codes::PLUGIN_LIMITS,
            "build the plugin with fewer functions and globals, or of fewer modules; link-time optimisation helps",
        ),
        LoadError::TooLarge | LoadError::NotWasm(_) | LoadError::Truncated { .. } | LoadError::Invalid(_) => {
            (codes::PLUGIN_DAMAGED, "build the plugin again, or copy it again")
        }
        LoadError::Compile(_) => {
            (codes::PLUGIN_DAMAGED, "build the plugin again; a smaller plugin compiles faster")
        }
    }
}

/// What a bolt logs goes to the host's log under its name; what it was refused goes to the report, too.
pub(super) struct GuestLog {
    /// The bolt.
    pub(super) component: String,
    /// Those of the run.
    pub(super) errors: Arc<Errors>,
}

impl GuestEvents for GuestLog {
    fn log(&self, level: Level, line: &str) {
        let component = self.component.as_str();
        match level {
            Level::Trace => tracing::trace!(target: "guest", component, "{line}"),
            Level::Debug => tracing::debug!(target: "guest", component, "{line}"),
            Level::Info => tracing::info!(target: "guest", component, "{line}"),
            Level::Warn => tracing::warn!(target: "guest", component, "{line}"),
            Level::Error => tracing::error!(target: "guest", component, "{line}"),
        }
    }

    fn metric(&self, name: &str, value: Metric) {
        tracing::trace!(target: "guest", component = self.component, name, ?value, "metric");
    }

    fn refused(&self, text: &str) {
        let component = self.component.as_str();
        if self.errors.add(component, Class::Failed, text) {
            tracing::warn!(component, "{text}");
        }
    }
}
