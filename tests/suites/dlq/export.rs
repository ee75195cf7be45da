//! `dlq export`.

use super::{cli, ids, letter, various};
use anchorbolt_host::durable::DataDir;

const FILE: &str = ".anchorbolt/letters/dead-letters.jsonl";

#[test]
fn letters_are_exported_as_they_are_while_a_host_runs() {
    let cli = cli(&various());
    let running = DataDir::open(&cli.path(".anchorbolt/letters"), false).unwrap();
    let ran = cli.run(&["dlq", "export"]);
    ran.check(0);
    assert_eq!(ran.out, cli.read(FILE));
    let ran = cli.run(&["dlq", "export", "--class", "trap"]);
    assert_eq!(ids(&ran), ["lines@in.txt:0", "others@3"]);
    cli.run(&["dlq", "list"]).check(0);
    cli.run(&["dlq", "show", "others@3"]).check(0);
    drop(running);
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let cli = cli(&various());
    let ran = cli.run(&["dlq", "export", "--to", "letters.jsonl"]);
    ran.check(0);
    ran.says(&["6 letters written to letters.jsonl"]);
    assert_eq!((&*ran.out, cli.read("letters.jsonl")), ("", cli.read(FILE)));
    let ran = cli.run(&["dlq", "export", "--to", "letters.jsonl", "unknown"]);
    ran.check(2);
    assert_eq!(cli.read("letters.jsonl"), cli.read(FILE), "left alone");
    let ran = cli.run(&["dlq", "export", "--to", "no/such/folder/x.jsonl"]);
    ran.check(3);
    ran.says(&["can't write no/such/folder/x.jsonl"]);
    let ran = cli.run(&["dlq", "export", "--to", "/dev/full"]);
    ran.check(3);
    ran.says(&["No space left"]);
    assert!(!cli.path("letters.jsonl.part").exists());
    for own in [FILE, ".anchorbolt/letters/new.jsonl", ".anchorbolt/letters/VERSION"] {
        let before = cli.read(FILE);
        let ran = cli.run(&["dlq", "export", "--to", own]);
        ran.check(2);
        ran.says(&["is in the data folder itself"]);
        assert_eq!(cli.read(FILE), before);
    }
}

#[test]
fn raw_lines_can_be_read_again() {
    let mut all: Vec<_> =
        ["a b", "", "é", "{\"x\":1}"].iter().zip(0..).map(|(line, i)| letter(i, line)).collect();
    let cli = cli(&all);
    let ran = cli.run(&["dlq", "export", "--raw"]);
    ran.check(0);
    assert_eq!(ran.out, "a b\n\né\n{\"x\":1}\n");
    cli.run(&["dlq", "export", "--raw", "--to", "in.txt"]).check(0);
    assert_eq!(cli.read("in.txt"), ran.out);
    all[0].bytes = b"two\nlines".to_vec();
    all[0].id = "lines@in.txt:9".to_owned();
    // [[0, ["a"]]]
    all[1].bytes = vec![0x91, 0x92, 0x00, 0x91, 0xa1, b'a'];
    all[1].id = "lines@in.txt:10".to_owned();
    super::write(&cli, ".anchorbolt/letters", &all[..2]);
    for (id, why) in [("lines@in.txt:9", "a line end"), ("lines@in.txt:10", "no bytes of its own")] {
        let ran = cli.run(&["dlq", "export", "--raw", id, "--to", "in.txt"]);
        ran.check(2);
        ran.says(&[id, why, "without --raw"]);
    }
    assert_eq!(cli.read("in.txt").lines().count(), 4, "left alone");
}

#[test]
fn nothing_to_export_is_said_and_fine() {
    let cli = cli(&[]);
    let ran = cli.run(&["dlq", "export"]);
    ran.check(0);
    assert_eq!((&*ran.out, &*ran.err), ("", "no dead letters\n"));
    let ran = cli.run(&["dlq", "export", "--to", "none.jsonl"]);
    ran.check(0);
    assert_eq!(cli.read("none.jsonl"), "");
}
