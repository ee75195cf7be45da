//! The state of the model: who knows what, and what is on its way.

/// One tree: the message, the row, the attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Tree {
    pub(crate) message: u8,
    pub(crate) row: u8,
    pub(crate) attempt: u8,
}

/// One tuple: its tree and how far down the chain it is. The number is also the name of its edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Tuple {
    pub(crate) tree: Tree,
    pub(crate) depth: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Phase {
    Unread,
    Emitted,
    Waiting,
    WithSpout,
    Exhausted,
    Completed,
    Closed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Message {
    pub(crate) phase: Phase,
    pub(crate) attempt: u8,
    /// Rows whose tree is open, as the spout knows.
    pub(crate) open: Vec<u8>,
}

/// From the spout to the ledger, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Command {
    Register(Tree),
    Cancel(Tree),
}

/// From bolts to the ledger, in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Word {
    /// This tuple is done; the number is how many tuples it made.
    Ack(Tuple, u8),
    Fail(Tuple),
}

impl Word {
    pub(crate) fn tree(self) -> Tree {
        match self {
            Word::Ack(tuple, _) | Word::Fail(tuple) => tuple.tree,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum End {
    Acked,
    Failed,
    TimedOut,
    Cancelled,
}

/// A tree as the ledger has it: tuples made and tuples done, of which it has heard.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pending {
    pub(crate) tree: Tree,
    made: Vec<u8>,
    done: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Tally {
    pub(crate) read: u64,
    pub(crate) completed: u64,
    pub(crate) closed: u64,
    pub(crate) emitted: u64,
    pub(crate) acked: u64,
    pub(crate) failed: u64,
    pub(crate) timed_out: u64,
    pub(crate) late: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) messages: Vec<Message>,
    /// Messages whose replay is the host's, in the order in which they failed.
    pub(crate) waiting: Vec<u8>,
    pub(crate) commands: Vec<Command>,
    /// In the order of their registration.
    pub(crate) ledger: Vec<Pending>,
    pub(crate) ends: Vec<(Tree, End)>,
    /// Sorted.
    pub(crate) tuples: Vec<Tuple>,
    /// Tuples that nobody will ever settle. Sorted.
    pub(crate) lost: Vec<Tuple>,
    /// Sorted.
    pub(crate) words: Vec<Word>,
    pub(crate) faults_left: u8,
    pub(crate) tally: Tally,
}

impl State {
    pub(crate) fn is_open(&self, tree: Tree) -> bool {
        let m = &self.messages[tree.message as usize];
        m.phase == Phase::Emitted && m.attempt == tree.attempt && m.open.contains(&tree.row)
    }

    /// All trees of the message that are open are given up.
    pub(crate) fn cancel(&mut self, message: u8) {
        let m = &mut self.messages[message as usize];
        let attempt = m.attempt;
        for row in std::mem::take(&mut m.open) {
            self.commands.push(Command::Cancel(Tree { message, row, attempt }));
            self.tally.failed += 1;
        }
    }

    pub(crate) fn command(&mut self) {
        match self.commands.remove(0) {
            Command::Register(tree) => self.ledger.push(Pending { tree, made: vec![0], done: vec![] }),
            Command::Cancel(tree) if self.is_pending(tree) => self.settle(tree, End::Cancelled),
            Command::Cancel(_) => self.tally.late += 1,
        }
    }

    pub(crate) fn is_pending(&self, tree: Tree) -> bool {
        self.ledger.iter().any(|pending| pending.tree == tree)
    }

    pub(crate) fn settle(&mut self, tree: Tree, end: End) {
        self.ledger.retain(|pending| pending.tree != tree);
        self.ends.push((tree, end));
    }

    pub(crate) fn hear(&mut self, word: Word) {
        remove(&mut self.words, word);
        let tree = word.tree();
        let Some(pending) = self.ledger.iter_mut().find(|pending| pending.tree == tree) else {
            self.tally.late += 1;
            return;
        };
        match word {
            Word::Fail(_) => self.settle(tree, End::Failed),
            Word::Ack(tuple, made) => {
                insert(&mut pending.done, tuple.depth);
                if made == 1 {
                    insert(&mut pending.made, tuple.depth + 1);
                }
                if pending.made == pending.done {
                    self.settle(tree, End::Acked);
                }
            }
        }
    }

    /// Each emitted message waits for a tree whose end is sure to come.
    pub(crate) fn nothing_lost(&self) -> bool {
        (0_u8..).zip(&self.messages).all(|(message, m)| match m.phase {
            Phase::Emitted => {
                let comes = |&row: &u8| {
                    let tree = Tree { message, row, attempt: m.attempt };
                    self.commands.contains(&Command::Register(tree))
                        || self.is_pending(tree)
                        || self.ends.iter().any(|(ended, _)| *ended == tree)
                };
                !m.open.is_empty() && m.open.iter().all(comes)
            }
            Phase::Waiting => self.waiting.contains(&message),
            _ => true,
        })
    }

    pub(crate) fn adds_up(&self) -> bool {
        let pending = |m: &&Message| !matches!(m.phase, Phase::Unread | Phase::Completed | Phase::Closed);
        let messages = self.messages.iter().filter(pending).count() as u64;
        let trees: usize = self.messages.iter().map(|m| m.open.len()).sum();
        let t = self.tally;
        t.read == t.completed + t.closed + messages
            && t.emitted == t.acked + t.failed + t.timed_out + trees as u64
    }
}

pub(crate) fn insert<T: Ord>(set: &mut Vec<T>, item: T) {
    if let Err(place) = set.binary_search(&item) {
        set.insert(place, item);
    }
}

pub(crate) fn remove<T: Ord>(set: &mut Vec<T>, item: T) {
    if let Ok(place) = set.binary_search(&item) {
        set.remove(place);
    }
}
