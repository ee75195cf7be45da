//! Topologies that a program puts together: every method, and every kind of mistake names its call.

use anchorbolt_core::manifest::{Ackers, Diagnostic, Grouping, Manifest, Text, codes, parse};
use anchorbolt_host::assemble::{Kind, Loaded, NativeBolt, TopologyBuilder};
use anchorbolt_host::core::port::Declaration;
use anchorbolt_tests::{guest, topology::host};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

#[path = "../../host/examples/embedded.rs"]
mod embedded;

#[test]
fn a_native_spout_a_plugin_and_a_native_sink_run_together() {
    let plugins = tempfile::tempdir().unwrap();
    std::fs::copy(guest("split"), plugins.path().join("split.wasm")).unwrap();
    let (counts, ended) = embedded::run(host(), plugins.path()).unwrap();
    let expected = [
        ("be", 2),
        ("is", 1),
        ("not", 1),
        ("or", 1),
        ("question", 1),
        ("sleep", 1),
        ("that", 1),
        ("the", 1),
        ("to", 3),
    ];
    assert_eq!(counts, BTreeMap::from(expected.map(|(word, n)| (word.to_owned(), n))));
    anchorbolt_tests::check_flawless(&ended, 3);
}

fn created(builder: TopologyBuilder) -> Loaded {
    builder.create_topology(host(), Path::new("nowhere"))
}

/// The manifest without places.
fn plain(manifest: &Manifest) -> String {
    let text = format!("{manifest:#?}");
    let mut lines = vec![];
    let mut within = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        match within {
            Some(depth) if indent > depth => {}
            Some(_) => within = None,
            None if line.trim_start().ends_with("Some(") && line.contains("span") => within = Some(indent),
            None if line.contains("span: None") => {}
            None => lines.push(line),
        }
    }
    lines.join("\n")
}

