//! A spout that feeds given rows, and the tracker of what it is told about them.
//!
//! In: rows, each a message. Out: the messages, and what the topology said of each. The id of a message is its place,
//! from 0. The host replays what fails.

use anchorbolt_core::failure::Failure;
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::port::{Next, Replay, Spout, SpoutContext, SpoutError, SpoutOutput};
use parking_lot::Mutex;
use std::sync::Arc;

/// What a spout is told of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// It is complete.
    Acked,
    /// An attempt failed; there will be another.
    Failed(Failure),
    /// It is over without completing.
    GivenUp,
}

/// What a spout was told, in order: the message's place, and what.
#[derive(Clone, Debug, Default)]
pub struct Tracker(Arc<Mutex<Vec<(u64, Told)>>>);

impl Tracker {
    /// Everything so far.
    pub fn all(&self) -> Vec<(u64, Told)> {
        self.0.lock().clone()
    }

    /// The messages that are complete, in the order in which they became so.
    pub fn acked(&self) -> Vec<u64> {
        self.places(|told| *told == Told::Acked)
    }

    /// The messages that are over without completing.
    pub fn given_up(&self) -> Vec<u64> {
        self.places(|told| *told == Told::GivenUp)
    }

    /// How the attempts of a message failed.
    pub fn failures(&self, message: u64) -> Vec<Failure> {
        let failed = |(place, told): &(u64, Told)| match told {
            Told::Failed(failure) if *place == message => Some(failure.clone()),
            _ => None,
        };
        self.0.lock().iter().filter_map(failed).collect()
    }

    fn places(&self, is: impl Fn(&Told) -> bool) -> Vec<u64> {
        self.0.lock().iter().filter(|(_, told)| is(told)).map(|(place, _)| *place).collect()
    }

    fn tell(&self, id: MessageId, told: Told) {
        self.0.lock().push((id.low(), told));
    }
}

/// The spout. Its tasks take turns: task i of n feeds the rows i, i + n, and so on.
pub struct Feeder {
    rows: Arc<Vec<Vec<u8>>>,
    tracker: Tracker,
    at: usize,
    tasks: usize,
}

impl Feeder {
    /// Feeds these encoded rows on stream `default`.
    pub fn new(rows: Arc<Vec<Vec<u8>>>, tracker: Tracker) -> Feeder {
        Feeder { rows, tracker, at: 0, tasks: 1 }
    }
}

impl Spout for Feeder {
    fn open(&mut self, context: SpoutContext) -> Result<(), SpoutError> {
        let context = context.context;
        (self.at, self.tasks) = (context.task_index as usize, context.task_count.max(1) as usize);
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        for _ in 0..budget {
            let Some(row) = self.rows.get(self.at) else { return Ok(Next::Done) };
            out.emit(MessageId::pair(0, self.at as u64), 0, row);
            self.at += self.tasks;
        }
        Ok(Next::More)
    }

    fn ack(&mut self, ids: &[MessageId]) {
        ids.iter().for_each(|id| self.tracker.tell(*id, Told::Acked));
    }

    fn fail(&mut self, id: MessageId, failure: &Failure) -> Replay {
        self.tracker.tell(id, Told::Failed(failure.clone()));
        Replay::Host
    }

    fn give_up(&mut self, id: MessageId) {
        self.tracker.tell(id, Told::GivenUp);
    }

    fn unique_ids(&self) -> bool {
        true
    }

    fn finite(&self) -> bool {
        true
    }
}
