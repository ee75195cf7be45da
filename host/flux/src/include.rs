//! A Flux file and the files that it includes, as one definition.
//!
//! In: the first file's text, and [`Files`] to read others. Out: a [`Definition`], or why there is none. As in Flux an
//! included file's own includes are not followed, so there are no loops.
//!
//! Invariant: ids are unique afterwards, whoever won.

use crate::model::{Bean, Definition, Include, Setting, Vertex};
use crate::read;
use crate::substitute::{Lookup, Text};
use crate::{TEXT_BYTES_MAX, codes, yaml};
use anchorbolt_core::manifest::names::quote;
use anchorbolt_core::manifest::{Diagnostic, Sources, Span, Spanned, codes as manifest_codes};
use std::collections::HashMap;

/// So many files may be included.
const INCLUDES_MAX: usize = 64;

/// The files beside a Flux file.
pub trait Files {
    /// Name and text of a file that is included; `resource`: it is meant to lie where classes do.
    ///
    /// # Errors
    /// Why it can't be read.
    fn read(&mut self, file: &str, resource: bool) -> Result<(String, String), String>;
}

/// Reads a file with what it includes.
pub(crate) fn load(
    name: &str,
    text: &str,
    lookup: &Lookup<'_>,
    files: &mut dyn Files,
    sources: &mut Sources,
    out: &mut Vec<Diagnostic>,
) -> Option<Definition> {
    let mut definition = file(name, text, 0, lookup, out)?;
    for (i, include) in std::mem::take(&mut definition.includes).into_iter().enumerate() {
        let mistake = |code, message: String, help: String| {
            Diagnostic::error(code, include.file.span, message).help(help)
        };
        if i == INCLUDES_MAX {
            let message = format!("more than {INCLUDES_MAX} files are included");
            out.push(mistake(codes::TOO_LARGE, message, "put some of them into one".to_owned()));
            break;
        }
        match files.read(&include.file.value, include.resource) {
            Ok((name, text)) => {
                let source = sources.push(&name, &text);
                if let Some(included) = file(&name, &text, source, lookup, out) {
                    merge(&mut definition, included, &include, out);
                }
            }
            Err(why) => {
                let message = format!("can't read the included file {}: {why}", quote(&include.file.value));
                let help = if include.resource {
                    "a resource is looked for beside this file and above it; name its root with `--resources DIR`"
                } else {
                    "a file is looked for from the current folder, as Storm does, then beside this file"
                };
                out.push(mistake(codes::INCLUDE, message, help.to_owned()));
            }
        }
    }
    Some(definition)
}

fn file(
    name: &str,
    text: &str,
    source: u32,
    lookup: &Lookup<'_>,
    out: &mut Vec<Diagnostic>,
) -> Option<Definition> {
    let start = Span::new(source, 0..0);
    if text.len() > TEXT_BYTES_MAX {
        let message = format!("{name} has {} bytes, more than {TEXT_BYTES_MAX}", text.len());
        out.push(Diagnostic::error(codes::TOO_LARGE, start, message).help("an import takes no larger one"));
        return None;
    }
    let text = Text::new(text, source, lookup).map_err(|mistake| out.push(mistake)).ok()?;
    let before = out.len();
    let Some(root) = yaml::parse(&text, lookup, out) else {
        if out.len() == before {
            let message = format!("{name} says nothing");
            let help = "a topology has a `name`, `spouts`, `bolts` and `streams`";
            out.push(Diagnostic::error(codes::SYNTAX, start, message).help(help));
        }
        return None;
    };
    let definition = read::definition(&root, out);
    unique(&definition, out);
    Some(definition)
}

/// Two of one id: Flux takes the second and says nothing.
fn unique(definition: &Definition, out: &mut Vec<Diagnostic>) {
    let mut check = |what: &str, ids: Vec<&Spanned<String>>| {
        let mut first = HashMap::new();
        for id in ids {
            if let Some(before) = first.insert(&*id.value, id.span) {
                let message = format!("{what} {} is there twice", quote(&id.value));
                let mistake = Diagnostic::error(manifest_codes::NAME_TAKEN, id.span, message);
                out.push(mistake.help("give one of them another id").related(before, "the first"));
            }
        }
    };
    check("the component", definition.components.iter().map(|bean| &bean.id).collect());
    let vertices = definition.spouts.iter().chain(&definition.bolts);
    check("the spout or bolt", vertices.map(|vertex| &vertex.bean.id).collect());
}

fn merge(into: &mut Definition, from: Definition, include: &Include, out: &mut Vec<Diagnostic>) {
    let wins = include.replaces;
    if from.name.is_some() && (wins || into.name.is_none()) {
        into.name = from.name;
    }
    add(&mut into.config, from.config, wins, |setting: &Setting| &setting.key.value);
    add(&mut into.components, from.components, wins, |bean: &Bean| &bean.id.value);
    add(&mut into.spouts, from.spouts, wins, |vertex: &Vertex| &vertex.bean.id.value);
    add(&mut into.bolts, from.bolts, wins, |vertex: &Vertex| &vertex.bean.id.value);
    into.streams.extend(from.streams);
    let passed_over = [
        ("includes", from.includes.first().map(|include| &include.file)),
        ("topologySource", from.topology_source.as_ref().map(|bean| &bean.class)),
        ("workerHooks", from.worker_hooks.first().map(|bean| &bean.id)),
    ];
    for (key, place) in passed_over.into_iter().filter_map(|(key, place)| Some((key, place?))) {
        let message =
            format!("Storm does not take `{key}` from an included file, and neither is it done here");
        let note = Diagnostic::warning(codes::DIFFERS, place.span, message);
        out.push(note.related(include.file.span, "included here"));
    }
}

/// Adds what is not there yet; what is there is replaced only by one that wins.
fn add<T>(into: &mut Vec<T>, from: Vec<T>, wins: bool, key: impl Fn(&T) -> &String) {
    let mut places: HashMap<String, usize> =
        into.iter().enumerate().map(|(i, old)| (key(old).clone(), i)).collect();
    for item in from {
        match places.get(key(&item)).and_then(|i| into.get_mut(*i)) {
            Some(old) if wins => *old = item,
            Some(_) => {}
            None => {
                places.insert(key(&item).clone(), into.len());
                into.push(item);
            }
        }
    }
}
