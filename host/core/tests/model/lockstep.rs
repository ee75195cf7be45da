//! The real ledger and table of messages, driven through a run of the model, and compared after each step.

use crate::protocol::{Action, Protocol};
use crate::world::{Command, Phase, State, Tree, Tuple, Word};
use anchorbolt_core::ack::{Generations, Ledger, LedgerSettings};
use anchorbolt_core::failure::{Class, Cost, Failure};
use anchorbolt_core::ids::{MessageId, RootId, Time};
use anchorbolt_core::messages::{
    Fate, MessageEvent, MessageSlot, MessageState, Messages, MessagesSettings, TreeEnd,
};
use anchorbolt_core::retry::RetryPolicy;
use stateright::Model;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// The real thing with the queues and the names of the model.
struct Real {
    generations: Arc<Generations>,
    ledger: Ledger,
    messages: Messages,
    roots: HashMap<Tree, RootId>,
    edges: HashMap<Tuple, u64>,
    commands: VecDeque<Command>,
    ends: VecDeque<(RootId, TreeEnd)>,
    rng: fastrand::Rng,
    now: Time,
    rows: Vec<u8>,
    /// Messages and attempts of which it was said that they are done.
    completed: Vec<(u8, u32)>,
}

impl Real {
    fn new(protocol: &Protocol, unique_ids: bool, seed: u64) -> Real {
        let generations = Arc::new(Generations::new());
        let retry = RetryPolicy {
            max_faults: None,
            max_attempts: Some(u32::from(protocol.attempts)),
            backoff: Duration::ZERO,
            ..RetryPolicy::default()
        };
        let settings = MessagesSettings { owner: 3, max_pending: 1000, retry, unique_ids };
        let hour = Duration::from_secs(3600);
        let ledger = LedgerSettings { owner: 3, shard: 0, shards: 1, timeout: hour, max_tree_age: hour };
        Real {
            ledger: Ledger::new(ledger, Arc::clone(&generations)),
            messages: Messages::new(settings, Arc::clone(&generations)),
            generations,
            roots: HashMap::new(),
            edges: HashMap::new(),
            commands: VecDeque::new(),
            ends: VecDeque::new(),
            rng: fastrand::Rng::with_seed(seed),
            now: Time(0),
            rows: protocol.rows.clone(),
            completed: vec![],
        }
    }

    fn apply(&mut self, action: Action, before: &State) {
        self.now.0 += 1;
        match action {
            Action::Read(message) | Action::SpoutReplays(message) => {
                let slot = self.messages.begin(id(message), self.now).expect("room");
                let rows = self.rows[message as usize];
                for row in 0..rows {
                    self.messages.keep_row(slot, u32::from(row), &[message, row]);
                }
                self.emit(slot, message, rows);
            }
            Action::Replay => {
                let slot = self.messages.take_due(self.now).expect("one is due");
                let message = before.waiting[0];
                assert_eq!(self.messages.id(slot), Some(id(message)), "the first to fail is replayed first");
                let lent = self.messages.lend_rows(slot);
                let rows = self.rows[message as usize];
                let expected = (0..rows).map(|row| (u32::from(row), vec![message, row]));
                assert!(lent.iter().map(|(stream, row)| (stream, row.to_vec())).eq(expected), "all its rows");
                self.emit(slot, message, rows);
                self.messages.return_rows(slot, lent);
            }
            Action::HandToSpout(message) => self.messages.hand_to_spout(self.find(message)),
            Action::Close(message) => self.messages.close(self.find(message), Fate::HandedBack),
            Action::Command => match self.commands.pop_front().expect("as the model") {
                Command::Register(tree) => {
                    let edge = self.edges[&Tuple { tree, depth: 0 }];
                    self.ledger.register(self.roots[&tree], edge, self.now);
                }
                Command::Cancel(tree) => self.ledger.cancel(self.roots[&tree]),
            },
            Action::End => {
                let (root, end) = self.ends.pop_front().expect("as the model");
                self.messages.tree_event(root, end, self.now, self.rng.u64(..));
            }
            Action::TimeOut => {
                // Each was registered at a time of its own, so this is the deadline of one.
                let deadline = self.ledger.next_deadline().expect("a tree is pending");
                self.ledger.expire(deadline);
            }
            Action::Work(tuple) => {
                let edge = self.rng.u64(1..);
                self.edges.insert(Tuple { depth: tuple.depth + 1, ..tuple }, edge);
            }
            Action::Fail(_) | Action::Lose(_) => {}
            Action::Hear(Word::Fail(tuple)) => {
                self.ledger.fail(self.roots[&tuple.tree], failure(Class::Failed))
            }
            Action::Hear(Word::Ack(tuple, made)) => {
                let child = self.edges[&Tuple { depth: tuple.depth + 1, ..tuple }] * u64::from(made);
                self.ledger.ack(self.roots[&tuple.tree], self.edges[&tuple] ^ child, self.now);
            }
        }
        self.drain();
    }

    fn emit(&mut self, slot: MessageSlot, message: u8, rows: u8) {
        let attempt = self.messages.attempt(slot) as u8;
        for row in 0..rows {
            let tree = Tree { message, row, attempt };
            let root = self.messages.open_tree(slot, self.now).expect("a slot is free");
            assert!(!self.generations.is_over(root));
            assert!(self.roots.values().all(|&other| other != root), "each root is new");
            self.roots.insert(tree, root);
            self.edges.insert(Tuple { tree, depth: 0 }, self.rng.u64(1..));
            self.commands.push_back(Command::Register(tree));
        }
    }

