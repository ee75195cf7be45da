//! From batches to the columns of one call: stale tuples are left out, and a tuple whose message was tried
//! before comes alone.

use super::env::Env;
use anchorbolt_core::batch::{Batch, Lineage};
use anchorbolt_core::ids::RootId;
use anchorbolt_core::oplog::held::Held;
use anchorbolt_core::port::Tuples;

/// A call takes no more bytes of rows than this, and at least one tuple.
const CALL_BYTES: usize = 1 << 20;

/// A batch that is being taken, and how far.
pub(crate) struct Cursor {
    /// The batch.
    pub batch: Batch,
    /// The next tuple.
    pub at: usize,
}

/// What loading did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Loaded {
    /// Tuples left out because their trees are over.
    pub stale: u64,
    /// The call takes no more.
    pub full: bool,
}

/// Fills a call from a batch, up to `most` tuples.
pub(crate) fn load(
    env: &Env,
    cursor: &mut Cursor,
    tuples: &mut Tuples,
    held: &mut Held,
    most: usize,
) -> Loaded {
    let batch = &mut cursor.batch;
    let fits = cursor.at == 0
        && tuples.len() + batch.len() <= most
        && tuples.data.len() + batch.data.len() <= CALL_BYTES;
    if fits && batch.attempts.is_empty() && !batch.roots.iter().any(|&root| maybe_over(env, root)) {
        load_whole(batch, tuples, held);
        cursor.at = batch.len();
        return Loaded { stale: 0, full: tuples.len() >= most };
    }
    load_each(env, cursor, tuples, held, most)
}

/// Whether a look at each tuple is needed.
#[inline]
fn maybe_over(env: &Env, root: RootId) -> bool {
    root != RootId::NONE && (root == RootId::MANY || env.is_over(root))
}

/// All of a batch, column by column.
fn load_whole(batch: &mut Batch, tuples: &mut Tuples, held: &mut Held) {
    let mut start = 0;
    for &(input, end) in &batch.inputs {
        tuples.inputs.resize(tuples.inputs.len() + (end - start) as usize, input);
        for i in start as usize..end as usize {
            let (root, edge) = (batch.roots[i], batch.edges[i]);
            let lineage = if root == RootId::NONE { Lineage::None } else { Lineage::One(root, edge) };
            held.push(lineage, batch.path(i), 1, batch.source, input);
        }
        start = end;
    }
    if tuples.data.is_empty() {
        std::mem::swap(&mut tuples.data, &mut batch.data);
        std::mem::swap(&mut tuples.offsets, &mut batch.offsets);
    } else {
        let base = tuples.data.len() as u32;
        tuples.data.extend_from_slice(&batch.data);
        tuples.offsets.extend(batch.offsets.iter().skip(1).map(|o| o + base));
    }
    tuples.ids.resize(tuples.inputs.len(), 0);
}

/// Tuple by tuple.
fn load_each(env: &Env, cursor: &mut Cursor, tuples: &mut Tuples, held: &mut Held, most: usize) -> Loaded {
    let mut loaded = Loaded::default();
    let batch = &mut cursor.batch;
    let mut run = batch.inputs.iter().position(|&(_, end)| end as usize > cursor.at).unwrap_or(0);
    while cursor.at < batch.len() {
        let i = cursor.at;
        let bytes = tuples.data.len() + batch.row(i).len();
        let attempt = batch.attempt(i);
        if tuples.len() >= most || (!tuples.is_empty() && (bytes > CALL_BYTES || attempt > 1)) {
            loaded.full = true;
            return loaded;
        }
        if batch.inputs[run].1 as usize <= i {
            run += 1;
        }
        cursor.at += 1;
        let lineage = batch.take_lineage(i);
        if is_stale(env, &lineage) {
            loaded.stale += 1;
            continue;
        }
        push(tuples, batch.inputs[run].0, batch.row(i));
        held.push(lineage, batch.path(i), attempt, batch.source, batch.inputs[run].0);
        if attempt > 1 {
            loaded.full = true;
            return loaded;
        }
    }
    loaded
}

/// Adds one tuple to the columns; its handle is filled in when the call begins.
pub(crate) fn push(tuples: &mut Tuples, input: u32, row: &[u8]) {
    tuples.ids.push(0);
    tuples.inputs.push(input);
    tuples.data.extend_from_slice(row);
    tuples.offsets.push(tuples.data.len() as u32);
}

/// Whether every tree that the tuple belongs to is over.
pub(crate) fn is_stale(env: &Env, lineage: &Lineage) -> bool {
    match lineage {
        Lineage::None => false,
        Lineage::One(root, _) => env.is_over(*root),
        Lineage::Many(list) => list.iter().all(|(root, _)| env.is_over(*root)),
    }
}
