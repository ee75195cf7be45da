//! The executor that writes what outlives the process, so that no spout waits for a disk.
//!
//! In: [`Job`]s of spout tasks, in order. Out: answers to their inboxes. Letters that can't be written are tried again
//! until they can; a checkpoint that can't is given up, for the next one says more.
//!
//! Invariant: what it says is written is durable; checkpoints of a task are written in the order they were taken.

use super::door::Door;
use super::env::{Env, Event};
use super::executor::{Executor, Step};
use super::inbox::{Command, Inbox};
use super::keep::{Job, Keep, Kept};
use super::track::Track;
use crate::durable::{DurableError, Letter};
use anchorbolt_core::failure::Class;
use anchorbolt_core::ids::Time;
use anchorbolt_core::messages::MessageSlot;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// How often letters that were kept long enough are done away with; the first time at the start.
const EXPIRY: Duration = Duration::from_secs(600);
/// So many letters are written at once.
const LETTERS_AT_ONCE: usize = 64;
/// A letter that is replayed again and again keeps so many of its attempts, the last ones.
const ATTEMPTS_MAX: usize = 64;
/// The pause after letters could not be written; it doubles.
const PAUSE: Duration = Duration::from_millis(250);
/// The longest.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// A spout task, to the keeper.
pub(crate) struct Owner {
    /// Its spout.
    pub spout: String,
    /// Its index among the spout's tasks, and how many those are.
    pub task: (u32, u32),
}

/// Whose letter it is: the spout task, and its message.
type Whose = (u32, MessageSlot);

/// The one who writes.
pub(crate) struct Keeper {
    env: Arc<Env>,
    inbox: Arc<Inbox>,
    keep: Arc<Keep>,
    owners: Vec<Owner>,
    /// Where answers go, by owner number.
    spouts: Arc<[Door]>,
    tracks: Vec<Track>,
    /// Letters that are to be written.
    burials: VecDeque<(Whose, Letter)>,
    /// When letters are tried again, and the pause before that.
    retry: Option<(Time, Duration)>,
    /// When letters are looked through next.
    expiry: Time,
    /// Of each spout the tasks that have saved; removed when all have.
    saved: BTreeMap<String, BTreeSet<u32>>,
}

impl Keeper {
    /// A keeper for these spout tasks, which are found there; both by owner number.
    pub(crate) fn new(
        env: Arc<Env>,
        inbox: Arc<Inbox>,
        keep: Arc<Keep>,
        owners: Vec<Owner>,
        spouts: Arc<[Door]>,
    ) -> Keeper {
        let saved = owners.iter().map(|owner| (owner.spout.clone(), BTreeSet::new())).collect();
        let (tracks, burials, retry, expiry) = (vec![], VecDeque::new(), None, env.clock.now());
        Keeper { env, inbox, keep, owners, spouts, tracks, burials, retry, expiry, saved }
    }

    fn take_jobs(&mut self) -> bool {
        let mut tracks = std::mem::take(&mut self.tracks);
        self.inbox.take_tracks(&mut tracks);
        let any = !tracks.is_empty();
        for track in tracks.drain(..) {
            match track {
                Track::Job(Job::Save(owner, payload)) => self.save(owner, &payload),
                Track::Job(Job::Bury(owner, letters)) => {
                    let burial = |(slot, letter)| ((owner, slot), letter);
                    self.burials.extend(letters.into_iter().map(burial));
                }
                other => tracing::error!(?other, "the keeper was sent something that is no job"),
            }
        }
        self.tracks = tracks;
        any
    }

    fn answer(&self, owner: u32, kept: Kept) {
        if let Some(to) = self.spouts.get(owner as usize) {
            to.track(Track::Kept(owner, kept));
        }
    }

    fn save(&mut self, number: u32, payload: &[u8]) {
        let (Some(owner), Some(checkpoints)) = (self.owners.get(number as usize), &self.keep.checkpoints)
        else {
            return;
        };
        let written = checkpoints.save(&owner.spout, owner.task.0, payload).and_then(|()| {
            let Some(saved) = self.saved.get_mut(&owner.spout) else { return Ok(()) };
            saved.insert(owner.task.0);
            if saved.len() as u32 == owner.task.1 {
                self.saved.remove(&owner.spout);
                // From now on nothing needs what more tasks had saved before.
                checkpoints.retain(&owner.spout, owner.task.1)?;
            }
            Ok(())
        });
        match written {
            Ok(()) => {
                self.keep.checkpoint_is(number, None);
                self.answer(number, Kept::Saved);
            }
            Err(DurableError(text)) => {
                let said =
                    format!("{text}; the spout reads no further than the span beyond its last checkpoint");
                self.env.error(&owner.spout, Class::Host, &said);
                self.keep.checkpoint_is(number, Some(text));
                self.answer(number, Kept::NotSaved);
                self.env.tell(Event::Unwritable);
            }
        }
    }

