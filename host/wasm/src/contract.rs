//! Whether a component speaks this host's version of the contract, and what it lacks if not.
//!
//! The names of its imports and exports come in; the linker's own words for a mismatch mislead, so a
//! [`LoadError`] with both versions and the missing function goes out.

use crate::image::LoadError;
use wasmtime::Engine;
use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

/// The version of package `anchorbolt:bolt` that this host has.
pub(crate) const VERSION: &str = "0.1.0";
const PACKAGE: &str = "anchorbolt:bolt/";
const GUEST: &str = "guest";
const GROUPING: &str = "grouping-guest";

/// The functions that this host has for bolts.
const IMPORTS: [(&str, &[&str]); 4] = [
    ("types", &[]),
    (
        "collector",
        &["emit", "emit-placed", "ack", "fail", "reset-timeout", "report-error", "describe", "progress"],
    ),
    ("logging", &["log"]),
    ("metrics", &["counter-add", "gauge-set", "histogram-record"]),
];
/// The functions that it calls.
const EXPORTS: &[&str] = &["declare", "prepare", "execute", "tick", "flush", "cleanup"];

/// One import or export of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// As the component names it: `anchorbolt:bolt/guest@0.1.0`.
    pub(crate) name: String,
    /// Its functions, when it is an interface.
    pub(crate) functions: Vec<String>,
}

/// What a component imports and exports.
pub(crate) struct Surface {
    pub(crate) imports: Vec<Item>,
    pub(crate) exports: Vec<Item>,
}

impl Surface {
    pub(crate) fn of(component: &Component, engine: &Engine) -> Surface {
        let ty = component.component_type();
        let imports = ty.imports(engine).map(|(name, item)| Item::of(name, &item.ty, engine)).collect();
        let exports = ty.exports(engine).map(|(name, item)| Item::of(name, &item.ty, engine)).collect();
        Surface { imports, exports }
    }

    /// Refuses another version, and what is not a bolt.
    pub(crate) fn check(&self) -> Result<(), LoadError> {
        for item in &self.imports {
            if let Some((interface, version)) = item.ours() {
                check_import(interface, version, &item.functions)?;
            }
        }
        let guest = self.exports.iter().find_map(|item| match item.ours() {
            Some((GUEST, version)) => Some((version, &item.functions)),
            _ => None,
        });
        match guest {
            Some((version, functions)) => check_guest(version, functions),
            None => Err(self.not_a_bolt()),
        }
    }

    fn not_a_bolt(&self) -> LoadError {
        if self.exports.iter().any(|item| matches!(item.ours(), Some((GROUPING, _)))) {
            return LoadError::NotABolt("it is a custom grouping".into());
        }
        let names: Vec<&str> = self.exports.iter().take(5).map(|item| item.name.as_str()).collect();
        let exports = if names.is_empty() { "nothing".into() } else { names.join(", ") };
        LoadError::NotABolt(format!("it has to export {PACKAGE}{GUEST}@{VERSION}, and exports {exports}"))
    }
}

impl Item {
    fn of(name: &str, ty: &ComponentItem, engine: &Engine) -> Item {
        let functions = match ty {
            ComponentItem::ComponentInstance(instance) => {
                let functions = instance.exports(engine);
                let functions =
                    functions.filter(|(_, item)| matches!(item.ty, ComponentItem::ComponentFunc(_)));
                functions.map(|(name, _)| name.to_owned()).collect()
            }
            _ => vec![],
        };
        Item { name: name.to_owned(), functions }
    }

    /// Interface and version, when it belongs to the contract.
    fn ours(&self) -> Option<(&str, &str)> {
        let rest = self.name.strip_prefix(PACKAGE)?;
        Some(rest.split_once('@').unwrap_or((rest, "without a version")))
    }
}

