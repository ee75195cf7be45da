//! YAML to a tree in which each value knows where it was written.
//!
//! In: a [`Text`]. Out: a [`Node`], or the first mistake: after one, YAML says nothing reliable. Aliases are copies,
//! merge keys (`<<`) are merged, tags are passed over, keys may not repeat.
//!
//! Invariant: no more than [`WEIGHT_MAX`] values come out, aliases counted as often as they are used, no deeper than
//! [`DEPTH_MAX`].

use crate::codes;
use crate::substitute::{Lookup, Text};
use anchorbolt_core::manifest::names::quote;
use anchorbolt_core::manifest::{Diagnostic, Span, codes as manifest_codes};
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, StrInput};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// How many values a file may have; a long text counts as several.
const WEIGHT_MAX: usize = 50_000;
/// Bytes of a text that count as one value.
const TEXT_UNIT: usize = 64;
/// How deep they may be nested.
const DEPTH_MAX: usize = 48;

/// A value and where it was written.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) value: Value,
}

/// A YAML value. What a plain scalar means depends on who asks, as in Flux.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    /// Keys are scalars.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// The text of a scalar that is not null.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } if !self.is_null() => Some(text),
            _ => None,
        }
    }

    /// Nothing, `~` or `null`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, plain: true }
            if matches!(&**text, "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The value of a key of a map.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        let Value::Map(entries) = &self.value else { return None };
        entries.iter().find(|(k, _)| k.text() == Some(key)).map(|(_, value)| value)
    }

    /// The items of a list.
    pub(crate) fn items(&self) -> Option<&[Node]> {
        if let Value::List(items) = &self.value { Some(items) } else { None }
    }
}

/// Reads a text; nothing when it is empty.
pub(crate) fn parse(text: &Text, lookup: &Lookup<'_>, out: &mut Vec<Diagnostic>) -> Option<Node> {
    let mut unknown = Vec::new();
    let read = Builder::new(text, lookup, &mut unknown).build();
    // A name that stands for nothing may be why it is not YAML: it says more.
    let named = !unknown.is_empty();
    out.append(&mut unknown);
    match read {
        Ok(root) => root,
        Err(mistake) => {
            out.extend((!named).then_some(mistake));
            None
        }
    }
}

/// A list or map that is not closed yet.
struct Open {
    span: Span,
    anchor: usize,
    weight_before: usize,
    is_map: bool,
    children: Vec<Node>,
}

struct Builder<'t, 'o> {
    text: &'t Text,
    lookup: &'t Lookup<'t>,
    unknown: &'o mut Vec<Diagnostic>,
    /// Byte offsets of characters: the parser counts characters.
    offsets: Option<Vec<u32>>,
    open: Vec<Open>,
    anchors: HashMap<usize, (Node, usize)>,
    weight: usize,
    root: Option<Node>,
}

type Built<T> = Result<T, Diagnostic>;

impl<'t, 'o> Builder<'t, 'o> {
    fn new(text: &'t Text, lookup: &'t Lookup<'t>, unknown: &'o mut Vec<Diagnostic>) -> Builder<'t, 'o> {
        let offsets = (!text.text.is_ascii())
            .then(|| text.text.char_indices().map(|(i, _)| u32::try_from(i).unwrap_or(u32::MAX)).collect());
        let (open, anchors) = (Vec::new(), HashMap::new());
        Builder { text, lookup, unknown, offsets, open, anchors, weight: 0, root: None }
    }

