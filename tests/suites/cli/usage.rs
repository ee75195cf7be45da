//! Commands, options, reports and exit codes.

use super::{Cli, check_sums, copy, endless, number};
use serde_json::Value;
use std::collections::BTreeMap;

const WORD_COUNT: &str = r#"
[topology]
name = "word-count"
[spouts.lines]
kind = "lines"
path = "in.txt"
[bolts.split]
plugin = "guest:split"
executors = 2
inputs = [{ from = "lines", grouping = "shuffle" }]
[bolts.count]
plugin = "guest:count"
executors = 2
inputs = [{ from = "split", grouping = { fields = ["word"] } }]
[bolts.out]
kind = "jsonl"
path = "out/counts.jsonl"
inputs = [{ from = "count", grouping = "global" }]
"#;

#[test]
fn a_word_count_counts_reports_and_exits_with_0() {
    let cli = Cli::new(WORD_COUNT);
    let text = anchorbolt_tests::text::corpus(7, 500);
    cli.file("in.txt", &text);
    let ran = cli.run(&["run", "--until-drained", "--report", "report.json"]);
    ran.check(0);
    assert!(ran.out.is_empty(), "the table goes to standard error: {ran:?}");
    ran.says(&["word-count: ", "completed", "split", "count", "ns/tuple"]);
    let report: Value = serde_json::from_str(&cli.read("report.json")).unwrap();
    check_sums(&report);
    let lines = anchorbolt_tests::text::line_count(&text);
    assert_eq!(number(&report, &["messages", "completed"]), lines);
    assert_eq!(number(&report, &["messages", "untracked"]) + number(&report, &["messages", "pending"]), 0);
    assert!(report["plugins"]["split"].as_str().unwrap().starts_with("sha256:"));
    let mut last: BTreeMap<String, u64> = BTreeMap::new();
    for line in cli.read("out/counts.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let seen = last.entry(line["word"].as_str().unwrap().to_owned()).or_default();
        *seen = (*seen).max(line["count"].as_u64().unwrap());
    }
    assert_eq!(last, anchorbolt_tests::text::word_counts(&text));
}

#[test]
fn the_report_has_the_keys_of_the_contract() {
    let cli = Cli::new(&copy("", ""));
    cli.file("in.txt", "a\nb\n");
    let report = cli.report(0);
    check_sums(&report);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(
        keys(&report),
        "version anchorbolt topology started elapsed_s plugins messages trees latency_us spouts bolts errors"
    );
    assert_eq!(
        keys(&report["messages"]),
        "read completed untracked dead_lettered dropped handed_back pending skipped"
    );
    assert_eq!(keys(&report["trees"]), "emitted acked failed timed_out pending replayed");
    assert_eq!(keys(&report["latency_us"]), "mean p50 p99 p999 max");
    assert_eq!(keys(&report["spouts"]["lines"]), "read emitted acked failed pending");
    for key in
        "executed emitted transferred acked failed faults deaths restarts state_lost stale held queued \
                execute_ns_per_tuple memory_bytes cpu_s"
            .split_whitespace()
    {
        assert!(!report["bolts"]["out"][key].is_null(), "{key}: {report:#}");
    }
    assert_eq!(keys(&report["bolts"]["out"]["faults"]), "trap deadline memory exit protocol");
    assert_eq!((report["version"].as_u64(), report["topology"].as_str()), (Some(1), Some("copy")));
    let started = report["started"].as_str().unwrap();
    assert!(started.len() == 20 && started.ends_with('Z') && started.as_bytes()[10] == b'T', "{started}");
}

#[test]
fn an_empty_file_is_a_run_of_nothing() {
    let cli = Cli::new(&copy("", ""));
    cli.file("in.txt", "");
    assert_eq!(number(&cli.report(0), &["messages", "read"]), 0);
    assert_eq!(cli.read("out.jsonl"), "");
}

#[test]
fn invalid_utf_8_passes_as_bytes() {
    let cli = Cli::new(&copy("", ""));
    cli.file("in.txt", b"good\n\xff\xfe\xc3(\nalso good\n");
    assert_eq!(number(&cli.report(0), &["messages", "completed"]), 3);
    assert_eq!(
        cli.read("out.jsonl"),
        "{\"line\":\"good\"}\n{\"line\":{\"base64\":\"//7DKA==\"}}\n{\"line\":\"also good\"}\n"
    );
}

