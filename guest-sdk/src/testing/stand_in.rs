//! The imports of the contract, played natively.
//!
//! In: the SDK's host calls. Out: entries in the [`Record`] of the harness whose bolt is running; without one they
//! go nowhere. Invariant: each harness sees only its own bolt, also with several of them in one test.

use std::cell::RefCell;

use super::record::{Emission, Failed, OwnedRow, Record};
use crate::Output;
use crate::bindings::anchorbolt::bolt::types::{Emissions, Failures, TupleInfo};
use crate::bindings::exports::anchorbolt::bolt::guest::OutputStream;

/// The host of one bolt.
#[derive(Debug, Default)]
pub(crate) struct Host {
    pub(crate) record: Record,
    pub(crate) streams: Vec<OutputStream>,
    pub(crate) outputs: Vec<Output>,
    /// The attempt that `describe` tells of.
    pub(crate) attempt: u32,
    /// Handles that are not settled.
    pub(crate) live: Vec<u32>,
}

thread_local! {
    static HOST: RefCell<Host> = RefCell::default();
}

impl Host {
    /// Runs `work` with this host in place.
    pub(crate) fn during<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let outer = HOST.replace(std::mem::take(self));
        let result = work();
        *self = HOST.replace(outer);
        result
    }

    fn take(&mut self, rows: &Emissions) {
        for index in 0..rows.streams.len() {
            let emission = self.emission(rows, index);
            self.record.emitted.push(emission);
        }
    }

    fn emission(&self, rows: &Emissions, index: usize) -> Emission {
        let slice = |offsets: &[u32]| offsets[index] as usize..offsets[index + 1] as usize;
        let stream = self.streams.get(rows.streams[index] as usize).expect("the stream is declared");
        let anchors = rows.anchors[slice(&rows.anchor_offsets)].to_vec();
        for anchor in &anchors {
            assert!(self.live.contains(anchor), "an emission is anchored to {anchor}, which is not live");
        }
        let data = &rows.data[slice(&rows.offsets)];
        if let Err(e) = anchorbolt_row::check_row(data, stream.fields.len()) {
            panic!("an emission on stream `{}` is refused: {e}", stream.name);
        }
        let task = rows.targets.get(index).copied().filter(|_| stream.direct);
        assert_eq!(stream.direct, task.is_some(), "stream `{}`: direct emission or not", stream.name);
        Emission { stream: stream.name.clone(), task, anchors, row: OwnedRow::copy(data) }
    }

    fn settle(&mut self, handle: u32) {
        let found = self.live.iter().position(|&live| live == handle);
        self.live.swap_remove(found.expect("only a live tuple is settled"));
    }

    /// The first task of each consumer.
    fn place(&self, stream: u32) -> Vec<u32> {
        let output = self.outputs.get(stream as usize);
        output.map_or(&[][..], |o| &o.consumers).iter().filter_map(|c| c.tasks.first().copied()).collect()
    }
}

fn with<T>(work: impl FnOnce(&mut Host) -> T) -> T {
    HOST.with_borrow_mut(work)
}

/// As the contract's interface.
pub(crate) mod collector {
    use super::{Emissions, Failed, Failures, TupleInfo, with};

    pub(crate) fn emit(rows: &Emissions) {
        with(|host| host.take(rows));
    }

    pub(crate) fn emit_placed(rows: &Emissions) -> Vec<Vec<u32>> {
        with(|host| {
            host.take(rows);
            rows.streams.iter().map(|&stream| host.place(stream)).collect()
        })
    }

    pub(crate) fn ack(handles: &[u32]) {
        with(|host| {
            handles.iter().for_each(|&handle| host.settle(handle));
            host.record.acked.extend(handles);
        });
    }

    pub(crate) fn fail(failed: &Failures) {
        with(|host| {
            for (index, &handle) in failed.ids.iter().enumerate() {
                host.settle(handle);
                let (kind, reason) = (failed.kinds[index], failed.reasons[index].clone());
                host.record.failed.push(Failed { handle, kind, reason });
            }
        });
    }

    pub(crate) fn reset_timeout(handles: &[u32]) {
        with(|host| host.record.timeouts_reset.extend(handles));
    }

    pub(crate) fn report_error(message: &str) {
        with(|host| host.record.errors.push(message.into()));
    }

    pub(crate) fn describe(handles: &[u32]) -> Vec<TupleInfo> {
        let info = |handle: &u32, attempt| TupleInfo {
            source_task: 1,
            message_id: Some(format!("test@{handle}")),
            attempt,
            age_us: 0,
            identity: format!("test@{handle}"),
        };
        with(|host| handles.iter().map(|handle| info(handle, host.attempt)).collect())
    }

    pub(crate) fn progress(index: u32) {
        with(|host| host.record.progress.push(index));
    }
}

/// As the contract's interface.
pub(crate) mod logging {
    use super::with;
    use crate::log::Level;

    pub(crate) fn log(level: Level, message: &str) {
        with(|host| host.record.logs.push((level, message.into())));
    }
}

/// As the contract's interface.
pub(crate) mod metrics {
    use super::with;

    pub(crate) fn counter_add(name: &str, delta: u64) {
        with(|host| *host.record.counters.entry(name.into()).or_default() += delta);
    }

    pub(crate) fn gauge_set(name: &str, value: f64) {
        with(|host| host.record.gauges.insert(name.into(), value));
    }

    pub(crate) fn histogram_record(name: &str, value: f64) {
        with(|host| host.record.histograms.entry(name.into()).or_default().push(value));
    }
}
