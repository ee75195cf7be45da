//! One grouping under test.
//!
//! In: rows. Out: the tasks that each goes to. Invariant: a row or an answer that the host would refuse makes the test
//! panic.

use std::fmt;

use serde::Serialize;

use crate::grouping::Instance;
use crate::{Error, Grouping, IntoRow};

/// Runs one grouping natively. See [`Grouping`] for an example.
pub struct GroupingHarness<G>(Instance<G>);

impl<G: Grouping> GroupingHarness<G> {
    /// Prepares a grouping for a stream of these fields and these tasks; the settings are a JSON object, as
    /// [`json!`](crate::json) makes it.
    ///
    /// # Errors
    /// The grouping's own.
    ///
    /// # Panics
    /// If the settings can't be written as JSON.
    pub fn new<F: Into<String>>(
        fields: impl IntoIterator<Item = F>,
        targets: impl Into<Vec<u32>>,
        config: impl Serialize,
    ) -> Result<Self, Error> {
        let fields = fields.into_iter().map(Into::into).collect();
        let config = serde_json::to_string(&config).expect("the settings can be written as JSON");
        Instance::prepare(fields, targets.into(), config).map(Self)
    }

    /// The tasks that a row goes to.
    ///
    /// # Errors
    /// The grouping's own.
    ///
    /// # Panics
    /// If the row is none of the stream, or the host would refuse the answer: a task that is no target, or one twice.
    pub fn choose(&mut self, row: impl IntoRow) -> Result<Vec<u32>, Error> {
        let mut data = Vec::new();
        row.append_to(&mut data);
        let arity = self.0.context.fields().len();
        if let Err(e) = anchorbolt_row::check_row(&data, arity) {
            panic!("no row of the stream: {e}");
        }
        let chosen = self.0.one(&data)?;
        for (i, task) in chosen.iter().enumerate() {
            assert!(self.0.context.targets().contains(task), "task {task} is no target");
            assert!(!chosen[..i].contains(task), "task {task} is chosen twice");
        }
        Ok(chosen)
    }
}

impl<G> fmt::Debug for GroupingHarness<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GroupingHarness").field(&self.0.context).finish()
    }
}
