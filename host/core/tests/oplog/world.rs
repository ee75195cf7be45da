//! The world of the random test: one spout, one bolt task with a loop to itself, one ledger, one oracle.

use anchorbolt_core::ack::{Generations, Ledger, LedgerSettings, TreeEvent, TreeEventKind};
use anchorbolt_core::batch::Batch;
use anchorbolt_core::grouping::{Router, Source};
use anchorbolt_core::ids::{RootId, Time};
use anchorbolt_core::manifest::{Text, parse};
use anchorbolt_core::messages::{Messages, MessagesSettings, TreeEnd};
use anchorbolt_core::oplog::held::Held;
use anchorbolt_core::oplog::{Applier, Effects};
use anchorbolt_core::plan::{Plan, plan};
use anchorbolt_core::port::{Declaration, Emissions, FailKind, Op, Tuples};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// `["x"]`
pub(crate) const ROW: &[u8] = &[0x91, 0xa1, b'x'];

/// A topology of a spout and a bolt that takes its own output too, twice: a copy for each.
pub(crate) fn looped() -> Plan {
    let text = r#"
        [topology]
        name = "looped"
        [spouts.source]
        kind = "stdin"
        [bolts.work]
        plugin = "work.wasm"
        tasks = 1
        inputs = [
            { from = "source", grouping = "shuffle" },
            { from = "work", grouping = "all" },
            { from = "work", grouping = { fields = ["x"] } },
        ]
    "#;
    let parsed = parse(&Text { name: "looped", text, sets: &[], lookup: &|_| None });
    let work = BTreeMap::from([("work".to_owned(), Declaration::fields(["x"]))]);
    let planned = plan(&parsed.manifest, &work);
    planned.plan.unwrap_or_else(|| panic!("{:?} {:?}", parsed.diagnostics, planned.diagnostics))
}

/// One tuple that is somewhere: queued or held.
type TupleId = u64;

pub(crate) struct World {
    rng: fastrand::Rng,
    ledger: Ledger,
    messages: Messages,
    spout: Router,
    bolt: Router,
    held: Held,
    applier: Applier,
    queue: Vec<(Batch, Vec<TupleId>)>,
    /// Live handles and the tuples they stand for.
    live: Vec<(u32, TupleId)>,
    /// The oracle: of each root that is not over, its open tuples.
    open: HashMap<RootId, BTreeSet<TupleId>>,
    roots_of: HashMap<TupleId, BTreeSet<RootId>>,
    /// Roots that the oracle saw end, and how.
    expected: Vec<(RootId, bool)>,
    /// What the call in progress emitted: a tuple for each copy, in order.
    emitted: Vec<TupleId>,
    next_tuple: TupleId,
    next_message: u128,
}

impl World {
    pub(crate) fn new(seed: u64) -> World {
        let plan = looped();
        let generations = Arc::new(Generations::new());
        let hour = Duration::from_secs(3600);
        let settings = LedgerSettings { owner: 0, shard: 0, shards: 1, timeout: hour, max_tree_age: hour };
        let settings_m = MessagesSettings {
            owner: 0,
            max_pending: 64,
            retry: anchorbolt_core::retry::RetryPolicy { max_faults: Some(1), ..Default::default() },
            unique_ids: true,
        };
        let (spout, bolt) = (plan.component("source").unwrap().0, plan.component("work").unwrap().0);
        World {
            rng: fastrand::Rng::with_seed(seed),
            ledger: Ledger::new(settings, generations.clone()),
            messages: Messages::new(settings_m, generations),
            spout: Router::new(&plan, spout, 0, 1 << 20),
            bolt: Router::new(&plan, bolt, 0, 1 << 20),
            held: Held::starting_at(u32::MAX - 40),
            applier: Applier { component: "work".to_owned(), task: 2, streams: vec![] },
            queue: vec![],
            live: vec![],
            open: HashMap::new(),
            roots_of: HashMap::new(),
            expected: vec![],
            emitted: vec![],
            next_tuple: 0,
            next_message: 0,
        }
    }

