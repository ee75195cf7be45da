//! `kill -9`, a full disk, a stopped process: after a restart nothing is lost, and duplicates have a bound.
//!
//! Real processes, real files. `ANCHORBOLT_KILLS` and `ANCHORBOLT_KILL_LINES` make the first test as long as one likes.

use crate::cli::{Cli, finish, finish_within, number};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MAX_PENDING: u64 = 256;
/// Words of a line.
const WORDS: usize = 3;

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
}

/// `lines -> split -> jsonl` over `n` lines of words that are in no other line. In between, one line in 500 fails once and
/// waits for its retry, so that at each moment messages are open far below those that are done.
fn topology(n: usize, topology: &str) -> Cli {
    let cli = Cli::new(&format!(
        "[topology]\nname = \"kills\"\nmax-spout-pending = {MAX_PENDING}\n{topology}\n\
         [spouts.lines]\nkind = \"lines\"\npath = \"in.txt\"\nretry = {{ backoff = \"300ms\" }}\n\
         [bolts.fail]\nplugin = \"guest:fail_some\"\nconfig = {{ until = 1 }}\n\
         inputs = [{{ from = \"lines\", grouping = \"shuffle\" }}]\n\
         [bolts.split]\nplugin = \"guest:split\"\nexecutors = 2\ninputs = [{{ from = \"fail\", grouping = \"shuffle\" }}]\n\
         [bolts.out]\nkind = \"jsonl\"\npath = \"out/words.jsonl\"\ninputs = [{{ from = \"split\", grouping = \"shuffle\" }}]\n"
    ));
    let mut text = String::new();
    for line in 0..n {
        let first = if line % 500 == 250 { "retry: " } else { "" };
        writeln!(text, "{first}a{line} b{line} c{line}").unwrap();
    }
    cli.file("in.txt", text);
    cli
}

/// Each word is in the output, no other is, no line is torn; answers how many are there more than once.
fn check_output(cli: &Cli, lines: usize) -> u64 {
    let mut found = vec![[0u32; WORDS]; lines];
    let mut total = 0u64;
    for line in BufReader::new(std::fs::File::open(cli.path("out/words.jsonl")).unwrap()).lines() {
        let line = line.unwrap();
        let value: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("a torn line: {e}: {line}"));
        let word = value["word"].as_str().unwrap_or_else(|| panic!("no word: {line}"));
        if word == "retry:" {
            continue;
        }
        let column = "abc".find(&word[..1]).unwrap_or_else(|| panic!("an invented word: {line}"));
        let number: usize = word[1..].parse().unwrap_or_else(|_| panic!("an invented word: {line}"));
        assert!(number < lines, "an invented word: {line}");
        found[number][column] += 1;
        total += 1;
    }
    let lost: Vec<_> = found.iter().enumerate().filter(|(_, counts)| counts.contains(&0)).collect();
    assert!(lost.is_empty(), "{} lines are lost, first {:?}", lost.len(), &lost[..lost.len().min(5)]);
    total - (lines * WORDS) as u64
}

fn start(cli: &Cli) -> Child {
    let mut command = cli.command(&["run", "--until-drained", "--json", "--log-level", "error"]);
    // What a killed one says goes nowhere: nobody may wait for a full pipe.
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn send(child: &Child, signal: Signal) {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.id() as i32), signal).unwrap();
}

/// The checkpoint that is there, if any.
fn checkpoint(cli: &Cli) -> Option<Vec<u8>> {
    std::fs::read(cli.path(".anchorbolt/kills/checkpoints/lines.0.checkpoint")).ok()
}

#[test]
fn kills_at_any_moment_lose_nothing_and_repeat_no_more_than_the_span() {
    let (kills, lines) = (setting("ANCHORBOLT_KILLS", 6), setting("ANCHORBOLT_KILL_LINES", 400_000));
    let seed = fastrand::u64(..);
    println!("seed {seed}, {kills} kills, {lines} lines");
    let mut rng = fastrand::Rng::with_seed(seed);
    let cli = topology(lines, "");
    let (mut hit, mut in_progress) = (0, 0);
    while hit < kills {
        let mut child = start(&cli);
        std::thread::sleep(Duration::from_millis(rng.u64(20..300)));
        // On a busy machine none may have been written by now: at least the last kill comes after one.
        while hit + 1 == kills && in_progress == 0 && checkpoint(&cli).is_none() {
            assert!(
                child.try_wait().unwrap().is_none(),
                "it ended before kill {hit} of {kills}: more lines are needed"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        let before = checkpoint(&cli);
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(
            status.signal(),
            Some(9),
            "it ended before kill {hit} of {kills}: more lines are needed; {status}"
        );
        hit += 1;
        in_progress += usize::from(before.is_some());
    }
    println!("{in_progress} of {kills} kills after a checkpoint");
    assert!(in_progress > 0, "no kill came after a checkpoint");
    let longest = Duration::from_secs(60 + lines as u64 / 5_000);
    let ran = finish_within(cli.command(&["run", "--until-drained", "--json"]).spawn().unwrap(), longest);
    ran.check(0);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(number(&report, &["messages", "pending"]), 0);
    let duplicates = check_output(&cli, lines);
    let bound = kills as u64 * 16 * MAX_PENDING * WORDS as u64;
    println!("{duplicates} words repeated, at most {bound}");
    assert!(duplicates <= bound, "{duplicates} words are there again, more than {bound}");
    // A run after a finished run has nothing to do.
    assert_eq!(number(&cli.report(0), &["messages", "read"]), 0);
}

#[test]
fn a_process_that_is_stopped_for_longer_than_the_message_timeout_loses_nothing() {
    let lines = 40_000;
    let cli = topology(lines, "message-timeout = \"1s\"");
    let mut child = start(&cli);
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(150));
        send(&child, Signal::SIGSTOP);
        std::thread::sleep(Duration::from_millis(1_300));
        send(&child, Signal::SIGCONT);
    }
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(0));
    println!("{} words repeated", check_output(&cli, lines));
}

