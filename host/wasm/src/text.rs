//! Text from guests, made fit for terminals and reports, and sizes for people.
//!
//! Bytes and strings of a guest come in; what goes out has no control or direction characters and a
//! bounded length. Each text is cleaned once, where it is captured, so nobody downstream has to think of it.

use anchorbolt_core::manifest::is_unseen;
use std::time::Duration;

/// The longest text of a guest that is kept: an error, a reason, a log line.
pub(crate) const TEXT_MAX: usize = 4096;

/// Takes escape sequences and control and direction characters out and cuts to [`TEXT_MAX`] bytes. Line
/// breaks and tabs stay.
pub(crate) fn clean(text: &str) -> String {
    clean_to(text, TEXT_MAX)
}

/// As [`clean`], with another bound.
pub(crate) fn clean_to(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max));
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            skip_escape(&mut chars);
        } else if (!c.is_control() && !is_unseen(c)) || c == '\n' || c == '\t' {
            if out.len() + c.len_utf8() > max {
                cut(&mut out, max);
                break;
            }
            out.push(c);
        }
    }
    out
}

/// Marks a text as cut, within the bound.
fn cut(out: &mut String, max: usize) {
    const MARK: &str = "...";
    out.truncate(out.floor_char_boundary(max.saturating_sub(MARK.len())));
    out.push_str(MARK);
}

/// Skips what follows an escape character: a control sequence, a command string, or one character.
fn skip_escape(chars: &mut std::str::Chars<'_>) {
    match chars.next() {
        Some('[') => {
            // Ends with its first byte from @ to ~.
            chars.find(|c| ('@'..='~').contains(c));
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            // Ends with BEL, or with ESC and a backslash.
            let end = chars.find(|&c| c == '\u{7}' || c == '\u{1b}');
            if end == Some('\u{1b}') {
                chars.next();
            }
        }
        _ => {}
    }
}

/// A number of bytes: `64 MiB`, `64.06 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["bytes", "KiB", "MiB", "GiB"];
    let mut unit = 0;
    while unit + 1 < UNITS.len() && bytes >> (10 * (unit + 1)) > 0 {
        unit += 1;
    }
    let value = bytes as f64 / f64::from(1u32 << (10 * unit));
    let number = format!("{value:.2}");
    format!("{} {}", number.trim_end_matches('0').trim_end_matches('.'), UNITS[unit])
}

/// A number of bytes and its limit; in bytes where they would look the same.
pub(crate) fn sizes(used: u64, limit: u64) -> (String, String) {
    let shown = (size(used), size(limit));
    if shown.0 == shown.1 && used != limit {
        return (format!("{used} bytes"), format!("{limit} bytes"));
    }
    shown
}

/// A duration as manifests write it: `1s`, `250ms`.
pub(crate) fn duration(d: Duration) -> String {
    if d.subsec_nanos() == 0 {
        format!("{} s", d.as_secs())
    } else if d.as_millis() > 0 {
        format!("{} ms", d.as_millis())
    } else {
        format!("{} us", d.as_micros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_tricks_are_taken_out() {
        assert_eq!(clean("a\u{1b}[31mred\u{1b}[0m\u{7}b\r\nc\td"), "aredb\nc\td");
        assert_eq!(clean("x\u{1b}]0;title\u{7}y\u{1b}]8;;u\u{1b}\\z"), "xyz");
        assert_eq!(clean("ab\u{202e}cd\u{2028}\u{9b}31m"), "abcd31m");
        assert_eq!(clean("end\u{1b}"), "end");
        assert_eq!(clean("end\u{1b}[12"), "end");
    }

    #[test]
    fn long_text_is_cut_at_a_character() {
        let cut = clean_to(&"\u{e9}".repeat(100), 21);
        assert!(cut.len() <= 21 && cut.ends_with("..."), "{cut}");
        assert_eq!(clean_to("exact", 5), "exact");
    }

    #[test]
    fn sizes_and_durations_are_for_people() {
        assert_eq!(size(64 << 20), "64 MiB");
        assert_eq!(size((64 << 20) + (64 << 10)), "64.06 MiB");
        assert_eq!(size(100), "100 bytes");
        assert_eq!(size(3 << 40), "3072 GiB");
        assert_eq!(sizes((2 << 20) + 1, 2 << 20), ("2097153 bytes".into(), "2097152 bytes".into()));
        assert_eq!(sizes(3 << 20, 2 << 20), ("3 MiB".into(), "2 MiB".into()));
        assert_eq!(duration(Duration::from_secs(1)), "1 s");
        assert_eq!(duration(Duration::from_millis(1500)), "1500 ms");
    }
}
