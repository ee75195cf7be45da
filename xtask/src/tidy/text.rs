//! Rules about the text of a file: white space, paths of a machine, module docs, sizes, what is never written.
//!
//! In: a file. Out: breaches. Invariant: a rule that tests are excused from says so in its name or its text.

use super::source::{Source, is_test};

/// A file of more lines is looked at.
pub(super) const LINES_LOOK: usize = 400;
/// A file of more lines is refused.
const LINES_MOST: usize = 800;
/// A function of more lines is refused.
const FUNCTION_LINES_MOST: usize = 70;

/// Files in which code for guests may be unsafe, because it is generated, or hostile on purpose.
const UNSAFE: [&str; 4] = [
    "host/wasm/src/trusted.rs",
    "guest-sdk/src/bindings.rs",
    "guest-sdk/src/lib.rs",
    "tests/guests/src/raw.rs",
];
/// Folders of people's machines. In two parts, so that this file passes its own rule.
const MACHINE: [&str; 6] = [
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("C:\\", "Users"),
    concat!("/wo", "rk/"),
    concat!("/t", "mp/target"),
];

/// Rules for every text.
pub(super) fn check(path: &str, text: &str, breach: &mut impl FnMut(usize, String)) {
    let prose = [".rs", ".md", ".wit", ".sh"].iter().any(|end| path.ends_with(end));
    for (n, line) in text.lines().enumerate() {
        if prose && line.contains('\t') {
            breach(n + 1, "a tab; write spaces".to_owned());
        }
        if prose && line.ends_with([' ', '\r']) {
            breach(n + 1, "white space at the end of a line".to_owned());
        }
        if let Some(folder) = MACHINE.iter().find(|folder| of_machine(line, folder)) {
            breach(n + 1, format!("a path of one machine (`{folder}`); write it relative to the root"));
        }
    }
    if prose && !text.is_empty() && !text.ends_with('\n') {
        breach(text.lines().count(), "no line end at the end of the file".to_owned());
    }
}

/// Whether a line names this folder at the root, not as a part of a longer path.
fn of_machine(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back().unwrap_or(' ');
        !before.is_alphanumeric() && !['_', '-', '.', '}', '/'].contains(&before)
    })
}

/// Rules for Rust.
pub(super) fn check_rust(source: &Source<'_>, breach: &mut impl FnMut(usize, String)) {
    if source.path.contains("src/") && !source.is_test() && !source.text.starts_with("//!") {
        breach(1, "no module documentation: begin with `//!`, purpose, in, out, invariant".to_owned());
    }
    if !source.is_test() {
        sizes(source, breach);
        no_unsafe(source, breach);
    }
    for name in ["todo", "unimplemented", "dbg"] {
        for line in source.word(name, "!") {
            breach(line, format!("`{name}!` is not for code that others get"));
        }
    }
    ignored(source, breach);
}

/// A file's length, if it is worth a look.
pub(super) fn large(path: &str, text: &str) -> Option<(usize, String)> {
    if !path.ends_with(".rs") || is_test(path) {
        return None;
    }
    let lines = Source::new(path, text).code.lines().count();
    (lines > LINES_LOOK).then(|| (lines, path.to_owned()))
}

fn sizes(source: &Source<'_>, breach: &mut impl FnMut(usize, String)) {
    let lines = source.code.lines().count();
    if lines > LINES_MOST {
        breach(1, format!("{lines} lines of code; at most {LINES_MOST}: split the file by what it does"));
    }
    for function in source.functions() {
        if function.lines > FUNCTION_LINES_MOST {
            let (name, lines) = (function.name, function.lines);
            breach(function.line, format!("`{name}` has {lines} lines; at most {FUNCTION_LINES_MOST}"));
        }
    }
}

fn no_unsafe(source: &Source<'_>, breach: &mut impl FnMut(usize, String)) {
    if UNSAFE.contains(&source.path) {
        return;
    }
    for line in source.word("unsafe", "").into_iter().chain(source.word("unsafe_code", "")) {
        breach(line, "unsafe code; the host's only place for it is host/wasm/src/trusted.rs".to_owned());
    }
}

