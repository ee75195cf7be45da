//! The real ledgers and the oracle, driven through the same random operations.

use crate::oracle::{End, Oracle};
use anchorbolt_core::ack::{Generations, Ledger, LedgerSettings, SlotState, Slots, TreeEventKind};
use anchorbolt_core::failure::{Class, Cost, Failure};
use anchorbolt_core::ids::{RootId, Time};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

const OWNER: u32 = 5;
const TIMEOUT: Duration = Duration::from_nanos(400);

/// A tuple that some bolt has.
#[derive(Clone, Copy, Debug)]
struct Tuple {
    root: RootId,
    edge: u64,
}

/// Something that a bolt said and the ledger has not heard.
#[derive(Clone, Debug)]
enum Word {
    Ack { root: RootId, edges: Vec<u64>, children: Vec<u64> },
    Fail(RootId),
}

struct Driver {
    rng: fastrand::Rng,
    now: Time,
    generations: Arc<Generations>,
    slots: Slots,
    ledgers: Vec<Ledger>,
    oracle: Oracle,
    /// The list of slots of each tree: each is a message of its own.
    lists: HashMap<RootId, Option<u32>>,
    tuples: Vec<Tuple>,
    words: Vec<Word>,
    /// Roots that were handed out at some time.
    roots: Vec<RootId>,
    ended: Vec<(RootId, Time, End)>,
}

impl Driver {
    fn new(seed: u64, shards: u32) -> Driver {
        let generations = Arc::new(Generations::new());
        // With an age just over the timeout nearly each reset is cut short.
        let max_tree_age = Duration::from_nanos(if seed.is_multiple_of(2) { 500 } else { 1000 });
        let ledger = |shard| {
            let settings = LedgerSettings { owner: OWNER, shard, shards, timeout: TIMEOUT, max_tree_age };
            Ledger::new(settings, Arc::clone(&generations))
        };
        Driver {
            rng: fastrand::Rng::with_seed(seed),
            now: Time(1),
            ledgers: (0..shards).map(ledger).collect(),
            slots: Slots::new(OWNER, Arc::clone(&generations)),
            generations,
            oracle: Oracle::new(TIMEOUT, max_tree_age),
            lists: HashMap::new(),
            tuples: vec![],
            words: vec![],
            roots: vec![],
            ended: vec![],
        }
    }

    fn ledger(&mut self, root: RootId) -> &mut Ledger {
        let shards = self.ledgers.len();
        &mut self.ledgers[root.slot() as usize % shards]
    }

    fn step(&mut self) {
        self.now.0 += self.rng.u64(..4);
        match self.rng.u8(..100) {
            0..18 => self.emit(),
            18..48 => self.work(),
            48..82 => self.hear(),
            82..86 => self.fail(),
            86..88 => self.cancel(),
            88..91 => self.reset(),
            91..94 => self.forge(),
            94..96 => self.lose(),
            _ => self.expire(),
        }
        self.drain();
    }

    fn edges(&mut self, most: usize) -> Vec<u64> {
        (0..self.rng.usize(..=most)).map(|_| self.rng.u64(1..)).collect()
    }

    fn emit(&mut self) {
        let mut list = None;
        let root = self.slots.allocate(1, &mut list).expect("a slot is free");
        assert!(!self.lists.contains_key(&root) && !self.oracle.is_over(root), "{root:?} is not new");
        self.lists.insert(root, list);
        self.roots.push(root);
        let now = self.now;
        if self.rng.u8(..50) == 0 {
            // A word before the tree is known.
            self.ledger(root).ack(root, 7, now);
            self.oracle.ack(root, &[7], &[], now);
        }
        let edges = self.edges(3);
        self.ledger(root).register(root, xor(&edges), now);
        self.oracle.register(root, &edges, now);
        self.tuples.extend(edges.iter().map(|&edge| Tuple { root, edge }));
    }

