//! `dlq replay --only ID --bolt BOLT`: one tuple through one real guest.

use super::{attempt, cli, letter, write};
use crate::cli::{Cli, Ran};
use anchorbolt_core::failure::Class;
use anchorbolt_host::durable::{Letter, LetterInput};
use anchorbolt_tests::guest;
use serde_json::{Value, json};

/// A topology whose bolt `eat` is this guest, with the letter of one line.
fn with(name: &str, keys: &str, line: &str) -> Cli {
    let manifest = super::MANIFEST.replace("guest:poison", &guest(name).display().to_string());
    let cli = Cli::new(&manifest.replace("[bolts.out]", &format!("{keys}\n[bolts.out]")));
    write(&cli, ".anchorbolt/letters", &[letter(1, line)]);
    cli
}

fn replay(cli: &Cli, more: &[&str]) -> Ran {
    cli.run(&[&["dlq", "replay", "--only", "lines@in.txt:1", "--bolt", "eat"], more].concat())
}

fn as_json(cli: &Cli, code: i32) -> Value {
    let ran = replay(cli, &["--json"]);
    ran.check(code);
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"))
}

#[test]
fn a_panic_is_shown_with_its_text_and_last_words() {
    let cli = cli(&[letter(1, "poison 1")]);
    let file = ".anchorbolt/letters/dead-letters.jsonl";
    let before = cli.read(file);
    let ran = replay(&cli, &[]);
    ran.check(1);
    for text in [
        "bolt `eat` (task 1), attempt 1 of lines@in.txt:1\n",
        "input from lines/default\n  {\"line\":\"poison 1\"}\n",
        "\ndied: trap; nothing that it emitted or settled counts\n  panicked at ",
        "can't stomach [\"poison 1\"]",
        "\nlast words\n  ",
        "prepared in ",
    ] {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
    let found = as_json(&cli, 1);
    assert_eq!(
        (&found["end"], &found["class"], &found["emitted"]),
        (&json!("died"), &json!("trap"), &json!([]))
    );
    assert!(found["reason"].as_str().unwrap().contains("can't stomach"), "{found:#}");
    assert!(found["output"].as_str().unwrap().contains("panicked at"), "{found:#}");
    assert!(found["took_us"].is_u64() && found["prepared_us"].as_u64().unwrap() > 0);
    assert_eq!(cli.read(file), before, "the letter is as it was");
}

/// A host may run meanwhile.
#[test]
fn what_a_bolt_emits_is_shown_and_an_ack_is_fine() {
    let cli = with("split", "", "the cat");
    let running = anchorbolt_host::durable::DataDir::open(&cli.path(".anchorbolt/letters"), false).unwrap();
    let ran = replay(&cli, &[]);
    ran.check(0);
    let expected = "\nacked\n\nemitted (2)\n  default  {\"word\":\"the\"}\n  default  {\"word\":\"cat\"}\n\nprepared in ";
    assert!(ran.out.contains(expected), "{}", ran.out);
    drop(running);
    let found = as_json(&cli, 0);
    let word = |word: &str| json!({"stream": "default", "anchors": [1], "tasks": [], "fields": {"word": word}, "problem": null});
    assert_eq!(found["emitted"], json!([word("the"), word("cat")]));
    assert_eq!((&found["end"], &found["class"]), (&json!("acked"), &Value::Null));
    assert!(!cli.path("out.jsonl").exists(), "it goes nowhere");
}

#[test]
fn each_way_to_fail_has_its_kind() {
    for (line, class, kind) in [
        ("fail:no", "failed", "fail"),
        ("retry:later", "failed", "retry"),
        ("reject:never", "rejected", "reject"),
    ] {
        let found = as_json(&with("fail_some", "", line), 1);
        let reason = line.split_once(':').unwrap().1;
        assert_eq!(found["end"], "failed", "{found:#}");
        assert_eq!([&found["class"], &found["kind"], &found["reason"]], [class, kind, reason], "{found:#}");
    }
    let found = as_json(&with("error_call", "", "an error"), 1);
    assert_eq!(
        [&found["end"], &found["reason"], &found["error"]],
        ["failed", "the call ends at `an error`", "the call ends at `an error`"]
    );
}

#[test]
fn each_way_to_die_has_its_class() {
    for (name, keys, line, class) in [
        ("loop_on", "limits = { deadline = \"200ms\" }", "loop", "deadline"),
        ("alloc_on", "limits = { memory = \"8MiB\" }", "alloc", "memory"),
        ("exit_on", "", "exit", "exit"),
        ("raw_forged", "config = { how = \"ack\" }", "x", "protocol"),
    ] {
        let found = as_json(&with(name, keys, line), 1);
        assert_eq!((&found["end"], &found["class"]), (&json!("died"), &json!(class)), "{name}: {found:#}");
        assert!(!found["reason"].as_str().unwrap().is_empty(), "{name}: {found:#}");
    }
}

#[test]
fn what_is_held_or_never_settled_is_said() {
    for name in ["hold_all", "raw_never_settle"] {
        let cli = with(name, "", "never");
        let ran = replay(&cli, &[]);
        ran.check(1);
        assert!(ran.out.contains("\nheld: the call neither acked nor failed it"), "{}", ran.out);
        assert_eq!(as_json(&cli, 1)["end"], "held");
    }
}

#[test]
fn what_it_logs_prints_counts_and_reports_is_shown() {
    let cli = with("chatty", "config = { bytes = 70 }", "hello");
    let found = as_json(&cli, 0);
    let mut said: Vec<Value> = ["trace", "debug", "info", "warn", "error"]
        .map(|level| json!({ "as": level, "text": format!("{level} hello") }))
        .to_vec();
    // The second line has no end.
    said.extend(["x".repeat(63), "x".repeat(6)].map(|text| json!({ "as": "stderr", "text": text })));
    assert_eq!(found["said"], json!(said));
    assert_eq!(found["reported"], json!(["report hello"]));
    assert_eq!(
        found["metrics"],
        json!({"seen": {"counter": 1}, "last": {"gauge": 5.0},
            "length": {"histogram": {"count": 1, "min": 5.0, "max": 5.0, "sum": 5.0}}})
    );
    let ran = replay(&cli, &[]);
    for text in [
        "\nreported (1)\n  report hello\n",
        "\nlogged and printed (7)\n  trace   trace hello\n",
        "\n  stderr  xxx",
        "  seen  counter 1\n",
        "  length  histogram of 1: min 5, max 5, sum 5\n",
    ] {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
}

#[test]
fn streams_anchors_and_tasks_are_told_apart() {
    let found = as_json(&with("unanchored", "", "x"), 0);
    assert_eq!(
        (&found["emitted"][0]["anchors"], &found["emitted"][0]["fields"]),
        (&json!([]), &json!({"value": "x"}))
    );
    assert!(
        replay(&with("unanchored", "", "x"), &[]).out.contains("  default  {\"value\":\"x\"}  unanchored\n")
    );
    let found = as_json(&with("placed", "", "x"), 0);
    let (first, second) = (&found["emitted"][0], &found["emitted"][1]);
    assert_eq!(
        (&first["stream"], &first["tasks"]),
        (&json!("default"), &json!([3])),
        "task 3 is `out`: {found:#}"
    );
    assert_eq!(second["stream"], "report");
    assert_eq!(
        [&second["fields"]["message"], &second["fields"]["identity"], &second["fields"]["attempt"]],
        [&json!("lines@in.txt:1"), &json!("lines@in.txt:1"), &json!(1)]
    );
}

/// As in a run: what it emits for the tuple is wrong, so the tuple fails.
#[test]
fn a_row_that_is_none_is_shown_and_fails_the_tuple() {
    let found = as_json(&with("raw_bad_rows", "config = { how = \"arity\" }", "bad"), 1);
    assert_eq!((&found["end"], &found["class"]), (&json!("failed"), &json!("protocol")), "{found:#}");
    let problems = found["emitted"].as_array().unwrap().iter().filter(|e| e["problem"].is_string()).count();
    assert!(problems > 0, "{found:#}");
}

/// With many attempts, the one that is asked for; without, the last that has a row of this bolt.
#[test]
fn the_row_is_that_of_the_attempt_that_is_asked_for() {
    let mut one = letter(1, "from the spout");
    one.attempts = vec![
        attempt(1, "eat", Class::Trap, "first"),
        attempt(2, "eat", Class::Trap, "poison second"),
        attempt(3, "out", Class::Host, "third"),
        attempt(4, "eat", Class::Timeout, "fourth"),
    ];
    one.attempts[3].input = None;
    let cli = cli(&[one]);
    let row = |args: &[&str]| {
        let ran = replay(&cli, &[args, &["--json"]].concat());
        let found: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
        (found["input"]["fields"]["line"].clone(), found["attempt"].clone(), ran.code.unwrap())
    };
    assert_eq!(row(&[]), (json!("poison second"), json!(2), 1));
    assert_eq!(row(&["--attempt", "1"]), (json!("first"), json!(1), 0));
    assert_eq!(
        row(&["--attempt", "3"]),
        (json!("from the spout"), json!(3), 0),
        "what the spout gave it then"
    );
    assert_eq!(row(&["--attempt", "4"]), (json!("from the spout"), json!(4), 0));
    let ran = replay(&cli, &["--attempt", "9"]);
    ran.check(2);
    ran.says(&[
        "attempt 9 has no row for bolt `eat`",
        "`eat` (attempt 2)",
        "`eat` (takes from spout `lines`)",
    ]);
    assert_eq!(
        row(&["--set", "bolts.eat.config.poison=first", "--attempt", "1"]).2,
        1,
        "--set changes the bolt"
    );
}

#[test]
fn a_row_is_made_of_the_fields_in_the_order_of_the_stream() {
    let mut one = letter(1, "");
    one.attempts.clear();
    one.spout = "feed".to_owned();
    one.fields = json!({ "sentence": "the cat", "seq": 7, "other": null });
    let manifest = super::MANIFEST
        .replace("guest:poison", &guest("identity").display().to_string())
        .replace("[spouts.lines]\nkind = \"lines\"\npath = \"in.txt\"", "[spouts.feed]\nkind = \"generate\"")
        .replace("from = \"lines\", grouping = \"shuffle\"", "from = \"feed\", grouping = \"shuffle\"")
        .replace("[bolts.out]", "config = { fields = [\"a\", \"b\"] }\n[bolts.out]");
    let cli = Cli::new(&manifest);
    write(&cli, ".anchorbolt/letters", std::slice::from_ref(&one));
    let found = as_json(&cli, 0);
    assert_eq!(
        found["input"],
        json!({"stream": "feed/default", "fields": {"seq": 7, "sentence": "the cat"}})
    );
    assert_eq!(found["emitted"][0]["fields"], json!({"a": 7, "b": "the cat"}));
    // A spout without bytes of its own: its rows are in the letter, exactly. [[0, [9, b"\xff"]]]
    one.id = "feed@9".to_owned();
    one.bytes = vec![0x91, 0x92, 0x00, 0x92, 0x09, 0xc4, 0x01, 0xff];
    write(&cli, ".anchorbolt/letters", &[one]);
    let ran = cli.run(&["dlq", "replay", "--only", "feed@9", "--bolt", "eat", "--json"]);
    ran.check(0);
    let found: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(found["emitted"][0]["fields"], json!({"a": 9, "b": {"base64": "/w=="}}));
}

#[test]
fn what_can_not_be_run_is_an_error_that_says_what_can() {
    let mut changed = letter(2, "x");
    changed.attempts[0].input = Some(LetterInput { stream: "old/default".to_owned(), row: json!(["x"]) });
    let mut longer = letter(3, "x");
    longer.attempts[0].input = Some(LetterInput { stream: "lines/default".to_owned(), row: json!(["x", 2]) });
    let mut lost: Letter = letter(4, "x");
    (lost.attempts[0].component, lost.spout) = ("elsewhere".to_owned(), "gone".to_owned());
    let cli = cli(&[letter(1, "x"), changed, longer, lost]);
    for (id, bolt, says) in [
        (1, "eta", &["the topology has no bolt `eta`", "did you mean `eat`?"][..]),
        (1, "lines", &["the topology has no bolt `lines`", "bolts: `eat`, `out`"]),
        (
            1,
            "out",
            &[
                "the letter has no row for bolt `out`",
                "`eat` (attempt 1)",
                "`eat` (takes from spout `lines`)",
            ],
        ),
        (2, "eat", &["takes nothing from `old/default` any more"]),
        (3, "eat", &["does not fit its fields (line)", "it has 2 fields"]),
        (4, "eat", &["the letter has no row for bolt `eat`; possible: `elsewhere` (attempt 1)"]),
        (9, "eat", &["no dead letter has the id"]),
    ] {
        let ran = cli.run(&["dlq", "replay", "--only", &format!("lines@in.txt:{id}"), "--bolt", bolt]);
        ran.check(2);
        ran.says(says);
        assert_eq!(ran.out, "");
    }
    let mut sunk = letter(5, "x");
    sunk.attempts = vec![attempt(1, "out", Class::Host, "x")];
    sunk.attempts[0].input = Some(LetterInput { stream: "eat/default".to_owned(), row: json!(["x"]) });
    write(&cli, ".anchorbolt/letters", &[sunk]);
    let ran = cli.run(&["dlq", "replay", "--only", "lines@in.txt:5", "--bolt", "out"]);
    ran.check(2);
    ran.says(&["bolt `out` is the host's own, of kind jsonl"]);
    assert!(!cli.path("out.jsonl").exists());
}

#[test]
fn a_manifest_with_mistakes_and_a_bolt_that_does_not_prepare_are_the_users_input() {
    for (how, says) in [("error", "prepare was told to fail"), ("panic", "prepare was told to panic")] {
        let cli = with("flaky_prepare", &format!("config = {{ prepare = \"{how}\" }}"), "x");
        let ran = replay(&cli, &[]);
        ran.check(2);
        ran.says(&["bolt `eat`: it does not prepare: ", says]);
        assert_eq!(ran.out, "");
    }
    let cli = with("identity", "", "x");
    let ran = replay(&cli, &["--set", "bolts.eat.colour=1"]);
    ran.check(2);
    ran.says(&["error[AB"]);
    std::fs::rename(cli.path("topology.toml"), cli.path("moved")).unwrap();
    let ran = replay(&cli, &["--data-dir", ".anchorbolt/letters"]);
    ran.check(2);
    ran.says(&["can't tell which manifest", "--manifest FILE"]);
    replay(&cli, &["--data-dir", ".anchorbolt/letters", "--manifest", "moved"]).check(0);
    replay(&cli, &["--manifest", "moved"]).check(0);
}
