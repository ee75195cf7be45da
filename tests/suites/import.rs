//! Storm topologies that are imported, given plugins, and run; and the command as a user meets it.
//!
//! What becomes of each part of a Flux file has goldens in `host/flux`.

use crate::cli::{Cli, Ran, check_sums, number};
use anchorbolt_tests::guest;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const PASS: &[&str] = &["config.fields=[\"word\"]"];

/// A folder with a sample of `host/flux`, imported to `topology.toml`.
fn imported(sample: &str, args: &[&str]) -> Cli {
    let cli = Cli::new("");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/flux/tests");
    for (folder, files) in
        [("samples", &["simple.yaml", sample][..]), ("parts", &["part.yaml", "filter.properties"])]
    {
        for file in files {
            std::fs::create_dir_all(cli.path(folder)).unwrap();
            let to = if folder == "samples" { format!("samples/{file}") } else { (*file).to_owned() };
            std::fs::copy(tests.join(folder).join(file), cli.path(&to)).unwrap();
        }
    }
    let flux = format!("samples/{sample}");
    let mut command =
        cli.command(&[&["import", "storm", &flux, "--to", "topology.toml", "--force"], args].concat());
    command.env("REGION", "north");
    let ran = crate::cli::finish(command.spawn().unwrap());
    ran.check(0);
    ran.says(&["Needs a hand:", "Next: anchorbolt check topology.toml"]);
    cli
}

/// Puts a guest where the manifest looks for a plugin.
fn plugin(cli: &Cli, bolt: &str, of: &str) {
    std::fs::create_dir_all(cli.path("plugins")).unwrap();
    std::fs::copy(guest(of), cli.path(&format!("plugins/{bolt}.wasm"))).unwrap();
}

/// Runs it until it is drained; rows of standard output, and the report.
fn run(cli: &Cli, sets: &[String]) -> (Vec<Value>, Value) {
    let sets = sets.iter().flat_map(|set| ["--set", set.as_str()]);
    let args: Vec<&str> =
        ["run", "--until-drained", "--report", "report.json"].into_iter().chain(sets).collect();
    let ran = cli.run(&args);
    ran.check(0);
    let report: Value = serde_json::from_str(&cli.read("report.json")).unwrap();
    check_sums(&report);
    (ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), report)
}

/// The generated words of a spout: so many, at once.
fn words(spout: &str, count: u64) -> Vec<String> {
    vec![format!("spouts.{spout}.count={count}"), format!("spouts.{spout}.rate=1000000")]
}

/// The last count of each word.
fn last_counts(rows: &[Value]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for row in rows {
        let count = counts.entry(row["word"].as_str().unwrap().to_owned()).or_default();
        *count = row["count"].as_u64().unwrap().max(*count);
    }
    counts
}

#[test]
fn words_are_counted_and_shown() {
    let cli = imported("simple.yaml", &[]);
    plugin(&cli, "count", "count");
    let (rows, report) = run(&cli, &words("words", 300));
    assert_eq!((rows.len(), number(&report, &["messages", "completed"])), (300, 300));
    let counts = last_counts(&rows);
    assert_eq!((counts.len(), counts.values().sum::<u64>()), (5, 300), "{counts:?}");
}

#[test]
fn commands_of_other_languages_become_plugins_and_a_file() {
    let cli = imported("multilang.yaml", &[]);
    plugin(&cli, "split", "split");
    plugin(&cli, "count", "count");
    std::fs::create_dir(cli.path("input")).unwrap();
    cli.file(
        "input/sentence-spout.jsonl",
        "{\"sentence\": \"to be or not\"}\n{\"sentence\": \"to be\"}\n".repeat(20),
    );
    let (rows, report) = run(&cli, &[]);
    assert_eq!((rows.len(), number(&report, &["messages", "completed"])), (120, 40));
    let expected = [("be", 40), ("not", 20), ("or", 20), ("to", 40)].map(|(word, n)| (word.to_owned(), n));
    assert_eq!(last_counts(&rows), BTreeMap::from(expected));
}

#[test]
fn a_diamond_brings_each_word_twice() {
    let cli = imported("diamond.yaml", &[]);
    let mut sets = words("top", 100);
    for bolt in ["a-2", "b", "c"] {
        plugin(&cli, bolt, "identity");
        sets.extend(PASS.iter().map(|set| format!("bolts.{bolt}.{set}")));
    }
    let (rows, report) = run(&cli, &sets);
    assert_eq!((rows.len(), number(&report, &["messages", "completed"])), (200, 100));
    assert_eq!(number(&report, &["bolts", "b", "executed"]), 100);
}

#[test]
fn what_is_included_runs_too() {
    let cli = imported("include.yaml", &[]);
    plugin(&cli, "count", "count");
    plugin(&cli, "log", "identity");
    let mut sets = words("words", 50);
    sets.push("bolts.log.config.fields=[\"word\", \"count\"]".to_owned());
    let (_, report) = run(&cli, &sets);
    assert_eq!(number(&report, &["bolts", "log", "executed"]), 50);
}

