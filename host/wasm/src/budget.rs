//! What one call may bring across the boundary, counted over the call.
//!
//! Lengths of columns come in; a violation with both figures goes out when their sum passes the limits of
//! one tuple times the call's tuples. Wasmtime's own fuel is for each host call alone, so it is only the
//! backstop: a little above, without figures.

use crate::death::Stop;
use crate::text::sizes;
use anchorbolt_core::manifest::Limits;
use anchorbolt_core::pace::{CALL_BYTES_MAX, CALL_EMISSIONS_MAX};
use anchorbolt_core::port::Emissions;

/// Handles that one call may settle, reset or describe: far more than a task can hold.
const HANDLES_MAX: u64 = 4 << 20;
/// Entries of one call's log. Each takes some hundred bytes here, whatever it holds, and the limits of the
/// manifest do not see it; a guest that emits row by row stays far below.
const ENTRIES_MAX: u64 = 256 << 10;
/// Handles that one request may describe: the answers are made in the host before the guest takes them.
const DESCRIBED_MAX: usize = 64 << 10;
/// Bytes of reasons and errors that one call may keep; what is more is cut away.
const TEXTS_MAX: u64 = 16 << 20;

/// The counters of one call.
#[derive(Default)]
pub(crate) struct Budget {
    tuples: u64,
    emissions: u64,
    bytes: u64,
    anchors: u64,
    handles: u64,
    entries: u64,
    texts: u64,
}

impl Budget {
    /// A new call that may be charged for this many tuples.
    pub(crate) fn begin(&mut self, tuples: u32) {
        *self = Budget { tuples: tuples.max(1).into(), ..Budget::default() };
    }

    /// Counts emissions by the lengths of their columns. Whether those make sense is for the core to say.
    pub(crate) fn emit(&mut self, e: &Emissions, limits: &Limits) -> Result<(), Stop> {
        // The longest column counts: a short list of streams must not hide a long list of targets.
        let rows = e.streams.len().max(e.targets.len());
        let rows = rows.max(e.offsets.len().saturating_sub(1)).max(e.anchor_offsets.len().saturating_sub(1));
        self.emissions += rows as u64;
        self.bytes += e.data.len() as u64;
        self.anchors += e.anchors.len() as u64;
        let tuples = self.tuples;
        let counts = |used: u64, most: u64| (used.to_string(), most.to_string());
        let (emissions, anchors) =
            (u64::from(limits.emissions_per_tuple), u64::from(limits.anchors_per_tuple));
        within("emissions-per-tuple", tuples, self.emissions, emissions, CALL_EMISSIONS_MAX, counts)?;
        let bytes = limits.emitted_bytes_per_tuple;
        within("emitted-bytes-per-tuple", tuples, self.bytes, bytes, CALL_BYTES_MAX, sizes)?;
        within("anchors-per-tuple", tuples, self.anchors, anchors, CALL_EMISSIONS_MAX, counts)
    }

    /// Whether so many handles may be described at once.
    pub(crate) fn describe(&self, n: usize) -> Result<(), Stop> {
        if n > DESCRIBED_MAX {
            return Err(Stop::protocol(format!("{n} handles described at once, at most {DESCRIBED_MAX}")));
        }
        Ok(())
    }

    /// Counts handles of acks, fails, resets and descriptions.
    pub(crate) fn handles(&mut self, n: usize) -> Result<(), Stop> {
        self.handles += n as u64;
        if self.handles > HANDLES_MAX {
            let reason =
                format!("{} handles settled or described in a call, at most {HANDLES_MAX}", self.handles);
            return Err(Stop::protocol(reason));
        }
        Ok(())
    }

    /// Counts an entry of the log.
    pub(crate) fn entry(&mut self) -> Result<(), Stop> {
        self.entries += 1;
        if self.entries > ENTRIES_MAX {
            let reason = format!(
                "{} entries in the log of a call, at most {ENTRIES_MAX}: emit in batches",
                self.entries
            );
            return Err(if self.tuples > 1 { Stop::crowded(reason) } else { Stop::protocol(reason) });
        }
        Ok(())
    }

