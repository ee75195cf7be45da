//! The most frequent words of what the word count wrote.
//!
//! In: lines such as `{"word":"the","count":3}`, in any order, running totals. Out: each word with its highest
//! total, the most frequent first. Invariant: a line that is not of this form is an error, never passed over.

use std::collections::HashMap;

/// The first `n` words; words equally frequent in alphabetical order.
pub(crate) fn top(lines: &str, n: usize) -> Result<Vec<(String, u64)>, String> {
    let mut totals: HashMap<String, u64> = HashMap::new();
    for line in lines.lines() {
        let (word, count) = read(line).ok_or_else(|| format!("not a line of the word count: {line}"))?;
        let total = totals.entry(word).or_default();
        *total = count.max(*total);
    }
    let mut words: Vec<(String, u64)> = totals.into_iter().collect();
    words.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    words.truncate(n);
    Ok(words)
}

fn read(line: &str) -> Option<(String, u64)> {
    let (word, rest) = string(line.trim().strip_prefix("{\"word\":")?)?;
    let count = rest.strip_prefix(",\"count\":")?.strip_suffix('}')?;
    Some((word, count.parse().ok()?))
}

/// A JSON string at the start of a text, and what follows it.
fn string(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('"')?.chars();
    let mut out = String::new();
    loop {
        match rest.next()? {
            '"' => return Some((out, rest.as_str())),
            '\\' => out.push(escaped(&mut rest)?),
            c => out.push(c),
        }
    }
}

fn escaped(rest: &mut std::str::Chars<'_>) -> Option<char> {
    Some(match rest.next()? {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => match unit(rest)? {
            high @ 0xd800..0xdc00 => {
                rest.as_str().starts_with("\\u").then(|| rest.nth(1))?;
                let low = unit(rest)?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)?
            }
            other => char::from_u32(other)?,
        },
        c @ ('"' | '\\' | '/') => c,
        _ => return None,
    })
}

fn unit(rest: &mut std::str::Chars<'_>) -> Option<u32> {
    let digits = rest.as_str().get(..4)?;
    rest.nth(3);
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_total_of_each_word_counts() {
        let lines = "{\"word\":\"b\",\"count\":2}\n{\"word\":\"b\",\"count\":1}\n{\"word\":\"a\",\"count\":2}\n\
                     {\"word\":\"c\",\"count\":9}\n{\"word\":\"d\",\"count\":1}\n";
        let expected = [("c", 9), ("a", 2), ("b", 2)].map(|(word, n)| (word.to_owned(), n));
        assert_eq!(top(lines, 3).unwrap(), expected);
        assert_eq!(top("", 3).unwrap(), []);
    }

    #[test]
    fn escapes_are_undone() {
        let line = r#"{"word":"\"\\\u00e4\ud83d\ude00\u0001","count":7}"#;
        assert_eq!(read(line), Some(("\"\\ä😀\u{1}".to_owned(), 7)));
    }

    #[test]
    fn what_is_no_such_line_is_an_error() {
        for line in [
            "",
            "{}",
            "{\"word\":\"a\"}",
            "{\"word\":\"a\",\"count\":x}",
            "{\"word\":\"\\ud83d\",\"count\":1}",
        ] {
            assert!(top(&format!("{line}\n"), 1).is_err(), "{line}");
        }
    }
}
