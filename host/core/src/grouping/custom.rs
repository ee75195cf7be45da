//! One custom grouping: it is asked for many rows at a time, and its answers are checked.
//!
//! In: the rows of a call. Out: tasks, or a fault, for each. The rows of a question that went wrong are asked for again one
//! by one, so that one row costs no other, as with the tuples of a bolt. Invariant: each task that is chosen is one of the
//! edge's, and none is chosen twice for a row.

use super::choices::Choices;
use super::fault::GroupingFault;
use super::groupings::Rows;
use crate::failure::{Class, Cost};
use crate::ids::TaskId;
use crate::port::{CallError, CustomGrouping, GroupingFactory, row_at};
use anchorbolt_row::check_row;
use std::ops::Range;
use std::sync::Arc;

/// Most rows of one call, and most bytes, unless one row is longer.
const ROWS_MAX: usize = 256;
const BYTES_MAX: usize = 1 << 20;
/// Most tasks that are chosen over the rows of one call of the emitter: all of them wait here to be routed.
const CHOSEN_MAX: usize = 16 << 20;
/// After so many deaths over the rows of one call of the emitter, the rest is not asked for.
const DEATHS_MAX: u32 = 10;

/// The edge that a custom grouping is for.
pub(super) struct On {
    /// Which edge and which plugin, for texts.
    pub(super) what: String,
    pub(super) stream: u32,
    /// Which of its stream's custom groupings it is.
    pub(super) place: u32,
    pub(super) fields: Vec<String>,
    pub(super) targets: Range<TaskId>,
    pub(super) config: String,
}

/// One edge whose grouping is code.
pub(super) struct Custom {
    on: On,
    factory: Arc<dyn GroupingFactory>,
    /// None before the start and after a death.
    living: Option<Box<dyn CustomGrouping>>,
    /// Most rows of the next call.
    rows_max: usize,
    /// For each target the mark of the last row that chose it.
    chosen: Vec<u64>,
    mark: u64,
    asked: Asked,
}

/// The rows of one question.
#[derive(Default)]
struct Asked {
    /// The number of each row's emission.
    numbers: Vec<u32>,
    offsets: Vec<u32>,
    data: Vec<u8>,
}

impl Asked {
    fn clear(&mut self) {
        self.numbers.clear();
        self.offsets.clear();
        self.offsets.push(0);
        self.data.clear();
        // One huge row must not stay in memory for good.
        self.data.shrink_to(BYTES_MAX);
    }

    fn push(&mut self, number: u32, row: &[u8]) {
        self.numbers.push(number);
        self.data.extend_from_slice(row);
        self.offsets.push(self.data.len() as u32);
    }
}

impl Custom {
    /// One that has no instance yet.
    pub(super) fn new(on: On, factory: Arc<dyn GroupingFactory>) -> Custom {
        let (living, asked) = (None, Asked::default());
        let chosen = vec![0; on.targets.len()];
        Custom { on, factory, living, rows_max: ROWS_MAX, chosen, mark: 0, asked }
    }

    /// Asks for the rows of its stream, many at a time. Rows that are none are left out: the router refuses them.
    pub(super) fn choose(&mut self, rows: Rows<'_>, base: u32, tuple_bytes_max: u64, out: &mut Choices) {
        let mut deaths = 0;
        self.asked.clear();
        let mine = self.on.stream;
        for (i, _) in rows.streams.iter().enumerate().filter(|(_, stream)| **stream == mine) {
            let row = row_at(rows.offsets, rows.data, i);
            if row.len() as u64 > tuple_bytes_max || check_row(row, self.on.fields.len()).is_err() {
                continue;
            }
            let full =
                self.asked.data.len() + row.len() > BYTES_MAX || self.asked.numbers.len() >= self.rows_max;
            if full && !self.asked.numbers.is_empty() {
                self.ask(&mut deaths, out);
            }
            self.asked.push(base + i as u32, row);
        }
        if !self.asked.numbers.is_empty() {
            self.ask(&mut deaths, out);
        }
    }