    /// A bolt settles a tuple, or several of one root together.
    fn work(&mut self) {
        let Some(tuple) = self.take_tuple() else { return };
        let mut edges = vec![tuple.edge];
        if self.rng.bool() {
            let more = self.tuples.iter().position(|other| other.root == tuple.root);
            edges.extend(more.map(|i| self.tuples.swap_remove(i).edge));
        }
        let children = self.edges(2);
        self.tuples.extend(children.iter().map(|&edge| Tuple { root: tuple.root, edge }));
        self.words.push(Word::Ack { root: tuple.root, edges, children });
    }

    fn take_tuple(&mut self) -> Option<Tuple> {
        if self.tuples.is_empty() {
            return None;
        }
        let i = self.rng.usize(..self.tuples.len());
        Some(self.tuples.swap_remove(i))
    }

    /// The ledger hears a word; which, is chance.
    fn hear(&mut self) {
        if self.words.is_empty() {
            return;
        }
        let i = self.rng.usize(..self.words.len());
        let at = Time(self.now.0.saturating_sub(self.rng.u64(..10)));
        match self.words.swap_remove(i) {
            Word::Ack { root, edges, children } => {
                self.ledger(root).ack(root, xor(&edges) ^ xor(&children), at);
                self.oracle.ack(root, &edges, &children, at);
            }
            Word::Fail(root) => {
                self.ledger(root).fail(root, failure());
                self.oracle.end(root, End::Failed);
            }
        }
    }

    fn fail(&mut self) {
        if let Some(tuple) = self.take_tuple() {
            self.words.push(Word::Fail(tuple.root));
        }
    }

    fn lose(&mut self) {
        self.take_tuple();
    }

    fn cancel(&mut self) {
        let Some(root) = self.any_root() else { return };
        // The spout's side lets go of it, as far as it knows of no end.
        if matches!(self.slots.state(root), SlotState::Open(_)) {
            let list = self.lists[&root];
            let mut cancelled = vec![];
            self.slots.release_list(list, |root| cancelled.push(root));
            assert_eq!(cancelled, [root]);
            assert_eq!(self.slots.state(root), SlotState::Cancelled);
        }
        self.ledger(root).cancel(root);
        self.oracle.end(root, End::Cancelled);
    }

    fn reset(&mut self) {
        let Some(root) = self.any_root() else { return };
        let now = self.now;
        self.ledger(root).reset_timeout(root, now);
        self.oracle.reset_timeout(root, now);
    }

    /// An old root or a young one.
    fn any_root(&mut self) -> Option<RootId> {
        let recent = self.roots.len().saturating_sub(if self.rng.bool() { 20 } else { 1000 });
        let len = self.roots.len();
        (len > 0).then(|| self.roots[self.rng.usize(recent..len)])
    }

    /// What can't be right: a made-up root, a use of a slot that is to come, a second registration.
    fn forge(&mut self) {
        let Some(known) = self.any_root() else { return };
        let generation = (known.generation() + 1_000_000).min(RootId::GENERATION_MAX);
        let root = match self.rng.u8(..5) {
            0 => RootId::new(OWNER, known.slot(), generation),
            1 => RootId::new(OWNER + 1, known.slot(), known.generation()),
            2 => RootId::new(OWNER, RootId::SLOTS_MAX - 1 - self.rng.u32(..9), 1),
            3 => RootId(self.rng.u64(..)),
            _ => known,
        };
        let now = self.now;
        match self.rng.u8(..4) {
            _ if root == known => {
                self.ledger(root).register(root, 1, now);
                self.oracle.register(root, &[1], now);
            }
            0 => {
                self.ledger(root).ack(root, known.0, now);
                self.oracle.ack(root, &[known.0], &[], now);
            }
            1 => {
                self.ledger(root).fail(root, failure());
                self.oracle.end(root, End::Failed);
            }
            2 => {
                self.ledger(root).reset_timeout(root, now);
                self.oracle.reset_timeout(root, now);
            }
            _ => {
                self.ledger(root).register(root, 1, now);
                self.oracle.refused += 1;
            }
        }
    }