fn check_import(interface: &str, version: &str, functions: &[String]) -> Result<(), LoadError> {
    let offered = IMPORTS.iter().find(|(name, _)| *name == interface).map(|(_, functions)| *functions);
    let lacking = functions.iter().find(|f| !offered.is_some_and(|o| o.contains(&f.as_str())));
    if lacking.is_none() && offered.is_some() && compatible(version) {
        return Ok(());
    }
    let missing = match lacking.or(functions.first()) {
        Some(function) => format!("the host has no `{interface}.{function}` of {version}"),
        None => format!("the host has no `{interface}` of {version}"),
    };
    Err(skew(version, missing))
}

fn check_guest(version: &str, functions: &[String]) -> Result<(), LoadError> {
    let lacking = EXPORTS.iter().find(|wanted| !functions.iter().any(|f| f == *wanted));
    if lacking.is_none() && compatible(version) {
        return Ok(());
    }
    let missing = match lacking {
        Some(function) => format!("the plugin has no `{GUEST}.{function}`"),
        None => format!("the plugin's `{GUEST}.declare` is of {version}"),
    };
    Err(skew(version, missing))
}

fn skew(wanted: &str, missing: String) -> LoadError {
    LoadError::Version { wanted: wanted.to_owned(), offered: VERSION.to_owned(), missing }
}

/// Below 1.0 the minor number says what fits.
fn compatible(version: &str) -> bool {
    let minor = |v: &str| v.rsplit_once('.').map(|(major_minor, _)| major_minor.to_owned());
    minor(version) == minor(VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, functions: &[&str]) -> Item {
        Item { name: name.into(), functions: functions.iter().map(|&f| f.into()).collect() }
    }

    fn check(imports: Vec<Item>, exports: Vec<Item>) -> String {
        match (Surface { imports, exports }).check() {
            Ok(()) => "ok".into(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn skew_names_both_versions_and_the_function() {
        let guest = || item("anchorbolt:bolt/guest@0.1.0", EXPORTS);
        assert_eq!(
            check(vec![item("anchorbolt:bolt/collector@0.1.3", &["emit", "ack"])], vec![guest()]),
            "ok"
        );
        let text =
            check(vec![item("anchorbolt:bolt/collector@0.1.3", &["emit", "emit-late"])], vec![guest()]);
        assert!(text.contains("@0.1.3") && text.contains("offers 0.1.0"), "{text}");
        assert!(text.contains("the host has no `collector.emit-late` of 0.1.3"), "{text}");
        let text = check(vec![item("anchorbolt:bolt/collector@0.2.0", &["emit"])], vec![guest()]);
        assert!(text.contains("the host has no `collector.emit` of 0.2.0"), "{text}");
        let text = check(vec![], vec![item("anchorbolt:bolt/guest@0.0.9", &EXPORTS[..4])]);
        assert!(text.contains("the plugin has no `guest.flush`"), "{text}");
        let text = check(vec![], vec![item("wasi:cli/run@0.2.6", &["run"])]);
        assert!(
            text.contains("has to export anchorbolt:bolt/guest@0.1.0, and exports wasi:cli/run@0.2.6"),
            "{text}"
        );
        let text = check(vec![], vec![item("anchorbolt:bolt/grouping-guest@0.1.0", &["choose"])]);
        assert!(text.contains("custom grouping"), "{text}");
    }

    /// The lists above against the contract's text.
    #[test]
    fn the_lists_are_the_contract() {
        let wit = include_str!("../../../wit/bolt.wit");
        assert!(wit.contains(&format!("package anchorbolt:bolt@{VERSION};")));
        for (interface, functions) in IMPORTS.iter().copied().chain([(GUEST, EXPORTS)]) {
            let start = wit.find(&format!("interface {interface} {{")).expect("interface");
            let body = &wit[start..start + wit[start..].find("\n}").expect("end")];
            let declared: Vec<&str> = body
                .lines()
                .filter_map(|line| line.trim().split_once(": func("))
                .map(|(name, _)| name)
                .collect();
            assert_eq!(declared, functions, "{interface}");
        }
    }
}
