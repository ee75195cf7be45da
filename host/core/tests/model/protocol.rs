//! The protocol between spout, ledger and bolts, as plain as it can be said: sets of tuples for XOR, a name
//! of its own for each tree for slots and generations, queues that may be as slow as they like.
//!
//! Rows of a message become tuples; each tuple is worked on once, makes the next tuple of its chain or ends
//! it, and its ack travels on its own. Tuples fail, are lost with an instance, or time out; what was on the
//! way then arrives late.

use crate::world::{Command, End, Message, Phase, State, Tally, Tree, Tuple, Word, insert, remove};
use stateright::{Model, Property};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Read(u8),
    /// The first of the waiting messages.
    Replay,
    HandToSpout(u8),
    SpoutReplays(u8),
    /// The partition goes to another process, or an exhausted message has its letter.
    Close(u8),
    /// The first command reaches the ledger.
    Command,
    /// The first end reaches the spout.
    End,
    /// The oldest tree of the ledger is due.
    TimeOut,
    Work(Tuple),
    Fail(Tuple),
    Lose(Tuple),
    Hear(Word),
}

/// The size of the world.
#[derive(Clone, Debug)]
pub(crate) struct Protocol {
    /// How many rows each message has.
    pub(crate) rows: Vec<u8>,
    /// How many tuples follow from each row, one after the other.
    pub(crate) chain: u8,
    pub(crate) attempts: u8,
    /// Failures, losses and timeouts for no reason.
    pub(crate) faults: u8,
    /// Messages may be handed back and replayed by their spout.
    pub(crate) spout_acts: bool,
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let message = Message { phase: Phase::Unread, attempt: 0, open: vec![] };
        vec![State {
            messages: vec![message; self.rows.len()],
            waiting: vec![],
            commands: vec![],
            ledger: vec![],
            ends: vec![],
            tuples: vec![],
            lost: vec![],
            words: vec![],
            faults_left: self.faults,
            tally: Tally::default(),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (message, m) in (0_u8..).zip(&state.messages) {
            match m.phase {
                Phase::Unread => actions.push(Action::Read(message)),
                Phase::WithSpout => actions.push(Action::SpoutReplays(message)),
                Phase::Waiting if self.spout_acts => actions.push(Action::HandToSpout(message)),
                Phase::Exhausted => actions.push(Action::Close(message)),
                _ => {}
            }
            if self.spout_acts && matches!(m.phase, Phase::Emitted | Phase::Waiting | Phase::WithSpout) {
                actions.push(Action::Close(message));
            }
        }
        let some = [
            (!state.waiting.is_empty(), Action::Replay),
            (!state.commands.is_empty(), Action::Command),
            (!state.ends.is_empty(), Action::End),
        ];
        actions.extend(some.into_iter().filter(|(can, _)| *can).map(|(_, action)| action));
        if let Some(oldest) = state.ledger.first() {
            let stuck = state.lost.iter().any(|tuple| tuple.tree == oldest.tree);
            if stuck || state.faults_left > 0 {
                actions.push(Action::TimeOut);
            }
        }
        for &tuple in &state.tuples {
            actions.push(Action::Work(tuple));
            if state.faults_left > 0 {
                actions.extend([Action::Fail(tuple), Action::Lose(tuple)]);
            }
        }
        // A tree's registration and the words about it share one queue, so no word comes first.
        let known = |word: &&Word| !state.commands.contains(&Command::Register(word.tree()));
        actions.extend(state.words.iter().filter(known).map(|&word| Action::Hear(word)));
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut state = before.clone();
        match action {
            Action::Read(message) => {
                state.tally.read += 1;
                self.emit(&mut state, message);
            }
            Action::Replay => {
                let message = state.waiting.remove(0);
                self.emit(&mut state, message);
            }
            Action::HandToSpout(message) => {
                state.waiting.retain(|&m| m != message);
                state.messages[message as usize].phase = Phase::WithSpout;
            }
            Action::SpoutReplays(message) => self.emit(&mut state, message),
            Action::Close(message) => {
                state.waiting.retain(|&m| m != message);
                state.cancel(message);
                state.messages[message as usize].phase = Phase::Closed;
                state.tally.closed += 1;
            }
            Action::Command => state.command(),
            Action::End => self.end(&mut state),
            Action::TimeOut => {
                let tree = state.ledger.first()?.tree;
                if !state.lost.iter().any(|tuple| tuple.tree == tree) {
                    state.faults_left -= 1;
                }
                state.settle(tree, End::TimedOut);
            }
            Action::Work(tuple) => self.work(&mut state, tuple),
            Action::Fail(tuple) => {
                state.faults_left -= 1;
                remove(&mut state.tuples, tuple);
                insert(&mut state.words, Word::Fail(tuple));
            }
            Action::Lose(tuple) => {
                state.faults_left -= 1;
                remove(&mut state.tuples, tuple);
                insert(&mut state.lost, tuple);
            }
            Action::Hear(word) => state.hear(word),
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "no message completes while a tuple of its attempt is open",
                |_, state: &State| {
                    let open = || state.tuples.iter().chain(&state.lost);
                    let completed = |m: &Message| m.phase == Phase::Completed;
                    !open().any(|tuple| {
                        let message = &state.messages[tuple.tree.message as usize];
                        completed(message) && message.attempt == tuple.tree.attempt
                    })
                },
            ),
            Property::always("no message is lost", |_, state: &State| state.nothing_lost()),
            Property::always("the ledger keeps nothing that nobody waits for", |_, state: &State| {
                state.ledger.iter().all(|pending| {
                    state.is_open(pending.tree) || state.commands.contains(&Command::Cancel(pending.tree))
                })
            }),
            Property::always("counts add up", |_, state: &State| state.adds_up()),
            Property::sometimes("all messages complete", |_, state: &State| {
                state.messages.iter().all(|m| m.phase == Phase::Completed)
            }),
            Property::sometimes(
                "one completes at its second attempt, and words come late",
                |_, state: &State| {
                    let second = |m: &Message| m.phase == Phase::Completed && m.attempt == 2;
                    state.messages.iter().any(second) && state.tally.late > 0
                },
            ),
            Property::sometimes("one is exhausted", |_, state: &State| {
                state.messages.iter().any(|m| m.phase == Phase::Exhausted)
            }),
        ]
    }
}

