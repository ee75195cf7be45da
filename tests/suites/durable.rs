//! What outlives the process, as a user meets it: checkpoints, the data folder, dead letters that are full or old.

use crate::cli::{Cli, check_sums, copy, endless, number};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

const DATA: &str = ".anchorbolt/copy";

/// Poison in every tenth line.
fn poisoned(topology: &str, lines: usize) -> Cli {
    let cli = Cli::new(&format!(
        "[topology]\nname = \"copy\"\ndrain-timeout = \"500ms\"\n{topology}\n\
         [spouts.lines]\nkind = \"lines\"\npath = \"in.txt\"\nretry = {{ max-faults = 1 }}\nmax-spout-pending = 16\n\
         [bolts.eat]\nplugin = \"guest:poison\"\ninputs = [{{ from = \"lines\", grouping = \"shuffle\" }}]\n\
         [bolts.out]\nkind = \"jsonl\"\npath = \"out.jsonl\"\ninputs = [{{ from = \"eat\", grouping = \"global\" }}]\n"
    ));
    let line = |i| if i % 10 == 3 { format!("poison {i}\n") } else { format!("line {i}\n") };
    cli.file("in.txt", (0..lines).map(line).collect::<String>());
    cli
}

fn letters(cli: &Cli) -> Vec<Value> {
    let mut live: Vec<Value> = vec![];
    for line in cli.read(&format!("{DATA}/dead-letters.jsonl")).lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        live.retain(|letter| letter["id"] != line["id"]);
        if line.get("tombstone").is_none() {
            live.push(line);
        }
    }
    live
}

#[test]
fn a_dead_letter_says_everything() {
    let cli = poisoned("", 5);
    let report = cli.report(1);
    check_sums(&report);
    assert_eq!(number(&report, &["messages", "dead_lettered"]), 1);
    let all = letters(&cli);
    let [letter] = &all[..] else { panic!("not one letter: {all:#?}") };
    let bytes = anchorbolt_host::durable::base64::decode(letter["bytes"].as_str().unwrap()).unwrap();
    assert_eq!(bytes, b"poison 3");
    assert_eq!(letter["id"], "lines@in.txt:21");
    assert_eq!(letter["position"], serde_json::json!({ "path": "in.txt", "offset": 21 }));
    assert_eq!(letter["fields"], serde_json::json!({ "line": "poison 3" }));
    assert_eq!((&letter["topology"], &letter["spout"]), (&"copy".into(), &"lines".into()));
    let attempts = letter["attempts"].as_array().unwrap();
    let [attempt] = &attempts[..] else { panic!("{letter:#}") };
    assert_eq!(
        (&attempt["n"], &attempt["class"], &attempt["component"]),
        (&1.into(), &"trap".into(), &"eat".into())
    );
    assert_eq!(attempt["input"], serde_json::json!({ "stream": "lines/default", "row": ["poison 3"] }));
    assert!(attempt["output"].as_str().unwrap().contains("can't stomach"), "{letter:#}");
    assert!(attempt["task"].as_u64() > Some(0));
}

#[test]
fn a_data_folder_in_use_is_refused_with_the_process_that_has_it() {
    let cli = Cli::new(&endless("kind = \"null\""));
    let mut first = cli.command(&["run"]).spawn().unwrap();
    for _ in 0..500 {
        if cli.path(".anchorbolt/endless/checkpoints").exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(100));
    let ran = cli.run(&["run"]);
    ran.check(3);
    ran.says(&["in use by process", &first.id().to_string(), "--data-dir"]);
    let other = cli.run(&["run", "--data-dir", "elsewhere", "--limit", "10"]);
    other.check(0);
    assert!(cli.path("elsewhere/last-report.json").is_file());
    first.kill().unwrap();
    first.wait().unwrap();
    // The lock went with the process.
    cli.run(&["run", "--limit", "10"]).check(0);
}

