//! The host's calls, turned into those of a [`Bolt`].
//!
//! In: the exports of the component. Out: a bolt made by `prepare` and called until `cleanup`. Invariant: whatever
//! a call did is sent before it returns, an error included; `cleanup` alone settles nothing.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::rc::Rc;

use crate::bindings::anchorbolt::bolt::types::Tuples;
use crate::bindings::exports::anchorbolt::bolt::guest as wit;
use crate::context::Task;
use crate::{Batch, Bolt, Collector, Config, Context, Error};

/// A bolt as the contract's exports see it.
#[derive(Debug)]
pub struct Adapter<B>(PhantomData<B>);

thread_local! {
    static INSTANCE: RefCell<Option<Box<dyn Calls>>> = const { RefCell::new(None) };
}

impl<B: Bolt> wit::Guest for Adapter<B> {
    fn declare(config: String) -> Result<wit::Declaration, String> {
        B::declare(&Config::new(config)).map(|d| d.into_wit()).map_err(Error::into_reason)
    }

    fn prepare(context: wit::Context) -> Result<(), String> {
        let instance = Instance::<B>::prepare(context).map_err(Error::into_reason)?;
        INSTANCE.set(Some(Box::new(instance)));
        Ok(())
    }

    fn execute(batch: Tuples) -> Result<(), String> {
        call(Call::Execute(&batch))
    }

    fn tick() -> Result<(), String> {
        call(Call::Tick)
    }

    fn flush() -> Result<(), String> {
        call(Call::Flush)
    }

    fn cleanup() -> Result<(), String> {
        call(Call::Cleanup)
    }
}

fn call(call: Call<'_>) -> Result<(), String> {
    INSTANCE.with_borrow_mut(|instance| match instance {
        Some(instance) => instance.call(call).map_err(Error::into_reason),
        None => Err("called before prepare".into()),
    })
}

/// The calls that a prepared bolt takes.
#[derive(Clone, Copy)]
pub(crate) enum Call<'c> {
    Execute(&'c Tuples),
    Tick,
    Flush,
    Cleanup,
}

/// An instance whose type is forgotten: statics are not generic.
trait Calls {
    fn call(&mut self, call: Call<'_>) -> Result<(), Error>;
}

/// One prepared bolt.
pub(crate) struct Instance<B> {
    /// None after cleanup.
    bolt: Option<B>,
    out: Collector,
    pub(crate) task: Rc<Task>,
}

impl<B: Bolt> Instance<B> {
    pub(crate) fn prepare(context: wit::Context) -> Result<Self, Error> {
        let task = Rc::new(Task::new(Context::new(context)));
        let bolt = Some(B::prepare(&task.context)?);
        Ok(Self { bolt, out: Collector::new(Rc::clone(&task)), task })
    }

    pub(crate) fn call(&mut self, call: Call<'_>) -> Result<(), Error> {
        let Some(bolt) = &mut self.bolt else {
            return Err(Error::fail("called after cleanup"));
        };
        let out = &mut self.out;
        let result = match call {
            Call::Execute(tuples) => execute(bolt, tuples, &self.task, out),
            Call::Tick => bolt.tick(out),
            Call::Flush => bolt.flush(out),
            Call::Cleanup => {
                let result = bolt.cleanup();
                // What it still holds is dropped here. The last call settles nothing: the host replays it.
                self.bolt = None;
                drop(self.task.take_drops());
                return result;
            }
        };
        self.out.send();
        result
    }
}

fn execute<B: Bolt>(
    bolt: &mut B,
    tuples: &Tuples,
    task: &Rc<Task>,
    out: &mut Collector,
) -> Result<(), Error> {
    let result = bolt.execute_batch(Batch::new(tuples, task), out);
    if result.is_err() {
        // The host fails what the call left unsettled, with the error's text.
        tuples.ids.iter().for_each(|&handle| _ = task.forget_drop(handle));
    }
    result
}

impl<B: Bolt> Calls for Instance<B> {
    fn call(&mut self, call: Call<'_>) -> Result<(), Error> {
        Self::call(self, call)
    }
}
