//! The one place where an executor waits: its data, its acks, its commands.
//!
//! In: batches from other tasks (bounded in tuples and bytes: a producer that finds no room is told so, and
//! woken when there is some), tracking messages and commands (never blocked). Out: whatever its executor
//! asks for, tracking first. Invariant: a message put in is taken out once, in the order of its producer.

use super::cargo::Handed;
use super::env::Flushing;
use super::orders::Obeying;
use super::track::Track;
use anchorbolt_core::batch::Batch;
use crossbeam_utils::sync::Unparker;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::mpsc::Sender;

/// What a queue may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Tuples, and at least one batch.
    pub tuples: usize,
    /// Bytes, and at least one batch.
    pub bytes: u64,
    /// Bytes on edges that close a cycle, which never block.
    pub cycle_bytes: u64,
}

/// What the controller tells an executor.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// When the queue is empty and all is sent: flush each task, then let go of this.
    Flush(Arc<Flushing>),
    /// Spouts: read no more.
    StopReading,
    /// Spouts: read again, then let go of this.
    Activate(Arc<Obeying>),
    /// Spouts: read no more for now, then let go of this.
    Deactivate(Arc<Obeying>),
    /// Clean up and end.
    Close,
}

/// What became of a batch.
pub(crate) enum Pushed {
    /// It is in the queue.
    Taken,
    /// There is no room now; the producer will be woken.
    Full(Batch),
    /// The cycle's queue is over its bound; nobody will be woken.
    Overflow(Batch),
}

/// What waits in an inbox.
#[derive(Default)]
pub(crate) struct Waiting {
    /// Batches.
    pub data: VecDeque<Batch>,
    /// Batches of edges that close a cycle.
    pub cycle: VecDeque<Batch>,
    /// Tracking messages.
    pub tracks: Vec<Track>,
    /// Commands.
    pub commands: VecDeque<Command>,
}

impl Waiting {
    /// Takes in what waits elsewhere, after what is here.
    pub(crate) fn add(&mut self, other: Waiting) {
        self.data.extend(other.data);
        self.cycle.extend(other.cycle);
        self.tracks.extend(other.tracks);
        self.commands.extend(other.commands);
    }
}

struct State {
    data: VecDeque<Batch>,
    cycle: VecDeque<Batch>,
    tracks: Vec<Track>,
    commands: VecDeque<Command>,
    /// Where the executor is to hand its tasks over.
    yields: Option<Sender<Handed>>,
    tuples: usize,
    bytes: u64,
    cycle_bytes: u64,
    /// Executors that found no room, each once.
    producers: Vec<Arc<Inbox>>,
    parked: bool,
    /// Parked with something in its hands.
    holding: bool,
}

/// An executor's inbox.
pub(crate) struct Inbox {
    state: Mutex<State>,
    bounds: Bounds,
    unparker: Unparker,
    poked: AtomicBool,
    /// It is to hand its tasks over: said apart, for it is looked at in each step.
    is_to_yield: AtomicBool,
    /// It is to close, whatever waits.
    is_to_close: AtomicBool,
    /// As the unparker's own mark, which can't be looked at: for a topology without threads.
    woken: AtomicBool,
}

impl Inbox {
    /// An empty inbox of the executor that parks on the unparker's parker.
    pub(crate) fn new(bounds: Bounds, unparker: Unparker) -> Inbox {
        let state = State {
            data: VecDeque::new(),
            cycle: VecDeque::new(),
            tracks: Vec::new(),
            commands: VecDeque::new(),
            yields: None,
            tuples: 0,
            bytes: 0,
            cycle_bytes: 0,
            producers: Vec::new(),
            parked: false,
            holding: false,
        };
        Inbox {
            state: Mutex::new(state),
            bounds,
            unparker,
            poked: false.into(),
            is_to_yield: false.into(),
            is_to_close: false.into(),
            woken: false.into(),
        }
    }

    /// Puts a batch in, or says why not. `producer` is woken when there is room again.
    pub(crate) fn push(&self, batch: Batch, producer: &Arc<Inbox>) -> Pushed {
        let mut state = self.state.lock();
        let (tuples, bytes) = (batch.len(), batch.bytes());
        let fits = state.tuples + tuples <= self.bounds.tuples && state.bytes + bytes <= self.bounds.bytes;
        if !fits && state.tuples > 0 {
            if !is_among(producer, &state.producers) {
                state.producers.push(producer.clone());
            }
            return Pushed::Full(batch);
        }
        state.tuples += tuples;
        state.bytes += bytes;
        state.data.push_back(batch);
        self.wake(state);
        Pushed::Taken
    }

    /// Puts a batch of an edge that closes a cycle in: it does not wait, it overflows.
    pub(crate) fn push_cycle(&self, batch: Batch) -> Pushed {
        let mut state = self.state.lock();
        let bytes = batch.bytes();
        if state.cycle_bytes > 0 && state.cycle_bytes + bytes > self.bounds.cycle_bytes {
            return Pushed::Overflow(batch);
        }
        state.cycle_bytes += bytes;
        state.cycle.push_back(batch);
        self.wake(state);
        Pushed::Taken
    }

    /// Puts tracking messages in.
    pub(crate) fn track(&self, track: Track) {
        let mut state = self.state.lock();
        state.tracks.push(track);
        self.wake(state);
    }

    /// Puts a command in.
    pub(crate) fn command(&self, command: Command) {
        let mut state = self.state.lock();
        if matches!(command, Command::Close) {
            self.is_to_close.store(true, Relaxed);
        }
        state.commands.push_back(command);
        self.wake(state);
    }

