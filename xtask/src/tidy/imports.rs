//! Which code may use which: the arrows of ARCHITECTURE.md, as tables.
//!
//! In: a Rust file. Out: each path in it that goes against an arrow. Invariant: tests are excused, for they may
//! look at everything; only wasmtime is for one crate alone, tests included.

use super::source::Source;

/// Code below `folder` uses nothing that begins with one of `never`.
struct Never {
    folder: &'static str,
    never: &'static [&'static str],
    why: &'static str,
}

/// Below `folder`, of what begins with `scope`, only what begins with one of `only`.
struct Only {
    folder: &'static str,
    scope: &'static str,
    only: &'static [&'static str],
}

/// What runs, and what makes it run: nothing for the leaves of the host.
const RUNS: &[&str] =
    &["crate::runtime", "crate::spouts", "crate::sinks", "crate::assemble", "crate::wasm", "anchorbolt_wasm"];

const NEVER: &[Never] = &[
    Never {
        folder: "host/core/src/",
        never: &[
            "std::fs",
            "std::net",
            "std::thread",
            "std::env",
            "std::process",
            "std::time::Instant",
            "std::time::SystemTime",
            "Instant::now",
            "SystemTime::now",
        ],
        why: "the core has no files, sockets, threads, environment or clock: they come in as values",
    },
    Never {
        folder: "host/flux/src/",
        never: &["std::fs", "std::net", "std::thread", "std::env", "std::process", "std::time"],
        why: "a translation is text in and text out: files and variables come in as values",
    },
    Never {
        folder: "row/src/",
        never: &["std::fs", "std::net", "std::thread", "std::env", "std::time"],
        why: "rows are bytes and nothing else",
    },
    Never {
        folder: "host/src/runtime/",
        never: &["crate::spouts", "crate::sinks", "crate::assemble", "crate::wasm", "anchorbolt_wasm"],
        why: "the runtime knows ports only",
    },
    Never {
        folder: "host/src/spouts/",
        never: &[
            "crate::runtime",
            "crate::sinks",
            "crate::assemble",
            "crate::wasm",
            "crate::core",
            "anchorbolt_wasm",
        ],
        why: "a spout knows its port and nothing of what runs it",
    },
    Never {
        folder: "host/src/sinks/",
        never: &[
            "crate::runtime",
            "crate::spouts",
            "crate::assemble",
            "crate::wasm",
            "crate::core",
            "anchorbolt_wasm",
        ],
        why: "a sink knows its port and nothing of what runs it",
    },
    Never {
        folder: "host/src/durable/",
        never: RUNS,
        why: "what outlives the process knows nothing of what runs in it",
    },
    Never {
        folder: "host/src/json",
        never: &[
            "crate::runtime",
            "crate::spouts",
            "crate::sinks",
            "crate::assemble",
            "crate::wasm",
            "crate::core",
            "anchorbolt_core",
            "anchorbolt_wasm",
        ],
        why: "rows as JSON are bytes in and bytes out",
    },
    Never {
        folder: "host/src/probe/",
        never: RUNS,
        why: "a bolt is run alone through its port, whatever it is made of",
    },
    Never {
        folder: "host/src/chaos/",
        never: &["crate::spouts", "crate::sinks", "crate::assemble", "crate::wasm", "anchorbolt_wasm"],
        why: "faults come through ports",
    },
    Never { folder: "host/src/telemetry/", never: RUNS, why: "telemetry is a leaf" },
];

/// What describes a manifest: all that a translation to one needs of the core.
const MANIFESTS: &[&str] = &["anchorbolt_core::manifest", "anchorbolt_core::port"];

const PORTS: &[&str] = &[
    "anchorbolt_core::port",
    "anchorbolt_core::ids",
    "anchorbolt_core::failure",
    "anchorbolt_core::manifest",
    "anchorbolt_core::offsets",
];

