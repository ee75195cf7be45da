//! What an author implements.
//!
//! In: tuples and a collector. Out: emissions and settlements, by way of the collector. Invariant: every
//! [`BasicBolt`] is a [`Bolt`], and the rest of the SDK knows only the latter.

use crate::{BasicCollector, Batch, Collector, Config, Context, Declaration, Error, Tuple};

/// A bolt that chooses its anchors and settles its tuples itself, at once or in a later call.
pub trait Bolt: Sized + 'static {
    /// Says what the bolt emits. Called before anything runs, also to check a topology that is never run.
    ///
    /// # Errors
    /// When the settings make no sense; the topology does not start then.
    fn declare(config: &Config) -> Result<Declaration, Error>;

    /// Makes the bolt for one task, in one instance. Called again for the instance that follows one that died.
    ///
    /// # Errors
    /// When the task can't run; the host tries again later.
    fn prepare(context: &Context) -> Result<Self, Error>;

    /// Works on one tuple.
    ///
    /// # Errors
    /// They fail the tuple, if it was neither settled nor held, and nothing else.
    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error>;

    /// Works on the tuples of one call. Write this only where a batch is worth more than its tuples one by one, as
    /// for a bulk insert.
    ///
    /// # Errors
    /// They fail all tuples of the call that it did not settle; those run again one by one.
    #[inline]
    fn execute_batch(&mut self, batch: Batch<'_>, out: &mut Collector) -> Result<(), Error> {
        for tuple in batch {
            out.attempt(tuple, |tuple, out| self.execute(tuple, out));
        }
        Ok(())
    }

    /// Called at the interval that the manifest sets as `tick`.
    ///
    /// # Errors
    /// They are reported; what was emitted and settled counts.
    fn tick(&mut self, out: &mut Collector) -> Result<(), Error> {
        _ = out;
        Ok(())
    }

    /// Called before a drain, a swap or a move: emit and settle what is held, if it can be.
    ///
    /// # Errors
    /// They are reported; what was emitted and settled counts.
    fn flush(&mut self, out: &mut Collector) -> Result<(), Error> {
        _ = out;
        Ok(())
    }

    /// The last call. Not made if the instance or the host dies.
    ///
    /// # Errors
    /// They are reported.
    fn cleanup(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// A bolt that settles each tuple as it returns: `Ok` acks it, an error fails it. What it emits is anchored to it.
pub trait BasicBolt: Sized + 'static {
    /// Says what the bolt emits; see [`Bolt::declare`].
    ///
    /// # Errors
    /// When the settings make no sense; the topology does not start then.
    fn declare(config: &Config) -> Result<Declaration, Error>;

    /// Makes the bolt for one task; see [`Bolt::prepare`].
    ///
    /// # Errors
    /// When the task can't run; the host tries again later.
    fn prepare(context: &Context) -> Result<Self, Error>;

    /// Works on one tuple.
    ///
    /// # Errors
    /// They fail the tuple: plain `?` as its own fault, [`Error::retry`] because something outside is down,
    /// [`Error::reject`] for good.
    fn execute(&mut self, tuple: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error>;

    /// The last call. Not made if the instance or the host dies.
    ///
    /// # Errors
    /// They are reported.
    fn cleanup(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

impl<B: BasicBolt> Bolt for B {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        B::declare(config)
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        B::prepare(context)
    }

    #[inline]
    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        match BasicBolt::execute(self, &tuple, &mut BasicCollector::new(out, &tuple)) {
            Ok(()) => out.ack(tuple),
            Err(error) => out.fail_with(tuple, error),
        }
        Ok(())
    }

    fn cleanup(&mut self) -> Result<(), Error> {
        BasicBolt::cleanup(self)
    }
}