    fn expire(&mut self) {
        self.now.0 += self.rng.u64(..60);
        let wake = self.ledgers.iter().filter_map(Ledger::next_deadline).min();
        let deadline = self.oracle.next_deadline();
        // It may wake for nothing, when what was due ended meanwhile, but never too late.
        assert!(wake.unwrap_or(Time(u64::MAX)) <= deadline.unwrap_or(Time(u64::MAX)));
        for ledger in &mut self.ledgers {
            ledger.expire(self.now);
        }
        self.oracle.expire(self.now);
    }

    /// Takes the events in, as the spout's side does.
    fn drain(&mut self) {
        let mut events = vec![];
        for ledger in &mut self.ledgers {
            ledger.drain(&mut events);
        }
        for event in events {
            let end = match event.kind {
                TreeEventKind::Acked { at } => End::Acked(at),
                TreeEventKind::Failed(_) => End::Failed,
                TreeEventKind::TimedOut => End::TimedOut,
                TreeEventKind::Cancelled => End::Cancelled,
            };
            assert!(self.generations.is_over(event.root));
            self.ended.push((event.root, event.started, end));
            match self.slots.state(event.root) {
                SlotState::Cancelled => self.slots.release_cancelled(event.root),
                SlotState::Open(_) => {
                    self.slots.end(event.root);
                    let list = self.lists[&event.root];
                    self.slots.release_list(list, |root| panic!("{root:?} has ended"));
                }
                state => panic!("{:?} ended and was {state:?}", event.root),
            }
        }
    }

    fn compare(&mut self, slow: bool) {
        self.ended.sort();
        self.oracle.ended.sort();
        assert_eq!(self.ended, self.oracle.ended);
        self.ended.clear();
        self.oracle.ended.clear();
        let counts: Vec<_> = self.ledgers.iter().map(Ledger::counts).collect();
        assert_eq!(counts.iter().map(|c| c.pending as usize).sum::<usize>(), self.oracle.pending());
        assert_eq!(counts.iter().map(|c| c.late).sum::<u64>(), self.oracle.late);
        let refused =
            counts.iter().map(|c| c.refused).map(|r| r.unknown + r.early + r.unregistered + r.twice);
        assert_eq!(refused.sum::<u64>(), self.oracle.refused);
        assert_eq!(self.slots.used(), self.oracle.pending());
        if slow {
            for ledger in &self.ledgers {
                ledger.self_check().expect("the ledger is sound");
            }
            for &root in self.roots.iter().rev().take(50) {
                assert_eq!(self.generations.is_over(root), self.oracle.is_over(root), "{root:?}");
            }
        }
    }
}

fn xor(edges: &[u64]) -> u64 {
    edges.iter().fold(0, |xor, edge| xor ^ edge)
}

fn failure() -> Failure {
    let (component, reason, output) = ("bolt".to_owned(), "why".to_owned(), String::new());
    Failure { class: Class::Failed, cost: Cost::Fault, component, task: 2, reason, output, input: None }
}

fn run(seed: u64, shards: u32, steps: u32) {
    let mut driver = Driver::new(seed, shards);
    let run = std::panic::AssertUnwindSafe(|| {
        for step in 0..steps {
            driver.step();
            driver.compare(step % 16 == 0);
        }
    });
    if std::panic::catch_unwind(run).is_err() {
        panic!("seed {seed}, {shards} shards");
    }
}

#[test]
fn one_ledger_agrees_with_the_oracle() {
    for seed in 0..40 {
        run(seed, 1, 40_000);
    }
}

#[test]
fn several_ledgers_of_one_owner_agree_with_the_oracle() {
    for seed in 100..125 {
        run(seed, 2 + seed as u32 % 4, 40_000);
    }
}
