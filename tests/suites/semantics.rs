//! The table of promises, `tests/semantics.md`, is true: each test that it names is there.
//!
//! In: the table. Out: the rows that name what is not. Not for: what the tests show.

use anchorbolt_tests::artifacts;
use std::collections::HashMap;
use std::path::Path;

/// Tests of a program without a harness: what it calls is a test.
const WITHOUT_HARNESS: &str = "host/wasm/tests/alone/";

/// What the table names, with the number of its line: texts between backticks that are files.
fn named(table: &str) -> Vec<(usize, &str)> {
    let rows = table.lines().enumerate().filter(|(_, line)| line.starts_with('|'));
    let quoted = rows.flat_map(|(n, line)| line.split('`').skip(1).step_by(2).map(move |text| (n + 1, text)));
    quoted.filter(|(_, text)| text.contains(".rs::") || text.ends_with(".err")).collect()
}

/// Whether a text has this test: the attributes before a function have `#[test]` among them.
fn has_test(text: &str, name: &str) -> bool {
    let wanted = format!("fn {name}(");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is = |line: &str| line.starts_with(&wanted);
    let at = |at: usize| {
        lines[..at].iter().rev().take_while(|line| line.starts_with("#[")).any(|l| *l == "#[test]")
    };
    lines.iter().enumerate().any(|(i, line)| is(line) && at(i))
}

/// What is wrong with a name, if anything.
fn fault(root: &Path, texts: &mut HashMap<String, String>, name: &str) -> Option<String> {
    let (file, test) = name.split_once("::").map_or((name, None), |(file, test)| (file, Some(test)));
    let text = texts
        .entry(file.to_owned())
        .or_insert_with(|| std::fs::read_to_string(root.join(file)).unwrap_or_default());
    if text.is_empty() {
        return Some(format!("there is no file `{file}`"));
    }
    let test = test?;
    let called = file.starts_with(WITHOUT_HARNESS) && text.contains(&format!("pub fn {test}()"));
    (!called && !has_test(text, test)).then(|| format!("`{file}` has no test `{test}`"))
}

#[test]
fn each_test_that_the_table_of_promises_names_is_there() {
    let root = artifacts::root();
    let table = std::fs::read_to_string(root.join("tests/semantics.md")).unwrap();
    let (names, mut texts) = (named(&table), HashMap::new());
    assert!(names.len() > 100, "only {} names were found", names.len());
    let faults: Vec<String> = names
        .iter()
        .filter_map(|(line, name)| Some(format!("line {line}: {}", fault(root, &mut texts, name)?)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn each_promise_has_a_test_or_says_why_not() {
    let table = std::fs::read_to_string(artifacts::root().join("tests/semantics.md")).unwrap();
    let tested: Vec<usize> = named(&table).into_iter().map(|(line, _)| line).collect();
    let lines: Vec<&str> = table.lines().collect();
    // The first two lines of a table are its head.
    let is_head =
        |n: usize| lines[n].starts_with("| ---") || lines.get(n + 1).is_some_and(|l| l.starts_with("| ---"));
    let silent = |n: &usize| {
        let line = lines[*n];
        let said = line.contains("later: ") || line.contains("does not apply: ");
        line.starts_with('|') && !is_head(*n) && !said && !tested.contains(&(n + 1))
    };
    let silent: Vec<&str> = (0..lines.len()).filter(silent).map(|n| lines[n]).collect();
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}
