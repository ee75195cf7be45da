//! One task of a spout: its source, its messages, and the ledger of its trees.
//!
//! In: tracking messages. Out: batches of new and replayed tuples. A turn never blocks: acks are taken first,
//! then deadlines, then retries, and new messages only when all that was emitted has left. Invariant: a
//! tree is registered before its tuples leave.

use super::diagnosis;
use super::env::{Directory, Env, Event};
use super::launch::ledger;
use super::track::{Track, TrackMap};
use crate::telemetry::{BoltCounters, LatencyFigures, SpoutFigures};
use anchorbolt_core::ack::{Generations, Ledger, TreeEvent, TreeEventKind};
use anchorbolt_core::batch::Batch;
use anchorbolt_core::failure::{Class, Cost, Failure};
use anchorbolt_core::grouping::{Router, RowFault, Source};
use anchorbolt_core::ids::{Edge, MessageId, RootId, Time};
use anchorbolt_core::messages::{Fate, MessageEvent, MessageSlot, Messages, MessagesSettings, TreeEnd};
use anchorbolt_core::port::{Next, Replay, Spout, SpoutOutput};
use anchorbolt_core::retry::{OnExhausted, RetryPolicy};
use hdrhistogram::Histogram;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Most messages that one turn asks a spout for.
const TURN_MESSAGES: usize = 256;

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
    /// Where its rows go.
    pub router: Router,
}

/// What others may look at.
pub(crate) struct SpoutCell {
    name: String,
    state: Mutex<State>,
}

struct State {
    spout: Box<dyn Spout>,
    messages: Messages,
    ledgers: Vec<Ledger>,
    latency: Histogram<u64>,
}

/// What a turn came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Something was done: take another turn before sleeping.
    pub worked: bool,
    /// When the next is due without a message.
    pub due: Option<Time>,
    /// No room for new messages, and nothing else to do.
    pub full: bool,
}

/// A spout's task.
pub(crate) struct SpoutTask {
    env: Arc<Env>,
    parts: SpoutTaskParts,
    cell: Arc<SpoutCell>,
    rng: fastrand::Rng,
    output: SpoutOutput,
    events: Vec<TreeEvent>,
    news: Vec<MessageEvent>,
    cancels: Vec<RootId>,
    acked: Vec<MessageId>,
    begins: Vec<Vec<(RootId, Edge)>>,
    reading: bool,
    done: bool,
    told: bool,
    idle_until: Option<Option<Time>>,
}

impl SpoutCell {
    /// The figures.
    pub(crate) fn figures(&self) -> SpoutFigures {
        let c = self.state.lock().messages.counts();
        SpoutFigures {
            read: c.read,
            completed: c.completed,
            untracked: c.untracked,
            dead_lettered: c.dead_lettered,
            dropped: c.dropped,
            handed_back: c.handed_back,
            pending: c.pending,
            skipped: 0,
            trees_emitted: c.trees_emitted,
            trees_acked: c.trees_acked,
            trees_failed: c.trees_failed,
            trees_timed_out: c.trees_timed_out,
            trees_pending: c.trees_pending,
            replayed: c.trees_replayed,
        }
    }

    /// Whether a message waits for a retry by the host.
    pub(crate) fn waits_for_retry(&self) -> bool {
        self.state.lock().messages.next_due().is_some()
    }

    /// Complete latency over several tasks.
    pub(crate) fn latency<'a>(cells: impl Iterator<Item = &'a SpoutCell>) -> LatencyFigures {
        let mut sum = histogram();
        for cell in cells {
            if let Err(e) = sum.add(&cell.state.lock().latency) {
                tracing::debug!("latency: {e}");
            }
        }
        let us = |ns: u64| ns.div_ceil(1000);
        LatencyFigures {
            mean: sum.mean() / 1000.0,
            p50: us(sum.value_at_quantile(0.5)),
            p99: us(sum.value_at_quantile(0.99)),
            p999: us(sum.value_at_quantile(0.999)),
            max: us(sum.max()),
        }
    }
}

impl Directory for SpoutCell {
    fn message(&self, root: RootId) -> Option<(String, Time)> {
        let state = self.state.lock();
        let message = state.messages.message_of(root)?;
        let position = state.spout.position(message.id);
        Some((format!("{}@{}", self.name, plain(&position)), message.started))
    }
}

/// A position as part of an id: `a.md:17` for `{"path": "a.md", "offset": 17}`.
fn plain(position: &serde_json::Value) -> String {
    match position {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Object(map) => map.values().map(plain).collect::<Vec<_>>().join(":"),
        other => other.to_string(),
    }
}

/// Latencies from a nanosecond to an hour, to three digits.
fn histogram() -> Histogram<u64> {
    // The bounds are constants and fit, so the other branch is never taken.
    Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap_or_else(|_| Histogram::new_from(&fallback()))
}

fn fallback() -> Histogram<u64> {
    #[allow(clippy::unwrap_used, reason = "three significant digits are legal")]
    Histogram::new(3).unwrap()
}

