//! `chaos` acquits those who keep the promise and convicts those who do not, with the seed that shows it.

use crate::cli::{Cli, finish, signals::send};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

const LINES: usize = 40_000;
/// Several each: a verdict must not hang on luck.
const SEEDS: [u64; 3] = [1, 20, 300];

/// `lines -> bolt -> sink`.
fn topology(bolt: &str, sink: &str) -> Cli {
    let cli = Cli::new(&format!(
        "[topology]\nname = \"chaos\"\nmax-spout-pending = 512\n\
         [spouts.lines]\nkind = \"lines\"\npath = \"in.txt\"\nretry = {{ backoff = \"5ms\" }}\n\
         [bolts.work]\nplugin = \"guest:{bolt}\"\ninputs = [{{ from = \"lines\", grouping = \"shuffle\" }}]\n\
         [bolts.out]\n{sink}\ninputs = [{{ from = \"work\", grouping = \"global\" }}]\n"
    ));
    let mut text = String::new();
    (0..LINES).for_each(|line| writeln!(text, "line-{line}").unwrap());
    cli.file("in.txt", text);
    std::fs::create_dir(cli.path("out")).unwrap();
    cli
}

const JSONL: &str = "kind = \"jsonl\"\npath = \"out/rows.jsonl\"\nfsync = \"never\"";

fn wasm_sink(honest: bool) -> String {
    format!(
        "plugin = \"guest:liar_sink\"\nconfig = {{ honest = {honest} }}\nbatch = 16\n\
         allow = {{ dirs = [{{ host = \"out\", guest = \"/out\", access = \"read-write\" }}] }}"
    )
}

fn chaos(cli: &Cli, seed: u64, code: i32) -> Value {
    let seed = seed.to_string();
    let ran = cli.run(&["chaos", "--seed", &seed, "--timeout-ms", "300", "--json", "--kills", "2"]);
    ran.check(code);
    let verdict: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    assert_eq!(verdict["verdict"], if code == 0 { "nothing-lost" } else { "lost" });
    assert_eq!(
        std::fs::read_dir(cli.path("out")).unwrap().count(),
        0,
        "the manifest's own output is not touched"
    );
    assert!(!cli.path(".anchorbolt").exists(), "nor is its data folder");
    verdict
}

#[test]
fn those_who_keep_the_promise_are_acquitted() {
    for (bolt, sink) in [("identity", JSONL.to_owned()), ("identity", wasm_sink(true))] {
        let cli = topology(bolt, &sink);
        let verdict = chaos(&cli, SEEDS[0], 0);
        let faults = &verdict["faults"];
        assert!(faults["instances_killed"].as_u64() > Some(0), "{verdict:#}");
        assert!(faults["batches_lost"].as_u64() > Some(0), "{verdict:#}");
        assert_eq!(verdict["outputs"][0]["rows"], LINES as u64, "{verdict:#}");
        assert_eq!(verdict["outputs"][0]["lost"], 0, "{verdict:#}");
    }
}

fn check_convicted(bolt: &str, sink: &str) {
    let cli = topology(bolt, sink);
    for seed in SEEDS {
        let verdict = chaos(&cli, seed, 1);
        assert_eq!(verdict["seed"], seed);
        assert!(verdict["outputs"][0]["lost"].as_u64() > Some(0), "{verdict:#}");
        let shown = verdict["outputs"][0]["lost_such_as"].as_array().unwrap();
        assert!(shown.iter().any(|row| row.as_str().unwrap().contains("line-")), "{verdict:#}");
    }
}

#[test]
fn a_bolt_that_acks_first_is_convicted() {
    check_convicted("liar_acks_first", JSONL);
}

#[test]
fn a_bolt_that_emits_unanchored_is_convicted() {
    check_convicted("unanchored", JSONL);
}

#[test]
fn a_sink_that_acks_before_it_writes_is_convicted() {
    check_convicted("identity", &wasm_sink(false));
}

#[test]
fn what_can_not_be_compared_is_refused_with_the_reason() {
    let endless = Cli::new(&crate::cli::endless("kind = \"null\""));
    let ran = endless.run(&["chaos"]);
    ran.check(2);
    ran.says(&["`feed`", "count"]);
    let cli = topology("identity", "kind = \"null\"");
    let ran = cli.run(&["chaos"]);
    ran.check(2);
    ran.says(&["nothing to compare", "jsonl"]);
    let cli = topology("identity", JSONL);
    let ran = cli.run(&["chaos", "--set", "topology.ackers=0"]);
    ran.check(2);
    ran.says(&["tracking is off"]);
    let cli = topology("identity", JSONL);
    cli.file("plan.toml", "kils = 3\n");
    let ran = cli.run(&["chaos", "--plan", "plan.toml"]);
    ran.check(2);
    ran.says(&["plan.toml", "no `kils`"]);
}

#[test]
fn an_interrupt_ends_the_hosts_too_and_leaves_no_folder() {
    let cli = topology("identity", JSONL);
    let temporary = cli.path("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let mut command = cli.command(&["chaos", "--fault", "stall=100", "--fault", "stall-for=2s"]);
    let child = command.env("TMPDIR", &temporary).spawn().unwrap();
    let folders = || std::fs::read_dir(&temporary).unwrap().count();
    let began = Instant::now();
    while folders() == 0 && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    send(child.id(), Signal::SIGINT);
    let ran = finish(child);
    ran.check(130);
    ran.says(&["interrupted"]);
    assert_eq!(folders(), 0);
}
