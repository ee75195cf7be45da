//! What is true of the messages, kept beside the host by those who make it true: the spouts and bolts of the simulation.
//!
//! In: what spouts emit and are told, what the calls of bolts did that count. Out: nothing, or what is wrong. A tree is
//! not an XOR here but the number of its tuples that nobody has settled.
//!
//! Invariant: a message is completed only when every tuple of its current attempt is acked and none has failed.

use super::rows::Name;
use super::source::Kind;
use anchorbolt_core::failure::{Class, Failure};
use anchorbolt_core::ids::Time;
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) type Check = Result<(), String>;

/// A tuple as a bolt got it: its name, and for a message's row the attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TupleRef {
    pub(super) name: Name,
    pub(super) attempt: u32,
}

/// Copies of a row that were sent, came, and were acked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copies {
    pub(super) sent: u32,
    pub(super) taken: u32,
    pub(super) acked: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Attempt {
    pub(super) roots: Vec<Copies>,
    /// Tuples of bolts in its trees that nobody has acked.
    pub(super) open: u64,
    /// Classes of failures that something in its trees had.
    pub(super) causes: u32,
    /// The spout was told of its end, in this quiet.
    pub(super) ended: Option<u64>,
}

/// A message over all lives.
#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    /// In this life: how it was read, if it was, and what it still waits for.
    pub(super) kind: Option<Kind>,
    pub(super) pending: bool,
    pub(super) attempts: Vec<Attempt>,
    /// No attempt later than the present one began before.
    since: Time,
    /// How often it was read.
    pub(super) reads: u32,
    pub(super) completed: u32,
    pub(super) untracked: u32,
    pub(super) dropped: bool,
    pub(super) buried: bool,
    /// Its end was saved.
    pub(super) sealed: bool,
}

impl Message {
    fn end_attempt(&mut self, quiet: u64) {
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.ended = Some(quiet);
        }
    }

    /// Whether a checkpoint may call it done.
    pub(super) fn has_ended(&self) -> bool {
        self.completed > 0 || self.untracked > 0 || self.dropped || self.buried
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tuple {
    pub(super) trees: Vec<(usize, u32)>,
    pub(super) copies: Copies,
}

/// What holds for a life.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rules {
    pub(super) tracked: bool,
    pub(super) timeout: Duration,
    /// Queues of cycles and tables of held tuples may run over.
    pub(super) overflows: bool,
    /// Nothing goes wrong.
    pub(super) calm: bool,
    /// The ledgers are with the spouts: what failed is known there before a deadline is.
    pub(super) own_ledgers: bool,
}

#[derive(Debug, Default)]
pub(super) struct Oracle {
    pub(super) rules: Rules,
    pub(super) messages: Vec<Message>,
    pub(super) tuples: Vec<Tuple>,
    /// The task that gets a key over an input.
    pub(super) keys: BTreeMap<(usize, u32, u64), u32>,
    /// The last emission that a task got of another.
    pub(super) last: BTreeMap<(u32, u32), usize>,
    /// Of this life: how many ends spouts were told of, completed and given up.
    told: (u64, u64),
    /// How often nobody had anything to do.
    pub(super) quiet: u64,
    /// Over all lives: attempts that failed.
    pub(super) failures: u64,
}

pub(super) fn bit(class: Class) -> u32 {
    1 << class as u32
}

impl Oracle {
    pub(super) fn new(messages: usize) -> Oracle {
        Oracle { messages: vec![Message::default(); messages], ..Oracle::default() }
    }

    /// A life begins: nothing is in memory.
    pub(super) fn begin(&mut self, rules: Rules) {
        self.rules = rules;
        self.tuples.clear();
        self.keys.clear();
        self.last.clear();
        self.told = (0, 0);
        for message in &mut self.messages {
            (message.kind, message.pending) = (None, false);
            message.attempts.clear();
        }
    }

    /// What has ended is saved: it is not to be read again. Or nothing can be said of that.
    pub(super) fn seal(&mut self, sealed: bool) {
        for message in &mut self.messages {
            // Of those that this life did not read, it can only know what was saved before.
            let known = message.sealed || (message.kind.is_some() && !message.pending);
            message.sealed = sealed && known;
        }
    }

