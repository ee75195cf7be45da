//! One task of a spout: its source, its messages, and the ledger of its trees.
//!
//! In: tracking messages. Out: batches of new and replayed tuples. A turn never blocks: acks are taken first,
//! then deadlines, then retries, and new messages only when all that was emitted has left. Invariant: a
//! tree is registered before its tuples leave.

use super::choosing::Choosing;
use super::crew::ledger;
use super::diagnosis;
use super::env::{Env, Event, one_entry};
use super::spout_cell::{SpoutCell, State, histogram, plain};
use super::spout_keep::Keeping;
use super::track::{Track, TrackMap};
use crate::telemetry::BoltCounters;
use anchorbolt_core::ack::{Generations, Ledger, TreeEvent, TreeEventKind};
use anchorbolt_core::batch::Batch;
use anchorbolt_core::failure::{Class, Cost, Failure};
use anchorbolt_core::grouping::Router;
use anchorbolt_core::ids::{Edge, MessageId, RootId, Time};
use anchorbolt_core::messages::{Fate, MessageEvent, MessageSlot, Messages, MessagesSettings, TreeEnd};
use anchorbolt_core::port::{Replay, Spout, SpoutOutput};
use anchorbolt_core::retry::{OnExhausted, RetryPolicy};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// So many messages that failed for good are logged.
const ENDS_LOGGED: u32 = 100;

/// What a spout task is made of.
pub(crate) struct SpoutTaskParts {
    /// Its number among all spout tasks.
    pub owner: u32,
    /// The spout.
    pub name: String,
    /// Trees are tracked.
    pub tracking: bool,
    /// The ledger is here and not on an acker thread.
    pub own_ledger: bool,
    /// How many messages may be pending.
    pub max_pending: u32,
    /// How they are tried again.
    pub retry: RetryPolicy,
    /// When a tree times out.
    pub message_timeout: Duration,
    /// How far resets can move that.
    pub max_tree_age: Duration,
    /// The owner's generations.
    pub generations: Arc<Generations>,
    /// The fields of each of its output streams.
    pub fields: Vec<Vec<String>>,
    /// Where its rows go.
    pub router: Router,
    /// The custom groupings of its streams.
    pub choosing: Choosing,
}

/// What a turn came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Something was done: take another turn before sleeping.
    pub worked: bool,
    /// When the next is due without a message.
    pub due: Option<Time>,
    /// When there is something to emit, which has to wait while the outbox is not empty.
    pub emit_due: Option<Time>,
    /// No room for new messages, and nothing else to do.
    pub full: bool,
}

/// A spout's task.
pub(crate) struct SpoutTask {
    pub(super) env: Arc<Env>,
    pub(super) parts: SpoutTaskParts,
    pub(super) cell: Arc<SpoutCell>,
    pub(super) rng: fastrand::Rng,
    pub(super) output: SpoutOutput,
    pub(super) events: Vec<TreeEvent>,
    pub(super) news: Vec<MessageEvent>,
    pub(super) cancels: Vec<RootId>,
    /// Trees whose first row could not be routed, for ackers.
    pub(super) refused: Vec<(RootId, Failure)>,
    pub(super) acked: Vec<MessageId>,
    pub(super) begins: Vec<Vec<(RootId, Edge)>>,
    /// It may read, until the run comes to its end.
    pub(super) reading: bool,
    /// It is to read: see [`super::Order::Deactivate`].
    pub(super) active: bool,
    pub(super) done: bool,
    pub(super) told: bool,
    pub(super) idle_until: Option<Option<Time>>,
    pub(super) keeping: Option<Keeping>,
    /// Messages that failed for good and were logged.
    ends_logged: u32,
}

impl SpoutTask {
    /// A task whose spout is open and active.
    pub(crate) fn new(
        env: Arc<Env>,
        parts: SpoutTaskParts,
        spout: Box<dyn Spout>,
        ackers: usize,
        keeping: Option<Keeping>,
    ) -> SpoutTask {
        let settings = MessagesSettings {
            owner: parts.owner,
            max_pending: parts.max_pending,
            retry: parts.retry.clone(),
            unique_ids: spout.unique_ids(),
        };
        let ledgers = if parts.own_ledger { vec![ledger(&parts, 1, 0)] } else { vec![] };
        let messages = Messages::new(settings, parts.generations.clone());
        let state = State { spout, messages, ledgers, latency: histogram() };
        SpoutTask {
            cell: Arc::new(SpoutCell { name: parts.name.clone(), state: Mutex::new(state) }),
            rng: env.rng(u64::from(parts.owner)),
            parts,
            output: SpoutOutput::new(),
            events: vec![],
            news: vec![],
            cancels: vec![],
            refused: vec![],
            acked: vec![],
            begins: (0..ackers).map(|_| vec![]).collect(),
            reading: true,
            active: env.active.load(Relaxed),
            done: false,
            told: false,
            idle_until: None,
            keeping,
            ends_logged: 0,
            env,
        }
    }

