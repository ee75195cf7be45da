//! `dlq list` and the filters.

use super::{cli, ids, letter, moment, various};
use serde_json::{Value, json};
use std::io::Read;
use std::process::Stdio;

#[test]
fn a_table_has_a_line_for_each_letter_and_a_count() {
    let cli = cli(&various());
    let ran = cli.run(&["dlq", "list"]);
    ran.check(0);
    let reason = |bolt: &str| format!("panicked at src/{bolt}.rs:1:1: can't stomach it");
    assert_eq!(
        ran.out,
        format!(
            "id               time                  class     component  attempts  reason\n\
             lines@in.txt:0   2026-01-01T00:00:00Z  trap      eat               1  {eat}\n\
             lines@in.txt:10  2026-01-01T00:00:10Z  host      out               2  {out}\n\
             lines@in.txt:20  2026-01-01T00:00:20Z  rejected  eat               1  {eat}\n\
             others@3         2026-01-01T00:00:30Z  trap      eat               1  {eat}\n\
             lines@in.txt:40  2026-01-01T00:00:40Z  -         -                 -  -\n\
             lines@in.txt:50  2026-01-01T00:00:50Z  timeout   eat               1  {eat}\n\
             6 letters\n",
            eat = reason("eat"),
            out = reason("out")
        )
    );
    assert_eq!(ran.err, "");
}

#[test]
fn json_is_one_object_a_line() {
    let cli = cli(&various());
    let ran = cli.run(&["dlq", "list", "--json", "--id", "lines@in.txt:10"]);
    ran.check(0);
    let line: Value = serde_json::from_str(ran.out.trim_end()).unwrap();
    assert_eq!(
        line,
        json!({"id": "lines@in.txt:10", "time": "2026-01-01T00:00:10Z", "spout": "lines", "class": "host",
            "component": "out", "task": 2, "attempts": 2, "bytes": 6,
            "reason": "panicked at src/out.rs:1:1: can't stomach it\nsecond line"})
    );
    let ran = cli.run(&["dlq", "list", "--json"]);
    assert_eq!(ids(&ran).len(), 6);
    assert!(ran.out.ends_with("}\n") && ran.err.is_empty(), "{ran:?}");
}

