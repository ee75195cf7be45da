//! `${..}` in the text of a Flux file.
//!
//! In: a text, properties, perhaps the environment. Out: [`Text`], in which what is known is replaced and which knows
//! where each of its parts stood. As in Flux this happens before the text is read as YAML, so a value may be a list.
//! Other than in Flux, every `${..}` of a line is replaced, not only the last.
//!
//! Invariant: a value that is put in is not searched again, and no text grows beyond [`TEXT_BYTES_MAX`].

use crate::properties::Properties;
use crate::{Environment, TEXT_BYTES_MAX, codes};
use anchorbolt_core::manifest::names::quote;
use anchorbolt_core::manifest::{Diagnostic, Span, suggest};
use std::ops::Range;

/// No name of a property is longer.
const NAME_BYTES_MAX: usize = 256;

/// What `${..}` stands for.
pub(crate) struct Lookup<'a> {
    /// `${name}`, and `${name[1]}` for an item of a list.
    pub(crate) properties: &'a Properties,
    /// The file that the properties came from.
    pub(crate) filter: Option<&'a str>,
    /// `${ENV-NAME}`
    pub(crate) environment: Option<Environment<'a>>,
}

/// A text with its `${..}` replaced.
pub(crate) struct Text {
    /// The text.
    pub(crate) text: String,
    source: u32,
    pieces: Vec<Piece>,
    unknown: Vec<(Range<usize>, String)>,
}

/// A part of the text, up to the next one.
struct Piece {
    /// Where it begins.
    at: usize,
    /// Where it stood.
    original: Range<usize>,
    /// It was put in: all of it stood in one place.
    put_in: bool,
}

impl Lookup<'_> {
    fn find(&self, name: &str) -> Option<String> {
        if let (Some(environment), Some(variable)) = (self.environment, name.strip_prefix("ENV-")) {
            return environment(variable);
        }
        self.properties.get(name).map(str::to_owned).or_else(|| self.item(name))
    }

    /// `list[1]` of a property `["a", "b"]`.
    fn item(&self, name: &str) -> Option<String> {
        let (list, index) = name.strip_suffix(']')?.rsplit_once('[')?;
        let items = self.properties.get(list)?.trim().strip_prefix('[')?.strip_suffix(']')?;
        let item = items.split(',').nth(index.parse().ok()?)?.trim();
        Some(item.trim_matches(['"', '\'']).to_owned())
    }

    /// The mistake that a name stands for nothing.
    fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        let variable = name.strip_prefix("ENV-");
        let (message, help) = match (variable, self.environment, self.filter) {
            (Some(variable), Some(_), _) => (
                format!("the environment variable {} is not set", quote(variable)),
                "set it for the import".to_owned(),
            ),
            (Some(_), None, _) => (
                format!("`${{{name}}}` stands for a variable of the environment"),
                "give `--env-filter` to have such names replaced".to_owned(),
            ),
            (None, _, None) => (
                format!("there is no property {}", quote(name)),
                "name the file of properties with `--filter FILE`".to_owned(),
            ),
            (None, _, Some(filter)) => (
                format!("{filter} has no property {}", quote(name)),
                suggest::help(name, "properties", self.properties.keys()),
            ),
        };
        Diagnostic::error(codes::NO_PROPERTY, span, message).help(help)
    }
}

impl Text {
    /// Replaces what is known. Text that grows too long is an error.
    pub(crate) fn new(original: &str, source: u32, lookup: &Lookup<'_>) -> Result<Text, Diagnostic> {
        let mut text = Text { text: String::new(), source, pieces: vec![], unknown: vec![] };
        let mut at = if original.starts_with('\u{feff}') { 3 } else { 0 };
        while let Some(open) = original.get(at..).and_then(|rest| rest.find("${")).map(|i| at + i) {
            text.copy(original, at..open);
            let rest = original.get(open + 2..).unwrap_or_default();
            let Some(length) = name_length(rest) else {
                text.copy(original, open..open + 2);
                at = open + 2;
                continue;
            };
            let name = rest.get(..length).unwrap_or_default();
            let whole = open..open + 2 + length + 1;
            match lookup.find(name) {
                Some(value) => text.put_in(&value, whole.clone()),
                None => {
                    let start = text.text.len();
                    text.copy(original, whole.clone());
                    text.unknown.push((start..text.text.len(), name.to_owned()));
                }
            }
            at = whole.end;
            if text.text.len() > TEXT_BYTES_MAX {
                let message =
                    format!("with its `${{..}}` replaced, the file has more than {TEXT_BYTES_MAX} bytes");
                return Err(Diagnostic::error(codes::TOO_LARGE, Span::new(source, whole), message)
                    .help("an import takes no larger one"));
            }
        }
        text.copy(original, at..original.len());
        Ok(text)
    }

