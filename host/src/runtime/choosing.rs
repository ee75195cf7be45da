//! The custom groupings of one task: guests that run between a call and the routing of what it emitted.
//!
//! In: a call's log, or rows of a spout. Out: choices in the task's router while its rows are routed. Invariant: a
//! grouping runs while no lock is held that others wait for, and a task without one is not slowed down.

use anchorbolt_core::grouping::{Choices, CustomGroupings, Router, Rows};
use anchorbolt_core::port::{Op, SpoutOutput};

/// The groupings, and what they chose last.
#[derive(Default)]
pub(crate) struct Choosing {
    groupings: CustomGroupings,
    choices: Choices,
}

impl Choosing {
    /// Groupings that were started.
    pub(crate) fn new(groupings: CustomGroupings) -> Choosing {
        Choosing { groupings, choices: Choices::default() }
    }

    /// Whether there are none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.groupings.is_empty()
    }

    /// Asks for what a call has emitted.
    pub(crate) fn ask_log(&mut self, log: &[Op]) {
        if !self.is_empty() {
            self.groupings.choose_log(log, &mut self.choices);
        }
    }

    /// Asks for what a spout has emitted.
    pub(crate) fn ask_output(&mut self, output: &SpoutOutput) {
        let SpoutOutput { streams, offsets, data, .. } = output;
        self.groupings.choose_rows(Rows { streams, offsets, data }, &mut self.choices);
    }

    /// Asks for the kept rows of a message.
    pub(crate) fn ask_rows<'a>(&mut self, rows: impl Iterator<Item = (u32, &'a [u8])>) {
        let (mut streams, mut offsets, mut data) = (vec![], vec![0], vec![]);
        for (stream, row) in rows {
            streams.push(stream);
            data.extend_from_slice(row);
            offsets.push(data.len() as u32);
        }
        let rows = Rows { streams: &streams, offsets: &offsets, data: &data };
        self.groupings.choose_rows(rows, &mut self.choices);
    }

    /// Gives the router what was chosen, before the rows are routed, and takes it back after.
    #[inline]
    pub(crate) fn exchange(&mut self, router: &mut Router) {
        if !self.is_empty() {
            router.exchange(&mut self.choices);
        }
    }
}