#[test]
fn filters_take_what_fits_all_of_them() {
    let cli = cli(&various());
    let taken = |args: &[&str]| {
        let ran = cli.run(&[&["dlq", "list", "--json"], args].concat());
        ran.check(0);
        ids(&ran)
            .iter()
            .map(|id| id.rsplit([':', '@']).next().unwrap().to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(taken(&["--component", "eat"]), "0 20 3 50");
    assert_eq!(taken(&["--component", "out"]), "10", "where the last attempt failed, as the table shows it");
    assert_eq!(taken(&["--class", "trap"]), "0 3");
    assert_eq!(taken(&["--class", "trap", "--class", "timeout"]), "0 3 50");
    assert_eq!(taken(&["--spout", "others"]), "3");
    assert_eq!(
        taken(&["--since", "2026-01-01T00:00:20Z", "--until", "2026-01-01T01:00:50+01:00"]),
        "20 3 40"
    );
    assert_eq!(taken(&["--since", "2026-01-01"]), "0 10 20 3 40 50");
    assert_eq!(taken(&["--until", "3650d"]), "", "long before");
    assert_eq!(taken(&["others@3", "lines@in.txt:0", "--id", "lines@in.txt:50"]), "0 3 50");
    assert_eq!(taken(&["--spout", "lines", "--class", "trap"]), "0");
    assert_eq!(taken(&["--limit", "2"]), "40 50", "the newest, the oldest of them first");
    assert_eq!(taken(&["--limit", "1", "--class", "trap"]), "3");
    let hour = (time::OffsetDateTime::now_utc() - moment(0)).whole_hours() + 1;
    assert_eq!(taken(&["--since", &format!("{hour}h")]), "0 10 20 3 40 50");
    let ran = cli.run(&["dlq", "list", "--class", "trap", "--limit", "1"]);
    assert!(ran.out.ends_with("\nthe newest 1 of 2 letters that fit, of 6\n"), "{ran:?}");
}

#[test]
fn no_letters_are_said_and_fine() {
    let cli = cli(&[]);
    for args in [&["dlq", "list"][..], &["dlq", "list", "--class", "trap"]] {
        let ran = cli.run(args);
        ran.check(0);
        assert_eq!((&*ran.out, &*ran.err), ("no dead letters\n", ""));
    }
    let ran = cli.run(&["dlq", "list", "--json"]);
    ran.check(0);
    assert_eq!((&*ran.out, &*ran.err), ("", "no dead letters\n"));
    super::write(&cli, ".anchorbolt/letters", &various());
    let ran = cli.run(&["dlq", "list", "--class", "exit"]);
    ran.check(0);
    assert_eq!(ran.out, "none of 6 letters fits\n");
}

#[test]
fn an_unknown_id_is_an_error_with_those_that_are_near() {
    let cli = cli(&various());
    for args in [&["dlq", "list", "lines@in.txt:11"][..], &["dlq", "show", "lines@in.txt:11"]] {
        let ran = cli.run(args);
        ran.check(2);
        ran.says(&["no dead letter has the id `lines@in.txt:11`", "did you mean", "  lines@in.txt:10\n"]);
        assert_eq!(ran.out, "");
    }
    let ran = cli.run(&["dlq", "show", "in.txt:4"]);
    ran.check(2);
    ran.says(&["  lines@in.txt:40\n"]);
    let ran = cli.run(&["dlq", "show", "nothing like it"]);
    ran.check(2);
    ran.says(&["`dlq list` shows them all"]);
}

#[test]
fn arguments_that_mean_nothing_are_the_users_input() {
    let cli = cli(&various());
    for (args, says) in [
        (&["dlq"][..], "Usage"),
        (&["dlq", "list", "--class", "panic"], "the classes are failed, rejected, timeout, trap"),
        (&["dlq", "list", "--since", "yesterday"], "how long ago"),
        (&["dlq", "list", "--limit", "0"], "--limit"),
        (&["dlq", "show"], "<ID>"),
    ] {
        let ran = cli.run(args);
        ran.check(2);
        ran.says(&[says]);
    }
}

#[test]
fn nothing_that_a_guest_wrote_acts_on_a_terminal() {
    let mut evil = letter(1, "\u{1b}]0;title\u{7}\u{202e}");
    evil.id = "lines@\u{1b}[2J:1".to_owned();
    evil.attempts[0].reason = "\u{9b}31mred\u{7f}".to_owned();
    evil.attempts[0].output = "\u{1b}c\r\u{8}".to_owned();
    evil.attempts[0].component = "e\u{1b}at".to_owned();
    let cli = cli(&[evil]);
    for args in [
        &["dlq", "list"][..],
        &["dlq", "list", "--json"],
        // As it is shown.
        &["dlq", "show", r"lines@\u{1b}[2J:1"],
        &["dlq", "show", "lines@\u{1b}[2J:1", "--json"],
    ] {
        let ran = cli.run(args);
        ran.check(0);
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!ran.out.contains(bad) && !ran.err.contains(bad), "{ran:?}");
    }
    let ran = cli.run(&["dlq", "show", "lines@\u{1b}[2J"]);
    ran.check(2);
    ran.says(&[r"lines@\u{1b}[2J:1"]);
}

#[test]
fn a_reader_that_goes_ends_it_quietly_and_a_full_disk_does_not() {
    let many: Vec<_> = (0..20_000).map(|i| letter(i, "x")).collect();
    let cli = cli(&many);
    for args in
        [&["dlq", "list"][..], &["dlq", "list", "--json"], &["dlq", "export"], &["dlq", "export", "--raw"]]
    {
        let mut child = cli.command(args).spawn().unwrap();
        child.stdout.take().unwrap().read_exact(&mut [0; 1]).unwrap();
        let ran = crate::cli::finish(child);
        ran.check(0);
        assert_eq!(ran.err, "", "{args:?}");
        let full = Stdio::from(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
        let ran = crate::cli::finish(cli.command(args).stdout(full).spawn().unwrap());
        ran.check(3);
        ran.says(&["can't write to standard output"]);
    }
}

#[test]
fn damaged_lines_are_said_and_passed_over() {
    let cli = cli(&[letter(1, "a")]);
    let path = ".anchorbolt/letters/dead-letters.jsonl";
    cli.file(path, format!("# a note\n{}", cli.read(path)));
    let ran = cli.run(&["dlq", "list"]);
    ran.check(0);
    ran.says(&["1 line of ", " is no dead letter"]);
    assert!(ran.out.ends_with("1 letter\n"), "{ran:?}");
    cli.file(path, "{\"id\":\"x@1\"}\n");
    let ran = cli.run(&["dlq", "list"]);
    ran.check(3);
    ran.says(&["the line at byte 0", "mend or remove it"]);
}