impl SpoutTask {
    /// A task whose spout is open and active.
    pub(crate) fn new(
        env: Arc<Env>,
        parts: SpoutTaskParts,
        spout: Box<dyn Spout>,
        ackers: usize,
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
            env,
            parts,
            rng: fastrand::Rng::new(),
            output: SpoutOutput::new(),
            events: vec![],
            news: vec![],
            cancels: vec![],
            acked: vec![],
            begins: (0..ackers).map(|_| vec![]).collect(),
            reading: true,
            done: false,
            told: false,
            idle_until: None,
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
        if std::mem::replace(&mut self.reading, false) {
            self.cell.state.lock().spout.deactivate();
        }
    }

    /// The last call to the spout.
    pub(crate) fn close(&mut self) {
        self.stop_reading();
        self.cell.state.lock().spout.close();
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
        let idle = self.idle_until.flatten().filter(|_| self.reading && !self.done);
        let deadline = state.ledgers.first().and_then(Ledger::next_deadline);
        turn.due = [deadline, state.messages.next_due(), idle].into_iter().flatten().min();
        drop(state);
        self.send_begins(map, now);
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
            if let Some(mut events) = track.apply(&mut state.ledgers, |_| 0) {
                self.events.append(&mut events);
            }
        }
        if let Some(ledger) = state.ledgers.first_mut() {
            ledger.expire(now);
            ledger.drain(&mut self.events);
        }
        if self.events.is_empty() {
            return self.deal_with_news(state);
        }
        self.end_trees(state, now);
        self.deal_with_news(state);
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
    fn deal_with_news(&mut self, state: &mut State) -> bool {
        state.messages.drain_events(&mut self.news);
        let any = !self.news.is_empty();
        for event in self.news.drain(..) {
            match event {
                MessageEvent::Completed { id, started, at, .. } => {
                    let ns = at.since(started).as_nanos() as u64;
                    state.latency.saturating_record(ns.max(1));
                    self.acked.push(id);
                }
                MessageEvent::Failed { slot, id, failure, .. } => {
                    note(&self.env, &failure);
                    if state.spout.fail(id, &failure) == Replay::Spout {
                        state.messages.hand_to_spout(slot);
                        self.done = false;
                        self.idle_until = None;
                    }
                }
                MessageEvent::Exhausted { slot, id, action, failure } => {
                    note(&self.env, &failure);
                    let name = format!("{}@{}", self.parts.name, plain(&state.spout.position(id)));
                    if action == OnExhausted::Stop {
                        let text =
                            format!("message {name} is exhausted and on-exhausted is `stop`: {failure}");
                        self.env.tell(Event::Stop(text));
                    } else {
                        tracing::error!(message = name, "dropped after its last attempt: {failure}");
                        state.messages.close(slot, Fate::Dropped);
                        state.spout.give_up(id);
                    }
                }
            }
        }
        if !self.acked.is_empty() {
            state.spout.ack(&self.acked);
            self.acked.clear();
        }
        any
    }

    /// Retries that are due, before new messages.
    fn emit_due(&mut self, state: &mut State, now: Time) -> bool {
        let mut worked = false;
        for _ in 0..TURN_MESSAGES {
            let Some(slot) = state.messages.take_due(now) else { break };
            worked = true;
            let rows = state.messages.lend_rows(slot);
            rows.iter().for_each(|(stream, row)| self.emit_row(state, slot, stream, row, now));
            state.messages.return_rows(slot, rows);
        }
        worked
    }

    /// New messages, as many as there is room for.
    fn emit_new(&mut self, state: &mut State, map: &TrackMap, now: Time, full: &mut bool) -> bool {
        if !self.reading || self.done || self.is_idle(now) {
            return false;
        }
        let room = if self.parts.tracking { state.messages.room() } else { TURN_MESSAGES };
        let budget = room.min(TURN_MESSAGES);
        *full = budget == 0;
        let granted = if budget == 0 { 0 } else { self.claim(budget) };
        if granted == 0 {
            return false;
        }
        let before = state.messages.counts().read;
        let next = state.spout.next(&mut self.output, granted);
        let mut output = std::mem::take(&mut self.output);
        self.take_output(state, &mut output, now);
        output.clear();
        self.output = output;
        let read = state.messages.counts().read - before;
        self.account(granted, read, map);
        let more = next == Ok(Next::More);
        match next {
            Ok(Next::More) => {}
            Ok(Next::Idle(wait)) => self.idle_until = Some(wait.map(|d| now.after(d))),
            Ok(Next::Done) => self.exhausted(),
            Err(error) => {
                self.done = true;
                self.env.tell(Event::SpoutFailed(error));
            }
        }
        read > 0 || more
    }

    fn is_idle(&mut self, now: Time) -> bool {
        if self.idle_until.is_some_and(|until| until.is_some_and(|at| at <= now)) {
            self.idle_until = None;
        }
        self.idle_until.is_some()
    }

    /// Claims messages of what the run may still read. With none left the task waits: another may give
    /// some back.
    fn claim(&mut self, budget: usize) -> usize {
        if self.env.quota.load(Relaxed) == u64::MAX {
            return budget;
        }
        let take = |left: u64| Some(left.saturating_sub(budget as u64));
        let left = self.env.quota.fetch_update(Relaxed, Relaxed, take).unwrap_or(0);
        if left == 0 {
            self.idle_until = Some(None);
        }
        left.min(budget as u64) as usize
    }

