//! Rules about `Cargo.toml` files: shared lints, and what a crate may depend on.
//!
//! In: such a file. Out: breaches. Invariant: a dependency is read from `[dependencies]` and from
//! `[target.*.dependencies]`, in whichever of TOML's ways it is written.

/// What the crates of this workspace may use of each other, and for some of everything.
struct Crate {
    /// Its file.
    path: &'static str,
    /// Of this workspace.
    ours: &'static [&'static str],
    /// Of others; none: whatever it needs.
    others: Option<&'static [&'static str]>,
}

const CRATES: &[Crate] = &[
    Crate { path: "xtask/Cargo.toml", ours: &[], others: Some(&[]) },
    Crate { path: "row/Cargo.toml", ours: &[], others: Some(&["foldhash", "rmp"]) },
    Crate { path: "guest-sdk/Cargo.toml", ours: &["anchorbolt-row"], others: None },
    Crate {
        path: "host/core/Cargo.toml",
        ours: &["anchorbolt-row"],
        others: Some(&["hashbrown", "serde_json", "strsim", "thiserror", "toml"]),
    },
    Crate { path: "host/wasm/Cargo.toml", ours: &["anchorbolt-core", "anchorbolt-row"], others: None },
    Crate {
        path: "host/Cargo.toml",
        ours: &["anchorbolt-core", "anchorbolt-row", "anchorbolt-wasm"],
        others: None,
    },
    Crate {
        path: "host/flux/Cargo.toml",
        ours: &["anchorbolt-core"],
        others: Some(&["saphyr-parser", "serde_json"]),
    },
    Crate {
        path: "host/cli/Cargo.toml",
        ours: &["anchorbolt-core", "anchorbolt-flux", "anchorbolt-host"],
        others: None,
    },
];

/// Checks one file.
pub(super) fn check(path: &str, text: &str, breach: &mut impl FnMut(usize, String)) {
    if !text.contains("[package]") {
        return;
    }
    // The probe is a workspace of its own: it is built as a stranger would build a bolt.
    if !text.contains("[workspace]") && !text.contains("[lints]\nworkspace = true\n") {
        breach(1, "no `[lints]` with `workspace = true`".to_owned());
    }
    for (line, name) in dependencies(text) {
        if name.starts_with("wasmtime") && path != "host/wasm/Cargo.toml" {
            breach(line, format!("`{name}`: only host/wasm depends on it"));
        }
        let Some(rule) = CRATES.iter().find(|rule| rule.path == path) else { continue };
        let allowed = if name.starts_with("anchorbolt") {
            rule.ours.contains(&&*name)
        } else {
            rule.others.is_none_or(|others| others.contains(&&*name))
        };
        if !allowed {
            breach(line, format!("`{name}`: this crate does not depend on it (ARCHITECTURE.md, arrows)"));
        }
    }
}

/// The names of normal dependencies, with their lines.
fn dependencies(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (n, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_matches(['[', ']']);
            let (table, name) = section.rsplit_once('.').unwrap_or((section, ""));
            inside = is_dependencies(section);
            if !inside && is_dependencies(table) {
                found.push((n + 1, name.trim_matches('"').to_owned()));
            }
        } else if let (true, Some((key, _))) = (inside && !line.starts_with('#'), line.split_once('=')) {
            let name = key.trim().split('.').next().unwrap_or_default();
            found.push((n + 1, name.trim_matches('"').to_owned()));
        }
    }
    found
}

fn is_dependencies(section: &str) -> bool {
    let target = section.starts_with("target.") && section.ends_with(".dependencies");
    section == "dependencies" || section == "build-dependencies" || target
}

#[cfg(test)]
mod tests {
    use super::dependencies;
    use crate::tidy::found;

    const HEAD: &str = "[package]\nname = \"x\"\n\n[lints]\nworkspace = true\n\n";

    #[test]
    fn lints_are_shared() {
        assert_eq!(
            found("row/Cargo.toml", "[package]\nname = \"x\"\n"),
            ["1: no `[lints]` with `workspace = true`"]
        );
        assert_eq!(found("row/Cargo.toml", HEAD), [""; 0]);
        assert_eq!(found("Cargo.toml", "[workspace]\nmembers = []\n"), [""; 0]);
    }

    #[test]
    fn dependencies_are_found_however_they_are_written() {
        let text = "[dependencies]\na = \"1\"\n# b = 1\n\"c\" = { version = \"1\" }\nd.workspace = true\n[dependencies.e]\nversion = \"1\"\n\
                    [target.'cfg(unix)'.dependencies]\nf = \"1\"\n[dev-dependencies]\ng = \"1\"\n[build-dependencies]\nh = \"1\"\n";
        let names: Vec<String> = dependencies(text).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["a", "c", "d", "e", "f", "h"]);
    }

    #[test]
    fn a_crate_has_the_dependencies_of_its_list() {
        let with = |name: &str| format!("{HEAD}[dependencies]\n{name} = {{ workspace = true }}\n");
        for (path, name) in [
            ("xtask/Cargo.toml", "serde"),
            ("host/core/Cargo.toml", "tokio"),
            ("host/core/Cargo.toml", "anchorbolt-wasm"),
            ("host/wasm/Cargo.toml", "anchorbolt-host"),
            ("host/cli/Cargo.toml", "anchorbolt-wasm"),
            ("host/flux/Cargo.toml", "anchorbolt-host"),
            ("host/Cargo.toml", "wasmtime"),
            ("tests/Cargo.toml", "wasmtime-wasi"),
        ] {
            let found = found(path, &with(name));
            assert!(!found.is_empty() && found.iter().all(|f| f.contains(name)), "{path} {name}: {found:?}");
        }
        assert_eq!(found("host/core/Cargo.toml", &with("toml")), [""; 0]);
        assert_eq!(found("host/wasm/Cargo.toml", &with("wasmtime")), [""; 0]);
        assert_eq!(
            found("host/core/Cargo.toml", &format!("{HEAD}[dev-dependencies]\nproptest = \"1\"\n")),
            [""; 0]
        );
    }
}
