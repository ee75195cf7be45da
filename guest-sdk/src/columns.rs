//! What a call does, in the flat arrays that cross to the host.
//!
//! In: single emissions and settlements. Out: one host call for many of them. The arrays are reused from call to
//! call, so a tuple costs no allocation. Invariant: emissions leave before the settlements of the same call, so
//! an anchor is always live when the host sees it.

use crate::bindings::anchorbolt::bolt::types::{Emissions, Failure, Failures};
use crate::host::collector;
use crate::{Anchors, IntoRow};

/// Emissions that wait in the guest: enough to make a crossing cheap, few enough to bound its memory.
const MAX_EMISSIONS: usize = 4096;
const MAX_BYTES: usize = 1 << 20;

/// One call's emissions and settlements.
#[derive(Debug)]
pub(crate) struct Columns {
    emissions: Emissions,
    acks: Vec<u32>,
    failures: Failures,
}

impl Columns {
    pub(crate) fn new() -> Self {
        let (anchor_offsets, offsets) = (vec![0], vec![0]);
        let emissions = Emissions {
            anchor_offsets,
            offsets,
            streams: Vec::new(),
            targets: Vec::new(),
            anchors: Vec::new(),
            data: Vec::new(),
        };
        let failures = Failures { ids: Vec::new(), reasons: Vec::new(), kinds: Vec::new() };
        Self { emissions, acks: Vec::new(), failures }
    }

    /// Adds one emission to a grouped stream.
    #[inline]
    pub(crate) fn emit(&mut self, stream: u32, anchors: impl Anchors, row: impl IntoRow) {
        row.append_to(&mut self.emissions.data);
        self.close_row(stream, anchors);
    }

    /// Adds one emission to a task of a direct stream.
    pub(crate) fn emit_direct(&mut self, stream: u32, task: u32, anchors: impl Anchors, row: impl IntoRow) {
        self.emissions.targets.resize(self.emissions.streams.len(), 0);
        self.emissions.targets.push(task);
        self.emit(stream, anchors, row);
    }

    /// The rows' bytes; what is appended becomes a row by [`close_row`](Self::close_row).
    pub(crate) fn data(&mut self) -> &mut Vec<u8> {
        &mut self.emissions.data
    }

    /// Makes what was appended since the last emission the row of another.
    #[inline]
    pub(crate) fn close_row(&mut self, stream: u32, anchors: impl Anchors) {
        let e = &mut self.emissions;
        anchors.append_to(&mut e.anchors);
        e.anchor_offsets.push(e.anchors.len() as u32);
        e.offsets.push(e.data.len() as u32);
        e.streams.push(stream);
        if e.streams.len() >= MAX_EMISSIONS || e.data.len() >= MAX_BYTES {
            self.send_emissions();
        }
    }

    /// Sends what waits, then one emission alone; answers the tasks it went to.
    pub(crate) fn emit_placed(&mut self, stream: u32, anchors: impl Anchors, row: impl IntoRow) -> Vec<u32> {
        self.send_emissions();
        let mut alone = Self::new();
        row.append_to(&mut alone.emissions.data);
        anchors.append_to(&mut alone.emissions.anchors);
        alone.emissions.anchor_offsets.push(alone.emissions.anchors.len() as u32);
        alone.emissions.offsets.push(alone.emissions.data.len() as u32);
        alone.emissions.streams.push(stream);
        collector::emit_placed(&alone.emissions).pop().unwrap_or_default()
    }

    #[inline]
    pub(crate) fn ack(&mut self, handle: u32) {
        self.acks.push(handle);
    }

    pub(crate) fn fail(&mut self, handle: u32, kind: Failure, reason: String) {
        self.failures.ids.push(handle);
        self.failures.kinds.push(kind);
        self.failures.reasons.push(reason);
    }

    /// Sends all of it.
    pub(crate) fn send(&mut self) {
        self.send_emissions();
        if !self.acks.is_empty() {
            collector::ack(&self.acks);
            self.acks.clear();
        }
        if !self.failures.ids.is_empty() {
            collector::fail(&self.failures);
            self.failures.ids.clear();
            self.failures.kinds.clear();
            self.failures.reasons.clear();
        }
    }

    fn send_emissions(&mut self) {
        let e = &mut self.emissions;
        if e.streams.is_empty() {
            return;
        }
        if !e.targets.is_empty() {
            e.targets.resize(e.streams.len(), 0);
        }
        collector::emit(e);
        e.streams.clear();
        e.targets.clear();
        e.anchors.clear();
        e.anchor_offsets.truncate(1);
        e.offsets.truncate(1);
        e.data.clear();
        // One huge row must not stay in memory for good.
        e.data.shrink_to(MAX_BYTES);
    }
}

/// No anchors: outside every tree.
#[derive(Clone, Copy)]
pub(crate) struct Unanchored;

impl Anchors for Unanchored {
    #[inline]
    fn append_to(self, _: &mut Vec<u32>) {}
}
