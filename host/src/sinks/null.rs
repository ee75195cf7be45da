//! The `null` sink: takes everything, keeps nothing.
//!
//! In: tuples. Out: their acks. Invariant: the cost of a call does not depend on what is in the tuples.

use anchorbolt_core::port::{Bolt, Collector, Tuples};

/// The sink.
#[derive(Debug, Default)]
pub struct NullSink;

impl Bolt for NullSink {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        out.ack(&tuples.ids);
        Ok(())
    }
}
