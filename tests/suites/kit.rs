//! The test kit for authors: real plugins, virtual time.

use anchorbolt_core::failure::Class;
use anchorbolt_core::port::{Bolt, Collector, Declaration, Tuples};
use anchorbolt_host::testing::{TestError, TopologyTest, complete_topology};
use anchorbolt_tests::guest;
use serde_json::json;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn manifest(topology: &str, bolt: &str) -> (TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("topology.toml");
    let text = format!(
        "[topology]\nname = \"kit\"\n{topology}\n[spouts.lines]\nkind = \"lines\"\npath = \"nowhere.txt\"\n\
         retry = {{ max-faults = 3 }}\n\
         [bolts.work]\n{bolt}\ninputs = [{{ from = \"lines\", grouping = \"shuffle\" }}]\n\
         [bolts.out]\nkind = \"jsonl\"\npath = \"out.jsonl\"\ninputs = [{{ from = \"work\", grouping = \"global\" }}]\n"
    );
    std::fs::write(&path, text).unwrap();
    (dir, path)
}

fn plugin(name: &str) -> String {
    format!("plugin = {:?}", guest(name))
}

fn lines(texts: &[&str]) -> Vec<Vec<serde_json::Value>> {
    texts.iter().map(|text| vec![json!(text)]).collect()
}

#[test]
fn a_topology_is_completed_over_given_rows() {
    let (dir, path) = manifest("", &plugin("split"));
    let outputs = complete_topology(&path, [("lines", lines(&["to be or", "", "not to be"]))]).unwrap();
    assert_eq!(outputs["work"], lines(&["to", "be", "or", "not", "to", "be"]));
    assert!(!dir.path().join("out.jsonl").exists(), "sinks write nothing");
}

#[test]
fn acks_and_failures_are_tracked_and_hours_pass_in_no_time() {
    let (_dir, path) = manifest("message-timeout = \"30m\"", &plugin("poison"));
    let test = TopologyTest::new(path)
        .set("spouts.lines.retry.backoff=20m")
        .set("spouts.lines.retry.max-backoff=1h");
    let began = Instant::now();
    let done = test.feed("lines", lines(&["a", "poison here", "b"])).unwrap().complete().unwrap();
    let tracker = done.tracker("lines");
    assert_eq!((tracker.acked(), tracker.given_up()), (vec![0, 2], vec![1]));
    let failures = tracker.failures(1);
    assert_eq!(failures.len(), 2, "the third exhausts it");
    assert!(
        failures.iter().all(|f| f.class == Class::Trap && f.reason.contains("can't stomach")),
        "{failures:?}"
    );
    assert_eq!(done.rows("work"), lines(&["a", "b"]));
    assert!(
        done.took >= Duration::from_mins(30),
        "two pauses, 10 to 20 and 20 to 40 minutes: {:?}",
        done.took
    );
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(done.ended.report.totals().dropped, 1);
}

#[test]
fn a_seed_repeats_a_run() {
    let run = |seed| {
        let (_dir, path) = manifest("", &plugin("poison"));
        let test = TopologyTest::new(path).seed(seed);
        test.feed("lines", lines(&["poison 1", "a", "poison 2"])).unwrap().complete().unwrap().took
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8), "pauses before retries are random");
}

/// Holds everything for ever.
struct Miser;

impl Bolt for Miser {
    fn execute(&mut self, _: &Tuples, _: &mut Collector<'_>) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn a_native_bolt_takes_the_place_of_a_plugin_and_a_miser_is_named() {
    let (_dir, path) = manifest("message-timeout = \"10s\"", "plugin = \"not-built-yet.wasm\"");
    let test = TopologyTest::new(path).set("spouts.lines.retry.give-up-after=1m").bolt(
        "work",
        Declaration::fields(["word"]),
        || Box::new(Miser),
    );
    let done = test.feed("lines", lines(&["a"])).unwrap().complete().unwrap();
    let failures = done.tracker("lines").failures(0);
    assert!(
        failures.len() > 2 && failures.iter().all(|f| f.class == Class::Timeout && f.component == "work")
    );
    assert!(done.took > Duration::from_mins(1), "{:?}", done.took);
}

#[test]
fn what_is_wrong_with_a_test_is_said() {
    let (_dir, path) = manifest("", &plugin("split"));
    let unfed = TopologyTest::new(&path).complete().err().unwrap().to_string();
    assert!(unfed.contains("`lines` was not fed"), "{unfed}");
    let other = TopologyTest::new(&path).feed("work", vec![]).unwrap().complete().err().unwrap().to_string();
    assert!(other.contains("`work` was fed, and is no spout"), "{other}");
    let (_dir, path) = manifest("colour = 1", &plugin("split"));
    let mistakes = TopologyTest::new(path).complete().err().unwrap();
    assert!(matches!(&mistakes, TestError::Mistakes(all) if all[0].contains("AB1")), "{mistakes}");
}
