//! Names to indexes: every input of every bolt, each with its own mistakes.

use super::model::Grouping;
use super::{Part, PartSource, Parts};
use crate::manifest::names::quote;
use crate::manifest::{self, Bolt, Diagnostic, Input, Manifest, Spanned, codes, suggest};
use crate::port::StreamDeclaration;

/// An input whose names are resolved.
pub(super) struct Link {
    /// The component that emits, in name order.
    pub(super) from: usize,
    /// Which of its streams.
    pub(super) output: usize,
    pub(super) grouping: Grouping,
}

/// The links of each component in name order; spouts have none. A bolt with a mistake may have fewer.
pub(super) fn resolve(manifest: &Manifest, parts: &Parts<'_>, out: &mut Vec<Diagnostic>) -> Vec<Vec<Link>> {
    let links = parts.iter().map(|(name, part)| match part.source {
        PartSource::Spout(_) => Vec::new(),
        PartSource::Bolt(bolt) => {
            check_recycle(bolt, part, out);
            if bolt.inputs.list.is_empty() && !bolt.inputs.incomplete && !manifest.incomplete {
                out.push(no_input(name, part));
            }
            check_duplicates(bolt, out);
            let inputs = &bolt.inputs.list;
            inputs.iter().filter_map(|input| link(manifest, parts, name, input, out)).collect()
        }
    });
    links.collect()
}

fn no_input(name: &str, part: &Part<'_>) -> Diagnostic {
    Diagnostic::error(codes::NO_INPUT, part.name_span(), format!("the bolt `{name}` has no inputs"))
        .help("add `inputs = [{ from = \"component\", grouping = \"shuffle\" }]`")
}

fn check_recycle(bolt: &Bolt, part: &Part<'_>, out: &mut Vec<Diagnostic>) {
    let Some(recycle_at) = &bolt.recycle_at else {
        return;
    };
    let declared = part.declaration.as_ref().map(|declaration| declaration.stateless);
    if bolt.stateless.or(declared) != Some(false) {
        return;
    }
    let message =
        format!("`recycle-at` on `{}`, which is not stateless: its memory would be lost", bolt.name.value);
    let help = match bolt.stateless {
        Some(_) => "remove `recycle-at`, or `stateless = false`",
        None => {
            "remove it, or add `stateless = true` if nothing is kept between calls (the plugin does not say so)"
        }
    };
    out.push(Diagnostic::error(codes::RECYCLE_STATEFUL, recycle_at.span, message).help(help));
}

fn check_duplicates(bolt: &Bolt, out: &mut Vec<Diagnostic>) {
    for (i, input) in bolt.inputs.list.iter().enumerate() {
        let Some(grouping) = &input.grouping else { continue };
        let same = |other: &&Input| {
            let stream = other.from.value == input.from.value && other.stream.value == input.stream.value;
            stream && other.grouping.as_ref().is_some_and(|g| same_grouping(&g.value, &grouping.value))
        };
        if let Some(first) = bolt.inputs.list.iter().take(i).find(same) {
            let message = format!("`{}` takes `{}` twice in the same way", bolt.name.value, source(input));
            out.push(
                Diagnostic::error(codes::DUPLICATE_INPUT, input.from.span, message)
                    .help("remove one of the two; a stream may be taken twice only by different groupings")
                    .related(first.from.span, "the first"),
            );
        }
    }
}

fn same_grouping(a: &manifest::Grouping, b: &manifest::Grouping) -> bool {
    use manifest::Grouping::{Fields, PartialKey};
    match (a, b) {
        (Fields(a), Fields(b)) | (PartialKey(a), PartialKey(b)) => {
            a.iter().map(|field| &field.value).eq(b.iter().map(|field| &field.value))
        }
        _ => a == b,
    }
}

fn source(input: &Input) -> String {
    format!("{}/{}", input.from.value, input.stream.value)
}

fn link(
    manifest: &Manifest,
    parts: &Parts<'_>,
    bolt: &str,
    input: &Input,
    out: &mut Vec<Diagnostic>,
) -> Option<Link> {
    let Some(part) = parts.get(&*input.from.value) else {
        // With components lost, this one may be among them.
        if !manifest.incomplete {
            out.push(unknown_component(parts, bolt, input));
        }
        return None;
    };
    let declaration = part.declaration.as_ref()?;
    let position = declaration.outputs.iter().position(|stream| stream.name == input.stream.value);
    let Some((output, stream)) = position.and_then(|i| Some((i, declaration.outputs.get(i)?))) else {
        out.push(unknown_stream(&declaration.outputs, input));
        return None;
    };
    let written = input.grouping.as_ref()?;
    let direct = check_direct(stream, written, input, out);
    let grouping = grouping(stream, written, input, out)?;
    let from = parts.keys().position(|name| *name == input.from.value)?;
    direct.then_some(Link { from, output, grouping })
}

