//! Every guest has a test that meets it.
//!
//! In: the folders of guests, the texts of the suites. Out: a failure that names a guest without a test. Invariant: a
//! guest is met where its name stands in quotes; that the name has a guest is seen when it is built.

use super::wat;
use std::collections::BTreeSet;
use std::path::Path;

/// The suites that meet guests; those of the zoo first.
const SUITES: &[&str] = &[
    "zoo/collector.rs",
    "zoo/outside.rs",
    "zoo/rules.rs",
    "zoo/stops.rs",
    "zoo.rs",
    "backpressure.rs",
    "chaos.rs",
    "drain.rs",
    "faults.rs",
    "groupings/direct.rs",
    "groupings/plugins.rs",
    "identity.rs",
    "limits.rs",
    "recycle.rs",
    "retry.rs",
    "shapes.rs",
];

fn names(folder: &Path, ending: &str) -> BTreeSet<String> {
    let files =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    files
        .filter_map(|file| {
            file.strip_suffix(ending).map(|name| format!("{name}{}", ending.trim_end_matches(".rs")))
        })
        .collect()
}

#[test]
fn every_guest_is_met_by_a_test() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut guests = names(&tests.join("guests/examples"), ".rs");
    guests.append(&mut names(&wat::folder(), ".wat"));
    let read = |suite: &&str| std::fs::read_to_string(tests.join("suites").join(suite)).unwrap();
    let suites: String = SUITES.iter().map(read).collect();
    let met = |guest: &&String| {
        [format!("\"{guest}\""), format!("guest:{guest}\""), format!("guest:{guest}\\\"")]
            .iter()
            .any(|name| suites.contains(name.as_str()))
    };
    let unmet: Vec<_> = guests.iter().filter(|guest| !met(guest)).collect();
    assert!(unmet.is_empty(), "guests without a test; the zoo is waiting for them: {unmet:?}");
}