    /// What others may look at.
    pub(crate) fn cell(&self) -> Arc<SpoutCell> {
        self.cell.clone()
    }

    /// Its number among all spout tasks.
    pub(crate) fn owner(&self) -> u32 {
        self.parts.owner
    }

    /// A ledger of its trees for an acker thread.
    pub(crate) fn shard(&self, shards: u32, shard: u32) -> Ledger {
        ledger(&self.parts, shards, shard)
    }

    /// Reads no more.
    pub(crate) fn stop_reading(&mut self) {
        self.deactivate();
        self.reading = false;
    }

    /// Reads no more for now.
    pub(crate) fn deactivate(&mut self) {
        if std::mem::replace(&mut self.active, false) {
            self.cell.state.lock().spout.deactivate();
        }
    }

    /// Reads again, unless the run comes to its end.
    pub(crate) fn activate(&mut self) {
        if !self.reading || std::mem::replace(&mut self.active, true) {
            return;
        }
        self.idle_until = None;
        if let Err(error) = self.cell.state.lock().spout.activate() {
            self.done = true;
            self.env.tell(Event::SpoutFailed(error));
        }
    }

    /// The last call to the spout.
    pub(crate) fn close(&mut self) {
        self.stop_reading();
        let cell = self.cell.clone();
        let mut state = cell.state.lock();
        if let Some(keeping) = &self.keeping {
            keeping.save(self.parts.owner, &mut state);
        }
        state.spout.close();
    }

    /// A nudge came: an idle spout is asked again.
    pub(crate) fn nudge(&mut self) {
        self.idle_until = None;
    }

    /// Takes acks in and lets trees expire. `emit`: the outbox is empty, so retries and new messages may go
    /// to `out`.
    pub(crate) fn turn(
        &mut self,
        tracks: &mut Vec<Track>,
        map: &TrackMap,
        emit: bool,
        out: &mut VecDeque<Batch>,
    ) -> Turn {
        let cell = self.cell.clone();
        let mut state = cell.state.lock();
        let now = self.env.clock.now();
        let mut turn = Turn { worked: !tracks.is_empty(), ..Turn::default() };
        self.take_in(&mut state, tracks, now);
        if emit {
            turn.worked |= self.emit_due(&mut state, now);
            turn.worked |= self.emit_new(&mut state, map, now, &mut turn.full);
        }
        // What was emitted without receivers, or failed at once, has ended already.
        turn.worked |= self.take_in(&mut state, tracks, now);
        let idle = self.idle_until.flatten().filter(|_| self.active && !self.done);
        let deadline =
            state.ledgers.first().filter(|_| self.env.deadlines_run()).and_then(Ledger::next_deadline);
        self.send_letters(&state);
        let mut checkpoint = None;
        if let Some(keeping) = &mut self.keeping {
            keeping.checkpoint(self.parts.owner, &mut state, now);
            checkpoint = keeping.due();
        }
        turn.due = [deadline, checkpoint].into_iter().flatten().min();
        turn.emit_due = [state.messages.next_due(), idle].into_iter().flatten().min();
        drop(state);
        self.send_begins(map, now);
        self.send_refused(map);
        self.send_cancels(map);
        let mut batches = vec![];
        self.parts.router.take(&mut batches);
        self.refill(batches.len());
        out.extend(batches);
        turn
    }

    fn refill(&mut self, used: usize) {
        if used > self.parts.router.spare() {
            let mut spare = vec![];
            self.env.pool.take(used, &mut spare);
            self.parts.router.lend(&mut spare);
        }
    }

    /// Acks, failures and deadlines; then what they mean for messages.
    fn take_in(&mut self, state: &mut State, tracks: &mut Vec<Track>, now: Time) -> bool {
        for track in tracks.drain(..) {
            if let Track::Kept(_, kept) = track {
                self.take_kept(state, kept, now);
            } else if let Some(mut events) = track.apply(&mut state.ledgers, |_| 0) {
                self.events.append(&mut events);
            }
        }
        if let Some(ledger) = state.ledgers.first_mut() {
            if self.env.deadlines_run() {
                ledger.expire(now);
            }
            ledger.drain(&mut self.events);
        }
        if self.events.is_empty() {
            return self.deal_with_news(state, now);
        }
        self.end_trees(state, now);
        self.deal_with_news(state, now);
        self.env.settled();
        true
    }