/// A small file system of its own holds the data folder and the output. It is full after half a megabyte of output,
/// stays full for a while, and is freed.
const FULL_DISK: &str = r#"
set -e
mount -t tmpfs -o size=16m none small
dd if=/dev/zero of=small/ballast bs=64k count=248 2> /dev/null
"$1" run --until-drained --data-dir small/data --set bolts.out.path=small/words.jsonl > run.out 2> run.err &
pid=$!
sleep 3
kill -0 $pid || { echo "it ended while the disk was full" >&2; exit 9; }
rm small/ballast
code=0; wait $pid || code=$?
mkdir -p out; cp small/words.jsonl out/
exit $code
"#;

#[test]
fn a_disk_that_fills_up_and_is_freed_loses_nothing() {
    let lines = 60_000;
    let cli = topology(lines, "");
    std::fs::create_dir(cli.path("small")).unwrap();
    let script = cli.file("full.sh", FULL_DISK);
    let binary = anchorbolt_tests::binary();
    let able = Command::new("unshare").args(["-rm", "true"]).output().is_ok_and(|o| o.status.success());
    if !able {
        println!("no mount namespaces here: not tested");
        return;
    }
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh"]).arg(script).arg(binary).current_dir(cli.path("."));
    command.env("XDG_CACHE_HOME", anchorbolt_tests::artifacts::cache_dir());
    let began = Instant::now();
    let ran = finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let said = cli.read("run.err");
    assert_eq!(ran.code, Some(0), "{ran:?}\n{said}");
    assert!(began.elapsed() > Duration::from_millis(2_900));
    assert!(said.contains("No space left"), "the disk was never full: {said}");
    println!("{} words repeated", check_output(&cli, lines));
}

/// How many lines name each class, for the dead letters of a data folder.
fn classes(cli: &Cli, path: &str) -> HashMap<String, usize> {
    let mut classes = HashMap::new();
    for line in cli.read(path).lines() {
        let letter: Value = serde_json::from_str(line).unwrap();
        let last = letter["attempts"].as_array().and_then(|a| a.last()).expect("an attempt");
        *classes.entry(last["class"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    classes
}

#[test]
fn a_message_has_one_dead_letter_however_often_the_host_dies() {
    let cli = Cli::new(
        "[topology]\nname = \"poison\"\nmax-spout-pending = 64\n\
         [spouts.lines]\nkind = \"lines\"\npath = \"in.txt\"\nretry = { max-faults = 2, backoff = \"20ms\" }\n\
         [bolts.eat]\nplugin = \"guest:poison\"\ninputs = [{ from = \"lines\", grouping = \"shuffle\" }]\n\
         [bolts.out]\nkind = \"jsonl\"\npath = \"out.jsonl\"\ninputs = [{ from = \"eat\", grouping = \"global\" }]\n",
    );
    let lines = 60_000;
    let text: String = (0..lines)
        .map(|i| if i % 1_000 == 7 { format!("poison {i}\n") } else { format!("line {i}\n") })
        .collect();
    cli.file("in.txt", text);
    let mut rng = fastrand::Rng::new();
    let mut hit = 0;
    for _ in 0..8 {
        let mut child = start(&cli);
        std::thread::sleep(Duration::from_millis(rng.u64(10..120)));
        child.kill().unwrap();
        hit += usize::from(child.wait().unwrap().signal() == Some(9));
    }
    assert!(hit > 0);
    let ran = cli.run(&["run", "--until-drained"]);
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    let letters = classes(&cli, ".anchorbolt/poison/dead-letters.jsonl");
    assert_eq!(letters, HashMap::from([("trap".to_owned(), lines / 1_000)]));
    let out = cli.read("out.jsonl");
    let seen: std::collections::HashSet<&str> = out.lines().collect();
    assert_eq!(seen.len(), lines - lines / 1_000, "each other line came through");
}
