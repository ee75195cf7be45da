//! Input that is wrong, unusual or large: what the message says, the exit code, and that nothing is lost.

use crate::run::{Folder, pipeline};
use anchorbolt_tests::guest;

fn identity(spout: &str) -> Folder {
    Folder::new(&pipeline("identity", spout, r#"config = { fields = ["line"] }"#))
}

#[test]
fn a_manifest_that_can_not_be_read_is_an_input_error() {
    let folder = Folder::new("");
    folder.run(&["run", "missing.toml"]).code(2).says(&["missing.toml", "No such file"]);
    folder.run(&["run", "."]).code(2).says(&["help:", "topology.toml"]);
    folder.run(&["check"]).code(2).says(&["[topology]"]);
}

#[test]
fn a_dozen_mistakes_are_shown_at_once() {
    let folder = Folder::new(
        r#"
[topology]
name = "Bad Name"
message-timeout = "soon"
max-spout-pendin = 5
[spouts.lines]
kind = "liness"
executors = 0
[bolts.split]
plugin = "missing.wasm"
inputs = [{ from = "line", grouping = "shuffle" }]
limits = { memory = "64MB", deadline = "40s" }
[bolts.out]
kind = "jsonl"
path = 7
inputs = [{ from = "splitt", grouping = "everywhere" }]
[bolts.lonely]
kind = "null"
[blots.x]
kind = "null"
"#,
    );
    let ran = folder.run(&["check"]);
    let errors = ran.err.matches("error[AB").count();
    assert!(errors >= 12, "{errors} errors:\n{}", ran.err);
    ran.code(2).says(&["did you mean", "missing.wasm", "AB401", "-->"]);
    let json = folder.run(&["check", "--json"]).code(2).json();
    let list = json["diagnostics"].as_array().unwrap();
    assert_eq!(list.len(), errors);
    for d in list {
        assert!(d["line"].as_u64().unwrap() > 0 && d["code"].as_str().unwrap().starts_with("AB"), "{d}");
    }
}

#[test]
fn input_files_that_are_not_there_or_not_files() {
    let folder = identity("");
    folder.drain(&[]).code(2).says(&["in.txt"]);
    std::fs::create_dir(folder.path("in.txt")).unwrap();
    folder.drain(&[]).code(2).says(&["in.txt", "folder"]);
}

#[test]
fn an_empty_file_is_no_messages() {
    let folder = identity("");
    folder.write("in.txt", "");
    let report = folder.drain(&[]).code(0).json();
    assert_eq!(report["messages"]["read"], 0);
}

#[test]
fn what_is_not_utf8_passes_as_bytes() {
    let folder = identity("");
    folder.write("in.txt", b"good\n\xff\xfebad\n\nlast");
    let report = folder.drain(&[]).code(0).json();
    assert_eq!(report["messages"]["completed"], 4);
    let out = folder.read("out.jsonl");
    assert!(out.contains(r#"{"line":"good"}"#) && out.contains("base64"), "{out}");
    assert!(out.contains(r#"{"line":""}"#) && out.contains(r#"{"line":"last"}"#), "{out}");
}

#[test]
fn a_line_above_the_limit_is_dropped_with_both_figures_or_passed_with_a_higher_one() {
    let folder = identity("");
    let line = "x".repeat(50_000_000);
    folder.write("in.txt", format!("before\n{line}\nafter\n"));
    let ran = folder.drain(&[]);
    let report = ran.code(1).says(&["50000000", "16777216"]).json();
    assert_eq!((&report["messages"]["completed"], &report["messages"]["dropped"]), (&2.into(), &1.into()));
    assert!(!folder.read("out.jsonl").contains("xxx"));
    std::fs::remove_file(folder.path("out.jsonl")).unwrap();
    let raised = [
        "--set", "spouts.lines.limits.tuple-bytes='64MiB'",
        "--set", "bolts.work.limits.tuple-bytes='64MiB'",
        "--set", "bolts.work.limits.memory='512MiB'",
        "--set", "bolts.work.limits.emitted-bytes-per-tuple='128MiB'",
        "--set", "bolts.work.limits.deadline='9s'",
    ];
    let report = folder.drain(&raised).code(0).json();
    assert_eq!(report["messages"]["completed"], 3);
    assert!(folder.read("out.jsonl").len() > line.len());
}

#[test]
fn until_drained_needs_a_source_that_ends() {
    let text = r#"
[topology]
name = "endless"
[spouts.made]
kind = "generate"
[bolts.out]
kind = "null"
inputs = [{ from = "made", grouping = "shuffle" }]
"#;
    let folder = Folder::new(text);
    folder.run(&["run", "--until-drained"]).code(2).says(&["--limit"]);
    let report = folder.run(&["run", "--limit", "1234", "--json"]).code(0).json();
    assert_eq!((&report["messages"]["read"], &report["messages"]["pending"]), (&1234.into(), &0.into()));
}

#[test]
fn standard_input_is_a_source() {
    let text = r#"
[topology]
name = "piped"
[spouts.typed]
kind = "stdin"
[bolts.out]
kind = "stdout"
inputs = [{ from = "typed", grouping = "global" }]
"#;
    let folder = Folder::new(text);
    let file = std::fs::File::open(folder.write("typed.txt", "one\r\n\nthree")).unwrap();
    let mut command = folder.command(&["run", "--until-drained"]);
    let ran = crate::run::Ran::of(command.stdin(file).output().unwrap());
    assert_eq!(ran.code(0).out, "{\"line\":\"one\"}\n{\"line\":\"\"}\n{\"line\":\"three\"}\n");
}

#[test]
fn inspect_shows_a_plugin_and_refuses_what_is_none() {
    let folder = Folder::new("");
    let split = guest("split");
    let ran = folder.run(&["inspect", split.to_str().unwrap()]);
    assert!(ran.code(0).out.contains("stream default [word]") && ran.out.contains("stateless"), "{}", ran.out);
    let json = folder.run(&["inspect", "--json", split.to_str().unwrap()]).code(0).json();
    assert_eq!(json["declaration"]["outputs"][0]["fields"], serde_json::json!(["word"]));
    folder.write("empty.wasm", "");
    folder.run(&["inspect", "empty.wasm"]).code(2).says(&["empty"]);
    folder.run(&["inspect", "--config", "[1]", "empty.wasm"]).code(2).says(&["JSON object"]);
}
