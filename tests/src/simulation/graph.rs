//! A random topology: spouts, bolts, how they are joined, and their settings.
//!
//! In: random numbers. Out: a [`Graph`], and from it the plan of each life, whose tasks and executors are drawn anew.
//! Invariant: every bolt is reached from a spout, and a cycle has an end.

use super::rows::FIELDS;
use anchorbolt_core::manifest::{
    Ackers, Bolt, Code, Grouping, Input, Manifest, OnCircuitOpen, Restart, SinkKind, Spanned, Spout,
    SpoutKind, Topology,
};
use anchorbolt_core::plan::{Plan, plan};
use anchorbolt_core::port::Declaration;
use anchorbolt_core::retry::{OnExhausted, RetryPolicy};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::time::Duration;

/// A topology without its parallelism.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    pub(super) topology: Topology,
    pub(super) spouts: Vec<SpoutShape>,
    pub(super) bolts: Vec<BoltShape>,
    /// A bolt, and the later one whose last stream leads back to it.
    pub(super) cycle: Option<(usize, usize)>,
}

/// A spout.
#[derive(Clone, Debug)]
pub(super) struct SpoutShape {
    pub(super) streams: u32,
    pub(super) max_pending: u32,
    pub(super) retry: RetryPolicy,
    /// It emits some of its failed messages again itself.
    pub(super) own_replay: bool,
    pub(super) unique_ids: bool,
    /// The most ranges of a snapshot.
    pub(super) ranges_max: usize,
    /// Now and then it has nothing, in so many of 16 calls.
    pub(super) idles: u32,
}

