//! The custom groupings of one task: one for each of its edges whose grouping is code.
//!
//! In: the rows of a call, before any is routed. Out: [`Choices`] for the router. Invariant: emissions are numbered in the
//! order of the log, whether they were asked for or not.

use super::choices::Choices;
use super::custom::{Custom, On};
use crate::plan::{Grouping, Plan};
use crate::port::{Emissions, GroupingFactory, Op};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What makes the instances of custom groupings, by the index of their edge in the plan.
pub type GroupingFactories = BTreeMap<usize, Arc<dyn GroupingFactory>>;

/// The custom groupings of one emitting task.
#[derive(Default)]
pub struct CustomGroupings {
    list: Vec<Custom>,
    /// For each stream, how many of them it has.
    places: Vec<u32>,
    tuple_bytes_max: u64,
}

/// Rows in columns: their streams, and where they lie.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// n indexes of streams.
    pub streams: &'a [u32],
    /// n+1 offsets into `data`.
    pub offsets: &'a [u32],
    /// Encoded rows.
    pub data: &'a [u8],
}

impl CustomGroupings {
    /// Those of a component's tasks; none has an instance yet.
    ///
    /// # Errors
    /// The text says for which edge there is no code.
    pub fn new(
        plan: &Plan,
        component: usize,
        tuple_bytes_max: u64,
        factories: &GroupingFactories,
    ) -> Result<CustomGroupings, String> {
        let (mut list, mut places) = (vec![], vec![]);
        for (stream, output) in (0..).zip(&plan.components[component].outputs) {
            let mut place = 0;
            for &e in &output.consumers {
                let edge = &plan.edges[e];
                let Grouping::Plugin { path, config } = &edge.grouping else { continue };
                let (from, to) = (&plan.components[edge.from], &plan.components[edge.to]);
                let what =
                    format!("grouping of `{}/{}` for `{}` by plugin {path}", from.name, output.name, to.name);
                let factory =
                    factories.get(&e).ok_or_else(|| format!("there is no code for the {what}"))?.clone();
                let (fields, targets) = (output.fields.clone(), to.tasks.clone());
                let on = On { what, stream, place, fields, targets, config: config.to_string() };
                list.push(Custom::new(on, factory));
                place += 1;
            }
            places.push(place);
        }
        Ok(CustomGroupings { list, places, tuple_bytes_max })
    }

    /// Whether there are none, so that nobody need be asked.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Makes and prepares an instance of each, before anything runs.
    ///
    /// # Errors
    /// The text says which does not prepare, and why.
    pub fn start(&mut self) -> Result<(), String> {
        self.list.iter_mut().try_for_each(|custom| custom.start().map_err(|fault| fault.reason))
    }

    /// Asks for all emissions of a call's log but those that were placed.
    pub fn choose_log(&mut self, log: &[Op], out: &mut Choices) {
        out.clear();
        for op in log {
            if let Op::Emit(Emissions { streams, offsets, data, .. }) = op {
                self.choose(Rows { streams, offsets, data }, out);
            }
        }
    }

    /// Asks for these rows; they are numbered from 0.
    pub fn choose_rows(&mut self, rows: Rows<'_>, out: &mut Choices) {
        out.clear();
        self.choose(rows, out);
    }

    fn choose(&mut self, rows: Rows<'_>, out: &mut Choices) {
        let base = out.len() as u32;
        rows.streams.iter().for_each(|s| out.push(self.places.get(*s as usize).copied().unwrap_or(0)));
        if !rows.agree() {
            return; // Refused when the log is applied.
        }
        for custom in &mut self.list {
            custom.choose(rows, base, self.tuple_bytes_max, out);
        }
    }
}

impl Rows<'_> {
    /// Whether the columns are rows at all: overlapping ones could be more than there is memory for.
    fn agree(&self) -> bool {
        self.offsets.len() == self.streams.len() + 1
            && self.offsets.is_sorted()
            && self.offsets.last().is_some_and(|end| *end as usize <= self.data.len())
    }
}
