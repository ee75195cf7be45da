//! Text from guests and from sources, made safe for a terminal.
//!
//! In: any text. Out: the same with escapes for what a terminal would act on: control characters, and characters that
//! change the direction or the order of others. Invariant: JSON stays JSON of the same value.

use anchorbolt_host::core::manifest::is_unseen;
use std::fmt::Write;

/// For one line: line ends and tabs are escaped, too.
pub(crate) fn line(text: &str) -> String {
    escape(text, |c, out| out.extend(c.escape_default()), |_| false)
}

/// For several lines: line ends and tabs stay.
pub(crate) fn lines(text: &str) -> String {
    escape(text, |c, out| out.extend(c.escape_default()), |c| c == '\n' || c == '\t')
}

/// For the text of a JSON value: such characters can only be in its strings.
pub(crate) fn json(text: &str) -> String {
    let unit = |c: char, out: &mut String| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a String can't fail.
            let _ok = write!(out, "\\u{unit:04x}").is_ok();
        }
    };
    escape(text, unit, |c| c == '\n')
}

/// The first line, for a table; cut at so many characters.
pub(crate) fn first_line(text: &str, most: usize) -> String {
    let first = line(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim());
    clip(&first, most)
}

/// Cut at so many characters, and marked as cut.
pub(crate) fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(2)).chain("..".chars()).collect(),
    }
}

fn escape(text: &str, escaped: impl Fn(char, &mut String), stays: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if (c.is_control() || is_unseen(c)) && !stays(c) {
            escaped(c, &mut out);
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_escaped() {
        let evil = "a\u{1b}[2J\u{7}b\r\nc\td\u{9b}31m\u{202e}e\u{feff}é🦀";
        assert_eq!(line(evil), r"a\u{1b}[2J\u{7}b\r\nc\td\u{9b}31m\u{202e}e\u{feff}é🦀");
        assert_eq!(lines("a\n\tb\r\u{1b}"), "a\n\tb\\r\\u{1b}");
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({"k\u{9b}": ["\u{1b}[2J\n\u{202e}\u{7f}é"], "n": 1});
        for text in [value.to_string(), format!("{value:#}")] {
            let safe = json(&text);
            assert!(!safe.contains(|c: char| (c.is_control() && c != '\n') || is_unseen(c)), "{safe}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
        }
    }

    #[test]
    fn a_first_line_is_cut_at_a_character() {
        assert_eq!(first_line("\n  é\u{1b}x  \nmore", 80), r"é\u{1b}x");
        assert_eq!(first_line("éééééé", 5), "ééé..");
        assert_eq!((clip("éé", 2), first_line("", 5)), ("éé".to_owned(), String::new()));
    }
}