    /// Asks the executor to hand its tasks over, once it has ended its call.
    pub(crate) fn ask_to_yield(&self, to: Sender<Handed>) {
        let mut state = self.state.lock();
        state.yields = Some(to);
        self.is_to_yield.store(true, Relaxed);
        self.wake(state);
    }

    /// Where the executor is to hand its tasks over, if it is.
    #[inline]
    pub(crate) fn take_yield(&self) -> Option<Sender<Handed>> {
        // What is written before the flag is read under the lock; one that is seen late is seen in the next step.
        if self.is_to_yield.load(Relaxed) { self.state.lock().yields.take() } else { None }
    }

    /// Whether the executor is to close once it has ended its call, whatever waits.
    #[inline]
    pub(crate) fn is_to_close(&self) -> bool {
        self.is_to_close.load(Relaxed)
    }

    /// Takes out all that waits, and wakes those who wait for room.
    pub(crate) fn empty(&self) -> Waiting {
        let mut state = self.state.lock();
        let producers = std::mem::take(&mut state.producers);
        (state.tuples, state.bytes, state.cycle_bytes) = (0, 0, 0);
        let waiting = Waiting {
            data: std::mem::take(&mut state.data),
            cycle: std::mem::take(&mut state.cycle),
            tracks: std::mem::take(&mut state.tracks),
            commands: std::mem::take(&mut state.commands),
        };
        drop(state);
        producers.iter().for_each(|producer| producer.unpark());
        waiting
    }

    /// Puts in what waited elsewhere, before anything else comes: its bounds were kept there.
    pub(crate) fn fill(&self, waiting: Waiting) {
        let mut state = self.state.lock();
        state.tuples = waiting.data.iter().map(Batch::len).sum();
        state.bytes = waiting.data.iter().map(Batch::bytes).sum();
        state.cycle_bytes = waiting.cycle.iter().map(Batch::bytes).sum();
        (state.data, state.cycle) = (waiting.data, waiting.cycle);
        (state.tracks, state.commands) = (waiting.tracks, waiting.commands);
        self.poked.store(true, Release);
    }

    /// Wakes the executor: a spout has something.
    pub(crate) fn poke(&self) {
        self.poked.store(true, Release);
        self.unpark();
    }

    /// Whether its executor would not sleep now, or not any more.
    pub(crate) fn is_woken(&self) -> bool {
        self.woken.load(Acquire)
    }

    /// The executor goes on.
    pub(crate) fn wake_is_taken(&self) {
        self.woken.store(false, Release);
    }

    /// Whether it was poked since this was last asked.
    pub(crate) fn was_poked(&self) -> bool {
        self.poked.swap(false, Acquire)
    }

    /// Takes all tracking messages.
    pub(crate) fn take_tracks(&self, out: &mut Vec<Track>) {
        let mut state = self.state.lock();
        state.parked = false;
        std::mem::swap(&mut state.tracks, out);
    }

    /// Takes the next batch; those of a cycle first, so that cycles drain.
    pub(crate) fn take_batch(&self) -> Option<Batch> {
        let mut state = self.state.lock();
        state.parked = false;
        if let Some(batch) = state.cycle.pop_front() {
            state.cycle_bytes -= batch.bytes();
            return Some(batch);
        }
        let batch = state.data.pop_front()?;
        state.tuples -= batch.len();
        state.bytes -= batch.bytes();
        if !state.producers.is_empty() {
            let producers = std::mem::take(&mut state.producers);
            drop(state);
            producers.iter().for_each(|producer| producer.unpark());
        }
        Some(batch)
    }

    /// Takes the next command.
    pub(crate) fn take_command(&self) -> Option<Command> {
        self.state.lock().commands.pop_front()
    }

    /// Says that the executor is about to park: true when there is nothing to do. `data` says whether it
    /// would take data, `holding` that it has tuples in its hands: taken and not worked on, or made and not sent.
    pub(crate) fn may_park(&self, data: bool, holding: bool) -> bool {
        let mut state = self.state.lock();
        let idle = state.tracks.is_empty()
            && state.commands.is_empty()
            && state.yields.is_none()
            && (!data || (state.data.is_empty() && state.cycle.is_empty()));
        (state.parked, state.holding) = (idle, holding);
        idle
    }

    /// Tuples that wait.
    pub(crate) fn queued(&self) -> usize {
        let (data, cycle) = self.queues();
        data + cycle
    }

    /// Tuples that wait, and those on edges that close a cycle.
    pub(crate) fn queues(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.tuples, state.cycle.iter().map(Batch::len).sum())
    }

    /// Whether nothing waits and the executor sleeps with empty hands.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.state.lock();
        state.parked
            && !state.holding
            && state.data.is_empty()
            && state.cycle.is_empty()
            && state.tracks.is_empty()
    }

    fn wake(&self, mut state: parking_lot::MutexGuard<'_, State>) {
        if std::mem::take(&mut state.parked) {
            drop(state);
            self.unpark();
        }
    }

    fn unpark(&self) {
        self.woken.store(true, Release);
        self.unparker.unpark();
    }
}

/// Whether this inbox is one of those.
pub(crate) fn is_among(inbox: &Arc<Inbox>, those: &[Arc<Inbox>]) -> bool {
    those.iter().any(|known| Arc::ptr_eq(known, inbox))
}

/// Each inbox once, in the order in which they come.
pub(crate) fn distinct(inboxes: impl Iterator<Item = Arc<Inbox>>) -> Vec<Arc<Inbox>> {
    let mut all: Vec<Arc<Inbox>> = vec![];
    for inbox in inboxes {
        if !is_among(&inbox, &all) {
            all.push(inbox);
        }
    }
    all
}
