//! Orders to a running topology, from any thread: activate, deactivate, drain, kill, rebalance.
//!
//! In: an order. Out: it is carried out by whoever waits for the run ([`super::Running::wait`]), and answered. Invariant:
//! no order loses a message or settles one; the words and their meanings are those of Storm's commands.

use super::env::Event;
use super::running::Stopper;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// What a running topology can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Spouts read again.
    Activate,
    /// Spouts read no more for now. What is in flight comes to its end, retries included.
    Deactivate,
    /// The tasks of a component are dealt out to so many executors. They take with them all that they hold and all that
    /// waits for them; none of it is settled, and tuples from one task to another keep their order.
    Rebalance {
        /// Its name.
        component: String,
        /// From 1 to the number of its tasks.
        executors: u32,
    },
    /// The end of the run: spouts read no more, and what is in flight is drained for at most this long.
    Kill(Duration),
}

/// Why an order was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// The run has ended, or nobody waits for it.
    #[error("the topology does not run any more")]
    Over,
    /// The run is coming to its end: its spouts do not read any more.
    #[error("the topology is being drained: its spouts can't read again")]
    Ending,
    /// There is no such component.
    #[error("there is no component `{0}`")]
    Component(String),
    /// More executors than tasks, or none.
    #[error(
        "`{component}` can't have {executors} executors: it has {tasks} tasks, so 1 to {tasks}; \
         the number of tasks is fixed when a topology starts"
    )]
    Executors {
        /// Which component.
        component: String,
        /// What was asked for.
        executors: u32,
        /// How many tasks it has.
        tasks: u32,
    },
}

/// Where an answer goes.
pub(crate) type Reply = Sender<Result<(), OrderError>>;

/// Answers an order.
pub(super) fn answer(reply: &Reply, answer: Result<(), OrderError>) {
    if reply.send(answer).is_err() {
        tracing::trace!("nobody waits for the answer to an order");
    }
}

/// An order to several executors: each has a reference, and lets go of it when it has obeyed.
#[derive(Debug)]
pub(crate) struct Obeying(pub(super) Reply);

impl Drop for Obeying {
    fn drop(&mut self) {
        answer(&self.0, Ok(()));
    }
}

/// Gives orders to a running topology, from any thread.
///
/// ```no_run
/// # use anchorbolt_host::runtime::{Running, OrderError};
/// # fn f(running: Running) -> Result<(), OrderError> {
/// let control = running.control();
/// std::thread::spawn(move || running.wait(Default::default()));
/// control.rebalance("count", 4)?;
/// control.deactivate()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Control(pub(super) Sender<Event>);

impl Control {
    /// Spouts read again. Does nothing where they do.
    ///
    /// # Errors
    /// As [`Ordered::wait`].
    pub fn activate(&self) -> Result<(), OrderError> {
        self.order(Order::Activate).wait()
    }

    /// Spouts read no more for now; what is in flight comes to its end. When it returns, none reads.
    ///
    /// # Errors
    /// As [`Ordered::wait`].
    pub fn deactivate(&self) -> Result<(), OrderError> {
        self.order(Order::Deactivate).wait()
    }

    /// Deals the tasks of a component out to so many executors, while it runs.
    ///
    /// # Errors
    /// As [`Ordered::wait`].
    pub fn rebalance(&self, component: &str, executors: u32) -> Result<(), OrderError> {
        self.order(Order::Rebalance { component: component.to_owned(), executors }).wait()
    }

    /// Ends the run: what is in flight is drained for at most `drain-timeout`.
    pub fn drain(&self) {
        Stopper(self.0.clone()).stop();
    }

    /// Ends the run: what is in flight is drained for at most so long.
    ///
    /// # Errors
    /// As [`Ordered::wait`].
    pub fn kill(&self, wait: Duration) -> Result<(), OrderError> {
        self.order(Order::Kill(wait)).wait()
    }

    /// Gives an order and does not wait for it.
    pub fn order(&self, order: Order) -> Ordered {
        let (reply, answer) = channel();
        if self.0.send(Event::Ordered(order, reply)).is_err() {
            tracing::debug!("an order to a run that has ended");
        }
        Ordered(answer)
    }
}

/// An order that was given.
pub struct Ordered(Receiver<Result<(), OrderError>>);

impl Ordered {
    /// Waits until it is carried out: a rebalance until the executors have ended the call that they are in.
    ///
    /// # Errors
    /// Why it was not.
    pub fn wait(self) -> Result<(), OrderError> {
        self.0.recv().unwrap_or(Err(OrderError::Over))
    }

    /// Whether it was carried out; none while it is not.
    pub fn answer(&self) -> Option<Result<(), OrderError>> {
        self.0.try_recv().ok()
    }
}