    pub(crate) fn step(&mut self) {
        match self.rng.u8(..10) {
            0..3 if self.live.len() < 40 => self.emit_root(),
            _ => self.call(),
        }
    }

    fn emit_root(&mut self) {
        let id = anchorbolt_core::ids::MessageId(self.next_message);
        self.next_message += 1;
        let Some(slot) = self.messages.begin(id, Time(0)) else { return };
        let Some(root) = self.messages.open_tree(slot, Time(0)) else { return };
        let rng = &mut self.rng;
        let mut draw = || rng.u64(1..);
        let (xor, copies) = self.spout.route(0, 0, ROW, 1, Source::One(root), &mut draw).unwrap();
        assert_eq!(copies, 1);
        self.ledger.register(root, xor, Time(0));
        let tuple = self.new_tuple(&BTreeSet::from([root]));
        self.open.insert(root, BTreeSet::from([tuple]));
        let mut out = vec![];
        self.spout.take(&mut out);
        self.queue.extend(out.into_iter().map(|b| (b, vec![tuple])));
    }

    fn new_tuple(&mut self, roots: &BTreeSet<RootId>) -> TupleId {
        let id = self.next_tuple;
        self.next_tuple += 1;
        self.roots_of.insert(id, roots.clone());
        for root in roots {
            if let Some(set) = self.open.get_mut(root) {
                set.insert(id);
            }
        }
        id
    }

    /// One call: takes queued batches, emits and settles at random.
    fn call(&mut self) {
        let take = self.rng.usize(..=self.queue.len().min(3));
        let batches: Vec<_> =
            (0..take).map(|_| self.queue.swap_remove(self.rng.usize(..self.queue.len()))).collect();
        self.take(batches);
        let mut log = vec![];
        for _ in 0..self.rng.usize(..4) {
            self.random_op(&mut log);
        }
        self.apply(log);
    }

    /// Gives the tuples of batches handles, as the runtime does.
    fn take(&mut self, mut batches: Vec<(Batch, Vec<TupleId>)>) {
        let n: usize = batches.iter().map(|(b, _)| b.len()).sum();
        let base = self.held.begin(n as u32, Time(0));
        let mut handle = base;
        for (batch, tuples) in &mut batches {
            for (i, tuple) in tuples.iter().enumerate() {
                let input = batch.inputs.iter().find(|(_, end)| *end as usize > i).unwrap().0;
                self.held.push(batch.take_lineage(i), batch.path(i), batch.attempt(i), batch.source, input);
                self.live.push((handle, *tuple));
                handle += 1;
            }
        }
    }

    /// Lets the real code do what the oracle has done.
    fn apply(&mut self, mut log: Vec<Op>) {
        let rng = &mut self.rng;
        let mut draw = || rng.u64(1..);
        let mut effects = Effects::default();
        let tuples = Tuples::default();
        let (held, bolt) = (&mut self.held, &mut self.bolt);
        self.applier.apply(&mut log, &tuples, held, bolt, &mut effects, &mut draw).unwrap();
        self.held.end(1000, &mut vec![]);
        self.ledger.ack_batch(&effects.acks, Time(1));
        for (root, failure) in effects.fails {
            self.ledger.fail(root, failure);
        }
        let mut out = vec![];
        self.bolt.take(&mut out);
        let mut ids = std::mem::take(&mut self.emitted).into_iter();
        self.queue.extend(out.into_iter().map(|b| {
            let mine = ids.by_ref().take(b.len()).collect();
            (b, mine)
        }));
    }

    fn random_op(&mut self, log: &mut Vec<Op>) {
        match self.rng.u8(..6) {
            0..3 if self.live.len() < 60 => log.push(Op::Emit(self.random_emissions())),
            5 if !self.live.is_empty() && self.rng.u8(..8) == 0 => {
                let (handle, tuple) = self.live.swap_remove(self.rng.usize(..self.live.len()));
                log.push(Op::Fail(vec![(handle, FailKind::Fail, "no".to_owned())]));
                self.fail(tuple);
            }
            _ if !self.live.is_empty() => {
                let (handle, tuple) = self.live.swap_remove(self.rng.usize(..self.live.len()));
                // The second settlement must change nothing.
                let twice = if self.rng.u8(..8) == 0 { vec![handle, handle] } else { vec![handle] };
                log.push(Op::Ack(twice));
                self.settle(tuple);
            }
            _ => {}
        }
    }

