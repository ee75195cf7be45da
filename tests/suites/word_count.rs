//! Words are counted as an independent count finds them, however many executors share the work.

use anchorbolt_core::port::Declaration;
use anchorbolt_row::Row;
use anchorbolt_tests::{Sink, Topology, bolt, check_flawless, text};
use std::collections::BTreeMap;

const SEED: u64 = 0x5eed_0001;
const LINES: usize = 600;

fn topology(corpus: &str, settings: &str, split: u32, count: u32) -> (Topology, Sink) {
    let sink = Sink::default();
    let out = sink.clone();
    let topology = Topology::new(&format!(
        r#"
        [topology]
        name = "word-count"
        {settings}
        [spouts.lines]
        kind = "lines"
        path = "text.txt"
        [bolts.split]
        plugin = "guest:split"
        executors = {split}
        inputs = [{{ from = "lines", grouping = "shuffle" }}]
        [bolts.count]
        plugin = "guest:count"
        executors = {count}
        inputs = [{{ from = "split", grouping = {{ fields = ["word"] }} }}]
        [bolts.report]
        kind = "null"
        inputs = [{{ from = "count", grouping = "global" }}]
        "#
    ));
    topology.file("text.txt", corpus);
    (topology.bolt("report", Declaration::default(), move || out.clone()), sink)
}

/// For each word its running totals came, each from 1 to its number once.
fn check_counts(sink: &Sink, expected: &BTreeMap<String, u64>) {
    let mut totals: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for row in sink.rows() {
        let row = Row::new(&row);
        let word = row.str(0).expect("a word").to_owned();
        totals.entry(word).or_default().push(row.u64(1).expect("a count"));
    }
    for (word, seen) in &mut totals {
        seen.sort_unstable();
        let n = expected.get(word).copied().unwrap_or(0);
        assert!(seen.iter().copied().eq(1..=n), "{word}: {seen:?}, not 1 to {n}");
    }
    let missing: Vec<_> = expected.keys().filter(|word| !totals.contains_key(*word)).collect();
    assert!(missing.is_empty(), "never counted: {missing:?}");
}

fn check_run(corpus: &str, settings: &str, split: u32, count: u32) {
    let (mut topology, sink) = topology(corpus, settings, split, count);
    let ended = topology.run();
    check_flawless(&ended, text::line_count(corpus));
    let expected = text::word_counts(corpus);
    check_counts(&sink, &expected);
    let words: u64 = expected.values().sum();
    let (split, count) = (bolt(&ended.report, "split"), bolt(&ended.report, "count"));
    assert_eq!((split.executed, split.emitted, split.transferred), (text::line_count(corpus), words, words));
    assert_eq!((count.executed, count.emitted, count.acked), (words, words, words));
}

/// Each pair of executors ten times; a quarter of the pairs in each test, so that they share the cores.
fn check_executors(split: u32) {
    println!("seed {SEED:#x} + executors of split");
    let corpus = text::corpus(SEED + u64::from(split), LINES);
    for count in 1..=4 {
        (0..10).for_each(|_| check_run(&corpus, "", split, count));
    }
}

#[test]
fn counts_are_right_with_one_executor_of_split_and_one_to_four_of_count() {
    check_executors(1);
}

#[test]
fn counts_are_right_with_two_executors_of_split_and_one_to_four_of_count() {
    check_executors(2);
}

#[test]
fn counts_are_right_with_three_executors_of_split_and_one_to_four_of_count() {
    check_executors(3);
}

#[test]
fn counts_are_right_with_four_executors_of_split_and_one_to_four_of_count() {
    check_executors(4);
}

#[test]
fn counts_are_right_with_ledgers_on_threads_of_their_own() {
    println!("seed {SEED:#x}");
    let corpus = text::corpus(SEED, LINES);
    for ackers in [1, 2, 4] {
        (1..=3).for_each(|executors| check_run(&corpus, &format!("ackers = {ackers}"), executors, 2));
    }
}

#[test]
fn counts_are_right_with_queues_of_one_tuple_and_four_messages_pending() {
    println!("seed {SEED:#x}");
    let corpus = text::corpus(SEED, 200);
    check_run(&corpus, "queue-tuples = 1\nmax-spout-pending = 4", 2, 2);
}

#[test]
fn without_tracking_all_are_untracked_and_counted_all_the_same() {
    println!("seed {SEED:#x}");
    let corpus = text::corpus(SEED, LINES);
    let (mut topology, sink) = topology(&corpus, "ackers = 0", 2, 2);
    let ended = topology.run();
    let t = ended.report.totals();
    let lines = text::line_count(&corpus);
    assert_eq!((t.read, t.untracked, t.completed, t.pending, t.trees_emitted), (lines, lines, 0, 0, 0));
    assert_eq!(ended.exit_code(), 0);
    check_counts(&sink, &text::word_counts(&corpus));
}

#[test]
fn a_file_of_words_that_are_hard_to_count_is_counted() {
    let long = "x".repeat(300);
    let wide = "語".repeat(300);
    let cases = [
        "".to_owned(),
        "\n".to_owned(),
        "\r\n\r\n\n".to_owned(),
        "a".to_owned(),
        "a\r\nb\r\na".to_owned(),
        format!("{long} {wide}\n{long}\n"),
        "\u{feff}bom first\n".to_owned(),
        "a\u{a0}b\u{3000}c\u{85}d\u{200b}e\u{2028}f\n".to_owned(),
        "a\rb\n".to_owned(),
        "Ä a\u{308} ä ẞ ss\n".to_owned(),
        "null\0byte and\u{b}tabs\u{c}\n".to_owned(),
    ];
    for case in cases {
        println!("{case:?}");
        check_run(&case, "", 2, 2);
    }
}

#[test]
fn several_files_are_read_in_the_order_of_their_names() {
    let seen = Sink::default();
    let out = seen.clone();
    let mut files = Topology::new(
        r#"
        [topology]
        name = "files"
        [spouts.lines]
        kind = "lines"
        path = "*.txt"
        [bolts.sink]
        kind = "null"
        inputs = [{ from = "lines", grouping = "shuffle" }]
        "#,
    )
    .bolt("sink", Declaration::default(), move || out.clone());
    files.file("b.txt", "two\nthree");
    files.file("a.txt", "one\n");
    check_flawless(&files.run(), 3);
    assert_eq!(seen.texts(), ["one", "two", "three"]);
}