    /// One question. When it went wrong, each of its rows is one by itself.
    fn ask(&mut self, deaths: &mut u32, out: &mut Choices) {
        let mut asked = std::mem::take(&mut self.asked);
        let wrong = self.answer(&asked.numbers, &asked.offsets, &asked.data, deaths, out).err();
        match (wrong, &asked.numbers[..]) {
            (None, _) => self.rows_max = (self.rows_max * 2).min(ROWS_MAX),
            (Some(fault), [alone]) => out.fail(*alone, self.on.place, fault),
            (Some(_), numbers) => {
                self.rows_max = 1;
                for (i, number) in numbers.iter().enumerate() {
                    let row = row_at(&asked.offsets, &asked.data, i);
                    let end = row.len() as u32;
                    if let Err(fault) = self.answer(&[*number], &[0, end], row, deaths, out) {
                        out.fail(*number, self.on.place, fault);
                    }
                }
            }
        }
        asked.clear();
        self.asked = asked;
    }

    /// Calls the instance and keeps its answer.
    fn answer(
        &mut self,
        numbers: &[u32],
        offsets: &[u32],
        data: &[u8],
        deaths: &mut u32,
        out: &mut Choices,
    ) -> Result<(), GroupingFault> {
        if *deaths >= DEATHS_MAX {
            let text =
                "not asked: over other rows of the call it died too often, or could not be started again";
            return Err(GroupingFault { cost: Cost::Free, ..self.fault(Class::Failed, text) });
        }
        if self.living.is_none() {
            // One that can't start costs its deadline each time; the rest of the rows need not find that out.
            self.start().inspect_err(|_| *deaths = DEATHS_MAX)?;
        }
        let Some(living) = self.living.as_mut() else {
            return Err(self.fault(Class::Host, "it has no instance"));
        };
        let lists = living.choose(offsets, data).map_err(|error| self.ended(error, deaths))?;
        if lists.len() != numbers.len() {
            let text = format!("it answered {} lists of tasks for {} rows", lists.len(), numbers.len());
            return Err(self.fault(Class::Protocol, &text));
        }
        for (number, tasks) in numbers.iter().zip(&lists) {
            if out.chosen() + tasks.len() > CHOSEN_MAX {
                let text = format!("it chose more than {CHOSEN_MAX} tasks over the rows of one call");
                out.fail(*number, self.on.place, self.fault(Class::Overflow, &text));
                continue;
            }
            match self.check(tasks) {
                Ok(()) => out.set(*number, self.on.place, tasks),
                Err(text) => out.fail(*number, self.on.place, self.fault(Class::Protocol, &text)),
            }
        }
        Ok(())
    }

    /// What the core takes for an answer: tasks of the edge, none twice. None at all is legal.
    fn check(&mut self, tasks: &[TaskId]) -> Result<(), String> {
        self.mark += 1;
        for &task in tasks {
            let (first, last) = (self.on.targets.start, self.on.targets.end.saturating_sub(1));
            let Some(mark) = self.chosen.get_mut(task.wrapping_sub(first) as usize) else {
                return Err(format!("it chose task {task}, which is none of its targets, {first} to {last}"));
            };
            if std::mem::replace(mark, self.mark) == self.mark {
                return Err(format!("it chose task {task} twice for one row"));
            }
        }
        Ok(())
    }

    /// Makes and prepares an instance.
    pub(super) fn start(&mut self) -> Result<(), GroupingFault> {
        let made = self.factory.create().and_then(|mut living| {
            let targets: Vec<TaskId> = self.on.targets.clone().collect();
            living.prepare(&self.on.fields, &targets, &self.on.config)?;
            Ok(living)
        });
        match made {
            Ok(living) => self.living = Some(living),
            Err(CallError::Declared(text)) => {
                return Err(self.fault(Class::Failed, &format!("it does not prepare: {text}")));
            }
            Err(CallError::Died(death)) => {
                let fault =
                    self.fault(death.class, &format!("it died before it could choose: {}", death.reason));
                return Err(GroupingFault { output: death.output, ..fault });
            }
        }
        Ok(())
    }

    fn ended(&mut self, error: CallError, deaths: &mut u32) -> GroupingFault {
        match error {
            CallError::Declared(text) => self.fault(Class::Failed, &format!("it says: {text}")),
            CallError::Died(death) => {
                self.living = None;
                *deaths += 1;
                let fault = self.fault(death.class, &format!("it died: {}", death.reason));
                GroupingFault { output: death.output, ..fault }
            }
        }
    }

    fn fault(&self, class: Class, text: &str) -> GroupingFault {
        let reason = format!("{}: {text}", self.on.what);
        GroupingFault { class, cost: Cost::Fault, reason, output: String::new() }
    }
}
