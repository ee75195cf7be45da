//! Input that is missing, wrong, too large or in the wrong place, and output that has no room.

use super::{Cli, check_sums, copy, number};
use serde_json::Value;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};

#[test]
fn a_manifest_that_is_missing_or_a_folder_or_no_text() {
    let cli = Cli::new("");
    for command in ["run", "check"] {
        let ran = cli.run(&[command, "nowhere.toml"]);
        ran.check(2);
        ran.says(&["nowhere.toml", "No such file"]);
        std::fs::create_dir_all(cli.path("folder")).unwrap();
        let ran = cli.run(&[command, "folder"]);
        ran.check(2);
        ran.says(&["folder", "help: name the manifest's file", "folder/topology.toml"]);
        cli.file("binary.toml", b"\xff\xfe\0");
        cli.run(&[command, "binary.toml"]).check(2);
        cli.file("empty.toml", "");
        let ran = cli.run(&[command, "empty.toml"]);
        ran.check(2);
        ran.says(&["error[AB"]);
    }
}

/// Every one of them is shown, with its place.
#[test]
fn a_manifest_with_a_dozen_mistakes_shows_them_all() {
    let cli = Cli::new(
        r#"[topology]
name = "A dozen"
message-timeout = "soon"
colour = "red"

[spouts.lines]
kind = "lnes"

[spouts.feed]
kind = "generate"
executors = 0

[bolts.split]
plugin = "missing.wasm"
inputs = [{ from = "fede", grouping = "shuffle" }]

[bolts.Count]
kind = "null"
inputs = [{ from = "feed", grouping = { fields = ["word"] } }]

[bolts.__x]
kind = "null"
inputs = [{ from = "feed", grouping = "shuffel" }]

[bolts.lonely]
kind = "null"

[bolts.both]
kind = "null"
plugin = "also-missing.wasm"
limits = { memory = "much" }
inputs = [{ from = "feed", stream = "other", grouping = "shuffle" }]
"#,
    );
    let ran = cli.run(&["check"]);
    ran.check(2);
    let codes = [
        "AB103", "AB106", "AB107", "AB108", "AB109", "AB110", "AB111", "AB202", "AB203", "AB301", "AB302",
        "AB304", "AB401",
    ];
    let missing: Vec<_> = codes.iter().filter(|code| !ran.err.contains(&format!("error[{code}]"))).collect();
    assert!(missing.is_empty(), "{missing:?} not in\n{}", ran.err);
    ran.says(&["topology.toml:2:", "topology.toml:3:", "topology.toml:15:", "^^^", "= help: ", "errors\n"]);
    cli.run(&["run"]).check(2);
}

#[test]
fn an_input_file_that_is_missing_a_folder_or_unreadable() {
    let cli = Cli::new(&copy("", ""));
    let ran = cli.run(&["run", "--until-drained"]);
    ran.check(2);
    ran.says(&["in.txt", "lines"]);
    assert!(!cli.path("out.jsonl").exists() || cli.read("out.jsonl").is_empty());

    std::fs::create_dir(cli.path("in.txt")).unwrap();
    let ran = cli.run(&["run", "--until-drained"]);
    ran.check(2);
    ran.says(&["in.txt", "folder"]);
    std::fs::remove_dir(cli.path("in.txt")).unwrap();

    let file = cli.file("in.txt", "secret\n");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    if super::may_read_all(&file) {
        println!("this user may read everything: not checked");
        return;
    }
    let ran = cli.run(&["run", "--until-drained"]);
    ran.check(2);
    ran.says(&["in.txt", "ermission denied"]);
}

#[test]
fn a_glob_that_matches_nothing_is_the_users_input() {
    let cli = Cli::new(&copy("", ""));
    let ran = cli.run(&["run", "--until-drained", "--set", "spouts.lines.path=no*.txt"]);
    ran.check(2);
    ran.says(&["no*.txt"]);
}

/// 50 MB in one line: over the limit it is a dead letter and both figures are said; under a raised limit it passes.
#[test]
fn a_line_of_50_mb_is_a_dead_letter_with_both_figures_or_passes_when_the_limit_is_raised() {
    let cli = Cli::new(&copy("", ""));
    let long = vec![b'x'; 50_000_000];
    cli.file("in.txt", [&b"before\n"[..], &long, b"\nafter\n"].concat());
    let report = cli.report(1);
    check_sums(&report);
    assert_eq!(
        (number(&report, &["messages", "completed"]), number(&report, &["messages", "dead_lettered"])),
        (2, 1)
    );
    let said = report["errors"]
        .as_array()
        .unwrap()
        .iter()
        .find(|e| e["class"] == "size")
        .expect("an error of class size");
    let text = said["message"].as_str().unwrap();
    assert!(text.contains("50000000") && text.contains("16777216"), "both figures: {text}");
    assert_eq!(cli.read("out.jsonl"), "{\"line\":\"before\"}\n{\"line\":\"after\"}\n");

    std::fs::remove_file(cli.path("out.jsonl")).unwrap();
    let raised = copy("limits = { tuple-bytes = \"64MiB\" }", "limits = { tuple-bytes = \"64MiB\" }");
    cli.file("topology.toml", raised);
    let report = cli.report_of(&["--reset"], 0);
    assert_eq!(number(&report, &["messages", "completed"]), 3);
    assert_eq!(std::fs::metadata(cli.path("out.jsonl")).unwrap().len(), 50_000_000 + 12 + 18 + 17);
}

/// Nothing is acked whose line is nowhere.
#[test]
fn a_sink_on_a_full_disk_acks_nothing() {
    let full = std::fs::metadata("/dev/full").unwrap();
    assert!(full.file_type().is_char_device(), "/dev/full is no device: this machine can't tell");
    let cli = Cli::new(
        "[topology]\nname = \"full\"\ndrain-timeout = \"500ms\"\n[spouts.lines]\nkind = \"lines\"\npath = \"in.txt\"\n\
         retry = { give-up-after = \"400ms\", backoff = \"10ms\" }\n\
         [bolts.out]\nkind = \"jsonl\"\npath = \"/dev/full\"\ninputs = [{ from = \"lines\", grouping = \"global\" }]\n",
    );
    cli.file("in.txt", "a\nb\nc\n");
    let ran = cli.run(&["run", "--until-drained", "--json"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    assert_eq!((number(&report, &["messages", "read"]), number(&report, &["messages", "completed"])), (3, 0));
    ran.says(&["No space left", "/dev/full"]);
    // Given up after its patience, so a dead letter; had the drain ended first, it would be 3.
    ran.check(1);
}

#[test]
fn a_sink_that_can_not_be_opened_does_not_start() {
    let cli = Cli::new(&copy("", ""));
    cli.file("in.txt", "a\n");
    std::fs::create_dir(cli.path("out.jsonl")).unwrap();
    let ran = cli.run(&["run", "--until-drained"]);
    assert!(matches!(ran.code, Some(2 | 3)), "{ran:?}");
    ran.says(&["out.jsonl", "directory"]);
}

#[test]
fn a_torn_line_of_an_earlier_run_is_mended_and_said() {
    let cli = Cli::new(&copy("", ""));
    cli.file("in.txt", "a\n");
    cli.file("out.jsonl", "{\"line\":\"old\"}\n{\"line\":\"to");
    let ran = cli.run(&["run", "--until-drained"]);
    ran.check(0);
    ran.says(&["torn"]);
    assert_eq!(cli.read("out.jsonl"), "{\"line\":\"old\"}\n{\"line\":\"a\"}\n");
}