#[test]
fn each_call_is_a_key_of_the_manifest() {
    let mut b = TopologyBuilder::new("all");
    b.set_message_timeout(Duration::from_secs(20)).set_max_spout_pending(7).set_num_ackers(2);
    b.set("dead-letters.max-bytes", "1MiB");
    b.set_spout("s", Kind::new("lines").set("path", json!(["a", "b"])).set("follow", true), 2)
        .set_num_tasks(3)
        .set_max_spout_pending(9)
        .set("retry.max-faults", 2);
    b.set_bolt("p", "p.wasm", 2)
        .shuffle_grouping("s")
        .fields_grouping(("p", "late"), ["a", "b"])
        .partial_key_grouping("s", ["line"])
        .all_grouping("s")
        .global_grouping("s")
        .none_grouping("s")
        .direct_grouping(("p", "own"))
        .local_or_shuffle_grouping("s")
        .custom_grouping("s", "g.wasm")
        .set_num_tasks(4)
        .set_memory_limit("32MiB")
        .set_deadline(Duration::from_millis(50))
        .set_tick(Duration::from_secs(3))
        .add_configuration("top.words", 5)
        .set("limits.held-tuples", 10);
    b.set_bolt("out", Kind::new("jsonl").set("path", "${HOME}"), 1).global_grouping("p");
    let loaded = created(b);
    let text = "
        [topology]
        name = \"all\"
        message-timeout = \"20s\"
        max-spout-pending = 7
        ackers = 2
        dead-letters = { max-bytes = \"1MiB\" }
        [spouts.s]
        kind = \"lines\"
        path = [\"a\", \"b\"]
        follow = true
        executors = 2
        tasks = 3
        max-spout-pending = 9
        retry = { max-faults = 2 }
        [bolts.p]
        plugin = \"p.wasm\"
        executors = 2
        tasks = 4
        tick = \"3s\"
        limits = { memory = \"32MiB\", deadline = \"50ms\", held-tuples = 10 }
        config = { \"top.words\" = 5 }
        inputs = [
          { from = \"s\", grouping = \"shuffle\" }, { from = \"p\", stream = \"late\", grouping = { fields = [\"a\", \"b\"] } },
          { from = \"s\", grouping = { partial-key = [\"line\"] } }, { from = \"s\", grouping = \"all\" },
          { from = \"s\", grouping = \"global\" }, { from = \"s\", grouping = \"none\" },
          { from = \"p\", stream = \"own\", grouping = \"direct\" }, { from = \"s\", grouping = \"local-or-shuffle\" },
          { from = \"s\", grouping = { plugin = \"g.wasm\" } },
        ]
        [bolts.out]
        kind = \"jsonl\"
        path = \"$${HOME}\"
        executors = 1
        inputs = [{ from = \"p\", grouping = \"global\" }]";
    let parsed = parse(&Text { name: "t", text, sets: &[], lookup: &|_| None });
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    assert_eq!(plain(&loaded.manifest), plain(&parsed.manifest));
    assert_eq!(loaded.manifest.topology.ackers, Ackers::Threads(2));
    assert!(
        matches!(&loaded.manifest.bolts[0].inputs.list[2].grouping.as_ref().unwrap().value, Grouping::PartialKey(f) if f.len() == 1)
    );
}

/// Codes with the argument that each points to.
fn mistakes(builder: TopologyBuilder) -> Vec<(&'static str, String)> {
    let loaded = created(builder);
    assert!(
        !loaded.is_ok() && loaded.diagnostics.iter().all(|d| d.help.is_some()),
        "{:?}",
        loaded.diagnostics
    );
    let argument = |d: &Diagnostic| {
        let (name, text) = loaded.sources.get(0).unwrap();
        assert_eq!(name, "TopologyBuilder");
        text[d.span.expect("a place").range()].to_owned()
    };
    loaded.diagnostics.iter().map(|d| (d.code, argument(d))).collect()
}

#[test]
fn a_mistake_names_the_argument_of_its_call() {
    let mut b = TopologyBuilder::new("Bad Name");
    b.set_message_timeout(Duration::from_micros(5));
    b.set("messagetimeout", "1s");
    b.set_spout("s", Kind::new("generate"), 0).set_num_tasks(70_000);
    b.set_spout("t", Kind::new("kafka"), 1).set("retry.max-faults", json!(null));
    b.set_bolt("x", Kind::new("stdout"), 3).shuffle_grouping("s");
    b.set_bolt("y", "y.wasm", 1).fields_grouping("s", ["sentense"]).set_memory_limit("64MB");
    b.set_bolt("y", Kind::new("null"), 1).all_grouping("s");
    b.set_bolt("z", Kind::new("null"), 1);
    let expected = [
        (codes::BAD_NAME, "\"Bad Name\""),
        (codes::OUT_OF_RANGE, "\"0ms\""),
        (codes::UNKNOWN_KEY, "\"1s\""),
        (codes::OUT_OF_RANGE, "0"),
        (codes::OUT_OF_RANGE, "70000"),
        (codes::LATER_KIND, "Kind::new(\"kafka\")"),
        (codes::WRONG_TYPE, "null"),
        (codes::ONE_TASK_ONLY, "3"),
        (codes::PLUGIN_MISSING, "\"y.wasm\""),
        (codes::UNKNOWN_FIELD, "[\"sentense\"]"),
        (codes::NOT_A_SIZE, "\"64MB\""),
        (codes::NAME_TAKEN, "\"y\""),
        (codes::NO_INPUT, "\"z\""),
    ];
    assert_eq!(mistakes(b), expected.map(|(code, argument)| (code, argument.to_owned())));
}

#[test]
fn a_spout_and_a_bolt_share_no_id_and_streams_are_checked() {
    let mut b = TopologyBuilder::new("t");
    b.set_spout("s", Kind::new("generate"), 1);
    let sink = NativeBolt::of_fn(Declaration::fields(["a"]), |tuples, out| {
        out.ack(&tuples.ids);
        Ok(())
    });
    b.set_bolt("b", sink, 1).shuffle_grouping("s");
    b.set_bolt("c", Kind::new("null"), 1).shuffle_grouping(("b", "late")).fields_grouping("b", ["z"]);
    b.set_bolt("s", Kind::new("null"), 1).shuffle_grouping("b");
    let found = mistakes(b);
    let codes: Vec<&str> = found.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, [codes::UNKNOWN_STREAM, codes::UNKNOWN_FIELD, codes::NAME_TAKEN], "{found:?}");
    assert_eq!(found[1].1, "[\"z\"]");
}