#[test]
fn what_was_put_in_runs_too() {
    let cli = imported("substitution.yaml", &["--filter", "filter.properties", "--env-filter"]);
    let manifest = cli.read("topology.toml");
    assert!(
        manifest.contains("name = \"substituted\"") && manifest.contains("REGION = \"north\""),
        "{manifest}"
    );
    plugin(&cli, "count", "count");
    let (rows, _) = run(&cli, &words("words", 50));
    assert_eq!(rows.len(), 50);
}

const TOPOLOGY: &str = "name: t\nspouts: [{id: s, className: org.apache.storm.testing.TestWordSpout}]\n";

fn import(cli: &Cli, args: &[&str]) -> Ran {
    cli.run(&[&["import", "storm"], args].concat())
}

#[test]
fn a_manifest_goes_to_standard_output_or_to_a_file_that_is_not_there() {
    let cli = Cli::new("kept");
    cli.file("flux.yaml", TOPOLOGY);
    let shown = import(&cli, &["flux.yaml"]);
    shown.check(0);
    assert!(shown.out.contains("[spouts.s]\nkind = \"generate\"\n"), "{shown:?}");
    shown.says(&["Done otherwise than in Storm:\n  flux.yaml:2:29: "]);
    let refused = import(&cli, &["flux.yaml", "--to", "topology.toml"]);
    refused.check(2);
    refused.says(&["error: topology.toml is there already", "--force"]);
    assert_eq!(cli.read("topology.toml"), "kept");
    import(&cli, &["flux.yaml", "--to", "topology.toml", "--force"]).check(0);
    assert_eq!(cli.read("topology.toml"), shown.out);
    let checked = cli.run(&["check"]);
    checked.check(0);
    import(&cli, &["flux.yaml", "--to", "no/such/folder.toml"]).check(3);
}

#[test]
fn diagnostics_come_as_json_too() {
    let cli = Cli::new("");
    cli.file("flux.yaml", TOPOLOGY);
    let ran = import(&cli, &["flux.yaml", "--json"]);
    ran.check(0);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert!(json["manifest"].as_str().unwrap().contains("[spouts.s]"), "{json:#}");
    let note = &json["diagnostics"][0];
    assert_eq!((&note["code"], &note["line"]), (&Value::from("AB511"), &Value::from(2)), "{json:#}");
    cli.file("flux.yaml", "name: [t\n");
    let ran = import(&cli, &["flux.yaml", "--json", "--to", "none.toml"]);
    ran.check(2);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&json["manifest"], &json["diagnostics"][0]["code"]), (&Value::Null, &Value::from("AB501")));
    assert!(!cli.path("none.toml").exists());
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let cli = Cli::new("");
    cli.file("flux.yaml", "name: ${who}\nincludes:\n  - {file: part.yaml}\n");
    cli.file("part.yaml", "spouts:\n  - {id: s, clasName: C}\n");
    cli.file("p.properties", "when = now\n");
    let ran = import(&cli, &["flux.yaml", "--filter", "p.properties"]);
    ran.check(2);
    ran.says(&[
        "error[AB504]: p.properties has no property \"who\"\n",
        "--> flux.yaml:1:7",
        "properties: `when`",
    ]);
    cli.file("flux.yaml", "name: who\nincludes:\n  - {file: part.yaml}\n");
    let ran = import(&cli, &["flux.yaml"]);
    ran.check(2);
    ran.says(&[
        "error[AB103]: a spout has no key \"clasName\"\n",
        "--> part.yaml:2:13",
        "did you mean `className`?",
    ]);
    assert_eq!(ran.out, "");
}

#[test]
fn only_ordinary_files_are_read() {
    let cli = Cli::new("");
    let fifo = cli.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    cli.file("large.yaml", "#".repeat(2 << 20));
    cli.file("binary.yaml", [0xff, 0xfe]);
    for (file, why) in [
        ("fifo", "no ordinary file"),
        ("/dev/zero", "no ordinary file"),
        (".", "a folder"),
        ("gone.yaml", "no such file"),
        ("large.yaml", "more than 1048576 bytes"),
        ("binary.yaml", "not UTF-8"),
    ] {
        cli.file("flux.yaml", format!("{TOPOLOGY}includes: [{{file: \"{file}\"}}]\n"));
        for args in [&["flux.yaml"][..], &[file], &["flux.yaml", "--filter", file]] {
            let ran = import(&cli, args);
            ran.check(2);
            ran.says(&["can't read", why]);
        }
    }
}

#[test]
fn resources_are_found_above_the_file_or_where_they_are_said_to_be() {
    let cli = Cli::new("");
    for folder in ["app/configs", "app/more", "other/more"] {
        std::fs::create_dir_all(cli.path(folder)).unwrap();
    }
    cli.file(
        "app/configs/flux.yaml",
        format!("{TOPOLOGY}includes: [{{file: /more/part.yaml, resource: true}}]\n"),
    );
    cli.file("app/more/part.yaml", "config: {topology.message.timeout.secs: 11}\n");
    cli.file("other/more/part.yaml", "config: {topology.message.timeout.secs: 22}\n");
    let ran = import(&cli, &["app/configs/flux.yaml"]);
    assert!(ran.out.contains("message-timeout = \"11s\""), "{ran:?}");
    let ran = import(&cli, &["app/configs/flux.yaml", "--resources", "other"]);
    assert!(ran.out.contains("message-timeout = \"22s\""), "{ran:?}");
}
