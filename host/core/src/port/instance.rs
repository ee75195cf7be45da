//! The lower port of bolts: an instance that works on columns and may die, and what makes it.
//!
//! In: calls. Out: how each ended. Invariant: after a death only `drop` follows.

use super::{Call, CallError, Context, Declaration, Tuples};

/// One living bolt as the runtime drives it: a WebAssembly instance or a native bolt in its adapter.
///
/// `declare` belongs to the factory. Calls come one at a time. After [`CallError::Died`] only `drop` follows.
pub trait Instance: Send {
    /// Makes it ready; once, first.
    fn prepare(&mut self, context: &Context) -> Result<(), CallError>;
    /// Works on a batch. The columns are lent: they come back unchanged.
    fn execute(&mut self, tuples: &mut Tuples, call: &mut Call) -> Result<(), CallError>;
    /// The manifest's tick.
    fn tick(&mut self, call: &mut Call) -> Result<(), CallError>;
    /// Emit and settle what is held, if it can be.
    fn flush(&mut self, call: &mut Call) -> Result<(), CallError>;
    /// The last call.
    fn cleanup(&mut self) -> Result<(), CallError>;
    /// Memory in use, in bytes; 0 when unknown.
    fn memory_bytes(&self) -> u64 {
        0
    }
}

/// Makes the instances of one bolt; shared by its tasks.
pub trait InstanceFactory: Send + Sync {
    /// What the bolt is.
    fn declaration(&self) -> &Declaration;
    /// A fresh instance, not yet prepared.
    fn create(&self) -> Result<Box<dyn Instance>, CallError>;
    /// Whether its instances may call [`describe`](super::CallServices::describe). Where none of a topology may, tuples
    /// carry no paths, and an identity is no more than the message id.
    fn describes(&self) -> bool {
        true
    }
    /// sha256 of the plugin in hex; none for a native bolt.
    fn sha256(&self) -> Option<&str> {
        None
    }
}
