//! The bounded exchange between a thread that reads a source and the executor that runs the spout.
//!
//! In, on the reading thread: rows and refusals, collected into blocks by a [`Feeder`]. Out, on the executor:
//! the same in the same order, by [`Feed::next`], which copies whole runs of rows and never waits. Blocks are
//! recycled, so a row costs no allocation.
//!
//! Invariant: what waits in between is bounded in bytes and in blocks (one block larger than the bound passes
//! alone), and the executor is woken after each hand-over that follows an [`Next::Idle`].

use anchorbolt_core::failure::Failure;
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::port::{Next, SpoutError, SpoutOutput, Waker};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

/// A block is handed over when it has this many bytes of rows,
const BLOCK_BYTES: usize = 64 << 10;
/// or this many messages.
const BLOCK_MESSAGES: usize = 1024;
/// So many bytes may wait, and so many blocks.
const QUEUE_BYTES: usize = 512 << 10;
const QUEUE_BLOCKS: usize = 8;
/// A recycled block gives back what it has beyond this.
const KEEP_BYTES: usize = 4 * BLOCK_BYTES;
/// One call of `next` stops behind the block that takes it past this.
const OUTPUT_BYTES: usize = 1 << 20;

/// The executor asked the reading thread to end.
#[derive(Debug)]
pub(crate) struct Closed;

/// The two ends of a new exchange.
pub(crate) fn feed(waker: Waker) -> (Feeder, Feed) {
    let shared = Arc::new(Shared::default());
    let feeder = Feeder { shared: shared.clone(), waker, block: Block::default() };
    (feeder, Feed { shared, block: Block::default(), row: 0, refusal: 0 })
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    room: Condvar,
}

#[derive(Default)]
struct State {
    full: VecDeque<Block>,
    free: Vec<Block>,
    bytes: usize,
    /// The executor found nothing and wants to be woken.
    idle: bool,
    stop: bool,
    end: Option<Result<(), SpoutError>>,
}

/// Messages of one source, in their order.
#[derive(Default)]
struct Block {
    /// The first number of each id.
    source: u64,
    data: Vec<u8>,
    /// Where each row ends in `data`.
    ends: Vec<u32>,
    /// The second number of each row's id.
    places: Vec<u64>,
    /// How many rows come before it, its own place, and why.
    refused: Vec<(usize, u64, Failure)>,
}

impl Block {
    fn messages(&self) -> usize {
        self.ends.len() + self.refused.len()
    }

    fn weight(&self) -> usize {
        self.data.len() + self.messages() * size_of::<(u64, u32)>()
    }

    fn clear(&mut self) {
        self.data.clear();
        self.data.shrink_to(KEEP_BYTES);
        self.ends.clear();
        self.places.clear();
        self.refused.clear();
    }
}

/// The reading thread's end.
pub(crate) struct Feeder {
    shared: Arc<Shared>,
    waker: Waker,
    block: Block,
}

impl Feeder {
    /// What follows comes from this source.
    pub(crate) fn source(&mut self, source: u64) -> Result<(), Closed> {
        if self.block.source != source {
            self.push()?;
            self.block.source = source;
        }
        Ok(())
    }