    /// A spout reads a message; so many copies of each row are sent.
    pub(super) fn read(&mut self, id: usize, kind: Kind, copies: &[u32], now: Time) -> Check {
        let tracked = self.rules.tracked;
        let message = &mut self.messages[id];
        if message.kind.is_some() {
            return Err(format!("message {id} is read twice in one life"));
        }
        if message.sealed || message.buried {
            return Err(format!("message {id} is read again although its end was saved: {message:?}"));
        }
        let untracked = kind == Kind::Untracked || (!tracked && kind != Kind::Refused);
        message.kind = Some(if untracked { Kind::Untracked } else { kind });
        message.reads += 1;
        (message.pending, message.since) = (!untracked, now);
        message.untracked += u32::from(untracked);
        let roots = copies.iter().map(|sent| Copies { sent: *sent, ..Copies::default() }).collect();
        message.attempts = vec![Attempt { roots, ..Attempt::default() }];
        Ok(())
    }

    /// A spout is told that a message is completed, or that it was emitted where nothing is tracked.
    pub(super) fn completed(&mut self, id: usize) -> Check {
        let message = &mut self.messages[id];
        if message.kind == Some(Kind::Untracked) && !self.rules.tracked {
            return Ok(());
        }
        if !message.pending {
            return Err(format!("message {id} is completed and was not pending"));
        }
        let attempt = message.attempts.last().ok_or("a message without an attempt")?;
        let open = attempt.roots.iter().map(|root| root.sent.saturating_sub(root.acked)).sum::<u32>();
        if open > 0 || attempt.open > 0 || attempt.causes != 0 {
            return Err(format!(
                "message {id} is completed in attempt {} while {open} of its rows and {} tuples below them are open \
                 (failures: {:b})",
                message.attempts.len(),
                attempt.open,
                attempt.causes
            ));
        }
        message.end_attempt(self.quiet);
        message.pending = false;
        message.completed += 1;
        self.told.0 += 1;
        Ok(())
    }

    /// A spout is told that an attempt failed.
    pub(super) fn attempt_failed(&mut self, id: usize, failure: &Failure, now: Time) -> Check {
        let rules = self.rules;
        let message = &mut self.messages[id];
        let attempt = message.attempts.last().filter(|_| message.pending);
        let attempt = attempt.ok_or_else(|| format!("message {id} failed and was not pending: {failure}"))?;
        let explained = match failure.class {
            Class::Timeout => {
                let told = rules.own_ledgers && attempt.causes != 0;
                now.since(message.since) >= rules.timeout && !told
            }
            Class::Overflow => rules.overflows,
            Class::Host | Class::Circuit | Class::Size => false,
            class => attempt.causes & bit(class) != 0,
        };
        if !explained || rules.calm {
            let (n, causes) = (message.attempts.len(), attempt.causes);
            return Err(format!(
                "attempt {n} of message {id} failed for nothing (causes {causes:b}): {failure}"
            ));
        }
        let fresh = |root: &Copies| Copies { sent: root.sent, ..Copies::default() };
        let next = Attempt { roots: attempt.roots.iter().map(fresh).collect(), ..Attempt::default() };
        message.end_attempt(self.quiet);
        message.attempts.push(next);
        message.since = now;
        self.failures += 1;
        Ok(())
    }

    /// A spout is told that a message is over; `letter`: whether it has a durable one.
    pub(super) fn gave_up(&mut self, id: usize, letter: bool, drops: bool) -> Check {
        let calm = self.rules.calm;
        let message = &mut self.messages[id];
        if !message.pending {
            return Err(format!("message {id} is given up and was not pending"));
        }
        if calm && message.kind != Some(Kind::Refused) {
            return Err(format!("message {id} is given up although nothing went wrong"));
        }
        if !drops && !letter {
            return Err(format!("message {id} is given up and has no letter on the disk"));
        }
        message.end_attempt(self.quiet);
        message.pending = false;
        message.dropped |= drops;
        message.buried |= letter;
        self.told.1 += 1;
        Ok(())
    }

    /// How many ends spouts were told of in this life: completed, and given up.
    pub(super) fn told(&self) -> (u64, u64) {
        self.told
    }
}