    /// Whether a text of this length is still kept.
    pub(crate) fn text(&mut self, len: usize) -> bool {
        self.texts += len as u64;
        self.texts <= TEXTS_MAX
    }
}

/// Whether a call has used no more than its tuples may, and than any call may.
fn within(
    name: &str,
    tuples: u64,
    used: u64,
    limit: u64,
    call_max: u64,
    show: impl Fn(u64, u64) -> (String, String),
) -> Result<(), Stop> {
    let call_max = call_max.max(limit);
    let budget = tuples.saturating_mul(limit);
    if used <= budget.min(call_max) {
        return Ok(());
    }
    let (shown, most) = show(used, budget.min(call_max));
    let what = format!("{name} limit reached: {shown} in a call of {tuples}");
    if budget > call_max {
        return Err(Stop::crowded(format!("{what}, at most {most} in any call")));
    }
    Err(Stop::protocol(format!("{what}, at most {} a tuple", show(used, limit).1)))
}

/// Bytes that one host call may lift: what the limits allow with the columns round it, but no more than
/// twice the guest's memory (a list in the host can be wider than in the guest, not that much wider).
pub(crate) fn hostcall_fuel(limits: &Limits, tuples: u32) -> usize {
    const ROW: u64 = 16; // stream, target and two offsets
    const HANDLE: u64 = 4;
    const SLACK: u64 = 1 << 20; // settlements, texts
    let rows = u64::from(limits.emissions_per_tuple) * ROW + u64::from(limits.anchors_per_tuple) * HANDLE;
    let tuple = limits.emitted_bytes_per_tuple.saturating_add(rows);
    let call = tuple.saturating_mul(tuples.max(1).into()).saturating_add(SLACK);
    usize::try_from(call.min(limits.memory_bytes.saturating_mul(2).max(SLACK))).unwrap_or(usize::MAX)
}

/// Bytes that the answer of a grouping may lift: for each of so many rows a list of all targets, and room for texts.
pub(crate) fn choose_fuel(rows: usize, targets: usize) -> usize {
    const LIST: usize = 64; // a list in the host, and in the guest
    const TASK: usize = 8;
    const SLACK: usize = 1 << 20; // log lines, the text of an error
    rows.saturating_mul(targets.saturating_mul(TASK).saturating_add(LIST)).saturating_add(SLACK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::test_limits;

    fn rows(n: u32, bytes: usize) -> Emissions {
        Emissions { streams: vec![0; n as usize], data: vec![0; bytes], ..Emissions::default() }
    }

    #[test]
    fn limits_are_of_a_tuple_and_counted_over_the_call() {
        let limits = test_limits();
        let mut budget = Budget::default();
        budget.begin(2);
        assert!(budget.emit(&rows(15, 0), &limits).is_ok());
        assert!(budget.emit(&rows(5, 200), &limits).is_ok());
        let stop = budget.emit(&rows(1, 0), &limits).expect_err("over");
        assert_eq!(
            stop.to_string(),
            "emissions-per-tuple limit reached: 21 in a call of 2, at most 10 a tuple"
        );
        budget.begin(2);
        let stop = budget.emit(&rows(1, 201), &limits).expect_err("over");
        assert!(stop.to_string().contains("201 bytes in a call of 2, at most 100 bytes a tuple"), "{stop}");
        budget.begin(1_000_000);
        assert!(budget.emit(&rows(1_000_000, 0), &limits).is_ok());
        let stop = budget.emit(&rows(1, 0), &limits).expect_err("over");
        let text =
            "emissions-per-tuple limit reached: 1000001 in a call of 1000000, at most 1000000 in any call";
        assert_eq!(stop.to_string(), text);
        budget.begin(0);
        let many = Emissions { targets: vec![0; 11], ..Emissions::default() };
        assert!(budget.emit(&many, &limits).is_err(), "the longest column counts");
    }
}
