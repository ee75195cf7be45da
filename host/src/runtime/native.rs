//! Native bolts as instances: the same log, the same rules. A panic is the death of the instance.

use anchorbolt_core::failure::Class;
use anchorbolt_core::port::{
    Bolt, Call, CallError, Collector, Context, Death, Declaration, Instance, InstanceFactory, Tuples,
};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

type Make = Box<dyn Fn() -> Box<dyn Bolt> + Send + Sync>;

/// Makes instances of a native bolt.
pub struct NativeFactory {
    declaration: Declaration,
    make: Make,
}

impl NativeFactory {
    /// A bolt that declares this and is made by `make`, once for each task and after each death.
    pub fn new(
        declaration: Declaration,
        make: impl Fn() -> Box<dyn Bolt> + Send + Sync + 'static,
    ) -> NativeFactory {
        NativeFactory { declaration, make: Box::new(make) }
    }
}

impl InstanceFactory for NativeFactory {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn create(&self) -> Result<Box<dyn Instance>, CallError> {
        Ok(Box::new(Native((self.make)())))
    }

    /// A [`Collector`] can't.
    fn describes(&self) -> bool {
        false
    }
}

struct Native(Box<dyn Bolt>);

impl Instance for Native {
    fn prepare(&mut self, context: &Context) -> Result<(), CallError> {
        guarded(|| self.0.prepare(context))
    }

    fn execute(&mut self, tuples: &mut Tuples, call: &mut Call) -> Result<(), CallError> {
        guarded(|| self.0.execute(tuples, &mut Collector::new(call)))
    }

    fn tick(&mut self, call: &mut Call) -> Result<(), CallError> {
        guarded(|| self.0.tick(&mut Collector::new(call)))
    }

    fn flush(&mut self, call: &mut Call) -> Result<(), CallError> {
        guarded(|| self.0.flush(&mut Collector::new(call)))
    }

    fn cleanup(&mut self) -> Result<(), CallError> {
        guarded(|| self.0.cleanup())
    }
}

fn guarded(f: impl FnOnce() -> Result<(), String>) -> Result<(), CallError> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(result) => result.map_err(CallError::Declared),
        Err(panic) => Err(CallError::Died(Death::new(Class::Trap, format!("panicked: {}", text(&*panic))))),
    }
}

/// The text of a panic.
pub fn text(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("(no text)")
}
