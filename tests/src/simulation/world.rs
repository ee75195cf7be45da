//! What the parts of a simulation share: random numbers, the time, what is true, what happened.
//!
//! In: everything that spouts and bolts do. Out: the first violation. Invariant: everything random comes from one
//! generator, drawn in the order of the steps.

use super::disk::Disk;
use super::graph::{Graph, Route, Source as From};
use super::oracle::{Check, Oracle, TupleRef};
use super::source::Source;
use super::trace::Trace;
use super::trouble::Manner;
use anchorbolt_core::ids::Time;
use anchorbolt_core::plan::{Grouping, Plan};
use anchorbolt_core::port::Waker;
use anchorbolt_host::runtime::{Clock, ManualClock};
use fastrand::Rng;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that is shared.
pub(super) struct World {
    pub(super) rng: Rng,
    pub(super) clock: Arc<ManualClock>,
    pub(super) oracle: Oracle,
    pub(super) trace: Trace,
    pub(super) disk: Disk,
    pub(super) source: Arc<Source>,
    pub(super) graph: Arc<Graph>,
    /// By bolt.
    pub(super) manners: Vec<Manner>,
    /// The topology has started, so bolts may fail to prepare.
    pub(super) running: bool,
    /// The first thing that was wrong.
    pub(super) violation: Option<String>,
    /// Spouts that sleep until they are woken.
    pub(super) sleepers: Vec<Waker>,
    /// A snapshot of this life left ranges out.
    pub(super) cut_short: bool,
    /// What bolts hold, by task.
    pub(super) hands: BTreeMap<u32, Vec<TupleRef>>,
    /// Instances that died in this life, by bolt, and over all lives.
    pub(super) deaths: (Vec<u64>, u64),
    copies: [Vec<Vec<u32>>; 2],
}

/// A handle on it.
#[derive(Clone)]
pub(super) struct Shared(Arc<Mutex<World>>);

impl Shared {
    pub(super) fn new(seed: u64, source: Source, graph: Graph, trace: Trace) -> Shared {
        let mut rng = Rng::with_seed(seed);
        let manners = graph.bolts.iter().map(|_| Manner::random(&mut rng)).collect();
        Shared(Arc::new(Mutex::new(World {
            rng,
            clock: ManualClock::new(),
            oracle: Oracle::new(source.messages.len()),
            trace,
            disk: Disk::default(),
            source: Arc::new(source),
            graph: Arc::new(graph),
            manners,
            running: false,
            violation: None,
            sleepers: vec![],
            cut_short: false,
            hands: BTreeMap::new(),
            deaths: (vec![], 0),
            copies: [vec![], vec![]],
        })))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock()
    }

    /// Notes what the case is made of.
    pub(super) fn describe(&self) {
        let mut world = self.lock();
        let (graph, manners) = (world.graph.clone(), world.manners.clone());
        world.note(format!("{:?}\ncycle {:?}", graph.topology, graph.cycle));
        graph.spouts.iter().enumerate().for_each(|(i, spout)| world.note(format!("s{i}: {spout:?}")));
        let bolts = graph.bolts.iter().zip(&manners).enumerate();
        bolts.for_each(|(i, (bolt, manner))| world.note(format!("b{i}: {bolt:?}\n    {manner:?}")));
    }
}

impl World {
    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Keeps what is wrong, if anything is and nothing was before.
    pub(super) fn check(&mut self, check: Check) {
        if let Err(text) = check {
            self.violation.get_or_insert(text);
        }
    }

    pub(super) fn note(&mut self, text: String) {
        self.trace.add(text);
    }

    pub(super) fn calm(&self) -> bool {
        self.oracle.rules.calm
    }

    /// Takes a plan in: how many copies of a row are sent on each stream.
    pub(super) fn use_plan(&mut self, plan: &Plan) {
        let of = |from: From, streams: u32| -> Vec<u32> {
            let component = plan.components.iter().find(|c| c.name == from.name());
            let outputs = component.map(|c| &c.outputs[..]).unwrap_or_default();
            let tasks = |edge: usize| match plan.edges[edge].grouping {
                Grouping::All => plan.components[plan.edges[edge].to].tasks.len() as u32,
                _ => 1,
            };
            let stream = |s: u32| outputs[s as usize].consumers.iter().map(|edge| tasks(*edge)).sum();
            (0..streams).map(stream).collect()
        };
        let graph = self.graph.clone();
        let spouts = graph.spouts.iter().enumerate().map(|(i, s)| of(From::Spout(i), s.streams));
        let bolts = graph.bolts.iter().enumerate().map(|(i, b)| of(From::Bolt(i), b.streams));
        self.copies = [spouts.collect(), bolts.collect()];
        self.hands.clear();
        self.deaths.0 = vec![0; graph.bolts.len()];
    }

    /// How many copies of a row are sent on this stream.
    pub(super) fn copies(&self, from: From, stream: u32) -> u32 {
        let (kind, i) = match from {
            From::Spout(i) => (0, i),
            From::Bolt(i) => (1, i),
        };
        self.copies[kind][i][stream as usize]
    }

    pub(super) fn groups_by_field(&self, bolt: usize, input: u32) -> bool {
        self.graph.bolts[bolt].inputs.get(input as usize).is_some_and(|(_, _, route)| *route == Route::Fields)
    }

    /// The dead letters that the disk has if power is lost now.
    pub(super) fn letters(&self) -> BTreeSet<String> {
        let file = self.disk.durable(&letters_path()).unwrap_or_default();
        let text = String::from_utf8_lossy(&file);
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let id = |line: &str| serde_json::from_str::<Value>(line).ok()?["id"].as_str().map(str::to_owned);
        whole.filter_map(id).collect()
    }

    /// Messages may have got their letters at the very end of a life, when nobody could be told any more.
    pub(super) fn find_letters(&mut self) {
        let letters = self.letters();
        for id in 0..self.oracle.messages.len() {
            self.oracle.messages[id].buried |= letters.contains(&self.source.letter(id));
        }
    }
}

/// The file of dead letters.
pub(super) fn letters_path() -> PathBuf {
    Path::new("/data/dead-letters.jsonl").to_owned()
}

/// The folder of checkpoints.
pub(super) fn checkpoints_path() -> PathBuf {
    Path::new("/data/checkpoints").to_owned()
}
