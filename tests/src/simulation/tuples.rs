//! What is true of the tuples of a life: which trees each is in, how many copies of it there are, who had them.
//!
//! In: what the calls of bolts did that count. Out: nothing, or what is wrong. Invariant: a tuple comes only after a call
//! that counts has sent it, and no more often.

use super::oracle::{Attempt, Check, Copies, Oracle, Tuple, TupleRef, bit};
use super::rows::Name;
use super::source::Kind;
use anchorbolt_core::failure::Class;
use std::collections::BTreeSet;

impl Oracle {
    fn trees(&self, tuple: TupleRef) -> Vec<(usize, u32)> {
        match tuple.name {
            Name::Root { message, .. } if self.messages[message].kind == Some(Kind::Tracked) => {
                vec![(message, tuple.attempt)]
            }
            Name::Root { .. } => vec![],
            Name::Child(n) => self.tuples.get(n).map(|t| t.trees.clone()).unwrap_or_default(),
        }
    }

    fn attempt(&mut self, (message, attempt): (usize, u32)) -> Option<&mut Attempt> {
        self.messages.get_mut(message)?.attempts.get_mut((attempt as usize).checked_sub(1)?)
    }

    /// The copies of what a tuple is a copy of.
    fn copies(&mut self, tuple: TupleRef) -> Option<&mut Copies> {
        match tuple.name {
            Name::Root { message, row } => self.attempt((message, tuple.attempt))?.roots.get_mut(row),
            Name::Child(n) => self.tuples.get_mut(n).map(|tuple| &mut tuple.copies),
        }
    }

    /// A call that counts had this tuple.
    pub(super) fn taken(&mut self, tuple: TupleRef) -> Check {
        let copies = self.copies(tuple).ok_or_else(|| format!("{tuple:?} was never sent"))?;
        copies.taken += 1;
        if copies.taken > copies.sent {
            return Err(format!(
                "{tuple:?} came more often than it was sent, or its call was dead: {copies:?}"
            ));
        }
        if self.is_over(tuple) {
            return Err(format!("{tuple:?} came although the spouts know that all of its trees are over"));
        }
        Ok(())
    }

    /// Whether it is in trees, and all who keep them know that they are over: a spout that has its ledger at once,
    /// ackers when nobody had anything to do since.
    fn is_over(&self, tuple: TupleRef) -> bool {
        let trees = self.trees(tuple);
        let over = |(message, attempt): &(usize, u32)| {
            let attempt = self.messages[*message].attempts.get((*attempt as usize).wrapping_sub(1));
            let ended = attempt.and_then(|attempt| attempt.ended);
            ended.is_some_and(|quiet| self.rules.own_ledgers || quiet < self.quiet)
        };
        !trees.is_empty() && trees.iter().all(over)
    }

    /// The name of the next emission of a bolt. It was sent once [`Oracle::emitted`] says so.
    pub(super) fn name(&mut self) -> usize {
        self.tuples.push(Tuple::default());
        self.tuples.len() - 1
    }

    /// A call that counts has emitted this, anchored to these.
    pub(super) fn emitted(&mut self, name: usize, anchors: &[TupleRef], copies: u32) {
        let mut trees: Vec<_> = anchors.iter().flat_map(|anchor| self.trees(*anchor)).collect();
        trees.sort_unstable();
        trees.dedup();
        for tree in &trees {
            if let Some(attempt) = self.attempt(*tree) {
                attempt.open += u64::from(copies);
            }
        }
        self.tuples[name] = Tuple { trees, copies: Copies { sent: copies, ..Copies::default() } };
    }

    /// A call that counts has acked this.
    pub(super) fn acked(&mut self, tuple: TupleRef) {
        if let Some(copies) = self.copies(tuple) {
            copies.acked += 1;
        }
        if let Name::Child(_) = tuple.name {
            for tree in self.trees(tuple) {
                if let Some(attempt) = self.attempt(tree) {
                    attempt.open = attempt.open.saturating_sub(1);
                }
            }
        }
    }

    /// This failed, by a call that counts or by a death.
    pub(super) fn failed(&mut self, tuple: TupleRef, class: Class) {
        for tree in self.trees(tuple) {
            if let Some(attempt) = self.attempt(tree) {
                attempt.causes |= bit(class);
            }
        }
    }

    /// Equal keys go to one task.
    pub(super) fn routed(&mut self, bolt: usize, input: u32, key: u64, task: u32) -> Check {
        let first = *self.keys.entry((bolt, input, key)).or_insert(task);
        if first == task {
            Ok(())
        } else {
            Err(format!("key {key} of bolt {bolt} went to task {first}, then {task}"))
        }
    }

    /// What one task sends another arrives in order.
    pub(super) fn arrived(&mut self, task: u32, source: u32, tuple: TupleRef) -> Check {
        let Name::Child(n) = tuple.name else { return Ok(()) };
        let last = self.last.insert((task, source), n).unwrap_or(0);
        if n >= last {
            return Ok(());
        }
        Err(format!("task {task} got emission {n} of task {source} after {last}"))
    }

    /// The most trees that can be pending while all that is not settled is in the hands of bolts.
    pub(super) fn trees_of<'a>(&self, held: impl Iterator<Item = &'a TupleRef>) -> u64 {
        let trees: BTreeSet<(usize, u32)> = held.flat_map(|tuple| self.trees(*tuple)).collect();
        let current = |(message, attempt): &&(usize, u32)| {
            let message = &self.messages[*message];
            message.pending && message.attempts.len() == *attempt as usize
        };
        trees.iter().filter(current).map(|(m, _)| self.messages[*m].attempts[0].roots.len() as u64).sum()
    }

    /// Outside every tree nothing is lost while the process lives: each copy that was sent came.
    pub(super) fn check_untracked(&self) -> Check {
        let lost = |copies: &Copies| copies.taken < copies.sent;
        let tuple = self.tuples.iter().position(|tuple| tuple.trees.is_empty() && lost(&tuple.copies));
        let root = self.messages.iter().position(|message| {
            let roots = message.attempts.iter().flat_map(|attempt| &attempt.roots);
            message.kind == Some(Kind::Untracked) && roots.into_iter().any(lost)
        });
        match (tuple, root) {
            (Some(n), _) => {
                Err(format!("emission {n} is in no tree and did not arrive: {:?}", self.tuples[n]))
            }
            (_, Some(n)) => {
                Err(format!("message {n} is untracked and did not arrive: {:?}", self.messages[n]))
            }
            _ => Ok(()),
        }
    }
}