    fn copy(&mut self, original: &str, range: Range<usize>) {
        self.pieces.push(Piece { at: self.text.len(), original: range.clone(), put_in: false });
        self.text.push_str(original.get(range).unwrap_or_default());
    }

    fn put_in(&mut self, value: &str, original: Range<usize>) {
        self.pieces.push(Piece { at: self.text.len(), original, put_in: true });
        self.text.push_str(value);
    }

    /// Where a part of this text stood; no further than to the end of its line.
    pub(crate) fn span(&self, range: Range<usize>) -> Span {
        let line = self.text.get(range.clone()).unwrap_or_default();
        let line = line.split('\n').next().unwrap_or_default().trim_end();
        let (start, end) = (range.start, range.start + line.len());
        let start = self.original(start, false);
        Span::new(self.source, start..self.original(end, true).max(start))
    }

    fn original(&self, at: usize, end: bool) -> usize {
        // The end of a part belongs to what is before it.
        let behind = |piece: &Piece| if end { piece.at < at } else { piece.at <= at };
        let count = self.pieces.partition_point(behind);
        let Some(piece) = count.checked_sub(1).and_then(|i| self.pieces.get(i)) else { return 0 };
        match (piece.put_in, end) {
            (true, true) => piece.original.end,
            (true, false) => piece.original.start,
            (false, _) => (piece.original.start + (at - piece.at)).min(piece.original.end),
        }
    }

    /// Says which names in a part of the text stand for nothing. One in a comment does no harm, so only what is
    /// read as a value is asked for.
    pub(crate) fn unknown(&self, within: &Range<usize>, lookup: &Lookup<'_>, out: &mut Vec<Diagnostic>) {
        let first = self.unknown.partition_point(|(range, _)| range.start < within.start);
        let found = self.unknown.iter().skip(first).take_while(|(range, _)| range.start < within.end);
        out.extend(found.map(|(range, name)| lookup.unknown(name, self.span(range.clone()))));
    }
}

/// How long a name is that ends with a brace on its line.
fn name_length(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes().iter().take(NAME_BYTES_MAX);
    let end = bytes.enumerate().find(|(_, byte)| matches!(byte, b'}' | b'\n'))?;
    (*end.1 == b'}').then_some(end.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(original: &str) -> Text {
        let properties = Properties::parse("a=1\nlist=[\"x\", 'y' , z]\nlong.name=a longer value\nself=${a}");
        Text::new(original, 0, &Lookup { properties: &properties, filter: None, environment: None }).unwrap()
    }

    #[test]
    fn all_of_a_line_are_replaced_and_values_are_not_searched_again() {
        assert_eq!(text("k: ${a}${a} ${self} $a ${no} ${\n}").text, "k: 11 ${a} $a ${no} ${\n}");
        let items = text("${list} ${list[0]}${list[1]}${list[2]} ${list[3]} ${list[-1]}");
        assert_eq!(items.text, "[\"x\", 'y' , z] xyz ${list[3]} ${list[-1]}");
        assert_eq!(text("\u{feff}${a}").text, "1");
    }

    #[test]
    fn each_part_knows_where_it_stood() {
        let text = text("\u{feff}x ${long.name} é ${a} end\nmore");
        assert_eq!(text.text, "x a longer value é 1 end\nmore");
        let of = |part: &str| {
            let at = text.text.find(part).unwrap();
            text.span(at..at + part.len()).range()
        };
        assert_eq!(of("x"), 3..4);
        assert_eq!(of("longer"), 5..17);
        assert_eq!(of("é"), 18..20);
        assert_eq!(of("1"), 21..25);
        assert_eq!(of("end\nmore"), 26..29);
        assert_eq!(of("more"), 30..34);
    }

    #[test]
    fn a_text_can_not_grow_without_end() {
        let properties = Properties::parse(&format!("big={}", "x".repeat(1 << 16)));
        let lookup = Lookup { properties: &properties, filter: None, environment: None };
        let mistake = Text::new(&"${big}\n".repeat(1000), 0, &lookup).err().unwrap();
        assert_eq!(mistake.code, codes::TOO_LARGE);
    }
}
