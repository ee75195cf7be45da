//! A native bolt that writes down which task got which tuple over which input, and emits what it is told to.
//!
//! In: tuples. Out: [`Seen`] entries, and for each tuple the rows of a function, anchored to it. Invariant: a tuple is
//! written down before anything of it is emitted.

use anchorbolt_core::port::{Bolt, Collector, Context, Tuples};
use anchorbolt_row::Row;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// One tuple that a task got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The bolt.
    pub component: String,
    /// Its task, counted from 0.
    pub task: u32,
    /// Which of its inputs.
    pub input: u32,
    /// The encoded row.
    pub row: Vec<u8>,
}

impl Seen {
    /// The string in field 0.
    pub fn text(&self) -> &str {
        Row::new(&self.row).str(0).expect("field 0 is a string")
    }

    /// The number in field 0.
    pub fn number(&self) -> i64 {
        Row::new(&self.row).i64(0).expect("field 0 is a number")
    }
}

/// What all tasks of a topology's witnesses saw.
#[derive(Clone, Debug, Default)]
pub struct Witness(Arc<Mutex<Vec<Seen>>>);

impl Witness {
    /// Everything so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.0.lock().expect("no writer panics").clone()
    }

    /// What the tasks of one bolt saw.
    pub fn of(&self, component: &str) -> Vec<Seen> {
        let mut seen = self.seen();
        seen.retain(|seen| seen.component == component);
        seen
    }

    /// How many tuples each task of a bolt got; a task that got none is left out.
    pub fn counts(&self, component: &str) -> BTreeMap<u32, u64> {
        let mut counts = BTreeMap::new();
        for seen in self.of(component) {
            *counts.entry(seen.task).or_default() += 1;
        }
        counts
    }

    /// A bolt that writes down and emits nothing.
    pub fn bolt(&self) -> Relay {
        self.relay(|_| vec![])
    }

    /// A bolt that writes down and emits what `emit` says of each row: the stream, and the row.
    pub fn relay(&self, emit: impl Fn(&[u8]) -> Vec<(u32, Vec<u8>)> + Send + Sync + 'static) -> Relay {
        Relay { witness: self.clone(), place: (String::new(), 0), emit: Arc::new(emit) }
    }
}

type Emit = Arc<dyn Fn(&[u8]) -> Vec<(u32, Vec<u8>)> + Send + Sync>;

/// See [`Witness::relay`].
#[derive(Clone)]
pub struct Relay {
    witness: Witness,
    /// Its bolt and its task.
    place: (String, u32),
    emit: Emit,
}

impl Bolt for Relay {
    fn prepare(&mut self, context: &Context) -> Result<(), String> {
        self.place = (context.component.clone(), context.task_index);
        Ok(())
    }

    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        for (i, (&id, &input)) in tuples.ids.iter().zip(&tuples.inputs).enumerate() {
            let row = tuples.row(i).to_vec();
            let (component, task) = self.place.clone();
            let emitted = (self.emit)(&row);
            self.witness.0.lock().expect("no writer panics").push(Seen { component, task, input, row });
            emitted.iter().for_each(|(stream, row)| out.emit(*stream, &[id], row));
        }
        out.ack(&tuples.ids);
        Ok(())
    }
}
