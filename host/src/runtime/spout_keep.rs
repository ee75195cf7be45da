//! What a spout task has written down, and when: checkpoints, and letters of messages that have failed for good.
//!
//! In: what its spout knows as done, exhausted messages, the keeper's answers. Out: jobs for the keeper.
//! Invariant: no more messages lie above what the last durable checkpoint knows as done than [`SPAN`] times
//! `max-spout-pending`, so the duplicates after a kill have a bound.

use super::inbox::Inbox;
use super::keep::{Job, Keep, Kept};
use super::spout_cell::{State, plain};
use super::spout_task::SpoutTask;
use super::track::Track;
use crate::durable::letter::wall;
use crate::durable::{Letter, LetterAttempt};
use crate::json::{self, Keys};
use anchorbolt_core::failure::FailedInput;
use anchorbolt_core::ids::{MessageId, Time};
use anchorbolt_core::messages::{Fate, MessageSlot};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;

/// How many times `max-spout-pending` messages may lie above the last durable checkpoint.
const SPAN: u64 = 16;
/// Letters of so many bytes may wait for the disk; the messages of others wait as they are.
const LETTER_BYTES_MAX: u64 = 16 << 20;
/// What a letter takes besides its message's bytes, about.
const LETTER_OVERHEAD: u64 = 1 << 10;
/// How often there is a checkpoint while something moves: what was done since comes again after a kill.
const INTERVAL: Duration = Duration::from_millis(250);
/// How long after one that could not be written.
const PAUSE: Duration = Duration::from_secs(1);

/// The keeping side of a spout task.
pub(super) struct Keeping {
    pub(super) keep: Arc<Keep>,
    keeper: Arc<Inbox>,
    span: u64,
    /// A snapshot is on its way to the disk.
    saving: bool,
    /// Something has ended or was read since the last snapshot.
    moved: bool,
    /// The next snapshot is due, unless it is wanted earlier.
    next: Time,
    /// No snapshot before this: the last could not be written.
    not_before: Time,
    /// Exhausted messages whose letters are still to be written.
    exhausted: VecDeque<(MessageSlot, MessageId, Time)>,
    /// Letters with the keeper, by their bytes, and the sum.
    under_way: HashMap<MessageSlot, u64>,
    under_way_bytes: u64,
    /// Letters can't be written.
    unwritable: bool,
}

impl Keeping {
    pub(super) fn new(keep: Arc<Keep>, keeper: Arc<Inbox>, max_pending: u32, now: Time) -> Keeping {
        Keeping {
            keep,
            keeper,
            span: SPAN * u64::from(max_pending.max(1)),
            saving: false,
            moved: false,
            next: now.after(INTERVAL),
            not_before: now,
            exhausted: VecDeque::new(),
            under_way: HashMap::new(),
            under_way_bytes: 0,
            unwritable: false,
        }
    }

    /// How many messages the spout may read before the next checkpoint is durable.
    pub(super) fn room(&self, state: &State) -> u64 {
        if self.unwritable || state.spout.is_crowded() {
            return 0;
        }
        self.span.saturating_sub(state.spout.outstanding())
    }

    /// Something was read, or has ended.
    pub(super) fn moved(&mut self) {
        self.moved = true;
    }

    /// When the next snapshot is due, if there is anything to save.
    pub(super) fn due(&self) -> Option<Time> {
        let may = self.moved && !self.saving && self.keep.checkpoints.is_some();
        may.then_some(self.next.max(self.not_before))
    }

    /// Takes a snapshot when it is due, or when half of the span is used up.
    pub(super) fn checkpoint(&mut self, owner: u32, state: &mut State, now: Time) {
        let Some(due) = self.due() else { return };
        let wanted = state.spout.is_crowded() || state.spout.outstanding() >= self.span / 2;
        if now < self.not_before || (now < due && !wanted) {
            return;
        }
        self.moved = false;
        self.next = now.after(INTERVAL);
        self.saving = self.save(owner, state);
    }

