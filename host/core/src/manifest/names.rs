//! Names of topologies, components, streams and fields: what is allowed and why one is not.

use super::codes;
use super::diagnostic::{Diagnostic, Span};

/// The longest name of a component, topology or stream, in bytes.
pub const NAME_BYTES_MAX: usize = 64;
/// The longest name of a field, in bytes.
pub const FIELD_BYTES_MAX: usize = 128;

/// Why a name is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadName {
    /// It begins with `__`.
    Reserved,
    /// It is not of the form.
    Form,
}

/// Whether a topology, component or stream may be called so: `[a-z][a-z0-9_-]{0,63}`.
pub fn check(name: &str) -> Result<(), BadName> {
    let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if name.starts_with("__") {
        Err(BadName::Reserved)
    } else if name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= NAME_BYTES_MAX
        && name.chars().all(rest)
    {
        Ok(())
    } else {
        Err(BadName::Form)
    }
}

/// Whether a character is not seen itself and changes how others are: direction marks and overrides, separators of lines
/// and paragraphs, characters of no width, tags. Where text of others is shown they are escaped or left out.
pub fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// Whether a field may be called so: 1 to 128 bytes, no control characters and none that is [unseen](is_unseen), not `__..`.
pub fn check_field(name: &str) -> Result<(), BadName> {
    if name.starts_with("__") {
        Err(BadName::Reserved)
    } else if name.is_empty()
        || name.len() > FIELD_BYTES_MAX
        || name.contains(|c: char| c.is_control() || is_unseen(c))
    {
        Err(BadName::Form)
    } else {
        Ok(())
    }
}

/// Reports a name of a topology or component that is not allowed.
pub(super) fn report(what: &str, name: &str, span: Span, out: &mut Vec<Diagnostic>) {
    let diagnostic = match check(name) {
        Ok(()) => return,
        Err(BadName::Reserved) => {
            let message =
                format!("{what} can't be called {}: names that begin with `__` are reserved", quote(name));
            Diagnostic::error(codes::RESERVED_NAME, span, message)
        }
        Err(BadName::Form) => {
            Diagnostic::error(codes::BAD_NAME, span, format!("{what} can't be called {}", quote(name)))
        }
    };
    let mut help = format!("1 to {NAME_BYTES_MAX} of a-z, 0-9, `_` and `-`, a letter first");
    if let Some(better) = mend(name) {
        help = format!("for example `{better}` ({help})");
    }
    out.push(diagnostic.help(help));
}

/// A text from outside for a message: in quotes, escaped, not too long.
pub fn quote(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}..", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

/// A name like this one that is allowed for a topology, component or stream.
pub fn mend(name: &str) -> Option<String> {
    let mut better = String::new();
    let mut after_small = false;
    for c in name.trim_matches(|c: char| !c.is_ascii_alphanumeric()).chars() {
        if c.is_ascii_uppercase() && after_small {
            better.push('-');
        }
        after_small = c.is_ascii_lowercase();
        better.push(if c.is_ascii_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '-' });
    }
    let better = better.trim_start_matches(|c: char| !c.is_ascii_lowercase());
    let better: String = better.chars().take(NAME_BYTES_MAX).collect();
    check(&better).is_ok().then_some(better)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn component_names() {
        for name in ["a", "split", "word-count", "a_1", &"a".repeat(64)] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        for name in ["", "1a", "-a", "_a", "Split", "a b", "a.b", "ä", "aä", &"a".repeat(65)] {
            assert_eq!(check(name), Err(BadName::Form), "{name}");
        }
        assert_eq!(check("__tick"), Err(BadName::Reserved));
    }

    #[test]
    fn field_names() {
        for name in ["word", "Wörter", "with space", "_x", &"f".repeat(128)] {
            assert_eq!(check_field(name), Ok(()), "{name}");
        }
        for name in ["", "a\nb", "a\0", &"f".repeat(129)] {
            assert_eq!(check_field(name), Err(BadName::Form), "{name}");
        }
        assert_eq!(check_field("__id"), Err(BadName::Reserved));
    }

    #[test]
    fn a_bad_name_gets_a_better_one() {
        for (name, better) in [
            ("WordCount", Some("word-count")),
            ("2nd stage", Some("nd-stage")),
            ("COUNT2Total", Some("count2total")),
            ("__tick", Some("tick")),
            ("a.b", Some("a-b")),
            ("", None),
            ("123", None),
        ] {
            assert_eq!(mend(name).as_deref(), better, "{name}");
        }
    }

    #[test]
    fn quotes_are_short_and_on_one_line() {
        assert_eq!(quote("a\nb"), r#""a\nb""#);
        assert_eq!(quote(&"ä".repeat(61)).chars().count(), 64);
    }
}