    fn build(mut self) -> Built<Option<Node>> {
        let mut parser: Parser<'_, StrInput<'_>> = Parser::new_from_str(&self.text.text);
        let mut documents = 0;
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(|error| self.syntax(&error))?;
            let range = self.byte(span.start.index())..self.byte(span.end.index());
            match event {
                Event::DocumentStart(_) => {
                    documents += 1;
                    if documents > 1 {
                        let what = "a second YAML document begins here";
                        return Err(Diagnostic::error(codes::SYNTAX, self.text.span(range), what)
                            .help("a topology is one document: remove the `---` and what follows it"));
                    }
                }
                Event::Scalar(text, style, anchor, _) => {
                    let range = self.scalar_range(range, style);
                    self.text.unknown(&range, self.lookup, self.unknown);
                    let value = Value::Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain };
                    self.scalar(value, anchor, range)?;
                }
                Event::SequenceStart(anchor, _) => self.begin(false, anchor, range)?,
                Event::MappingStart(anchor, _) => self.begin(true, anchor, range)?,
                Event::SequenceEnd | Event::MappingEnd => self.end()?,
                Event::Alias(anchor) => self.alias(anchor, range)?,
                Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            }
        }
        Ok(self.root)
    }

    fn byte(&self, character: usize) -> usize {
        match &self.offsets {
            None => character,
            Some(offsets) => offsets.get(character).map_or(self.text.text.len(), |byte| *byte as usize),
        }
    }

    /// Without what follows a closing quote, which the parser may count in.
    fn scalar_range(&self, range: Range<usize>, style: ScalarStyle) -> Range<usize> {
        let quote = match style {
            ScalarStyle::DoubleQuoted => b'"',
            ScalarStyle::SingleQuoted => b'\'',
            _ => return range,
        };
        let bytes = self.text.text.as_bytes().get(range.clone()).unwrap_or_default();
        let mut escaped = false;
        for (i, byte) in bytes.iter().enumerate().skip(1) {
            // A quote within is escaped by what is before it, or doubled.
            let doubled = quote == b'\'' && bytes.get(i + 1) == Some(&quote);
            if *byte == quote && !escaped && !doubled {
                return range.start..range.start + i + 1;
            }
            let escapes = if quote == b'"' { *byte == b'\\' } else { *byte == quote };
            escaped = !escaped && escapes;
        }
        range
    }

    fn syntax(&self, error: &ScanError) -> Diagnostic {
        let at = self.byte(error.marker().index());
        let span = self.text.span(at..self.text.text.len().min(at + 1));
        let help = "check the indentation (spaces, no tabs), the quotes and the brackets here and above";
        Diagnostic::error(codes::SYNTAX, span, format!("this is not YAML: {}", error.info())).help(help)
    }

    fn scalar(&mut self, value: Value, anchor: usize, range: Range<usize>) -> Built<()> {
        let span = self.text.span(range);
        let weight = 1 + if let Value::Scalar { text, .. } = &value { text.len() / TEXT_UNIT } else { 0 };
        self.weigh(weight, span)?;
        self.done(Node { span, value }, anchor, weight)
    }

    fn begin(&mut self, is_map: bool, anchor: usize, range: Range<usize>) -> Built<()> {
        let span = self.text.span(range.start..self.text.text.len().min(range.end.max(range.start + 1)));
        if self.open.len() >= DEPTH_MAX {
            let what = format!("values are nested deeper than {DEPTH_MAX} levels");
            return Err(Diagnostic::error(codes::TOO_LARGE, span, what).help("no topology needs that"));
        }
        self.weigh(1, span)?;
        let open = Open { span, anchor, weight_before: self.weight - 1, is_map, children: vec![] };
        self.open.push(open);
        Ok(())
    }

    fn end(&mut self) -> Built<()> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let weight = self.weight - open.weight_before;
        let value = if open.is_map { map(open.children)? } else { Value::List(open.children) };
        self.done(Node { span: open.span, value }, open.anchor, weight)
    }

    fn alias(&mut self, anchor: usize, range: Range<usize>) -> Built<()> {
        let span = self.text.span(range);
        let Some(weight) = self.anchors.get(&anchor).map(|(_, weight)| *weight) else {
            return Err(Diagnostic::error(codes::SYNTAX, span, "an alias within its own value")
                .help("write the value out"));
        };
        self.weigh(weight, span)?;
        let Some((node, _)) = self.anchors.get(&anchor) else { return Ok(()) };
        let node = node.clone();
        self.done(node, 0, weight)
    }

    fn weigh(&mut self, weight: usize, span: Span) -> Built<()> {
        self.weight = self.weight.saturating_add(weight);
        if self.weight <= WEIGHT_MAX {
            return Ok(());
        }
        let what = format!("up to here the file has more than {WEIGHT_MAX} values, aliases counted in full");
        Err(Diagnostic::error(codes::TOO_LARGE, span, what).help("an import takes no larger one"))
    }

    fn done(&mut self, node: Node, anchor: usize, weight: usize) -> Built<()> {
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), weight));
            // The copy is kept beside the value.
            self.weigh(weight, node.span)?;
        }
        match self.open.last_mut() {
            Some(open) => open.children.push(node),
            None => self.root = Some(node),
        }
        Ok(())
    }
}

/// Keys and values in turn.
fn map(children: Vec<Node>) -> Built<Value> {
    let mut entries: Vec<(Node, Node)> = Vec::with_capacity(children.len() / 2);
    let mut merged = Vec::new();
    let mut seen = HashSet::new();
    let mut children = children.into_iter();
    while let (Some(key), Some(value)) = (children.next(), children.next()) {
        let Value::Scalar { text, plain } = &key.value else {
            return Err(Diagnostic::error(codes::SYNTAX, key.span, "a key that is a list or a map")
                .help("keys of a topology are texts"));
        };
        if *plain && text == "<<" {
            merged.push(value);
        } else if seen.insert(text.clone()) {
            entries.push((key, value));
        } else {
            let what = format!("{} is written twice", quote(text));
            return Err(Diagnostic::error(manifest_codes::DUPLICATE_KEY, key.span, what)
                .help("remove one of the two; Storm takes the second"));
        }
    }
    for value in merged {
        merge(&mut entries, &mut seen, value);
    }
    Ok(Value::Map(entries))
}