    fn expire(&mut self, now: Time) {
        if now < self.expiry {
            return;
        }
        self.expiry = now.after(EXPIRY);
        match self.keep.expire(now) {
            Ok(0) => {}
            Ok(letters) => tracing::info!(
                letters,
                "dead letters were kept for dead-letters.retention and are done away with"
            ),
            Err(error) => tracing::warn!("old dead letters can't be done away with: {error}"),
        }
    }

    /// Writes the next letters, unless it is too early for that.
    fn bury(&mut self, now: Time) -> bool {
        if self.burials.is_empty() || self.retry.is_some_and(|(at, _)| now < at) {
            return false;
        }
        let some = self.burials.len().min(LETTERS_AT_ONCE);
        let (whose, letters): (Vec<Whose>, Vec<Letter>) = self.burials.drain(..some).unzip();
        let written = match &self.keep.checkpoints {
            Some(_) => self.keep.letters.lock().put(&letters),
            None => self.bury_again(letters.clone()),
        };
        match written {
            Ok(_) => {
                self.retry = None;
                self.keep.letters_are(None);
                for (owner, slots) in by_owner(&whose) {
                    self.answer(owner, Kept::Buried(slots));
                }
            }
            Err(DurableError(text)) => {
                self.put_off(&whose, text, now);
                whose.into_iter().zip(letters).rev().for_each(|burial| self.burials.push_front(burial));
            }
        }
        true
    }

    /// In a replay, a letter goes on with the attempts of the one before.
    fn bury_again(&self, mut letters: Vec<Letter>) -> Result<usize, DurableError> {
        let mut store = self.keep.letters.lock();
        for letter in &mut letters {
            if let Some(mut old) = store.letters().get(&letter.id)? {
                let before = old.attempts.last().map_or(0, |last| last.n);
                letter.attempts.iter_mut().for_each(|attempt| attempt.n += before);
                old.attempts.append(&mut letter.attempts);
                letter.attempts = old.attempts;
                let too_many = letter.attempts.len().saturating_sub(ATTEMPTS_MAX);
                letter.attempts.drain(..too_many);
            }
        }
        store.replace(&letters)
    }

    /// These letters wait, and their spouts read no more.
    fn put_off(&mut self, whose: &[Whose], text: String, now: Time) {
        let pause = self.retry.map_or(PAUSE, |(_, pause)| (pause * 2).min(PAUSE_MAX));
        self.retry = Some((now.after(pause), pause));
        for (owner, _) in by_owner(whose) {
            if let Some(to) = self.owners.get(owner as usize) {
                self.env.error(&to.spout, Class::Host, &format!("{text}; the spout pauses until they can"));
            }
            self.answer(owner, Kept::Unwritable);
        }
        self.keep.letters_are(Some(text));
        self.env.tell(Event::Unwritable);
    }
}

fn by_owner(whose: &[Whose]) -> BTreeMap<u32, Vec<MessageSlot>> {
    let mut all = BTreeMap::<u32, Vec<MessageSlot>>::new();
    whose.iter().for_each(|(owner, slot)| all.entry(*owner).or_default().push(*slot));
    all
}

impl Executor for Keeper {
    fn step(&mut self) -> Step {
        let worked = self.take_jobs();
        let now = self.env.clock.now();
        self.expire(now);
        if self.bury(now) || worked {
            return Step::Again;
        }
        match self.inbox.take_command() {
            Some(Command::Close) => Step::Closed,
            None if self.inbox.may_park(false, false) => {
                let retry = self.retry.map(|(at, _)| at);
                let expiry = self.keep.expires().then_some(self.expiry);
                Step::Wait([retry, expiry].into_iter().flatten().min())
            }
            _ => Step::Again,
        }
    }
}
