//! `dlq show`.

use super::{attempt, cli, letter, moment};
use anchorbolt_core::failure::Class;
use serde_json::{Value, json};

#[test]
fn everything_about_a_letter_is_shown() {
    let mut one = letter(7, "first\nsecond é");
    one.fields = json!({ "line": "first\nsecond é", "n": 1 });
    let mut second = attempt(2, "out", Class::Deadline, "x");
    (second.task, second.output, second.input) = (0, String::new(), None);
    second.time = moment(2).replace_millisecond(250).unwrap();
    one.attempts.push(second);
    let cli = cli(&[one]);
    let ran = cli.run(&["dlq", "show", "lines@in.txt:7"]);
    ran.check(0);
    assert_eq!(
        ran.out,
        "id        lines@in.txt:7\n\
         time      2026-01-01T00:00:07Z\n\
         topology  letters\n\
         spout     lines\n\
         position  {\"path\":\"in.txt\",\"offset\":7}\n\
         \n\
         bytes (15)\n\
         \x20 first\n\
         \x20 second é\n\
         \n\
         fields\n\
         \x20 line  \"first\\nsecond é\"\n\
         \x20 n     1\n\
         \n\
         attempt 1 of 2: trap in eat (task 2) at 2026-01-01T00:00:01Z\n\
         \x20 panicked at src/eat.rs:1:1: can't stomach it\n\
         \x20 second line\n\
         \x20 last words\n\
         \x20   thread 'main' panicked\n\
         \x20   last word\n\
         \x20 input from lines/default\n\
         \x20   [\"first\\nsecond é\"]\n\
         \n\
         attempt 2 of 2: deadline in out at 2026-01-01T00:00:02.25Z\n\
         \x20 panicked at src/out.rs:1:1: can't stomach it\n\
         \x20 second line\n"
    );
    let ran = cli.run(&["dlq", "show", "lines@in.txt:7", "--json"]);
    ran.check(0);
    let whole: Value = serde_json::from_str(&ran.out).unwrap();
    let path = ".anchorbolt/letters/dead-letters.jsonl";
    assert_eq!(whole, serde_json::from_str::<Value>(&cli.read(path)).unwrap(), "as it is in the file");
}

#[test]
fn bytes_that_are_no_text_are_a_hex_dump_and_what_is_long_is_cut() {
    let mut one = letter(7, "");
    one.bytes = (0..=255_u8).cycle().take(1000).collect();
    one.fields = json!({ "line": "x".repeat(5000) });
    let mut text = letter(8, &"y".repeat(9000));
    text.fields = Value::Null;
    let cli = cli(&[one, text]);
    let ran = cli.run(&["dlq", "show", "lines@in.txt:7"]);
    ran.check(0);
    let dumped = "\n  00000000  00 01 02 03 04 05 06 07  08 09 0a 0b 0c 0d 0e 0f  |................|\n";
    assert!(ran.out.contains(dumped), "{}", ran.out);
    assert!(ran.out.contains("  |ABCDEFGHIJKLMNO|") || ran.out.contains("|@ABCDEFGHIJKLMNO|"), "{}", ran.out);
    assert!(ran.out.contains("  .. (1000 bytes; --all shows them)\n"), "{}", ran.out);
    assert!(ran.out.contains("x .. (5002 characters; --all shows them)\n"), "{}", ran.out);
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("  0000")).count(), 32);
    let ran = cli.run(&["dlq", "show", "lines@in.txt:7", "--all"]);
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("  0000")).count(), 63);
    assert!(ran.out.contains(&"x".repeat(5000)) && !ran.out.contains("--all"), "{}", ran.out);
    let ran = cli.run(&["dlq", "show", "lines@in.txt:8"]);
    assert!(
        ran.out.contains("y .. (9000 characters; --all shows them)") && ran.out.len() < 6000,
        "{}",
        ran.out
    );
}

#[test]
fn rows_of_a_spout_without_bytes_are_named() {
    let mut one = letter(7, "");
    // [[0, ["a", 1]]]
    one.bytes = vec![0x91, 0x92, 0x00, 0x92, 0xa1, b'a', 0x01];
    let cli = cli(&[one]);
    let ran = cli.run(&["dlq", "show", "lines@in.txt:7"]);
    ran.check(0);
    assert!(
        ran.out.contains("bytes (its rows as MessagePack, for its spout has no bytes of its own: 7)"),
        "{ran:?}"
    );
}