    /// Sends a snapshot to the keeper. False when this spout has none.
    pub(super) fn save(&self, owner: u32, state: &mut State) -> bool {
        let Some(payload) = self.keep.checkpoints.as_ref().and_then(|_| state.spout.snapshot()) else {
            return false;
        };
        self.keeper.track(Track::Job(Job::Save(owner, payload)));
        true
    }
}

impl SpoutTask {
    /// The keeper's answer.
    pub(super) fn take_kept(&mut self, state: &mut State, kept: Kept, now: Time) {
        let Some(keeping) = &mut self.keeping else { return };
        match kept {
            Kept::Saved => {
                keeping.saving = false;
                state.spout.saved();
            }
            Kept::NotSaved => {
                keeping.saving = false;
                keeping.moved = true;
                keeping.not_before = now.after(PAUSE);
            }
            Kept::Unwritable => keeping.unwritable = true,
            Kept::Buried(slots) => {
                keeping.unwritable = false;
                keeping.moved = true;
                for slot in slots {
                    keeping.under_way_bytes -= keeping.under_way.remove(&slot).unwrap_or(0);
                    let Some(id) = state.messages.id(slot) else { continue };
                    state.spout.give_up(id);
                    state.messages.close(slot, Fate::DeadLettered);
                }
                self.env.settled();
            }
        }
    }

    /// A message is exhausted at this time, and its letter is to be written.
    pub(super) fn bury(&mut self, slot: MessageSlot, id: MessageId, now: Time) {
        if let Some(keeping) = &mut self.keeping {
            keeping.exhausted.push_back((slot, id, now));
        }
    }

    /// Sends letters to the keeper, as many as may be under way.
    pub(super) fn send_letters(&mut self, state: &State) {
        let Some(mut keeping) = self.keeping.take() else { return };
        let mut letters = vec![];
        while keeping.under_way_bytes < LETTER_BYTES_MAX {
            let Some((slot, id, at)) = keeping.exhausted.pop_front() else { break };
            let letter = self.letter(state, slot, id, at, keeping.keep.started);
            let bytes = letter.bytes.len() as u64 + LETTER_OVERHEAD;
            keeping.under_way.insert(slot, bytes);
            keeping.under_way_bytes += bytes;
            letters.push((slot, letter));
        }
        if !letters.is_empty() {
            keeping.keeper.track(Track::Job(Job::Bury(self.parts.owner, letters)));
        }
        self.keeping = Some(keeping);
    }

    /// The letter of a message that was exhausted at this time.
    fn letter(
        &self,
        state: &State,
        slot: MessageSlot,
        id: MessageId,
        at: Time,
        started: OffsetDateTime,
    ) -> Letter {
        let position = state.spout.position(id);
        let rows: Vec<(u32, &[u8])> = state.messages.rows(slot).collect();
        let first = rows.first().and_then(|(stream, row)| self.as_json(*stream, row));
        let attempts = state.messages.history(slot).iter();
        Letter {
            id: format!("{}@{}", self.parts.name, plain(&position)),
            time: wall(started, at),
            topology: self.env.topology.clone(),
            spout: self.parts.name.clone(),
            bytes: state.spout.source_bytes(id, &rows),
            position,
            fields: first.unwrap_or(Value::Null),
            attempts: attempts.map(|attempt| LetterAttempt::new(attempt, started, input_as_json)).collect(),
        }
    }

    fn as_json(&self, stream: u32, row: &[u8]) -> Option<Value> {
        let fields = self.parts.fields.get(stream as usize)?;
        let mut text = vec![];
        json::object(row, &Keys::new(fields), &mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Whether exhausted messages are kept.
    pub(super) fn keeps_letters(&self) -> bool {
        self.keeping.is_some()
    }
}

/// A bolt's input: an array, as its fields' names are not known here.
fn input_as_json(input: &FailedInput) -> Value {
    json::row_values(&input.row).map_or(Value::Null, Value::Array)
}