#[test]
fn full_dead_letters_pause_the_spout_and_lose_nothing() {
    let lines = 1_000;
    let cli = poisoned("dead-letters = { max-bytes = \"4KiB\" }", lines);
    let ran = cli.run(&["run", "--until-drained", "--json"]);
    ran.check(3);
    ran.says(&["is full", "dead-letters.max-bytes", "the spout pauses"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    check_sums(&report);
    let (read, pending) = (number(&report, &["messages", "read"]), number(&report, &["messages", "pending"]));
    assert!(pending > 0 && read < lines as u64, "it paused: {report:#}");
    assert_eq!(number(&report, &["messages", "dropped"]), 0);
    assert!(std::fs::metadata(cli.path(&format!("{DATA}/dead-letters.jsonl"))).unwrap().len() <= 4096);

    let ran = cli.run(&["run", "--until-drained", "--set", "topology.dead-letters.max-bytes=1MiB", "--json"]);
    ran.check(1);
    let ids: BTreeSet<String> = letters(&cli).iter().map(|letter| letter["id"].to_string()).collect();
    assert_eq!((letters(&cli).len(), ids.len()), (lines / 10, lines / 10), "one letter for each");
    let rows: BTreeSet<String> = cli.read("out.jsonl").lines().map(str::to_owned).collect();
    assert_eq!(rows.len(), lines - lines / 10);
}

#[test]
fn a_changed_input_is_an_error_that_names_reset_and_reset_keeps_the_letters() {
    let cli = poisoned("", 50);
    cli.report(1);
    cli.file("in.txt", "another file\nwith poison in it\n");
    let ran = cli.run(&["run", "--until-drained"]);
    ran.check(2);
    ran.says(&["in.txt", "--reset"]);
    let report = cli.report_of(&["--reset"], 1);
    assert_eq!(number(&report, &["messages", "read"]), 2);
    assert_eq!(letters(&cli).len(), 5 + 1);
    let kept: Value = serde_json::from_str(&cli.read(&format!("{DATA}/last-report.json"))).unwrap();
    assert_eq!(kept["messages"], report["messages"]);
}

#[test]
fn letters_are_kept_for_the_retention() {
    let cli = poisoned("", 30);
    cli.report(1);
    assert_eq!(letters(&cli).len(), 3);
    let set = ["--set", "topology.dead-letters.retention=1s"];
    std::thread::sleep(Duration::from_millis(1_200));
    let ran = cli.run(&[&["run", "--until-drained"], &set[..]].concat());
    ran.check(0);
    ran.says(&["letters=3", "retention"]);
    assert!(letters(&cli).is_empty());
}

#[test]
fn made_up_messages_go_on_where_they_stood() {
    let cli = Cli::new(
        "[topology]\nname = \"copy\"\n[spouts.feed]\nkind = \"generate\"\ncount = 3000\nexecutors = 2\n\
         [bolts.out]\nkind = \"jsonl\"\npath = \"out.jsonl\"\ninputs = [{ from = \"feed\", grouping = \"global\" }]\n",
    );
    for _ in 0..3 {
        let ran = cli.run(&["run", "--limit", "1000", "--set", "spouts.feed.executors=2"]);
        ran.check(0);
    }
    let report = cli.report_of(&["--set", "spouts.feed.executors=3"], 0);
    assert_eq!(number(&report, &["messages", "read"]), 0, "all are done, whoever made them");
    let seqs: Vec<u64> = cli
        .read("out.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs.iter().collect::<BTreeSet<_>>().len(), 3_000);
    assert_eq!(seqs.len(), 3_000, "none twice");
    let ran = cli.run(&["run", "--until-drained", "--set", "spouts.feed.seed=5"]);
    ran.check(2);
    ran.says(&["messages are others now", "--reset"]);
}

/// Without tracking a message counts as done when it is emitted, so its source moves on.
#[test]
fn untracked_messages_are_not_read_again() {
    let cli = Cli::new(
        "[topology]\nname = \"copy\"\nackers = 0\n[spouts.lines]\nkind = \"lines\"\npath = \"in.txt\"\n\
         [bolts.out]\nkind = \"jsonl\"\npath = \"out.jsonl\"\ninputs = [{ from = \"lines\", grouping = \"global\" }]\n",
    );
    cli.file("in.txt", (0..500).map(|i| format!("line {i}\n")).collect::<String>());
    cli.run(&["run", "--limit", "200"]).check(0);
    let report = cli.report(0);
    let count = |key| number(&report, &["messages", key]);
    assert_eq!((count("read"), count("untracked"), count("completed")), (300, 300, 0));
    assert_eq!(cli.read("out.jsonl").lines().count(), 500);
    assert_eq!(number(&cli.report(0), &["messages", "read"]), 0);
}

/// What can't be read again says so, and its letters do not stand for lines of another run.
#[test]
fn letters_of_standard_input_are_of_their_run() {
    let cli = Cli::new(&copy("", "").replace(
        "kind = \"lines\"\npath = \"in.txt\"",
        "kind = \"stdin\"\nlimits = { tuple-bytes = \"8B\" }",
    ));
    for _ in 0..2 {
        let mut child = cli.command(&["run", "--until-drained"]);
        child.stdin(std::process::Stdio::piped());
        let mut child = child.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"short\nfar too long\n").unwrap();
        crate::cli::finish(child).check(1);
    }
    let all = letters(&cli);
    assert_eq!(all.len(), 2, "{all:#?}");
    assert!(all.iter().all(|letter| letter["position"]["line"] == 2));
}

/// The letter of a torn line must not stand for the line that it grew into.
#[test]
fn a_line_that_grows_after_its_letter_is_read_again() {
    let manifest = copy("format = \"json\"\nfields = [\"line\"]", "");
    let cli = Cli::new(&manifest);
    cli.file("in.txt", "{\"line\":\"one\"}\n{\"line\":\"tw");
    assert_eq!(number(&cli.report(1), &["messages", "dead_lettered"]), 1);
    cli.file("more", "");
    let mut file = std::fs::OpenOptions::new().append(true).open(cli.path("in.txt")).unwrap();
    std::io::Write::write_all(&mut file, b"o\"}\n{\"line\":\"three\"}\n").unwrap();
    cli.report(0);
    let rows: Vec<String> = cli.read("out.jsonl").lines().map(str::to_owned).collect();
    assert_eq!(rows, ["{\"line\":\"one\"}", "{\"line\":\"two\"}", "{\"line\":\"three\"}"]);
}

/// Letters of an input that was replaced stand for nothing in the new one, also when the first run over that is killed.
#[test]
fn letters_of_a_replaced_input_hide_nothing_of_the_new_one() {
    let cli = poisoned("", 20);
    cli.report(1);
    assert_eq!(letters(&cli).len(), 2);
    let line = |i| if i % 10 == 3 { format!("POISON {i}\n") } else { format!("LINE {i}\n") };
    cli.file("in.txt", (0..20).map(line).collect::<String>());
    // As after a run with --reset that died before its first checkpoint.
    std::fs::remove_file(cli.path(&format!("{DATA}/checkpoints/lines.0.checkpoint"))).unwrap();
    let report = cli.report_of(&["--set", "bolts.eat.config.poison=POISON"], 1);
    assert_eq!(number(&report, &["messages", "read"]), 20, "none is passed over");
    let kept: BTreeSet<String> =
        letters(&cli).iter().map(|letter| letter["fields"]["line"].to_string()).collect();
    let expected = [3, 13].map(|i| format!("\"POISON {i}\"")).into_iter().collect();
    assert_eq!(kept, expected, "the new messages' letters took the places of the old ones'");
}

#[test]
fn a_data_folder_belongs_to_one_topology() {
    let cli = Cli::new(&endless("kind = \"null\""));
    cli.run(&["run", "--limit", "10", "--data-dir", "shared"]).check(0);
    let checkpoint = || cli.read("shared/checkpoints/feed.0.checkpoint");
    let before = checkpoint();
    for reset in [&[][..], &["--reset"]] {
        let set = ["run", "--limit", "10", "--data-dir", "shared", "--set", "topology.name=other"];
        let ran = cli.run(&[&set[..], reset].concat());
        ran.check(3);
        ran.says(&["belongs to topology `endless`", "`other`", "--data-dir"]);
        assert_eq!(checkpoint(), before, "nothing of it is touched");
    }
}

#[test]
fn a_file_whose_name_is_no_text_is_an_error() {
    use std::os::unix::ffi::OsStrExt;
    let cli = Cli::new(&copy("", "").replace("in.txt", "in/*.txt"));
    std::fs::create_dir(cli.path("in")).unwrap();
    cli.file("in/a.txt", "one\n");
    std::fs::write(cli.path("in").join(std::ffi::OsStr::from_bytes(b"b\xff.txt")), "two\n").unwrap();
    let ran = cli.run(&["run", "--until-drained"]);
    ran.check(2);
    ran.says(&["not UTF-8", "rename it"]);
}

/// A run that would end by itself must not wait for ever for a folder that is gone.
#[test]
fn checkpoints_that_can_not_be_written_end_a_finite_run_with_3() {
    let cli = Cli::new(
        "[topology]\nname = \"copy\"\ndrain-timeout = \"500ms\"\nmax-spout-pending = 16\n\
         [spouts.feed]\nkind = \"generate\"\ncount = 100000\nrate = 4000\n\
         [bolts.out]\nkind = \"null\"\ninputs = [{ from = \"feed\", grouping = \"global\" }]\n",
    );
    let child = cli.command(&["run", "--until-drained", "--json"]).spawn().unwrap();
    let folder = cli.path(&format!("{DATA}/checkpoints"));
    for _ in 0..500 {
        if folder.join("feed.0.checkpoint").exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    std::fs::rename(&folder, cli.path("away")).unwrap();
    let ran = crate::cli::finish(child);
    ran.check(3);
    ran.says(&["checkpoint", "put it back", "reads no further"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    check_sums(&report);
    let read = number(&report, &["messages", "read"]);
    assert!(read < 100_000, "it paused");
    // And goes on where the last one says.
    std::fs::remove_dir_all(&folder).ok();
    std::fs::rename(cli.path("away"), &folder).unwrap();
    let report = cli.report_of(&["--set", "spouts.feed.rate=1000000"], 0);
    let again = number(&report, &["messages", "read"]);
    assert!(again > 0 && read + again <= 100_000 + 16 * 16 * 2, "{read} and {again}");
}
