//! What a spout task sends: retries that are due, then new messages, each row as a tree of its own.
//!
//! In: kept rows, the spout's output. Out: tuples in the router, registrations in the ledger. Invariant: a tree is
//! registered before its tuples leave, and no more is emitted than there is room for.

use super::env::Event;
use super::spout_cell::State;
use super::spout_task::SpoutTask;
use super::track::{Track, TrackMap, edge};
use anchorbolt_core::failure::{Cost, Failure};
use anchorbolt_core::grouping::{GroupingFault, RowFault, Source};
use anchorbolt_core::ids::{MessageId, Paths, Time};
use anchorbolt_core::messages::MessageSlot;
use anchorbolt_core::port::{Next, SpoutOutput};
use parking_lot::MutexGuard;
use std::sync::atomic::Ordering::Relaxed;

/// Most messages that one turn asks a spout for.
const TURN_MESSAGES: usize = 256;

impl SpoutTask {
    /// Retries that are due, before new messages.
    pub(super) fn emit_due(&mut self, state: &mut MutexGuard<'_, State>, now: Time) -> bool {
        let mut worked = false;
        for _ in 0..TURN_MESSAGES {
            let Some(slot) = state.messages.take_due(now) else { break };
            worked = true;
            let rows = state.messages.lend_rows(slot);
            if !self.parts.choosing.is_empty() {
                MutexGuard::unlocked(state, || self.parts.choosing.ask_rows(rows.iter()));
            }
            self.parts.choosing.exchange(&mut self.parts.router);
            for (number, (stream, row)) in (0..).zip(rows.iter()) {
                self.emit_row(state, slot, (stream, row), number, now);
            }
            self.parts.choosing.exchange(&mut self.parts.router);
            state.messages.return_rows(slot, rows);
        }
        worked
    }

    /// New messages, as many as there is room for.
    pub(super) fn emit_new(
        &mut self,
        state: &mut MutexGuard<'_, State>,
        map: &TrackMap,
        now: Time,
        full: &mut bool,
    ) -> bool {
        if !self.active || self.done || self.is_idle(now) {
            return false;
        }
        let room = if self.parts.tracking { state.messages.room() } else { TURN_MESSAGES };
        *full = room == 0;
        let span = self.keeping.as_ref().map_or(u64::MAX, |keeping| keeping.room(state));
        // What the spout owes was read before: others may wait for its end, and no quota is for it.
        let owed = state.messages.owed().min(room).min(TURN_MESSAGES);
        let budget = room.min(TURN_MESSAGES).min(usize::try_from(span).unwrap_or(usize::MAX)).max(owed);
        let claimed = if budget == owed { 0 } else { self.claim(budget - owed) };
        if owed + claimed == 0 {
            // With none left of the quota the task waits: another may give some back.
            self.idle_until = if budget > 0 { Some(None) } else { self.idle_until };
            return false;
        }
        let before = state.messages.counts().read;
        let next = state.spout.next(&mut self.output, owed + claimed);
        let mut output = std::mem::take(&mut self.output);
        if !self.parts.choosing.is_empty() {
            MutexGuard::unlocked(state, || self.parts.choosing.ask_output(&output));
        }
        self.parts.choosing.exchange(&mut self.parts.router);
        self.take_output(state, &mut output, now);
        self.parts.choosing.exchange(&mut self.parts.router);
        output.clear();
        self.output = output;
        let read = state.messages.counts().read - before;
        if let (true, Some(keeping)) = (read > 0, &mut self.keeping) {
            keeping.moved();
        }
        self.account(claimed, read, map);
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

    /// Claims messages of what the run may still read.
    fn claim(&self, budget: usize) -> usize {
        if self.env.quota.load(Relaxed) == u64::MAX {
            return budget;
        }
        let take = |left: u64| Some(left.saturating_sub(budget as u64));
        let left = self.env.quota.fetch_update(Relaxed, Relaxed, take).unwrap_or(0);
        left.min(budget as u64) as usize
    }

    /// Gives back what was claimed and not read, and says when the run has read all that it may.
    fn account(&self, claimed: usize, read: u64, map: &TrackMap) {
        if self.env.quota.load(Relaxed) == u64::MAX {
            return;
        }
        let unread = (claimed as u64).saturating_sub(read);
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
            let number = i as u32;
            match output.ids.get(i).copied().flatten() {
                Some(id) if self.parts.tracking => {
                    let Some(slot) = state.messages.begin(id, now) else { continue };
                    state.messages.keep_row(slot, stream, row);
                    self.emit_row(state, slot, (stream, row), number, now);
                }
                id => self.emit_untracked(state, id, (stream, row), number),
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
    fn emit_row(
        &mut self,
        state: &mut State,
        slot: MessageSlot,
        (stream, row): (u32, &[u8]),
        number: u32,
        now: Time,
    ) {
        let Some(root) = state.messages.open_tree(slot, now) else { return };
        let attempt = state.messages.attempt(slot);
        if self.parts.router.keeps_paths() {
            self.parts.router.descend(Paths::of(0, state.messages.opened(slot)));
        }
        let rng = &mut self.rng;
        let mut draw = || edge(rng);
        self.parts.router.number(number);
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
                let failure = self.row_failure(&fault);
                self.refused.push((root, failure));
            }
        }
    }

    fn emit_untracked(
        &mut self,
        state: &mut State,
        id: Option<MessageId>,
        (stream, row): (u32, &[u8]),
        number: u32,
    ) {
        let new = state.messages.untracked(id);
        self.parts.router.number(number);
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
        let (component, task, input) = (self.parts.name.clone(), 0, None);
        match fault.custom() {
            Some(GroupingFault { class, cost, reason, output }) => {
                let (class, cost, reason, output) = (*class, *cost, reason.clone(), output.clone());
                Failure { class, cost, component, task, reason, output, input }
            }
            None => {
                let (class, reason) = (fault.class(), format!("the spout emitted a bad row: {fault}"));
                Failure { class, cost: Cost::Final, component, task, reason, output: String::new(), input }
            }
        }
    }

    /// Registrations go to the ackers before the tuples go to the bolts.
    pub(super) fn send_begins(&mut self, map: &TrackMap, now: Time) {
        for (list, acker) in self.begins.iter_mut().zip(map.ackers.iter()) {
            if !list.is_empty() {
                acker.track(Track::Begin(now, std::mem::take(list)));
            }
        }
    }

    pub(super) fn send_refused(&mut self, map: &TrackMap) {
        for (root, failure) in self.refused.drain(..) {
            if let Some(acker) = map.ackers.get(map.place(root)) {
                acker.track(Track::Fails(vec![(root, failure)]));
            }
        }
    }

    pub(super) fn send_cancels(&mut self, map: &TrackMap) {
        for root in self.cancels.drain(..) {
            if let Some(acker) = map.ackers.get(map.place(root)) {
                acker.track(Track::Cancel(vec![root]));
            }
        }
    }
}
