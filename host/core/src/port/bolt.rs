//! Native bolts, for whoever embeds the host.
//!
//! In: batches of tuples. Out: what the bolt emits and settles, through a [`Collector`]. Invariant: as for a
//! plugin, a call happens or does not.

use super::{Call, Context, Emissions, FailKind, Op, Tuples};

/// A native bolt. Its effects, too, take place when the call returns; a panic is a death of the instance.
pub trait Bolt: Send {
    /// Makes it ready; once, first.
    fn prepare(&mut self, context: &Context) -> Result<(), String> {
        let _ = context;
        Ok(())
    }
    /// Works on a batch: settle each tuple with [`Collector::ack`] or [`Collector::fail`], now or later.
    /// An error fails all that the call did not settle.
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String>;
    /// The manifest's tick.
    fn tick(&mut self, out: &mut Collector<'_>) -> Result<(), String> {
        let _ = out;
        Ok(())
    }
    /// Emit and settle what is held, if it can be.
    fn flush(&mut self, out: &mut Collector<'_>) -> Result<(), String> {
        let _ = out;
        Ok(())
    }
    /// The last call.
    fn cleanup(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// Where a native bolt puts what it emits and settles.
pub struct Collector<'a> {
    call: &'a mut Call,
}

impl<'a> Collector<'a> {
    /// A collector that writes to a call's log.
    pub fn new(call: &'a mut Call) -> Collector<'a> {
        Collector { call }
    }

    /// Emits one encoded row on the declared stream with this index, anchored to these handles.
    pub fn emit(&mut self, stream: u32, anchors: &[u32], row: &[u8]) {
        if !matches!(self.call.log.last(), Some(Op::Emit(_))) {
            let offsets = vec![0];
            self.call.log.push(Op::Emit(Emissions {
                anchor_offsets: vec![0],
                offsets,
                ..Emissions::default()
            }));
        }
        if let Some(Op::Emit(e)) = self.call.log.last_mut() {
            e.streams.push(stream);
            e.anchors.extend_from_slice(anchors);
            e.anchor_offsets.push(e.anchors.len() as u32);
            e.data.extend_from_slice(row);
            e.offsets.push(e.data.len() as u32);
        }
    }

    /// These tuples are done.
    pub fn ack(&mut self, ids: &[u32]) {
        match self.call.log.last_mut() {
            Some(Op::Ack(list)) => list.extend_from_slice(ids),
            _ => self.call.log.push(Op::Ack(ids.to_vec())),
        }
    }

    /// This tuple failed.
    pub fn fail(&mut self, id: u32, kind: FailKind, reason: impl Into<String>) {
        match self.call.log.last_mut() {
            Some(Op::Fail(list)) => list.push((id, kind, reason.into())),
            _ => self.call.log.push(Op::Fail(vec![(id, kind, reason.into())])),
        }
    }

    /// Restarts the message timeout of the trees of these tuples.
    pub fn reset_timeout(&mut self, ids: &[u32]) {
        self.call.log.push(Op::ResetTimeout(ids.to_vec()));
    }

    /// Shows an error in the report without failing a tuple.
    pub fn report_error(&mut self, message: impl Into<String>) {
        self.call.log.push(Op::ReportError(message.into()));
    }
}
