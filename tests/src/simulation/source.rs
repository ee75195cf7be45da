//! What the spouts read: parts with messages at ascending places, the same in every life.
//!
//! In: random numbers. Out: the messages, found by number or by place; what a spout saves of them, as text.
//! Invariant: a message's number, place and rows never change.

use super::graph::Graph;
use anchorbolt_core::offsets::Snapshot;
use fastrand::Rng;
use std::collections::BTreeMap;

/// How a spout emits a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Tracked,
    Untracked,
    /// It can't be emitted.
    Refused,
}

/// What is wrong with a message, in a certain bolt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Poison {
    None,
    Fails,
    Kills,
    IsRejected,
}

/// A message.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    pub(super) spout: usize,
    pub(super) part: usize,
    pub(super) place: u64,
    /// The stream of each of its rows.
    pub(super) rows: Vec<u32>,
    pub(super) key: u64,
    pub(super) kind: Kind,
    pub(super) poison: (Poison, usize),
}

/// A part of a spout's source.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The number of its first message.
    pub(super) first: usize,
    pub(super) places: Vec<u64>,
    pub(super) end: u64,
}

/// Everything there is to read.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    pub(super) messages: Vec<Spec>,
    /// By spout.
    pub(super) parts: Vec<Vec<Part>>,
}

impl Source {
    pub(super) fn random(rng: &mut Rng, graph: &Graph, messages_max: usize) -> Source {
        let mut source = Source::default();
        let most = rng.usize(5..=120).min(messages_max.max(1));
        let (odd, sick) = (rng.bool(), rng.bool());
        for (spout, shape) in graph.spouts.iter().enumerate() {
            let mut parts = vec![];
            let parts_max = rng.usize(1..=7);
            for part in 0..parts_max {
                let (first, mut places, mut at) = (source.messages.len(), vec![], 0);
                for _ in 0..rng.usize(0..=(most / graph.spouts.len()).div_ceil(parts_max.div_ceil(2))) {
                    at += rng.u64(0..3);
                    places.push(at);
                    at += rng.u64(1..4);
                    let mut spec = Spec::random(rng, graph, (odd, sick));
                    (spec.spout, spec.part, spec.place) = (spout, part, *places.last().unwrap_or(&0));
                    spec.rows.iter_mut().for_each(|stream| *stream %= shape.streams);
                    source.messages.push(spec);
                }
                parts.push(Part { first, places, end: at });
            }
            source.parts.push(parts);
        }
        source
    }

    /// The number of the message at a place.
    pub(super) fn find(&self, spout: usize, part: usize, place: u64) -> Option<usize> {
        let part = self.parts.get(spout)?.get(part)?;
        part.places.binary_search(&place).ok().map(|at| part.first + at)
    }

    /// What its dead letter is called.
    pub(super) fn letter(&self, message: usize) -> String {
        let spec = &self.messages[message];
        format!("s{}@{}:{}", spec.spout, spec.part, spec.place)
    }
}

impl Spec {
    fn random(rng: &mut Rng, graph: &Graph, (odd, sick): (bool, bool)) -> Spec {
        let kind = match rng.u32(..24) {
            0 if odd => Kind::Untracked,
            1 if odd => Kind::Refused,
            _ => Kind::Tracked,
        };
        let poison = match rng.u32(..30) {
            0 if sick => Poison::Fails,
            1 if sick => Poison::Kills,
            2 if sick => Poison::IsRejected,
            _ => Poison::None,
        };
        let rows = if rng.u8(..4) == 0 { rng.usize(2..4) } else { 1 };
        Spec {
            spout: 0,
            part: 0,
            place: 0,
            rows: (0..rows).map(|_| rng.u32(..4)).collect(),
            key: rng.u64(..6),
            kind,
            poison: (poison, rng.usize(..graph.bolts.len())),
        }
    }
}

/// What is done, by part.
pub(super) type Saved = BTreeMap<usize, Snapshot>;

/// As text: a line a part.
pub(super) fn encode(saved: &[(usize, Snapshot)]) -> Vec<u8> {
    let line = |(part, done): &(usize, Snapshot)| {
        let ranges: String = done.ranges.iter().map(|r| format!(" {}-{}", r.start, r.end)).collect();
        format!("{part} {}{ranges}\n", done.low)
    };
    saved.iter().map(line).collect::<String>().into_bytes()
}

/// The text again.
pub(super) fn decode(text: &[u8]) -> Result<Vec<(usize, Snapshot)>, String> {
    let text = String::from_utf8_lossy(text);
    let one = |line: &str| -> Option<(usize, Snapshot)> {
        let mut words = line.split(' ');
        let (part, low) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let range = |word: &str| {
            let (start, end) = word.split_once('-')?;
            Some(start.parse().ok()?..end.parse().ok()?)
        };
        let ranges = words.map(range).collect::<Option<Vec<_>>>()?;
        Some((part, Snapshot { low, ranges }))
    };
    text.lines().map(|line| one(line).ok_or_else(|| format!("a checkpoint with the line `{line}`"))).collect()
}
