//! `dlq replay`: messages go through the topology again, and lose their letter only when they complete.

use crate::cli::{Cli, number};
use serde_json::Value;

/// Lines of which some kill the bolt until its `poison` is another word.
fn poisoned(lines: usize) -> Cli {
    let cli = Cli::new(
        "[topology]\nname = \"poison\"\n\
         [spouts.lines]\nkind = \"lines\"\npath = \"in.txt\"\nexecutors = 2\nretry = { max-faults = 2, backoff = \"1ms\" }\n\
         [bolts.eat]\nplugin = \"guest:poison\"\ninputs = [{ from = \"lines\", grouping = \"shuffle\" }]\n\
         [bolts.out]\nkind = \"jsonl\"\npath = \"out.jsonl\"\ninputs = [{ from = \"eat\", grouping = \"global\" }]\n",
    );
    let line = |i| if i % 100 == 7 { format!("poison {i}\n") } else { format!("line {i}\n") };
    cli.file("in.txt", (0..lines).map(line).collect::<String>());
    cli
}

const MENDED: &str = "bolts.eat.config.poison=nothing";

fn values(cli: &Cli) -> Vec<String> {
    let mut all: Vec<String> = cli
        .read("out.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["value"].as_str().unwrap().to_owned())
        .collect();
    all.sort();
    all
}

fn letters(cli: &Cli) -> usize {
    let ran = cli.run(&["dlq", "list", "--json"]);
    ran.check(0);
    ran.out.lines().count()
}

#[test]
fn after_a_fix_all_complete_and_each_is_once_in_the_output() {
    let cli = poisoned(1_000);
    assert_eq!(number(&cli.report(1), &["messages", "dead_lettered"]), 10);
    assert_eq!((values(&cli).len(), letters(&cli)), (990, 10));

    let ran = cli.run(&["dlq", "replay", "--set", MENDED, "--json"]);
    ran.check(0);
    let replayed: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&replayed["letters"], &replayed["completed"], &replayed["left"]),
        (&10.into(), &10.into(), &0.into())
    );
    assert_eq!(
        number(&replayed, &["report", "messages", "read"]),
        10,
        "a dead letter replayed is read again"
    );
    assert_eq!(letters(&cli), 0);
    let line = |i| if i % 100 == 7 { format!("poison {i}") } else { format!("line {i}") };
    let mut all: Vec<String> = (0..1_000).map(line).collect();
    all.sort();
    assert_eq!(values(&cli), all);

    // Neither the checkpoints nor the letters that are over are touched by it.
    assert_eq!(number(&cli.report(0), &["messages", "read"]), 0);
    let ran = cli.run(&["dlq", "replay"]);
    ran.check(0);
    ran.says(&["0 letters put through again"]);
}

#[test]
fn what_fails_again_has_one_letter_with_all_its_attempts() {
    let cli = poisoned(300);
    cli.report(1);
    let ran = cli.run(&["dlq", "replay"]);
    ran.check(1);
    ran.says(&["3 letters put through again: 0 completed, 3 are still dead letters"]);
    assert_eq!(letters(&cli), 3);
    let ran = cli.run(&["dlq", "export"]);
    for line in ran.out.lines() {
        let letter: Value = serde_json::from_str(line).unwrap();
        let n: Vec<_> =
            letter["attempts"].as_array().unwrap().iter().map(|a| a["n"].as_u64().unwrap()).collect();
        assert_eq!(n, [1, 2, 3, 4], "two in the run, two in the replay: {letter}");
        assert!(letter["attempts"][3]["reason"].as_str().unwrap().contains("can't stomach"), "{letter}");
    }
    // They are letters of the topology as before.
    assert_eq!(number(&cli.report(0), &["messages", "read"]), 0);
}

#[test]
fn a_filter_says_which() {
    let cli = poisoned(500);
    cli.report(1);
    let first = cli.run(&["dlq", "list", "--json"]).out.lines().next().unwrap().to_owned();
    let id = serde_json::from_str::<Value>(&first).unwrap()["id"].as_str().unwrap().to_owned();
    let ran = cli.run(&["dlq", "replay", "--id", &id, "--set", MENDED]);
    ran.check(0);
    ran.says(&["1 letter put through again: 1 completed"]);
    assert_eq!(letters(&cli), 4);
    let ran = cli.run(&["dlq", "replay", "--class", "timeout", "--set", MENDED]);
    ran.check(0);
    ran.says(&["0 letters put through again"]);
    let ran = cli.run(&["dlq", "replay", "--id", "lines@nowhere:1"]);
    ran.check(2);
    ran.says(&["no dead letter has the id"]);
}

#[test]
fn letters_of_a_spout_that_is_gone_are_said() {
    let cli = poisoned(100);
    cli.report(1);
    let manifest = cli
        .read("topology.toml")
        .replace("spouts.lines", "spouts.other")
        .replace("\"lines\", grouping", "\"other\", grouping");
    cli.file("topology.toml", manifest);
    let ran = cli.run(&["dlq", "replay"]);
    ran.check(2);
    ran.says(&["spouts that the topology does not have: lines"]);
}
