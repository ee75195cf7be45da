//! Java's files of properties.
//!
//! In: a text of `key = value` lines, as `java.util.Properties` loads it. Out: keys and values. Invariant: the last
//! value of a key counts; no text is an error, since Java takes any.

use std::collections::BTreeMap;

/// Keys and values.
#[derive(Debug, Default)]
pub(crate) struct Properties(BTreeMap<String, String>);

impl Properties {
    /// Reads a text.
    pub(crate) fn parse(text: &str) -> Properties {
        let mut properties = BTreeMap::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let first = line.trim_start_matches(BLANK);
            if first.is_empty() || first.starts_with(['#', '!']) {
                continue;
            }
            let mut line = first.to_owned();
            while goes_on(&line) {
                line.pop();
                line.push_str(lines.next().unwrap_or_default().trim_start_matches(BLANK));
            }
            let (key, value) = split(&line);
            properties.insert(unescape(key), unescape(value));
        }
        Properties(properties)
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// All keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.keys().map(String::as_str)
    }
}

const BLANK: [char; 3] = [' ', '\t', '\u{c}'];

/// A line ends in an odd number of backslashes.
fn goes_on(line: &str) -> bool {
    line.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1
}

/// At the first blank, `=` or `:` that is not escaped.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    for (i, c) in line.char_indices() {
        if !escaped && (BLANK.contains(&c) || c == '=' || c == ':') {
            let (key, rest) = line.split_at(i);
            let rest = rest.trim_start_matches(BLANK);
            let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
            return (key, rest.trim_start_matches(BLANK));
        }
        escaped = c == '\\' && !escaped;
    }
    (line, "")
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let digits: String = chars.clone().take(4).collect();
                match u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4) {
                    Some(code) => {
                        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                        chars.by_ref().take(4).for_each(drop);
                    }
                    None => out.push('u'),
                }
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_read_as_java_reads_them() {
        let text = "# no\n ! no\n\na=1\nb : two words \nc three\nd\ne\\=\\:x = y\\\n   z\nf=\\u00e9\\u12\\t\\q\na = 2\ng==\nh\\\\=i";
        let properties = Properties::parse(text);
        let found: Vec<(&str, &str)> =
            properties.keys().filter_map(|key| Some((key, properties.get(key)?))).collect();
        let expected = [
            ("a", "2"),
            ("b", "two words "),
            ("c", "three"),
            ("d", ""),
            ("e=:x", "yz"),
            ("f", "éu12\tq"),
            ("g", "="),
            ("h\\", "i"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_end_in_the_middle_is_no_error() {
        for text in ["\\", "a\\", "a=\\", "a=\\u", "a=\\u00", "=", ":", "\\\\\\"] {
            drop(Properties::parse(text));
        }
    }
}
