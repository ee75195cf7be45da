//! Who takes from whom, with every name resolved.
//!
//! In: a definition. Out: a [`Graph`], or what does not fit: unknown components, a spout that takes, a bolt that is taken from
//! and takes nothing. Invariant: of two streams between the same two under one stream id the last counts, as in Storm.

use crate::model::{Definition, Stream, Vertex};
use crate::names::Names;
use anchorbolt_core::manifest::names::quote;
use anchorbolt_core::manifest::{Diagnostic, Spanned, codes, suggest};
use anchorbolt_core::port::DEFAULT_STREAM;
use std::collections::{HashMap, HashSet};

/// The streams by who takes and who is taken from.
pub(super) struct Graph<'a> {
    /// Of the components.
    pub(super) names: Names,
    streams: HashMap<&'a str, Names>,
    into: HashMap<&'a str, Vec<&'a Stream>>,
    from: HashMap<&'a str, Vec<&'a Stream>>,
    spouts: HashMap<&'a str, &'a Vertex>,
    bolts: HashMap<&'a str, &'a Vertex>,
    /// Streams that a later one took the place of.
    replaced: Vec<&'a Stream>,
}

impl<'a> Graph<'a> {
    /// Resolves all names.
    pub(super) fn new(definition: &'a Definition, out: &mut Vec<Diagnostic>) -> Option<Graph<'a>> {
        let by_id = |list: &'a [Vertex]| -> HashMap<&'a str, &'a Vertex> {
            list.iter().map(|vertex| (&*vertex.bean.id.value, vertex)).collect()
        };
        let ids = |list: &'a [Vertex], word: &'a str| list.iter().map(move |v| (&*v.bean.id.value, word));
        let names = Names::new(ids(&definition.spouts, "spout").chain(ids(&definition.bolts, "bolt")));
        let mut graph = Graph {
            names,
            streams: HashMap::new(),
            into: HashMap::new(),
            from: HashMap::new(),
            spouts: by_id(&definition.spouts),
            bolts: by_id(&definition.bolts),
            replaced: vec![],
        };
        let before = out.len();
        for stream in &definition.streams {
            graph.check(stream, out);
        }
        graph.link(definition);
        graph.check_inputs(definition, out);
        (out.len() == before).then_some(graph)
    }

    fn check(&self, stream: &Stream, out: &mut Vec<Diagnostic>) {
        let mut unknown = |id: &Spanned<String>, what: &str, candidates: Vec<&str>| {
            let message = format!("there is no {what} {}", quote(&id.value));
            let help = suggest::help(&id.value, &format!("{what}s"), candidates);
            out.push(Diagnostic::error(codes::UNKNOWN_COMPONENT, id.span, message).help(help));
        };
        let known = |id: &str| self.spouts.contains_key(id) || self.bolts.contains_key(id);
        if !known(&stream.from.value) {
            let all = self.spouts.keys().chain(self.bolts.keys()).copied();
            unknown(&stream.from, "component", sorted(all));
        }
        if self.spouts.contains_key(&*stream.to.value) {
            let message = format!("{} is a spout: it takes nothing", quote(&stream.to.value));
            let mistake = Diagnostic::error(codes::SPOUT_INPUT, stream.to.span, message);
            out.push(mistake.help("name a bolt in `to`"));
        } else if !known(&stream.to.value) {
            unknown(&stream.to, "bolt", sorted(self.bolts.keys().copied()));
        }
    }

    fn link(&mut self, definition: &'a Definition) {
        let mut seen = HashSet::new();
        let mut kept: Vec<&Stream> = Vec::new();
        for stream in definition.streams.iter().rev() {
            if seen.insert((&*stream.from.value, &*stream.to.value, stream_id(stream))) {
                kept.push(stream);
            } else {
                self.replaced.push(stream);
            }
        }
        for stream in kept.into_iter().rev() {
            self.into.entry(&stream.to.value).or_default().push(stream);
            self.from.entry(&stream.from.value).or_default().push(stream);
        }
        for (from, streams) in &self.from {
            let ids = streams.iter().map(|stream| (stream_id(stream), "stream"));
            self.streams.insert(from, Names::new(ids));
        }
    }

    /// Flux leaves a bolt out that nothing leads to; then nothing can be taken from it.
    fn check_inputs(&self, definition: &Definition, out: &mut Vec<Diagnostic>) {
        for bolt in &definition.bolts {
            let id = &bolt.bean.id;
            if let (true, Some(taken)) = (self.inputs(&id.value).is_empty(), self.from.get(&*id.value)) {
                let message =
                    format!("no stream leads to the bolt {}, from which others take", quote(&id.value));
                let place = taken.first().and_then(|stream| stream.from.span);
                let mistake = Diagnostic::error(codes::NO_INPUT, id.span, message);
                out.push(mistake.help("add a stream that leads to it").related(place, "taken from here"));
            }
        }
    }

    /// The streams that lead to a bolt.
    pub(super) fn inputs(&self, bolt: &str) -> &[&'a Stream] {
        self.into.get(bolt).map_or(&[], Vec::as_slice)
    }

    /// The streams that leave a component.
    pub(super) fn outputs(&self, id: &str) -> &[&'a Stream] {
        self.from.get(id).map_or(&[], Vec::as_slice)
    }

    /// The streams to a bolt that count for nothing, since a later one took their place.
    pub(super) fn replaced(&self, bolt: &str) -> impl Iterator<Item = &'a Stream> {
        self.replaced.iter().copied().filter(move |stream| stream.to.value == bolt)
    }

    /// What a stream of a component is called here.
    pub(super) fn stream_name<'g>(&'g self, from: &str, id: &'g str) -> &'g str {
        self.streams.get(from).map_or(id, |names| names.get(id))
    }

    /// The spout of an id.
    pub(super) fn spout(&self, id: &str) -> Option<&'a Vertex> {
        self.spouts.get(id).copied()
    }

    /// The spout or bolt of an id.
    pub(super) fn vertex(&self, id: &str) -> Option<&'a Vertex> {
        self.spout(id).or_else(|| self.bolts.get(id).copied())
    }
}

/// The id of a stream, Storm's default included.
pub(super) fn stream_id(stream: &Stream) -> &str {
    stream.grouping.stream.as_ref().map_or(DEFAULT_STREAM, |id| &id.value)
}

fn sorted<'s>(ids: impl Iterator<Item = &'s str>) -> Vec<&'s str> {
    let mut ids: Vec<&str> = ids.collect();
    ids.sort_unstable();
    ids
}