fn unknown_component(parts: &Parts<'_>, bolt: &str, input: &Input) -> Diagnostic {
    let from = &input.from.value;
    // A bolt may take from itself, but nobody means it when they mistype.
    let names = parts.keys().copied().filter(|name| *name != bolt);
    Diagnostic::error(
        codes::UNKNOWN_COMPONENT,
        input.from.span,
        format!("there is no component {}", quote(from)),
    )
    .help(suggest::help(from, "components", names))
}

fn unknown_stream(streams: &[StreamDeclaration], input: &Input) -> Diagnostic {
    let (from, stream) = (&input.from.value, &input.stream.value);
    let span = input.stream.span.or(input.from.span);
    let names = streams.iter().map(|stream| &*stream.name);
    if streams.is_empty() {
        return Diagnostic::error(
            codes::UNKNOWN_STREAM,
            span,
            format!("`{from}` emits nothing: it has no streams"),
        )
        .help("take from the component before it");
    }
    let help = match input.stream.span {
        Some(_) => suggest::help(stream, "its streams", names),
        None => format!("name one with `stream = \"..\"`; its streams: {}", suggest::list(names)),
    };
    Diagnostic::error(codes::UNKNOWN_STREAM, span, format!("`{from}` has no stream {}", quote(stream)))
        .help(help)
}

/// The emitter of a direct stream names the task, so who takes it must take it so, and the reverse.
fn check_direct(
    stream: &StreamDeclaration,
    grouping: &Spanned<manifest::Grouping>,
    input: &Input,
    out: &mut Vec<Diagnostic>,
) -> bool {
    let wants = matches!(grouping.value, manifest::Grouping::Direct);
    let source = source(input);
    let mistake = match (wants, stream.direct) {
        (true, false) => Diagnostic::error(
            codes::NOT_DIRECT,
            grouping.span,
            format!("`{source}` is not a direct stream: its emitter names no tasks"),
        )
        .help("use another grouping, or declare the stream as direct in the component that emits it"),
        (false, true) => Diagnostic::error(
            codes::NEEDS_DIRECT,
            grouping.span,
            format!("`{source}` is a direct stream: its emitter names the task of each tuple"),
        )
        .help("write `grouping = \"direct\"`, or declare the stream as not direct in the component that emits it"),
        _ => return true,
    };
    out.push(mistake);
    false
}

fn grouping(
    stream: &StreamDeclaration,
    grouping: &Spanned<manifest::Grouping>,
    input: &Input,
    out: &mut Vec<Diagnostic>,
) -> Option<Grouping> {
    use manifest::Grouping as Written;
    Some(match &grouping.value {
        Written::Shuffle => Grouping::Shuffle,
        Written::All => Grouping::All,
        Written::Global => Grouping::Global,
        Written::None => Grouping::None,
        Written::Direct => Grouping::Direct,
        Written::LocalOrShuffle => Grouping::LocalOrShuffle,
        Written::Fields(fields) => Grouping::Fields(positions(stream, fields, input, out)?),
        Written::PartialKey(fields) => Grouping::PartialKey(positions(stream, fields, input, out)?),
        Written::Plugin { path, config } => Grouping::Plugin { path: path.clone(), config: config.clone() },
    })
}

fn positions(
    stream: &StreamDeclaration,
    fields: &[Spanned<String>],
    input: &Input,
    out: &mut Vec<Diagnostic>,
) -> Option<Vec<usize>> {
    let known = || stream.fields.iter().map(String::as_str);
    let mut places = Vec::new();
    for field in fields {
        match known().position(|name| name == field.value) {
            Some(place) => places.push(place),
            None => {
                let message = format!("`{}` has no field {}", source(input), quote(&field.value));
                let help = suggest::help(
                    &field.value,
                    "fields of this stream",
                    stream.fields.iter().map(String::as_str),
                );
                out.push(Diagnostic::error(codes::UNKNOWN_FIELD, field.span, message).help(help));
            }
        }
    }
    (places.len() == fields.len()).then_some(places)
}
