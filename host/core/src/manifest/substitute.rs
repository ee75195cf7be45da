//! `${NAME}` in the texts of a tree.
//!
//! In come a tree and a lookup, the tree goes out with every text replaced. Keys, numbers and comments are
//! left alone. `$$` is a dollar; a `$` before anything else than `{` stays as it is.

use super::codes;
use super::diagnostic::Diagnostic;
use super::document::{Node, Value};

/// Replaces the variables of all texts below a node. A text with a mistake becomes [`Value::Wrong`].
pub(super) fn substitute(
    node: &mut Node,
    lookup: &dyn Fn(&str) -> Option<String>,
    out: &mut Vec<Diagnostic>,
) {
    match &mut node.value {
        Value::String(text) if text.contains('$') => match expand(text, lookup) {
            Ok(expanded) => *text = expanded,
            Err(mistakes) => {
                out.extend(mistakes.into_iter().map(|m| m.diagnostic(node)));
                node.value = Value::Wrong;
            }
        },
        Value::Array(items) => items.iter_mut().for_each(|item| substitute(item, lookup, out)),
        Value::Table(entries) => {
            entries.iter_mut().for_each(|entry| substitute(&mut entry.node, lookup, out));
        }
        _ => {}
    }
}

#[derive(Debug, PartialEq)]
enum Mistake {
    Unset(String),
    Malformed(String),
}

impl Mistake {
    fn diagnostic(self, node: &Node) -> Diagnostic {
        match self {
            Mistake::Unset(name) => Diagnostic::error(
                codes::VARIABLE_UNSET,
                node.span,
                format!("the environment variable `{name}` is not set"),
            )
            .help(format!("set it, for example `{name}=value anchorbolt ..`; for a literal `${{` write `$${{`")),
            Mistake::Malformed(what) => Diagnostic::error(
                codes::BAD_VARIABLE,
                node.span,
                format!("`{what}` is not a variable of the form `${{NAME}}`"),
            )
            .help("a name has letters, digits and `_` and does not begin with a digit; for a literal `${` write `$${`"),
        }
    }
}

fn expand(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, Vec<Mistake>> {
    let mut expanded = String::with_capacity(text.len());
    let mut mistakes = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            expanded.push('$');
            rest = after;
        } else if let Some(after) = after.strip_prefix('{') {
            match variable(after) {
                Ok((name, after)) => {
                    match lookup(name) {
                        Some(value) => expanded.push_str(&value),
                        None => mistakes.push(Mistake::Unset(name.to_owned())),
                    }
                    rest = after;
                }
                Err((mistake, after)) => {
                    mistakes.push(mistake);
                    rest = after;
                }
            }
        } else {
            expanded.push('$');
            rest = after;
        }
    }
    expanded.push_str(rest);
    if mistakes.is_empty() { Ok(expanded) } else { Err(mistakes) }
}

/// The name up to `}` and what follows.
fn variable(after: &str) -> Result<(&str, &str), (Mistake, &str)> {
    let Some((name, rest)) = after.split_once('}') else {
        return Err((Mistake::Malformed(format!("${{{after}")), ""));
    };
    let word = |c: char| c == '_' || c.is_ascii_alphanumeric();
    if name.chars().all(word) && name.starts_with(|c: char| word(c) && !c.is_ascii_digit()) {
        Ok((name, rest))
    } else {
        Err((Mistake::Malformed(format!("${{{name}}}")), rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_expand(text: &str) -> Result<String, Vec<Mistake>> {
        expand(text, &|name| (name == "USER").then(|| "ada".to_owned()))
    }

    #[test]
    fn variables_dollars_and_plain_text() {
        for (text, expected) in [
            ("a ${USER} b", "a ada b"),
            ("${USER}${USER}", "adaada"),
            ("$${USER}", "${USER}"),
            ("$$${USER}", "$ada"),
            ("$USER ^x$", "$USER ^x$"),
            ("5$", "5$"),
            ("$$$$", "$$"),
        ] {
            assert_eq!(try_expand(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn every_mistake_of_a_text_is_found() {
        let mistakes = try_expand("${A} ${USER} ${1B} ${}${").unwrap_err();
        let malformed = |s: &str| Mistake::Malformed(s.to_owned());
        assert_eq!(
            mistakes,
            [Mistake::Unset("A".into()), malformed("${1B}"), malformed("${}"), malformed("${")]
        );
    }

    #[test]
    fn a_value_is_not_expanded_again() {
        let expanded = expand("${X}", &|_| Some("${X} $$".to_owned()));
        assert_eq!(expanded.unwrap(), "${X} $$");
    }
}