/// What is there already counts.
fn merge(entries: &mut Vec<(Node, Node)>, seen: &mut HashSet<String>, from: Node) {
    match from.value {
        Value::Map(more) => entries.extend(
            more.into_iter().filter(|(key, _)| key.text().is_some_and(|key| seen.insert(key.to_owned()))),
        ),
        Value::List(maps) => {
            maps.into_iter()
                .filter(|m| matches!(m.value, Value::Map(_)))
                .for_each(|m| merge(entries, seen, m));
        }
        Value::Scalar { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::Properties;
    use std::fmt::Write;

    fn read(text: &str) -> Result<Option<Node>, Vec<Diagnostic>> {
        let properties = Properties::parse("a=1");
        let lookup = Lookup { properties: &properties, filter: None, environment: None };
        let text = Text::new(text, 0, &lookup).map_err(|mistake| vec![mistake])?;
        let mut out = vec![];
        let node = parse(&text, &lookup, &mut out);
        if out.is_empty() { Ok(node) } else { Err(out) }
    }

    fn show(node: &Node) -> String {
        match &node.value {
            _ if node.is_null() => "null".to_owned(),
            Value::Scalar { text, .. } => format!("{text:?}"),
            Value::List(items) => {
                format!("{:?}", items.iter().map(show).collect::<Vec<_>>()).replace('\\', "")
            }
            Value::Map(entries) => entries.iter().fold(String::new(), |mut out, (key, value)| {
                write!(out, "{}={};", show(key), show(value)).unwrap();
                out
            }),
        }
    }

    fn shown(text: &str) -> String {
        show(&read(text).unwrap().unwrap())
    }

    fn code(text: &str) -> (&'static str, Range<usize>) {
        let mistakes = read(text).unwrap_err();
        (mistakes[0].code, mistakes[0].span.unwrap().range())
    }

    #[test]
    fn aliases_are_copies_and_merge_keys_are_merged() {
        assert_eq!(shown("a: &x {b: 1, c: ~}\nd: *x"), r#""a"="b"="1";"c"=null;;"d"="b"="1";"c"=null;;"#);
        assert_eq!(
            shown("x: &x {b: 1, c: 2}\ny: &y {d: 4}\nz:\n  <<: [*x, *y]\n  c: 3").split("\"z\"=").nth(1),
            Some(r#""c"="3";"b"="1";"d"="4";;"#)
        );
    }

    #[test]
    fn places_are_bytes_of_the_text_as_it_was_written() {
        let text = "\u{feff}é: ${a}\nlist:\n  - ä ö\n  - {x: \"y\"}\n";
        let node = read(text).unwrap().unwrap();
        let of = |node: &Node| text.get(node.span.range()).unwrap().to_owned();
        assert_eq!(of(node.get("é").unwrap()), "${a}");
        let items = node.get("list").unwrap().items().unwrap();
        assert_eq!(of(&items[0]), "ä ö");
        assert_eq!(of(items[1].get("x").unwrap()), "\"y\"");
        assert_eq!(of(&items[1]), "{");
    }

    #[test]
    fn what_is_no_yaml_is_said_with_its_place() {
        assert_eq!(code("a: [1, 2\nb: 3").0, codes::SYNTAX);
        assert_eq!(code("a: 1\na: 2"), (manifest_codes::DUPLICATE_KEY, 5..6));
        assert_eq!(code("a: 1\n---\nb: 2").0, codes::SYNTAX);
        assert_eq!(code("a: &x [*x]").0, codes::SYNTAX);
        assert_eq!(code("[a]: 1").0, codes::SYNTAX);
        assert_eq!(code("a: *no").0, codes::SYNTAX);
        assert!(read("").unwrap().is_none() && read("# nothing").unwrap().is_none());
    }

    #[test]
    fn an_unknown_name_counts_only_where_it_is_read() {
        assert_eq!(code("a: 1 # ${c}\nb: x${no} # y"), (codes::NO_PROPERTY, 16..21));
        assert_eq!(code("a: [${no}, 1]").0, codes::NO_PROPERTY);
        for text in [r#"a: "x\"${a}" # ${no}"#, "a: 'it''s'   # ${no}\nb: ''", "a: '''${a}''' # '${no}'"] {
            assert!(read(text).is_ok(), "{text}");
        }
        assert_eq!(code("a: 'it''s ${no}' # y"), (codes::NO_PROPERTY, 10..15));
        assert_eq!(shown("a: ${a} # ${no}"), r#""a"="1";"#);
    }

    #[test]
    fn bombs_are_defused() {
        let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for i in 1..20 {
            let list = vec![format!("*a{}", i - 1); 10].join(", ");
            writeln!(laughs, "a{i}: &a{i} [{list}]").unwrap();
        }
        assert_eq!(code(&laughs).0, codes::TOO_LARGE);
        let long = format!("a: &a \"{}\"\nb: [{}]", "x".repeat(100_000), "*a, ".repeat(1000));
        assert_eq!(code(&long).0, codes::TOO_LARGE);
        for text in ["[".repeat(100_000), "{a: ".repeat(100_000), "- ".repeat(100_000), "? ".repeat(100_000)]
        {
            let mistake = read(&text).unwrap_err().remove(0);
            assert!([codes::TOO_LARGE, codes::SYNTAX].contains(&mistake.code), "{mistake:?}");
        }
        let nested: String = (0..200).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
        assert_eq!(code(&nested).0, codes::TOO_LARGE);
    }
}