/// A bolt.
#[derive(Clone, Debug)]
pub(super) struct BoltShape {
    pub(super) inputs: Vec<(Source, u32, Route)>,
    pub(super) streams: u32,
    pub(super) tick: Option<Duration>,
    pub(super) batch: Option<u32>,
    pub(super) held_max: u32,
    pub(super) restart: Restart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Spout(usize),
    Bolt(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Shuffle,
    Fields,
    All,
    Global,
}

impl Source {
    pub(super) fn name(self) -> String {
        match self {
            Source::Spout(i) => format!("s{i}"),
            Source::Bolt(i) => format!("b{i}"),
        }
    }
}

fn one_of<T: Copy>(rng: &mut Rng, list: &[T]) -> T {
    list[rng.usize(..list.len())]
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

impl Graph {
    pub(super) fn random(rng: &mut Rng) -> Graph {
        let timeout = ms(one_of(rng, &[40, 200, 1_000, 5_000]));
        let mut topology = Topology::new("simulated", timeout);
        topology.ackers = one_of(
            rng,
            &[
                Ackers::PerSpout,
                Ackers::PerSpout,
                Ackers::PerSpout,
                Ackers::Threads(1),
                Ackers::Threads(2),
                Ackers::Off,
            ],
        );
        topology.queue_tuples = one_of(rng, &[1, 2, 3, 8, 64]);
        if rng.u8(..4) == 0 {
            topology.queue_bytes = one_of(rng, &[64, 256, 2048]);
        }
        topology.cycle_bytes = one_of(rng, &[128, 4096, 1 << 20]);
        topology.drain_timeout = ms(one_of(rng, &[60, 500, 10_000]));
        let spouts: Vec<SpoutShape> = (0..rng.usize(1..=3)).map(|_| SpoutShape::random(rng)).collect();
        let mut graph = Graph { topology, spouts, bolts: vec![], cycle: None };
        for _ in 0..rng.usize(1..=5) {
            let bolt = graph.random_bolt(rng);
            graph.bolts.push(bolt);
        }
        graph.reach_all(rng);
        if graph.bolts.len() > 1 && rng.u8(..5) == 0 {
            graph.close_cycle(rng);
        }
        graph
    }

    fn random_bolt(&self, rng: &mut Rng) -> BoltShape {
        let wide = self.bolts.iter().flat_map(|b| &b.inputs).filter(|i| i.2 == Route::All).count();
        let inputs = (0..rng.usize(1..=3)).map(|_| {
            let from = rng.usize(..self.spouts.len() + self.bolts.len());
            let (from, streams) = match from.checked_sub(self.spouts.len()) {
                None => (Source::Spout(from), self.spouts[from].streams),
                Some(bolt) => (Source::Bolt(bolt), self.bolts[bolt].streams),
            };
            let route =
                one_of(rng, &[Route::Shuffle, Route::Shuffle, Route::Fields, Route::Global, Route::All]);
            (from, rng.u32(..streams), if wide > 1 && route == Route::All { Route::Fields } else { route })
        });
        let mut inputs: Vec<_> = inputs.collect();
        inputs.sort_by_key(|(from, stream, _)| (from.name(), *stream));
        inputs.dedup_by_key(|(from, stream, _)| (from.name(), *stream));
        BoltShape {
            inputs,
            streams: rng.u32(1..=2),
            tick: (rng.u8(..3) == 0).then(|| ms(rng.u64(1..100))),
            batch: (rng.u8(..3) == 0).then(|| rng.u32(1..8)),
            held_max: if rng.u8(..6) == 0 { rng.u32(1..6) } else { 1_000_000 },
            restart: restart(rng),
        }
    }

    /// Each spout has a bolt that takes from it.
    fn reach_all(&mut self, rng: &mut Rng) {
        for spout in 0..self.spouts.len() {
            let from = Source::Spout(spout);
            if !self.bolts.iter().any(|b| b.inputs.iter().any(|i| i.0 == from)) {
                let bolt = rng.usize(..self.bolts.len());
                self.bolts[bolt].inputs.push((from, 0, Route::Shuffle));
            }
        }
    }

    /// A later bolt that descends from an earlier one sends back to it, on a stream of its own.
    fn close_cycle(&mut self, rng: &mut Rng) {
        let to = rng.usize(..self.bolts.len() - 1);
        let takes = |i: &usize| self.bolts[*i].inputs.iter().any(|input| input.0 == Source::Bolt(to));
        let Some(from) = (to + 1..self.bolts.len()).find(takes) else { return };
        let stream = self.bolts[from].streams;
        self.bolts[from].streams += 1;
        let route = one_of(rng, &[Route::Shuffle, Route::Fields]);
        self.bolts[to].inputs.push((Source::Bolt(from), stream, route));
        self.cycle = Some((to, from));
    }

    /// The plan of one life. In a calm one no cycle runs over: it might again and again.
    pub(super) fn plan(&self, rng: &mut Rng, calm: bool) -> Plan {
        let mut manifest = Manifest { topology: self.topology.clone(), ..Manifest::default() };
        if calm {
            manifest.topology.cycle_bytes = 1 << 20;
        }
        let mut declarations = BTreeMap::new();
        for (i, shape) in self.spouts.iter().enumerate() {
            let mut spout = Spout::new(Source::Spout(i).name(), SpoutKind::Stdin);
            spout.tasks = rng.u32(1..=4);
            spout.executors = rng.u32(1..=spout.tasks);
            (spout.max_pending, spout.retry) = (shape.max_pending, shape.retry.clone());
            declarations.insert(Source::Spout(i).name(), declaration(shape.streams));
            manifest.spouts.push(spout);
        }
        for (i, shape) in self.bolts.iter().enumerate() {
            let code = Code::Native(SinkKind::Null);
            let mut bolt = Bolt::new(Source::Bolt(i).name(), code, self.topology.message_timeout);
            bolt.tasks = rng.u32(1..=4);
            bolt.executors = rng.u32(1..=bolt.tasks);
            bolt.inputs.list = shape.inputs.iter().map(input).collect();
            (bolt.tick, bolt.batch, bolt.restart) = (shape.tick, shape.batch, shape.restart.clone());
            bolt.limits.held_tuples = shape.held_max;
            declarations.insert(Source::Bolt(i).name(), declaration(shape.streams));
            manifest.bolts.push(bolt);
        }
        let planned = plan(&manifest, &declarations);
        planned.plan.unwrap_or_else(|| panic!("the simulation made a wrong graph: {:?}", planned.diagnostics))
    }
}

impl SpoutShape {
    fn random(rng: &mut Rng) -> SpoutShape {
        let retry = RetryPolicy {
            max_faults: one_of(rng, &[None, Some(1), Some(2), Some(3), Some(5)]),
            give_up_after: one_of(rng, &[None, Some(ms(50)), Some(ms(1_000)), Some(ms(30_000))]),
            max_attempts: one_of(rng, &[None, None, Some(1), Some(4)]),
            backoff: one_of(rng, &[ms(1), ms(10), ms(100)]),
            max_backoff: one_of(rng, &[ms(100), ms(1_000)]),
            on_exhausted: one_of(
                rng,
                &[
                    OnExhausted::DeadLetter,
                    OnExhausted::DeadLetter,
                    OnExhausted::DeadLetter,
                    OnExhausted::DeadLetter,
                    OnExhausted::Drop,
                    OnExhausted::Drop,
                    OnExhausted::Stop,
                ],
            ),
        };
        SpoutShape {
            streams: rng.u32(1..=2),
            max_pending: one_of(rng, &[1, 2, 3, 5, 16, 64]),
            retry,
            own_replay: rng.u8(..5) == 0,
            unique_ids: rng.bool(),
            ranges_max: one_of(rng, &[1, 2, 4, 1 << 14]),
            idles: one_of(rng, &[0, 0, 1, 8]),
        }
    }
}

fn restart(rng: &mut Rng) -> Restart {
    let on_circuit_open =
        one_of(rng, &[OnCircuitOpen::Pause, OnCircuitOpen::DeadLetter, OnCircuitOpen::Stop]);
    let budget = if rng.u8(..6) == 0 { rng.u32(1..4) } else { 1_000_000 };
    Restart { backoff: ms(rng.u64(1..50)), budget, window: ms(one_of(rng, &[100, 60_000])), on_circuit_open }
}

fn declaration(streams: u32) -> Declaration {
    (0..streams).fold(Declaration::default(), |all, i| all.stream(&stream_name(i), FIELDS))
}

fn stream_name(stream: u32) -> String {
    format!("o{stream}")
}

fn input((from, stream, route): &(Source, u32, Route)) -> Input {
    let grouping = match route {
        Route::Shuffle => Grouping::Shuffle,
        Route::Fields => Grouping::Fields(vec![Spanned::bare(FIELDS[0].to_owned())]),
        Route::All => Grouping::All,
        Route::Global => Grouping::Global,
    };
    Input { stream: Spanned::bare(stream_name(*stream)), ..Input::new(from.name(), grouping) }
}