/// A test is ignored only when another test starts it, in a process of its own, and then it says which.
fn ignored(source: &Source<'_>, breach: &mut impl FnMut(usize, String)) {
    let ours = concat!("#[ig", "nore");
    for (n, line) in source.text.lines().enumerate() {
        let line = line.trim_start();
        if line.starts_with(ours) && !line.contains("= \"started by `") {
            breach(n + 1, "an ignored test; delete it, or write `= \"started by `other test`\"`".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tidy::found;

    const DOCS: &str = "//! Docs.\n";

    #[test]
    fn white_space() {
        assert_eq!(found("a.md", "a\tb\n"), ["1: a tab; write spaces"]);
        assert_eq!(found("a.md", "a \nb\n"), ["1: white space at the end of a line"]);
        assert_eq!(found("a.md", "a"), ["1: no line end at the end of the file"]);
        assert_eq!(found("golden.err", "a\tb \n"), [""; 0]);
    }

    #[test]
    fn paths_of_a_machine() {
        let line = format!("see {}\n", concat!("/ho", "me/someone/x"));
        assert_eq!(found("a.md", &line).len(), 1);
        assert_eq!(found("a.toml", &line).len(), 1);
        let fine = format!("bolts{} and ~{}\n", concat!("/wo", "rk/x"), "/.cache");
        assert_eq!(found("a.toml", &fine), [""; 0]);
    }

    #[test]
    fn module_docs() {
        assert!(found("row/src/a.rs", "use x::y;\n")[0].starts_with("1: no module documentation"));
        assert_eq!(found("row/src/a.rs", DOCS), [""; 0]);
        assert_eq!(found("row/src/tests.rs", "use x::y;\n"), [""; 0]);
    }

    #[test]
    fn long_files_and_functions() {
        let lines = |n| format!("{DOCS}{}", "// x\n".repeat(n));
        assert!(found("row/src/a.rs", &lines(800))[0].starts_with("1: 801 lines"));
        assert_eq!(found("row/src/a.rs", &lines(799)), [""; 0]);
        assert_eq!(found("row/tests/a.rs", &lines(900)), [""; 0]);
        assert!(super::large("row/src/a.rs", &lines(400)).is_some());
        assert!(super::large("row/src/a.rs", &lines(399)).is_none());
        let function = |n| format!("{DOCS}fn f() {{\n{}}}\n", "x();\n".repeat(n));
        assert_eq!(found("row/src/a.rs", &function(69)), ["2: `f` has 71 lines; at most 70"]);
        assert_eq!(found("row/src/a.rs", &function(68)), [""; 0]);
        assert_eq!(found("row/tests/a.rs", &function(99)), [""; 0]);
    }

    #[test]
    fn what_is_never_written() {
        for code in ["fn f() { todo!() }\n", "fn f() { dbg!(x); }\n", "fn f() { unimplemented!(\"x\") }\n"] {
            assert_eq!(found("row/src/a.rs", &format!("{DOCS}{code}")).len(), 1, "{code}");
            assert_eq!(found("row/tests/a.rs", code).len(), 1, "{code}");
        }
        assert_eq!(
            found("row/src/a.rs", &format!("{DOCS}// todo!()\nconst X: &str = \"todo!()\";\n")),
            [""; 0]
        );
    }

    #[test]
    fn unsafe_code() {
        for code in ["unsafe { x() }\n", "#![allow(unsafe_code, reason = \"x\")]\n", "unsafe fn f() {}\n"] {
            assert_eq!(found("host/src/a.rs", &format!("{DOCS}{code}")).len(), 1, "{code}");
            assert_eq!(found("host/wasm/src/trusted.rs", &format!("{DOCS}{code}")), [""; 0]);
        }
    }

    #[test]
    fn ignored_tests() {
        let test = |reason: &str| format!("#[test]\n#[{}{reason}]\nfn t() {{}}\n", "ignore");
        assert_eq!(found("row/tests/a.rs", &test("")).len(), 1);
        assert_eq!(found("row/tests/a.rs", &test(" = \"slow\"")).len(), 1);
        assert_eq!(found("row/tests/a.rs", &test(" = \"started by `x`\"")), [""; 0]);
    }
}
