//! What custom groupings chose for the emissions of a call, until they are routed.
//!
//! In: for each emission and each custom grouping of its stream, task ids or a fault. Out: the same, by the emission's
//! number. Invariant: an emission that nothing was chosen for goes nowhere on such edges.

use super::fault::GroupingFault;
use crate::ids::TaskId;
use std::ops::Range;

/// A buffer for so many tasks is kept.
const TASKS_KEPT: usize = 1 << 16;

/// The choices of a call. Emissions are numbered from 0, over all rows that were asked for in order.
#[derive(Debug, Default)]
pub struct Choices {
    /// For each emission the first of its entries; it has one for each custom grouping of its stream.
    first: Vec<u32>,
    entries: Vec<Entry>,
    tasks: Vec<TaskId>,
    faults: Vec<GroupingFault>,
}

#[derive(Clone, Debug)]
enum Entry {
    /// These of `tasks`.
    Tasks(Range<u32>),
    /// This one of `faults`.
    Fault(u32),
}

impl Choices {
    /// Forgets all and keeps the buffers, unless they have grown large.
    pub(super) fn clear(&mut self) {
        self.first.clear();
        self.entries.clear();
        self.tasks.clear();
        self.tasks.shrink_to(TASKS_KEPT);
        self.faults.clear();
    }

    /// How many emissions are numbered.
    pub(super) fn len(&self) -> usize {
        self.first.len()
    }

    /// How many tasks are chosen.
    pub(super) fn chosen(&self) -> usize {
        self.tasks.len()
    }

    /// Numbers another emission, whose stream has so many custom groupings.
    pub(super) fn push(&mut self, groupings: u32) {
        self.first.push(self.entries.len() as u32);
        self.entries.resize(self.entries.len() + groupings as usize, Entry::Tasks(0..0));
    }

    /// What the grouping at this place of the stream's chose for an emission.
    pub(super) fn set(&mut self, number: u32, place: u32, tasks: &[TaskId]) {
        let start = self.tasks.len() as u32;
        self.tasks.extend_from_slice(tasks);
        let end = self.tasks.len() as u32;
        self.put(number, place, Entry::Tasks(start..end));
    }

    /// How it failed.
    pub(super) fn fail(&mut self, number: u32, place: u32, fault: GroupingFault) {
        self.faults.push(fault);
        self.put(number, place, Entry::Fault(self.faults.len() as u32 - 1));
    }

    fn put(&mut self, number: u32, place: u32, entry: Entry) {
        let first = self.first.get(number as usize).map_or(usize::MAX, |first| *first as usize);
        if let Some(old) = self.entries.get_mut(first.saturating_add(place as usize)) {
            *old = entry;
        }
    }

    /// The tasks chosen for an emission.
    pub(super) fn tasks(&self, number: u32, place: u32) -> &[TaskId] {
        match self.entry(number, place) {
            Some(Entry::Tasks(range)) => {
                self.tasks.get(range.start as usize..range.end as usize).unwrap_or_default()
            }
            _ => &[],
        }
    }

    /// The first fault of an emission whose stream has so many custom groupings.
    pub(super) fn fault(&self, number: u32, groupings: u32) -> Option<&GroupingFault> {
        (0..groupings).find_map(|place| match self.entry(number, place)? {
            Entry::Fault(i) => self.faults.get(*i as usize),
            Entry::Tasks(_) => None,
        })
    }

    fn entry(&self, number: u32, place: u32) -> Option<&Entry> {
        self.entries.get(*self.first.get(number as usize)? as usize + place as usize)
    }
}