const ONLY: &[Only] = &[
    Only { folder: "host/src/spouts/", scope: "anchorbolt_core", only: PORTS },
    Only { folder: "host/src/sinks/", scope: "anchorbolt_core", only: PORTS },
    Only { folder: "host/flux/src/", scope: "anchorbolt_core", only: MANIFESTS },
    Only {
        folder: "host/core/src/ack/",
        scope: "crate",
        only: &["crate::ack", "crate::ids", "crate::failure"],
    },
    Only {
        folder: "host/core/src/retry/",
        scope: "crate",
        only: &["crate::retry", "crate::ids", "crate::failure"],
    },
    Only {
        folder: "host/core/src/pace/",
        scope: "crate",
        only: &["crate::pace", "crate::ids", "crate::port"],
    },
    Only {
        folder: "host/core/src/port/",
        scope: "crate",
        only: &["crate::port", "crate::ids", "crate::failure"],
    },
    Only { folder: "host/core/src/offsets/", scope: "crate", only: &["crate::offsets", "crate::ids"] },
    Only {
        folder: "host/core/src/supervise/",
        scope: "crate",
        only: &["crate::supervise", "crate::ids", "crate::failure", "crate::retry"],
    },
    Only {
        folder: "host/core/src/manifest/",
        scope: "crate",
        only: &["crate::manifest", "crate::ids", "crate::failure", "crate::port", "crate::retry"],
    },
    Only {
        folder: "host/core/src/plan/",
        scope: "crate",
        only: &[
            "crate::plan",
            "crate::ids",
            "crate::failure",
            "crate::port",
            "crate::retry",
            "crate::manifest",
        ],
    },
    Only {
        folder: "host/core/src/grouping/",
        scope: "crate",
        only: &[
            "crate::grouping",
            "crate::ids",
            "crate::failure",
            "crate::port",
            "crate::batch",
            "crate::plan",
        ],
    },
    Only {
        folder: "host/core/src/oplog/",
        scope: "crate",
        only: &[
            "crate::oplog",
            "crate::ids",
            "crate::failure",
            "crate::port",
            "crate::batch",
            "crate::grouping",
        ],
    },
    Only {
        folder: "host/core/src/messages/",
        scope: "crate",
        only: &["crate::messages", "crate::ids", "crate::failure", "crate::ack", "crate::retry"],
    },
];

/// Checks one file.
pub(super) fn check(source: &Source<'_>, breach: &mut impl FnMut(usize, String)) {
    let paths = source.paths();
    if !source.path.starts_with("host/wasm/") {
        for used in paths.iter().filter(|used| used.parts[0].starts_with("wasmtime")) {
            breach(used.line, "wasmtime; only host/wasm knows it".to_owned());
        }
    }
    if source.is_test() {
        return;
    }
    let folder = source.path.strip_prefix("host/core/src/").and_then(|inside| inside.split_once('/'));
    if folder.is_some() && !ONLY.iter().any(|rule| source.path.starts_with(rule.folder)) {
        breach(
            1,
            "a part of the core without arrows; say in xtask/src/tidy/imports.rs what it may use".to_owned(),
        );
    }
    for used in &paths {
        let path = used.parts.join("::");
        for rule in NEVER.iter().filter(|rule| source.path.starts_with(rule.folder)) {
            if rule.never.iter().any(|never| begins(&path, never)) {
                breach(used.line, format!("`{path}` in {}: {}", rule.folder, rule.why));
            }
        }
        for rule in ONLY.iter().filter(|rule| source.path.starts_with(rule.folder)) {
            if begins(&path, rule.scope) && !rule.only.iter().any(|only| begins(&path, only)) {
                let only = rule.only.join(", ");
                breach(used.line, format!("`{path}` in {}: of {} only {only}", rule.folder, rule.scope));
            }
        }
    }
}

