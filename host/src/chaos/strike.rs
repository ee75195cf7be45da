//! A bolt whose instances die, stall and are refused memory.
//!
//! In: the factory of a bolt and the dice. Out: a factory of the same bolt. Invariant: an instance that was struck dead
//! is like one that died by itself: what its call told the host is lost, what it did outside is done.

use super::dice::{CallFault, Dice};
use anchorbolt_core::failure::Class;
use anchorbolt_core::port::{
    Call, CallError, Context, Death, Declaration, Instance, InstanceFactory, Tuples,
};
use std::sync::Arc;

/// Makes instances that may be struck.
pub struct StruckFactory {
    bolt: Arc<dyn InstanceFactory>,
    dice: Arc<Dice>,
}

impl StruckFactory {
    /// The same bolt, under these dice.
    pub fn new(bolt: Arc<dyn InstanceFactory>, dice: Arc<Dice>) -> StruckFactory {
        StruckFactory { bolt, dice }
    }
}

impl InstanceFactory for StruckFactory {
    fn declaration(&self) -> &Declaration {
        self.bolt.declaration()
    }

    fn create(&self) -> Result<Box<dyn Instance>, CallError> {
        let (bolt, dice) = (self.bolt.create()?, Arc::clone(&self.dice));
        Ok(Box::new(Struck { bolt, dice, name: String::new() }))
    }

    fn describes(&self) -> bool {
        self.bolt.describes()
    }

    fn sha256(&self) -> Option<&str> {
        self.bolt.sha256()
    }
}

struct Struck {
    bolt: Box<dyn Instance>,
    dice: Arc<Dice>,
    name: String,
}

fn death(class: Class, reason: &str) -> Result<(), CallError> {
    Err(CallError::Died(Death::new(class, reason)))
}

impl Struck {
    fn under(
        &mut self,
        call: &mut Call,
        f: impl FnOnce(&mut dyn Instance, &mut Call) -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        let fault = self.dice.call();
        if let Some(fault) = fault {
            tracing::info!(bolt = self.name, ?fault, "chaos: a call is struck");
        }
        match fault {
            None => f(&mut *self.bolt, call),
            Some(CallFault::Stall(pause)) => {
                std::thread::sleep(pause);
                f(&mut *self.bolt, call)
            }
            Some(CallFault::KillBefore) => death(Class::Trap, "chaos: killed before the call"),
            Some(CallFault::KillAfter) => {
                f(&mut *self.bolt, call)?;
                death(Class::Trap, "chaos: killed after the call")
            }
            Some(CallFault::RefuseMemory) => {
                f(&mut *self.bolt, call)?;
                death(Class::Memory, "chaos: refused memory")
            }
        }
    }
}

impl Instance for Struck {
    fn prepare(&mut self, context: &Context) -> Result<(), CallError> {
        self.name.clone_from(&context.component);
        self.bolt.prepare(context)
    }

    fn execute(&mut self, tuples: &mut Tuples, call: &mut Call) -> Result<(), CallError> {
        self.under(call, |bolt, call| bolt.execute(tuples, call))
    }

    fn tick(&mut self, call: &mut Call) -> Result<(), CallError> {
        self.under(call, |bolt, call| bolt.tick(call))
    }

    fn flush(&mut self, call: &mut Call) -> Result<(), CallError> {
        self.bolt.flush(call)
    }

    fn cleanup(&mut self) -> Result<(), CallError> {
        self.bolt.cleanup()
    }

    fn memory_bytes(&self) -> u64 {
        self.bolt.memory_bytes()
    }
}