#[test]
fn a_limit_reads_so_many_and_ends() {
    let cli = Cli::new(&endless("kind = \"null\""));
    let ran = cli.run(&["run", "--limit", "1234", "--json"]);
    ran.check(0);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (number(&report, &["messages", "read"]), number(&report, &["messages", "completed"])),
        (1234, 1234)
    );
}

#[test]
fn until_drained_needs_a_spout_that_ends() {
    let cli = Cli::new(&endless("kind = \"null\""));
    let ran = cli.run(&["run", "--until-drained"]);
    ran.check(2);
    ran.says(&["no spout", "--limit"]);
}

#[test]
fn set_changes_the_manifest_before_it_is_checked() {
    let cli = Cli::new(&copy("", ""));
    cli.file("other.txt", "one\ntwo\n");
    let ran = cli.run(&["run", "--until-drained", "--set", "spouts.lines.path=other.txt"]);
    ran.check(0);
    assert_eq!(cli.read("out.jsonl").lines().count(), 2);
    let ran = cli.run(&["run", "--set", "spouts.lines.colour=red"]);
    ran.check(2);
    ran.says(&["error[AB1", "--set"]);
}

#[test]
fn a_poison_line_is_a_dead_letter_shown_and_the_run_ends_with_1() {
    let cli = Cli::new(
        "[topology]\nname = \"poison\"\n[spouts.lines]\nkind = \"lines\"\npath = \"in.txt\"\nretry = { max-faults = 2, backoff = \"1ms\" }\n\
         [bolts.eat]\nplugin = \"guest:poison\"\ninputs = [{ from = \"lines\", grouping = \"shuffle\" }]\n\
         [bolts.out]\nkind = \"jsonl\"\npath = \"out.jsonl\"\ninputs = [{ from = \"eat\", grouping = \"global\" }]\n",
    );
    cli.file("in.txt", "a\npoison here\nb\n");
    let ran = cli.run(&["run", "--until-drained"]);
    ran.check(1);
    ran.says(&["panicked at", "can't stomach", "eat", "1 dead-lettered", "in.txt"]);
    assert_eq!(cli.read("out.jsonl").lines().count(), 2);
}

#[test]
fn check_says_what_would_run_and_check_json_is_a_list_of_diagnostics() {
    let cli = Cli::new(WORD_COUNT);
    let ran = cli.run(&["check"]);
    ran.check(0);
    for text in ["topology `word-count` is fine", "split", "by fields (word)", "2 tasks on 2 executors"] {
        assert!(ran.out.contains(text), "{text}: {ran:?}");
    }
    let ran = cli.run(&["check", "--json"]);
    ran.check(0);
    assert_eq!(ran.out.parse::<Value>().unwrap(), serde_json::json!({ "diagnostics": [] }));
    cli.file("topology.toml", "[topology]\nname = \"x\"\ncolour = 1\n");
    let ran = cli.run(&["check", "--json"]);
    ran.check(2);
    let json: Value = ran.out.parse().unwrap();
    let list = json["diagnostics"].as_array().unwrap();
    assert!(list.len() >= 2, "{json:#}");
    for d in list {
        assert!(
            d["code"].as_str().unwrap().starts_with("AB")
                && d["severity"].is_string()
                && d["message"].is_string()
        );
    }
    let unknown = list.iter().find(|d| d["code"] == "AB103").unwrap();
    assert_eq!((unknown["line"].as_u64(), unknown["column"].as_u64()), (Some(3), Some(1)));
    assert!(unknown["file"].as_str().unwrap().ends_with("topology.toml"));
}

