//! A bolt whose emissions are written down.
//!
//! In: the factory of a bolt. Out: a factory of the same bolt; the rows that its calls emitted. Invariant: what a call
//! emitted is written down only if the call returned.

use anchorbolt_core::port::{Call, CallError, Context, Declaration, Instance, InstanceFactory, Op, Tuples};
use parking_lot::Mutex;
use std::sync::Arc;

/// Rows with the index of the stream they were emitted on, in the order in which their calls returned.
pub(super) type Captured = Arc<Mutex<Vec<(u32, Vec<u8>)>>>;

/// Makes instances whose emissions are written down.
pub(super) struct CaptureFactory {
    pub(super) bolt: Arc<dyn InstanceFactory>,
    pub(super) captured: Captured,
}

impl InstanceFactory for CaptureFactory {
    fn declaration(&self) -> &Declaration {
        self.bolt.declaration()
    }

    fn create(&self) -> Result<Box<dyn Instance>, CallError> {
        Ok(Box::new(Capture { bolt: self.bolt.create()?, captured: Arc::clone(&self.captured) }))
    }

    fn describes(&self) -> bool {
        self.bolt.describes()
    }

    fn sha256(&self) -> Option<&str> {
        self.bolt.sha256()
    }
}

struct Capture {
    bolt: Box<dyn Instance>,
    captured: Captured,
}

impl Capture {
    /// Writes down what a call that returned has emitted.
    fn keep(&self, returned: Result<(), CallError>, call: &Call) -> Result<(), CallError> {
        if matches!(returned, Err(CallError::Died(_))) {
            return returned;
        }
        let mut captured = self.captured.lock();
        for op in &call.log {
            let (Op::Emit(emissions) | Op::EmitPlaced(emissions, _)) = op else { continue };
            for (i, stream) in emissions.streams.iter().enumerate() {
                captured.push((*stream, emissions.row(i).unwrap_or_default().to_vec()));
            }
        }
        returned
    }
}

impl Instance for Capture {
    fn prepare(&mut self, context: &Context) -> Result<(), CallError> {
        self.bolt.prepare(context)
    }

    fn execute(&mut self, tuples: &mut Tuples, call: &mut Call) -> Result<(), CallError> {
        let returned = self.bolt.execute(tuples, call);
        self.keep(returned, call)
    }

    fn tick(&mut self, call: &mut Call) -> Result<(), CallError> {
        let returned = self.bolt.tick(call);
        self.keep(returned, call)
    }

    fn flush(&mut self, call: &mut Call) -> Result<(), CallError> {
        let returned = self.bolt.flush(call);
        self.keep(returned, call)
    }

    fn cleanup(&mut self) -> Result<(), CallError> {
        self.bolt.cleanup()
    }

    fn memory_bytes(&self) -> u64 {
        self.bolt.memory_bytes()
    }
}