    /// Adds a row that `write` appends to the buffer; if that fails, nothing is added.
    #[inline]
    pub(crate) fn row<E>(
        &mut self,
        place: u64,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Result<(), E>, Closed> {
        let block = &mut self.block;
        let before = block.data.len();
        if let Err(error) = write(&mut block.data) {
            block.data.truncate(before);
            return Ok(Err(error));
        }
        block.ends.push(block.data.len() as u32);
        block.places.push(place);
        self.push_if_full()?;
        Ok(Ok(()))
    }

    /// Adds a message that can't be emitted.
    pub(crate) fn refuse(&mut self, place: u64, failure: Failure) -> Result<(), Closed> {
        let rows = self.block.ends.len();
        self.block.refused.push((rows, place, failure));
        self.push_if_full()
    }

    #[inline]
    fn push_if_full(&mut self) -> Result<(), Closed> {
        if self.block.data.len() >= BLOCK_BYTES || self.block.messages() >= BLOCK_MESSAGES {
            self.push()?;
        }
        Ok(())
    }

    /// Hands over what there is; waits for room.
    pub(crate) fn push(&mut self) -> Result<(), Closed> {
        if self.block.messages() == 0 {
            return if self.shared.state.lock().stop { Err(Closed) } else { Ok(()) };
        }
        let mut state = self.shared.state.lock();
        let weight = self.block.weight();
        let full = |s: &State| {
            s.full.len() >= QUEUE_BLOCKS || (!s.full.is_empty() && s.bytes + weight > QUEUE_BYTES)
        };
        while full(&state) && !state.stop {
            self.shared.room.wait(&mut state);
        }
        if state.stop {
            return Err(Closed);
        }
        let mut empty = state.free.pop().unwrap_or_default();
        empty.source = self.block.source;
        state.full.push_back(mem::replace(&mut self.block, empty));
        state.bytes += weight;
        let wake = mem::take(&mut state.idle);
        drop(state);
        if wake {
            self.waker.wake();
        }
        Ok(())
    }

    /// Waits this long, or until the executor closes.
    pub(crate) fn pause(&self, time: Duration) -> Result<(), Closed> {
        let mut state = self.shared.state.lock();
        if !state.stop {
            self.shared.room.wait_for(&mut state, time);
        }
        if state.stop { Err(Closed) } else { Ok(()) }
    }

    /// The last call: there is no more, or no way on.
    pub(crate) fn finish(mut self, end: Result<(), SpoutError>) {
        if self.push().is_ok() {
            self.end(end);
        }
    }

    fn end(&self, end: Result<(), SpoutError>) {
        let mut state = self.shared.state.lock();
        state.end.get_or_insert(end);
        state.idle = false;
        drop(state);
        self.waker.wake();
    }
}

impl Drop for Feeder {
    /// A reading thread that panics must not leave its executor waiting.
    fn drop(&mut self) {
        let state = self.shared.state.lock();
        let lost = state.end.is_none() && !state.stop;
        drop(state);
        if lost {
            let text = "the reading thread ended without saying why; this is a fault of the host";
            self.end(Err(SpoutError::Environment(text.to_owned())));
        }
    }
}

/// The executor's end.
pub(crate) struct Feed {
    shared: Arc<Shared>,
    block: Block,
    row: usize,
    refusal: usize,
}

impl Feed {
    /// Moves up to `budget` messages into `out`.
    pub(crate) fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        let mut left = budget;
        loop {
            left -= self.take(out, left);
            if left == 0 || out.data.len() >= OUTPUT_BYTES {
                return Ok(Next::More);
            }
            if let Some(next) = self.fetch(left == budget)? {
                return Ok(next);
            }
        }
    }

    /// Ends the reading thread: at its next hand-over, or its next pause.
    pub(crate) fn stop(&self) {
        self.shared.state.lock().stop = true;
        self.shared.room.notify_all();
    }

    /// Copies from the current block; answers how many messages.
    fn take(&mut self, out: &mut SpoutOutput, budget: usize) -> usize {
        let mut left = budget;
        while left > 0 {
            let refused = self.block.refused.get(self.refusal).map(|r| r.0);
            let rows = refused.unwrap_or(self.block.ends.len()) - self.row;
            if rows > 0 {
                left -= self.copy(out, rows.min(left));
            } else if let Some((_, place, failure)) = self.block.refused.get_mut(self.refusal) {
                let empty = Failure { reason: String::new(), component: String::new(), ..failure.clone() };
                out.refuse(MessageId::pair(self.block.source, *place), mem::replace(failure, empty));
                self.refusal += 1;
                left -= 1;
            } else {
                break;
            }
        }
        budget - left
    }

    /// Copies a run of rows in one go.
    fn copy(&mut self, out: &mut SpoutOutput, rows: usize) -> usize {
        let Block { source, data, ends, places, .. } = &self.block;
        let run = self.row..self.row + rows;
        let from = self.row.checked_sub(1).map_or(0, |before| ends[before]);
        let to = ends[run.end - 1];
        let base = out.data.len() as u32;
        out.data.extend_from_slice(&data[from as usize..to as usize]);
        out.offsets.extend(ends[run.clone()].iter().map(|end| base + (end - from)));
        out.ids.extend(places[run.clone()].iter().map(|&place| Some(MessageId::pair(*source, place))));
        out.streams.resize(out.streams.len() + rows, 0);
        self.row = run.end;
        rows
    }

    /// Gets the next block. Without one it answers what `next` has to say, given that it took `nothing`.
    fn fetch(&mut self, nothing: bool) -> Result<Option<Next>, SpoutError> {
        let mut state = self.shared.state.lock();
        let Some(block) = state.full.pop_front() else {
            return match &state.end {
                Some(end) => match end {
                    // The end is only said alone, so that nobody can miss the last rows.
                    _ if !nothing => Ok(Some(Next::More)),
                    Ok(()) => Ok(Some(Next::Done)),
                    Err(error) => Err(error.clone()),
                },
                None => {
                    state.idle = true;
                    Ok(Some(Next::Idle(None)))
                }
            };
        };
        state.bytes -= block.weight();
        let mut used = mem::replace(&mut self.block, block);
        (self.row, self.refusal) = (0, 0);
        used.clear();
        if state.free.len() < QUEUE_BLOCKS {
            state.free.push(used);
        }
        drop(state);
        self.shared.room.notify_one();
        Ok(None)
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.stop();
    }
}
