//! Diagnostics for people: file, line, caret, code and help, as compilers show them.
//!
//! In come [`Diagnostic`]s and the [`Sources`] that their spans point into, out goes text; printing it is
//! the caller's. Colours only where [`colours`] says so.

use anchorbolt_core::manifest::{Diagnostic, Severity, Sources, Span};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use std::io::IsTerminal;
use std::ops::Range;

/// Whether standard error should get colours: it is a terminal, and `NO_COLOR` is unset or empty.
pub(crate) fn colours() -> bool {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !forbidden && std::io::stderr().is_terminal()
}

/// All diagnostics with a line that counts them; nothing when there are none.
pub(crate) fn render(sources: &Sources, diagnostics: &[Diagnostic], colours: bool) -> String {
    let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for diagnostic in diagnostics {
        text += &renderer.render(&[group(sources, diagnostic)]);
        text += "\n\n";
    }
    text + &summary(diagnostics)
}

fn group<'a>(sources: &'a Sources, diagnostic: &'a Diagnostic) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(&*diagnostic.message).id(diagnostic.code));
    let first = diagnostic.span.map(|span| (span, AnnotationKind::Primary, ""));
    let others = diagnostic.related.iter().map(|(span, what)| (*span, AnnotationKind::Context, &**what));
    let places: Vec<Place<'a>> = first.into_iter().chain(others).collect();
    let mut shown = Vec::new();
    for (Span { source, .. }, ..) in &places {
        if !shown.contains(source) {
            shown.push(*source);
            group = group.elements(snippet(sources, *source, &places));
        }
    }
    group.elements(diagnostic.help.as_deref().map(|help| Level::HELP.message(help)))
}

/// A span, what it is and what to write beside it.
type Place<'a> = (Span, AnnotationKind, &'a str);

/// One text with all the places that lie in it.
fn snippet<'a>(
    sources: &'a Sources,
    source: u32,
    places: &[Place<'a>],
) -> Option<Snippet<'a, Annotation<'a>>> {
    let (name, text) = sources.get(source)?;
    let annotations = places.iter().filter(|(span, ..)| span.source == source).map(|(span, kind, label)| {
        let annotation = kind.span(within(text, span.range()));
        if label.is_empty() { annotation } else { annotation.label(*label) }
    });
    Some(Snippet::source(text).path(name).annotations(annotations))
}

/// The part of a range that lies in the text, on character boundaries.
fn within(text: &str, range: Range<usize>) -> Range<usize> {
    let floor = |mut byte: usize| {
        byte = byte.min(text.len());
        while !text.is_char_boundary(byte) {
            byte -= 1;
        }
        byte
    };
    let start = floor(range.start);
    start..floor(range.end).max(start)
}

fn summary(diagnostics: &[Diagnostic]) -> String {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    let count = |n: usize, what: &str| match n {
        0 => None,
        1 => Some(format!("1 {what}")),
        n => Some(format!("{n} {what}s")),
    };
    let counts: Vec<String> = [count(errors, "error"), count(diagnostics.len() - errors, "warning")]
        .into_iter()
        .flatten()
        .collect();
    if counts.is_empty() { String::new() } else { format!("{}\n", counts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> Sources {
        Sources::new("m.toml", "[topology]\nname = \"Ä\"\nackers = 9\n", &["topology.ackers=x".to_owned()])
    }

    fn at(source: u32, range: Range<usize>) -> Span {
        Span::new(source, range)
    }

    #[test]
    fn a_mistake_has_its_line_a_caret_and_help() {
        let diagnostic = Diagnostic::error("AB110", at(0, 18..22), "a topology can't be called \"Ä\"")
            .help("1 to 64 of a-z")
            .related(at(0, 23..29), "see here");
        let expected = "\
error[AB110]: a topology can't be called \"Ä\"
 --> m.toml:2:8
  |
2 | name = \"Ä\"
  |        ^^^
3 | ackers = 9
  | ------ see here
  |
  = help: 1 to 64 of a-z

1 error
";
        assert_eq!(render(&sources(), &[diagnostic], false), expected);
    }

    #[test]
    fn a_place_in_an_override_and_one_in_the_file_are_both_shown() {
        let diagnostic =
            Diagnostic::warning("AB209", at(1, 16..17), "too much").related(at(0, 23..29), "the other");
        let text = render(&sources(), &[diagnostic], false);
        assert!(text.contains("--> --set:1:17") && text.contains("1 | topology.ackers=x"), "{text}");
        assert!(text.contains("::: m.toml:3:1") && text.contains("------ the other"), "{text}");
        assert!(text.ends_with("1 warning\n"), "{text}");
    }

    #[test]
    fn no_place_and_wild_places_are_shown_too() {
        let nowhere = Diagnostic::error("AB215", None, "no spout").help("add one");
        let wild = [at(0, 19..20), at(0, 500..900), at(7, 0..1)]
            .map(|span| Diagnostic::error("AB101", span, "wild"));
        let text = render(&sources(), &[&[nowhere][..], &wild].concat(), false);
        assert!(text.starts_with("error[AB215]: no spout\n |\n = help: add one\n"), "{text}");
        assert!(text.ends_with("4 errors\n"), "{text}");
    }

    #[test]
    fn nothing_is_nothing_and_colours_are_colours() {
        assert_eq!(render(&sources(), &[], false), "");
        let diagnostic = Diagnostic::error("AB101", at(0, 0..1), "x");
        assert!(render(&sources(), std::slice::from_ref(&diagnostic), true).contains('\u{1b}'));
        assert!(!render(&sources(), &[diagnostic], false).contains('\u{1b}'));
    }
}
