//! Buffers that go round: batches come back here when their tuples were taken, and routers fill them again.
//!
//! Invariant: bounded. A batch whose buffer grew large is let go.

use anchorbolt_core::batch::Batch;
use parking_lot::Mutex;

const BATCHES_MAX: usize = 256;
const BYTES_MAX: usize = 1 << 20;

/// Spare batches.
#[derive(Debug, Default)]
pub(crate) struct Pool(Mutex<Vec<Batch>>);

impl Pool {
    /// Gives a batch back.
    pub(crate) fn put(&self, batch: Batch) {
        if batch.data.capacity() <= BYTES_MAX {
            let mut spare = self.0.lock();
            if spare.len() < BATCHES_MAX {
                spare.push(batch);
            }
        }
    }

    /// Takes up to `n` batches.
    pub(crate) fn take(&self, n: usize, out: &mut Vec<Batch>) {
        let mut spare = self.0.lock();
        let rest = spare.len().saturating_sub(n);
        out.extend(spare.drain(rest..));
    }
}