    /// Up to three rows, anchored to none, one or several live tuples.
    fn random_emissions(&mut self) -> Emissions {
        let mut e = Emissions { anchor_offsets: vec![0], offsets: vec![0], ..Emissions::default() };
        for _ in 0..self.rng.usize(1..4) {
            let mut roots = BTreeSet::new();
            for _ in 0..self.rng.usize(..4) {
                if self.live.is_empty() {
                    break;
                }
                let (handle, tuple) = self.live[self.rng.usize(..self.live.len())];
                e.anchors.push(handle);
                roots.extend(self.roots_of[&tuple].iter().copied());
            }
            e.streams.push(0);
            e.anchor_offsets.push(e.anchors.len() as u32);
            e.data.extend_from_slice(ROW);
            e.offsets.push(e.data.len() as u32);
            // Two copies, one for each input; they are open before their anchors can be settled.
            for _ in 0..2 {
                let id = self.new_tuple(&roots);
                self.emitted.push(id);
            }
        }
        e
    }

    fn settle(&mut self, tuple: TupleId) {
        for root in self.roots_of[&tuple].clone() {
            if let Some(set) = self.open.get_mut(&root) {
                set.remove(&tuple);
                if set.is_empty() {
                    self.open.remove(&root);
                    self.expected.push((root, true));
                }
            }
        }
    }

    fn fail(&mut self, tuple: TupleId) {
        for root in self.roots_of[&tuple].clone() {
            if self.open.remove(&root).is_some() {
                self.expected.push((root, false));
            }
        }
    }
}

impl World {
    /// Ledger and oracle must have seen the same trees end, in the same way.
    pub(crate) fn compare(&mut self) -> Result<(), String> {
        let mut events = vec![];
        self.ledger.drain(&mut events);
        let mut seen: Vec<(RootId, bool)> = events.iter().map(|e| (e.root, is_acked(e))).collect();
        seen.sort_unstable();
        let mut expected = std::mem::take(&mut self.expected);
        expected.sort_unstable();
        for event in events {
            let (root, end) = TreeEnd::of(event, |_, _| unreachable!("nothing times out"));
            self.messages.tree_event(root, end, Time(1), 0);
        }
        self.close_exhausted();
        if seen == expected {
            Ok(())
        } else {
            Err(format!("the ledger saw {seen:?}, the oracle {expected:?}"))
        }
    }

    fn close_exhausted(&mut self) {
        let mut news = vec![];
        self.messages.drain_events(&mut news);
        for event in news {
            if let anchorbolt_core::messages::MessageEvent::Exhausted { slot, .. } = event {
                self.messages.close(slot, anchorbolt_core::messages::Fate::Dropped);
            }
        }
    }

    /// Acks all that is open; then no tree may be left.
    pub(crate) fn finish(&mut self) -> Result<(), String> {
        while !self.queue.is_empty() || !self.live.is_empty() {
            let (batch, tuples) = match self.queue.pop() {
                Some(next) => next,
                None => (Batch::new(1, 2), vec![]),
            };
            self.take(vec![(batch, tuples)]);
            let handles: Vec<u32> = self.live.iter().map(|(handle, _)| *handle).collect();
            for (_, tuple) in std::mem::take(&mut self.live) {
                self.settle(tuple);
            }
            self.apply(vec![Op::Ack(handles)]);
            self.compare()?;
        }
        let pending = self.ledger.counts().pending;
        if pending == 0 && self.open.is_empty() { Ok(()) } else { Err(format!("{pending} trees are left")) }
    }
}

fn is_acked(event: &TreeEvent) -> bool {
    matches!(event.kind, TreeEventKind::Acked { .. })
}