/// Whether a path is `start`, or lies below it.
fn begins(path: &str, start: &str) -> bool {
    path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

#[cfg(test)]
mod tests {
    use crate::tidy::found;

    /// How often a line of code breaches a rule in a file of this path.
    fn breaches(path: &str, code: &str) -> usize {
        found(path, &format!("//! Docs.\n{code}\n")).len()
    }

    #[test]
    fn only_one_crate_knows_wasmtime() {
        assert_eq!(breaches("host/src/runtime/a.rs", "use wasmtime::Engine;"), 1);
        assert_eq!(breaches("tests/suites/a.rs", "fn f() { wasmtime_wasi::p2::x() }"), 1);
        assert_eq!(breaches("host/wasm/src/engine.rs", "use wasmtime::Engine;"), 0);
    }

    #[test]
    fn the_core_is_pure() {
        for code in [
            "use std::fs;",
            "use std::{collections::BTreeMap, net::TcpStream};",
            "fn f() { std::thread::spawn(g); }",
            "use std::time::{Duration, Instant};",
            "fn f() { std::env::var(\"X\"); }",
        ] {
            assert_eq!(breaches("host/core/src/pace/a.rs", code), 1, "{code}");
        }
        assert_eq!(breaches("host/core/src/pace/a.rs", "use std::time::Duration;"), 0);
    }

    #[test]
    fn the_runtime_knows_ports_only() {
        for code in ["use crate::spouts::X;", "use super::super::sinks::X;", "use anchorbolt_wasm::Engine;"] {
            assert_eq!(breaches("host/src/runtime/a.rs", code), 1, "{code}");
            assert_eq!(breaches("host/src/assemble.rs", code.trim_start_matches("super::")), 0, "{code}");
        }
        assert_eq!(breaches("host/src/runtime/a.rs", "use crate::telemetry::X;"), 0);
    }

    #[test]
    fn spouts_and_sinks_know_ports_only() {
        for folder in ["spouts", "sinks"] {
            let path = format!("host/src/{folder}/a.rs");
            assert_eq!(breaches(&path, "use crate::runtime::Running;"), 1);
            assert_eq!(breaches(&path, "use anchorbolt_core::{port::Spout, plan::Plan};"), 1);
            assert_eq!(breaches(&path, "use anchorbolt_core::port::Spout; use anchorbolt_row::Row;"), 0);
        }
        assert_eq!(breaches("host/src/spouts/a.rs", "use crate::sinks::X;"), 1);
        assert_eq!(breaches("host/src/sinks/a.rs", "use super::super::spouts::X;"), 1);
        assert_eq!(breaches("host/src/telemetry/a.rs", "use crate::runtime::X;"), 1);
        assert_eq!(breaches("host/src/durable/a.rs", "use crate::runtime::X;"), 1);
        assert_eq!(breaches("host/src/probe/a.rs", "use anchorbolt_wasm::Factory;"), 1);
        assert_eq!(breaches("host/src/probe/a.rs", "use anchorbolt_core::oplog::X; use crate::json::Y;"), 0);
        assert_eq!(breaches("host/src/json.rs", "use crate::sinks::X;"), 1);
        assert_eq!(breaches("host/src/json/read.rs", "use anchorbolt_core::plan::X;"), 1);
    }

    #[test]
    fn inside_the_core_arrows_go_one_way() {
        for (folder, code) in [
            ("ack", "use crate::messages::X;"),
            ("retry", "use crate::manifest::X;"),
            ("manifest", "use crate::plan::X;"),
            ("plan", "use super::super::grouping::X;"),
            ("grouping", "use crate::oplog::X;"),
            ("messages", "use crate::plan::X;"),
        ] {
            assert_eq!(breaches(&format!("host/core/src/{folder}/a.rs"), code), 1, "{folder}");
        }
        assert_eq!(breaches("host/core/src/plan/a.rs", "use crate::manifest::X; use super::model::Y;"), 0);
        assert_eq!(breaches("host/core/src/new/a.rs", ""), 1);
        assert_eq!(breaches("host/core/src/ids.rs", ""), 0);
    }
}
