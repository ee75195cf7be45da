//! Enough of Rust to check rules: code without comments and strings, paths, functions.
//!
//! In: a file's path and text. Out: a [`Source`]. Invariant: the code has the text's lines, so that a place in
//! one is a place in the other; what follows `#[cfg(test)] mod` at the end of a file is not in it.

/// One Rust file.
pub(super) struct Source<'t> {
    /// From the root.
    pub(super) path: &'t str,
    /// As it is.
    pub(super) text: &'t str,
    /// With blanks for comments and the insides of strings, without the tests at its end.
    pub(super) code: String,
}

/// A path such as `std::fs::read`, with `use` groups taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UsedPath {
    /// From 1.
    pub(super) line: usize,
    /// Its parts; `crate` first where it could be resolved.
    pub(super) parts: Vec<String>,
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function {
    /// Its name.
    pub(super) name: String,
    /// The line of its `fn`, from 1.
    pub(super) line: usize,
    /// From `fn` to the closing brace.
    pub(super) lines: usize,
}

impl<'t> Source<'t> {
    /// Reads a file.
    pub(super) fn new(path: &'t str, text: &'t str) -> Source<'t> {
        let mut code = blank(text);
        if let Some(tests) = code.find("\n#[cfg(test)]\nmod ") {
            let has_body =
                code.get(tests + 14..).and_then(|rest| rest.lines().next()).is_some_and(|l| l.ends_with('{'));
            if has_body {
                code.truncate(tests);
            }
        }
        Source { path, text, code }
    }

    /// Whether the whole file is for tests.
    pub(super) fn is_test(&self) -> bool {
        is_test(self.path)
    }

    /// Every path with at least two parts.
    pub(super) fn paths(&self) -> Vec<UsedPath> {
        let tokens = tokens(&self.code);
        let module = module(self.path);
        let mut found = Vec::new();
        let mut i = 0;
        while i < tokens.len() {
            let begins = tokens[i].is_word() && (i == 0 || tokens[i - 1].text != "::");
            if begins && tokens.get(i + 1).is_some_and(|next| next.text == "::") {
                path(&tokens, &mut i, &[], &mut found);
            } else {
                i += 1;
            }
        }
        found.iter_mut().for_each(|used| resolve(&mut used.parts, &module));
        found
    }

    /// Every function with a body.
    pub(super) fn functions(&self) -> Vec<Function> {
        let tokens = tokens(&self.code);
        let mut found = Vec::new();
        for (i, token) in tokens.iter().enumerate() {
            let Some(name) = tokens.get(i + 1).filter(|name| token.text == "fn" && name.is_word()) else {
                continue;
            };
            if let Some(end) = end_of_body(&tokens[i..]) {
                let (line, lines) = (token.line, end - token.line + 1);
                found.push(Function { name: name.text.to_owned(), line, lines });
            }
        }
        found
    }

    /// The lines on which a word stands, followed by `next` (which may be empty).
    pub(super) fn word(&self, word: &str, next: &str) -> Vec<usize> {
        let tokens = tokens(&self.code);
        let is = |i: usize| {
            tokens[i].text == word && (next.is_empty() || tokens.get(i + 1).is_some_and(|t| t.text == next))
        };
        (0..tokens.len()).filter(|i| is(*i)).map(|i| tokens[i].line).collect()
    }
}

/// Whether a file is for tests.
pub(super) fn is_test(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "tests.rs" || part == "benches")
}

/// `host/src/runtime/load.rs` is `crate::runtime::load`.
fn module(path: &str) -> Vec<String> {
    let inside = path.rsplit_once("src/").map_or("", |(_, inside)| inside).trim_end_matches(".rs");
    let parts = inside.split('/').filter(|part| !["mod", "lib", "main", ""].contains(part));
    std::iter::once("crate").chain(parts).map(str::to_owned).collect()
}

/// Replaces `self` and `super` at the start.
fn resolve(parts: &mut Vec<String>, module: &[String]) {
    let ups = parts.iter().take_while(|part| *part == "super").count();
    let own = usize::from(parts.first().is_some_and(|part| part == "self"));
    if ups + own > 0 && ups <= module.len() {
        let start = module[..module.len() - ups].to_vec();
        parts.splice(..ups + own, start);
    }
}

struct Token<'c> {
    text: &'c str,
    line: usize,
}

impl Token<'_> {
    fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    }
}

fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    for (n, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(c) = rest.chars().next() {
            let word = |c: char| c.is_alphanumeric() || c == '_';
            let length = match c {
                c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
                _ if rest.starts_with("::") => 2,
                c => c.len_utf8(),
            };
            let (text, after) = rest.split_at(length);
            found.push(Token { text, line: n + 1 });
            rest = after.trim_start();
        }
    }
    found
}

