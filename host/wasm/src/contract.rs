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
/// The only interface that it has for groupings.
const GROUPING_IMPORTS: &[&str] = &["logging"];
/// The functions of a grouping that it calls.
const GROUPING_EXPORTS: &[&str] = &["prepare", "choose"];
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
        self.check_imports()?;
        match self.export(GUEST) {
            Some((version, functions)) => check_export(GUEST, EXPORTS, version, functions),
            None if self.export(GROUPING).is_some() => Err(LoadError::IsGrouping),
            None => Err(LoadError::NotABolt(self.lacks(GUEST))),
        }
    }

    /// Refuses another version, and what is not a grouping.
    pub(crate) fn check_grouping(&self) -> Result<(), LoadError> {
        self.check_imports()?;
        match self.export(GROUPING) {
            Some((version, functions)) => check_export(GROUPING, GROUPING_EXPORTS, version, functions)?,
            None if self.export(GUEST).is_some() => return Err(LoadError::IsBolt),
            None => return Err(LoadError::NotAGrouping(self.lacks(GROUPING))),
        }
        let ours = self.imports.iter().filter_map(|item| Some((item, item.ours()?.0)));
        match ours.into_iter().find(|(_, interface)| !GROUPING_IMPORTS.contains(interface)) {
            Some((item, _)) => {
                Err(LoadError::MissingInterface(format!("{} (a grouping has `logging` only)", item.name)))
            }
            None => Ok(()),
        }
    }

    /// Whether a function of the contract is imported.
    pub(crate) fn imports(&self, interface: &str, function: &str) -> bool {
        let ours = |item: &&Item| item.ours().is_some_and(|(name, _)| name == interface);
        self.imports.iter().filter(ours).any(|item| item.functions.iter().any(|f| f == function))
    }

    fn check_imports(&self) -> Result<(), LoadError> {
        for item in &self.imports {
            if let Some((interface, version)) = item.ours() {
                check_import(interface, version, &item.functions)?;
            }
        }
        Ok(())
    }

    fn export(&self, interface: &str) -> Option<(&str, &[String])> {
        self.exports.iter().find_map(|item| match item.ours() {
            Some((name, version)) if name == interface => Some((version, &item.functions[..])),
            _ => None,
        })
    }

    fn lacks(&self, interface: &str) -> String {
        let names: Vec<&str> = self.exports.iter().take(5).map(|item| item.name.as_str()).collect();
        let exports = if names.is_empty() { "nothing".into() } else { names.join(", ") };
        format!("it has to export {PACKAGE}{interface}@{VERSION}, and exports {exports}")
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

fn check_export(
    interface: &str,
    wanted: &[&str],
    version: &str,
    functions: &[String],
) -> Result<(), LoadError> {
    let lacking = wanted.iter().find(|wanted| !functions.iter().any(|f| f == *wanted));
    if lacking.is_none() && compatible(version) {
        return Ok(());
    }
    let missing = match lacking {
        Some(function) => format!("the plugin has no `{interface}.{function}`"),
        None => format!("the plugin's `{interface}.{}` is of {version}", wanted[0]),
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

    #[test]
    fn a_grouping_is_no_bolt_has_its_own_exports_and_only_logs() {
        let grouping = |functions| item("anchorbolt:bolt/grouping-guest@0.1.0", functions);
        let check =
            |imports: Vec<Item>, exports: Vec<Item>| match (Surface { imports, exports }).check_grouping() {
                Ok(()) => "ok".into(),
                Err(error) => error.to_string(),
            };
        let logging = item("anchorbolt:bolt/logging@0.1.0", &["log"]);
        let clocks = item("wasi:clocks/wall-clock@0.2.6", &["now"]);
        assert_eq!(check(vec![logging, clocks], vec![grouping(GROUPING_EXPORTS)]), "ok");
        for interface in ["collector", "metrics"] {
            let name = format!("anchorbolt:bolt/{interface}@0.1.0");
            let text = check(vec![item(&name, &[])], vec![grouping(GROUPING_EXPORTS)]);
            assert!(text.contains(&name) && text.contains("a grouping has `logging` only"), "{text}");
        }
        let text = check(vec![], vec![grouping(&["prepare"])]);
        assert!(text.contains("the plugin has no `grouping-guest.choose`"), "{text}");
        let text = check(vec![], vec![item("anchorbolt:bolt/guest@0.1.0", EXPORTS)]);
        assert_eq!(text, "the component is a bolt, not a grouping");
        let text = check(vec![], vec![]);
        assert!(
            text.contains("has to export anchorbolt:bolt/grouping-guest@0.1.0, and exports nothing"),
            "{text}"
        );
    }

    /// The lists above against the contract's text.
    #[test]
    fn the_lists_are_the_contract() {
        let wit = include_str!("../../../wit/bolt.wit");
        assert!(wit.contains(&format!("package anchorbolt:bolt@{VERSION};")));
        for (interface, functions) in
            IMPORTS.iter().copied().chain([(GUEST, EXPORTS), (GROUPING, GROUPING_EXPORTS)])
        {
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