    fn end_trees(&mut self, state: &mut State, now: Time) {
        let is_late = |e: &&TreeEvent| e.kind == TreeEventKind::TimedOut;
        let late: Vec<RootId> = self.events.iter().filter(is_late).map(|e| e.root).collect();
        let mut reasons = match late.is_empty() {
            true => vec![].into_iter(),
            false => diagnosis::timeouts(&self.env, &late, self.parts.message_timeout, now).into_iter(),
        };
        for event in self.events.drain(..) {
            let (root, end) = TreeEnd::of(event, |_, _| {
                let mut failure = reasons.next().unwrap_or_else(|| diagnosis::unexplained(&self.parts.name));
                if failure.component.is_empty() {
                    failure.component.clone_from(&self.parts.name);
                }
                failure
            });
            if let TreeEnd::TimedOut(failure) = &end {
                self.env.failure(failure);
            }
            state.messages.tree_event(root, end, now, self.rng.u64(..));
        }
        let before = self.cancels.len();
        state.messages.drain_cancels(&mut self.cancels);
        if let Some(ledger) = state.ledgers.first_mut() {
            self.cancels.drain(before..).for_each(|root| ledger.cancel(root));
            ledger.drain(&mut self.events);
            for event in self.events.drain(..) {
                let (root, end) = TreeEnd::of(event, |_, _| diagnosis::unexplained(&self.parts.name));
                state.messages.tree_event(root, end, now, self.rng.u64(..));
            }
        }
    }

    /// Tells the spout what became of its messages.
    fn deal_with_news(&mut self, state: &mut State, now: Time) -> bool {
        state.messages.drain_events(&mut self.news);
        let any = !self.news.is_empty();
        let mut news = std::mem::take(&mut self.news);
        for event in news.drain(..) {
            match event {
                MessageEvent::Completed { id, started, at, .. } => {
                    let ns = at.since(started).as_nanos() as u64;
                    state.latency.saturating_record(ns.max(1));
                    self.acked.push(id);
                }
                MessageEvent::Failed { slot, id, failure, .. } => {
                    note(&self.env, &self.parts.name, &failure);
                    if state.spout.fail(id, &failure) == Replay::Spout {
                        state.messages.hand_to_spout(slot);
                        self.done = false;
                        self.idle_until = None;
                    }
                }
                MessageEvent::Exhausted { slot, id, action, failure } => {
                    note(&self.env, &self.parts.name, &failure);
                    self.exhausted_message(state, (slot, id), action, &failure, now);
                }
            }
        }
        self.news = news;
        if !self.acked.is_empty() {
            state.spout.ack(&self.acked);
            self.acked.clear();
        }
        if let (true, Some(keeping)) = (any, &mut self.keeping) {
            keeping.moved();
        }
        any
    }

    /// Says how a message ended, but not of a million of them: the report counts the rest.
    fn log_end(&mut self, message: &str, end: &str, failure: &Failure) {
        self.ends_logged = self.ends_logged.saturating_add(1);
        let failure = one_entry(&failure.to_string());
        match self.ends_logged {
            0..=ENDS_LOGGED => tracing::error!(message, "{end} after its last attempt: {failure}"),
            n if n == ENDS_LOGGED + 1 => {
                let spout = &*self.parts.name;
                tracing::error!(
                    spout,
                    "more messages have failed for good; they are counted and not logged here"
                );
            }
            _ => tracing::debug!(message, "{end} after its last attempt: {failure}"),
        }
    }

    /// A message has failed for good.
    fn exhausted_message(
        &mut self,
        state: &mut State,
        (slot, id): (MessageSlot, MessageId),
        action: OnExhausted,
        failure: &Failure,
        now: Time,
    ) {
        let name = format!("{}@{}", self.parts.name, plain(&state.spout.position(id)));
        match action {
            OnExhausted::Stop => {
                let text = format!("message {name} is exhausted and on-exhausted is `stop`: {failure}");
                self.env.tell(Event::Stop(text));
            }
            OnExhausted::DeadLetter if self.keeps_letters() => {
                self.log_end(&name, "a dead letter", failure);
                self.bury(slot, id, now);
            }
            OnExhausted::DeadLetter | OnExhausted::Drop => {
                self.log_end(&name, "dropped", failure);
                state.messages.close(slot, Fate::Dropped);
                state.spout.give_up(id);
            }
        }
    }
}

/// Timeouts were noted when their trees ended, and faults of bolts when their task saw them.
fn note(env: &Env, spout: &str, failure: &Failure) {
    let class = failure.class;
    let fault = BoltCounters::FAULTS.contains(&class) || class == Class::Size;
    let noted = (fault && failure.component != spout) || class == Class::Timeout;
    if !noted && failure.cost != Cost::Free {
        env.failure(failure);
    }
}