/// Reads one path from its first word on, the branches of a group one by one.
fn path(tokens: &[Token<'_>], i: &mut usize, prefix: &[String], found: &mut Vec<UsedPath>) {
    let line = tokens.get(*i).map_or(0, |token| token.line);
    let mut parts = prefix.to_vec();
    while let Some(token) = tokens.get(*i) {
        if token.text == "{" {
            *i += 1;
            while tokens.get(*i).is_some_and(|token| token.text != "}") {
                if tokens[*i].is_word() || tokens[*i].text == "{" {
                    path(tokens, i, &parts, found);
                } else {
                    *i += 1;
                }
            }
            *i += 1;
            return;
        }
        if !token.is_word() {
            break;
        }
        parts.push(token.text.to_owned());
        *i += 1;
        if tokens.get(*i).is_none_or(|token| token.text != "::") {
            break;
        }
        *i += 1;
    }
    found.push(UsedPath { line, parts });
}

/// The line of the brace that closes the body which begins in these tokens; none for a declaration.
fn end_of_body(tokens: &[Token<'_>]) -> Option<usize> {
    let (mut braces, mut brackets) = (0_usize, 0_usize);
    for token in tokens {
        match token.text {
            "(" | "[" => brackets += 1,
            ")" | "]" => brackets = brackets.saturating_sub(1),
            ";" if braces == 0 && brackets == 0 => return None,
            "{" => braces += 1,
            "}" => {
                braces = braces.saturating_sub(1);
                if braces == 0 {
                    return Some(token.line);
                }
            }
            _ => {}
        }
    }
    None
}

/// The text with blanks for comments and for the insides of strings and characters.
fn blank(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let (kept, dropped) = skipped(rest, before);
        let length = if kept + dropped == 0 { c.len_utf8() } else { kept + dropped };
        let (part, after) = rest.split_at(length);
        for (at, c) in part.char_indices() {
            code.push(if c == '\n' || at < kept || kept + dropped == 0 { c } else { ' ' });
        }
        before = part.chars().next_back().unwrap_or(' ');
        rest = after;
    }
    code
}

/// How much at the start of `rest` is the opening of a string, and how much after it is to be blanked.
fn skipped(rest: &str, before: char) -> (usize, usize) {
    if rest.starts_with("//") {
        return (0, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (0, block_comment(rest));
    }
    if let Some(inside) = rest.strip_prefix('"') {
        return (1, closing(inside, '"'));
    }
    if rest.starts_with('\'') && !before.is_alphanumeric() {
        return (0, character(rest));
    }
    let in_word = before.is_alphanumeric() || before == '_';
    let hashes = rest.trim_start_matches(['b', 'c']).strip_prefix('r').filter(|_| !in_word);
    if let Some(hashes) = hashes {
        let count = hashes.len() - hashes.trim_start_matches('#').len();
        if let Some(inside) = hashes.trim_start_matches('#').strip_prefix('"') {
            let end = format!("\"{}", "#".repeat(count));
            let open = rest.len() - inside.len();
            return (open, inside.find(&end).map_or(inside.len(), |at| at + end.len()));
        }
    }
    (0, 0)
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(here) = rest.get(at..).filter(|here| !here.is_empty()) {
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// The bytes up to and with the closing quote.
fn closing(inside: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    inside.len()
}

/// The bytes of a character such as `'x'` or `'\n'`; 0 for a lifetime.
fn character(rest: &str) -> usize {
    let inside = &rest[1..];
    let mut chars = inside.chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), _) => 1 + closing(inside, '\''),
        (Some(c), Some('\'')) => 2 + c.len_utf8(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(path: &str, text: &str) -> Vec<String> {
        Source::new(path, text).paths().iter().map(|used| used.parts.join("::")).collect()
    }

    #[test]
    fn comments_and_strings_are_blanked_and_lines_stay() {
        let text =
            "a // b\n/* c /* d */\n e */ f \"g\\\" // h\" 'i' '\\'' &'j k r#\"l\" m\"# b\"n\" br\"o\\\" p\n";
        let code = blank(text);
        let words: Vec<&str> = tokens(&code).iter().filter(|t| t.is_word()).map(|t| t.text).collect();
        assert_eq!(words, ["a", "f", "j", "k", "r", "b", "br", "p"]);
        assert_eq!(code.lines().count(), text.lines().count());
    }

    #[test]
    fn groups_of_paths_are_taken_apart() {
        let text = "use std::{fs, io::{self, Read}};\nfn f() -> crate::a::B<super::C> { x::<u8>() }";
        assert_eq!(
            paths("host/src/runtime/load.rs", text),
            ["std::fs", "std::io::self", "std::io::Read", "crate::a::B", "crate::runtime::C", "x"]
        );
        assert_eq!(
            paths("host/src/sinks/mod.rs", "use super::spouts::X; use self::json;"),
            ["crate::spouts::X", "crate::sinks::json"]
        );
    }

    #[test]
    fn functions_are_measured_and_tests_are_not() {
        let text = "fn a() {\n  if x { y }\n}\ntrait T { fn b(&self);\n fn c(x: [u8; 2]) {} }\n\n#[cfg(test)]\nmod tests {\nfn d() {}\n}\n";
        let found = Source::new("row/src/x.rs", text).functions();
        let found: Vec<_> = found.iter().map(|f| (&*f.name, f.line, f.lines)).collect();
        assert_eq!(found, [("a", 1, 3), ("c", 5, 1)]);
    }

    #[test]
    fn test_modules_in_files_of_their_own_leave_the_code_alone() {
        let source = Source::new("row/src/x.rs", "fn a() {}\n#[cfg(test)]\nmod tests;\nfn b() {}\n");
        assert_eq!(source.functions().len(), 2);
        assert!(is_test("host/core/src/retry/tests.rs") && is_test("tests/src/lib.rs"));
        assert!(!is_test("guest-sdk/src/testing/mod.rs"));
    }
}