#[test]
fn inspect_shows_what_a_plugin_is() {
    let cli = Cli::new("");
    let plugin = anchorbolt_tests::guest("split").display().to_string();
    let ran = cli.run(&["inspect", &plugin]);
    ran.check(0);
    for text in ["stream default [word]", "stateless", "sha256 ", "anchorbolt:bolt/guest@0.1.0"] {
        assert!(ran.out.contains(text), "{text}: {ran:?}");
    }
    let ran = cli.run(&["inspect", &plugin, "--json"]);
    ran.check(0);
    let json: Value = ran.out.parse().unwrap();
    assert_eq!(json["declaration"]["outputs"][0]["fields"], serde_json::json!(["word"]));
    let ran = cli.run(&["inspect", "topology.toml"]);
    ran.check(2);
    ran.says(&["error: topology.toml: "]);
    cli.run(&["inspect", "nowhere.wasm"]).check(2);
    cli.run(&["inspect", &plugin, "--config", "[1]"]).check(2);
}

#[test]
fn arguments_that_make_no_sense_are_the_users_input() {
    let cli = Cli::new(&copy("", ""));
    for args in
        [&["run", "--limit", "0"][..], &["run", "--colour"], &["fly"], &[], &["run", "--log-level", "loud"]]
    {
        let ran = cli.run(args);
        ran.check(2);
        assert!(!ran.err.is_empty());
    }
    cli.run(&["--help"]).check(0);
    cli.run(&["--version"]).check(0);
}

#[test]
fn logs_can_be_json_lines() {
    let cli = Cli::new(
        "[topology]\nname = \"poison\"\n[spouts.lines]\nkind = \"lines\"\npath = \"in.txt\"\nretry = { max-faults = 1 }\n\
         [bolts.eat]\nplugin = \"guest:poison\"\ninputs = [{ from = \"lines\", grouping = \"shuffle\" }]\n",
    );
    cli.file("in.txt", "poison\n");
    let ran = cli.run(&["run", "--until-drained", "--log-format", "json"]);
    ran.check(1);
    let lines: Vec<Value> = ran.err.lines().filter_map(|line| line.parse().ok()).collect();
    assert!(lines.iter().any(|line| line["level"] == "WARN" || line["level"] == "ERROR"), "{ran:?}");
    let quiet = cli.run(&["run", "--until-drained", "--log-level", "error"]);
    assert!(!quiet.err.contains(" WARN "), "{quiet:?}");
}

#[test]
fn a_report_that_can_not_be_written_is_said_before_the_run() {
    let cli = Cli::new(&copy("", ""));
    cli.file("in.txt", "a\n");
    let ran = cli.run(&["run", "--until-drained", "--report", "no/such/folder/report.json"]);
    ran.check(3);
    ran.says(&["report"]);
    assert!(!cli.path("out.jsonl").exists(), "nothing ran");
}

/// `/dev/stdout` is one. What must not be replaced in its folder are devices, too; that is not tried here, as root.
#[test]
fn a_report_to_a_link_goes_where_the_link_points() {
    let cli = Cli::new(&copy("", ""));
    cli.file("in.txt", "a\n");
    let (file, link) = (cli.file("real.json", "old"), cli.path("link.json"));
    std::os::unix::fs::symlink(&file, &link).unwrap();
    cli.run(&["run", "--until-drained", "--report", "link.json"]).check(0);
    assert!(link.symlink_metadata().unwrap().is_symlink(), "the link was replaced");
    let report: Value = cli.read("real.json").parse().unwrap();
    assert_eq!(number(&report, &["messages", "completed"]), 1);
}

#[test]
fn outputs_that_can_not_be_written_are_no_panic() {
    let cli = Cli::new(WORD_COUNT);
    cli.file("in.txt", "a b\n");
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let code = |command: &mut std::process::Command| command.status().unwrap().code();
    assert_eq!(code(cli.command(&["run", "--until-drained"]).stderr(full())), Some(0));
    assert_eq!(code(cli.command(&["check", "missing.toml"]).stderr(full())), Some(2));
    assert_eq!(code(cli.command(&["run", "--until-drained", "--json"]).stdout(full())), Some(3));
    assert_eq!(code(cli.command(&["check", "--json"]).stdout(full())), Some(3));
}

#[test]
fn a_start_that_fails_leaves_no_report() {
    let cli = Cli::new(WORD_COUNT);
    cli.run(&["run", "--until-drained", "--report", "report.json"]).check(2);
    assert!(!cli.path("report.json").exists() && !cli.path("report.json.part").exists());
}