    fn drain(&mut self) {
        let mut events = vec![];
        self.ledger.drain(&mut events);
        let explain = |_, _| failure(Class::Timeout);
        self.ends.extend(events.into_iter().map(|event| TreeEnd::of(event, explain)));
        let mut cancels = vec![];
        self.messages.drain_cancels(&mut cancels);
        let mut trees: Vec<Tree> = cancels.into_iter().map(|root| self.name(root)).collect();
        trees.sort();
        self.commands.extend(trees.into_iter().map(Command::Cancel));
        let mut events = vec![];
        self.messages.drain_events(&mut events);
        for event in events {
            if let MessageEvent::Completed { id, attempt, .. } = event {
                self.completed.push((id.low() as u8, attempt));
            }
        }
    }

    fn name(&self, root: RootId) -> Tree {
        *self.roots.iter().find(|(_, r)| **r == root).expect("a root that was handed out").0
    }

    fn find(&self, message: u8) -> MessageSlot {
        self.messages.find(id(message)).expect("it is pending")
    }

    fn compare(&self, state: &State) {
        self.ledger.self_check().expect("the ledger is sound");
        self.messages.self_check().expect("the messages are sound");
        assert!(self.commands.iter().eq(&state.commands));
        let ends = self.ends.iter().map(|(root, _)| self.name(*root));
        assert!(ends.eq(state.ends.iter().map(|(tree, _)| *tree)), "the same trees ended");
        let (counts, tally) = (self.messages.counts(), state.tally);
        assert_eq!(
            (counts.read, counts.completed, counts.handed_back),
            (tally.read, tally.completed, tally.closed)
        );
        assert_eq!(
            (counts.trees_emitted, counts.trees_acked, counts.trees_failed, counts.trees_timed_out),
            (tally.emitted, tally.acked, tally.failed, tally.timed_out)
        );
        let ledger = self.ledger.counts();
        assert_eq!((ledger.pending, ledger.late), (state.ledger.len() as u64, tally.late));
        assert_eq!(ledger.refused, Default::default());
        assert_eq!(counts.refused, 0);
        for pending in &state.ledger {
            assert!(!self.generations.is_over(self.roots[&pending.tree]), "a pending tree is not over");
        }
        self.compare_messages(state);
    }

    fn compare_messages(&self, state: &State) {
        for (message, m) in (0_u8..).zip(&state.messages) {
            let real = self.messages.find(id(message)).and_then(|slot| self.messages.message(slot));
            let phase = matches!(
                (m.phase, real.as_ref().map(|real| real.state)),
                (Phase::Unread | Phase::Completed | Phase::Closed, None)
                    | (Phase::Emitted, Some(MessageState::Emitted))
                    | (Phase::Waiting, Some(MessageState::Waiting(_)))
                    | (Phase::WithSpout, Some(MessageState::WithSpout))
                    | (Phase::Exhausted, Some(MessageState::Exhausted))
            );
            assert!(phase, "message {message} is {:?}, in truth {real:?}", m.phase);
            let attempt = u32::from(m.attempt);
            let done = self.completed.contains(&(message, attempt));
            assert_eq!(done, m.phase == Phase::Completed, "message {message}, attempt {attempt}");
            if let Some(real) = real {
                assert_eq!((real.attempt, real.open_trees as usize), (attempt, m.open.len()));
                assert_eq!(self.messages.open_roots(real.slot).count(), m.open.len());
                let failed = attempt as usize - usize::from(m.phase == Phase::Emitted);
                assert_eq!(real.history.len(), failed.min(16), "each failed attempt is remembered");
            }
        }
    }
}

fn id(message: u8) -> MessageId {
    MessageId::pair(7, u64::from(message))
}

fn failure(class: Class) -> Failure {
    let (component, reason, output) = ("bolt".to_owned(), "why".to_owned(), String::new());
    Failure { class, cost: Cost::Fault, component, task: 2, reason, output, input: None }
}

/// One random run to its end.
fn walk(protocol: &Protocol, unique_ids: bool, seed: u64) -> usize {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut real = Real::new(protocol, unique_ids, seed);
    let mut state = protocol.init_states().remove(0);
    let mut steps = 0;
    loop {
        let mut actions = vec![];
        protocol.actions(&state, &mut actions);
        // The partition that goes away ends a run too soon if it goes as often as anything else.
        let mut rare = |action: &Action| matches!(action, Action::Close(_)) && rng.u8(..) > 20;
        let kept: Vec<Action> = actions.iter().copied().filter(|action| !rare(action)).collect();
        let Some(&action) = rng.choice(if kept.is_empty() { &actions } else { &kept }) else {
            break;
        };
        let next = protocol.next_state(&state, action).expect("it was offered");
        real.apply(action, &state);
        real.compare(&next);
        state = next;
        steps += 1;
    }
    let over = |phase| matches!(phase, Phase::Completed | Phase::Closed);
    assert!(state.messages.iter().all(|m| over(m.phase)), "each message came to an end: {state:?}");
    assert_eq!(real.messages.slots_in_use(), 0, "nothing is kept");
    steps
}

#[test]
fn model_and_code_agree_over_random_runs() {
    let mut steps = 0;
    for seed in 0..5000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let protocol = Protocol {
            rows: (0..rng.usize(1..8)).map(|_| rng.u8(1..4)).collect(),
            chain: rng.u8(1..4),
            attempts: rng.u8(1..6),
            faults: rng.u8(..30),
            spout_acts: rng.bool(),
        };
        let unique_ids = rng.bool();
        let run = std::panic::catch_unwind(|| walk(&protocol, unique_ids, seed));
        steps += run.unwrap_or_else(|_| panic!("seed {seed}, unique ids {unique_ids}: {protocol:?}"));
    }
    assert!(steps > 300_000, "{steps} steps are too few to mean anything");
}