impl Protocol {
    /// The message's next attempt: all its rows leave, each with a tree that is registered first.
    fn emit(&self, state: &mut State, message: u8) {
        let rows = self.rows[message as usize];
        let m = &mut state.messages[message as usize];
        m.phase = Phase::Emitted;
        m.attempt += 1;
        m.open = (0..rows).collect();
        let attempt = m.attempt;
        for row in 0..rows {
            let tree = Tree { message, row, attempt };
            state.commands.push(Command::Register(tree));
            insert(&mut state.tuples, Tuple { tree, depth: 0 });
            state.tally.emitted += 1;
        }
    }

    /// A bolt is done with a tuple. Whether the tree is over makes no difference here: to discard a stale
    /// tuple is only to say less.
    fn work(&self, state: &mut State, tuple: Tuple) {
        remove(&mut state.tuples, tuple);
        let next = Tuple { depth: tuple.depth + 1, ..tuple };
        let made = u8::from(next.depth < self.chain);
        if made == 1 {
            insert(&mut state.tuples, next);
        }
        insert(&mut state.words, Word::Ack(tuple, made));
    }

    /// The spout hears of a tree's end.
    fn end(&self, state: &mut State) {
        let (tree, end) = state.ends.remove(0);
        if !state.is_open(tree) {
            return;
        }
        let m = &mut state.messages[tree.message as usize];
        m.open.retain(|&row| row != tree.row);
        match end {
            End::Acked if m.open.is_empty() => {
                m.phase = Phase::Completed;
                state.tally.completed += 1;
                state.tally.acked += 1;
            }
            End::Acked => state.tally.acked += 1,
            End::Failed | End::TimedOut | End::Cancelled => {
                state.tally.failed += u64::from(end != End::TimedOut);
                state.tally.timed_out += u64::from(end == End::TimedOut);
                state.cancel(tree.message);
                let again = state.messages[tree.message as usize].attempt < self.attempts;
                let phase = if again { Phase::Waiting } else { Phase::Exhausted };
                state.messages[tree.message as usize].phase = phase;
                if again {
                    state.waiting.push(tree.message);
                }
            }
        }
    }
}
