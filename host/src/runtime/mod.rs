//! Running topologies: executors on threads, queues between them, the ack path back to the spouts.
//!
//! In: a plan, and makers of spouts and bolt instances ([`Parts`]). Out: a [`Running`] topology that can be
//! drained and stopped, and its report. It knows neither wasmtime nor any kind of spout or sink.
//!
//! The data path, with the file of each step: `spout_task` emits and registers a tree; `outbox` pushes the
//! batch into the `inbox` of a bolt's executor; `bolt_executor` picks a task; `load` makes the columns of a
//! call; `bolt_task` calls the instance, asks custom groupings (`choosing`) and applies its log; `track` carries the acks to the ledger, which is
//! in `spout_task` again, or on an `acker` thread.

mod acker;
mod bolt_executor;
mod bolt_side;
mod bolt_task;
mod cargo;
mod choosing;
mod clock;
mod conductor;
mod controls;
mod crew;
mod death;
mod diagnosis;
mod door;
mod drain;
mod env;
mod executor;
mod inbox;
mod keep;
mod keeper;
mod launch;
mod load;
mod native;
mod orders;
mod outbox;
mod pool;
mod rebalance;
mod running;
mod seat;
mod seating;
mod shared;
mod spout_cell;
mod spout_emit;
mod spout_executor;
mod spout_keep;
mod spout_task;
mod stepped;
mod track;

pub use clock::{Clock, ManualClock, SystemClock};
pub use env::BatchFilter;
pub use keep::Keep;
pub use launch::{LaunchError, Parts, SpoutFactory, launch, launch_stepped};
pub use native::{NativeFactory, text as panic_text};
pub use orders::{Control, Order, OrderError, Ordered};
pub use running::{Ended, How, Progress, Running, Stopper, Watch};
pub use stepped::{Stalled, Stepped, Stepping};