    /// Gives back what was claimed and not read, and says when the run has read all that it may.
    fn account(&mut self, granted: usize, read: u64, map: &TrackMap) {
        if self.env.quota.load(Relaxed) == u64::MAX {
            return;
        }
        let unread = (granted as u64).saturating_sub(read);
        if unread > 0 {
            self.env.quota.fetch_add(unread, Relaxed);
            map.spouts.iter().for_each(|spout| spout.poke());
        }
        let take = |left: u64| Some(left.saturating_sub(read));
        let left = self.env.to_read.fetch_update(Relaxed, Relaxed, take).unwrap_or(0);
        if (1..=read).contains(&left) {
            self.env.tell(Event::LimitReached);
        }
    }

    fn exhausted(&mut self) {
        self.done = true;
        if !std::mem::replace(&mut self.told, true) {
            self.env.tell(Event::Exhausted);
        }
    }

    fn take_output(&mut self, state: &mut State, output: &mut SpoutOutput, now: Time) {
        for i in 0..output.len() {
            let (stream, row) = (output.streams.get(i).copied().unwrap_or(0), output.row(i));
            match output.ids.get(i).copied().flatten() {
                Some(id) if self.parts.tracking => {
                    let Some(slot) = state.messages.begin(id, now) else { continue };
                    state.messages.keep_row(slot, stream, row);
                    self.emit_row(state, slot, stream, row, now);
                }
                id => self.emit_untracked(state, id, stream, row),
            }
        }
        for (id, failure) in output.refused.drain(..) {
            if state.messages.refuse(id, failure, now).is_none() {
                tracing::error!("a message was refused while the table of messages was full");
            }
        }
    }

    /// One row of a message: a tree of its own.
    #[inline]
    fn emit_row(&mut self, state: &mut State, slot: MessageSlot, stream: u32, row: &[u8], now: Time) {
        let Some(root) = state.messages.open_tree(slot, now) else { return };
        let attempt = state.messages.attempt(slot);
        let rng = &mut self.rng;
        let mut draw = || edge(rng);
        let routed = self.parts.router.route(stream, 0, row, attempt, Source::One(root), &mut draw);
        let (xor, fault) = match routed {
            Ok((xor, _)) => (xor, None),
            Err(fault) => (1, Some(fault)),
        };
        if let Some(ledger) = state.ledgers.first_mut() {
            ledger.register(root, xor, now);
            if let Some(fault) = fault {
                ledger.fail(root, self.row_failure(&fault));
            }
        } else if let Some(n) = std::num::NonZero::new(self.begins.len()) {
            let acker = root.slot() as usize % n;
            self.begins[acker].push((root, xor));
            if let Some(fault) = fault {
                // Told to the acker behind the registration, through the same queue.
                self.cancels.push(root);
                self.env.failure(&self.row_failure(&fault));
            }
        }
    }

    fn emit_untracked(&mut self, state: &mut State, id: Option<MessageId>, stream: u32, row: &[u8]) {
        let new = state.messages.untracked(id);
        let rng = &mut self.rng;
        let mut draw = || edge(rng);
        if let Err(fault) = self.parts.router.route(stream, 0, row, 1, Source::None, &mut draw) {
            self.env.failure(&self.row_failure(&fault));
        }
        if let (true, Some(id)) = (new, id) {
            self.acked.push(id);
        }
    }

    fn row_failure(&self, fault: &RowFault) -> Failure {
        let class = if matches!(fault, RowFault::Size { .. }) { Class::Size } else { Class::Protocol };
        Failure {
            class,
            cost: Cost::Final,
            component: self.parts.name.clone(),
            task: 0,
            reason: format!("the spout emitted a bad row: {fault}"),
            output: String::new(),
            input: None,
        }
    }

    /// Registrations go to the ackers before the tuples go to the bolts.
    fn send_begins(&mut self, map: &TrackMap, now: Time) {
        for (list, acker) in self.begins.iter_mut().zip(&map.ackers) {
            if !list.is_empty() {
                acker.track(Track::Begin(now, std::mem::take(list)));
            }
        }
    }

    fn send_cancels(&mut self, map: &TrackMap) {
        for root in self.cancels.drain(..) {
            if let Some(acker) = map.ackers.get(map.place(root)) {
                acker.track(Track::Cancel(vec![root]));
            }
        }
    }
}

/// Timeouts were noted when their trees ended, and deaths when the bolt's task saw them.
fn note(env: &Env, failure: &Failure) {
    let death = BoltCounters::FAULTS.contains(&failure.class) && failure.input.is_some();
    if !death && failure.class != Class::Timeout && failure.cost != Cost::Free {
        env.failure(failure);
    }
}

#[inline]
fn edge(rng: &mut fastrand::Rng) -> Edge {
    loop {
        let edge = rng.u64(..);
        if edge != 0 {
            return edge;
        }
    }
}
