//! The calls of a bolt task that bring no tuples: tick, flush, cleanup; what it publishes of itself; recycling.
//!
//! In: the time, a drain's order. Out: as from a call with tuples. Invariant: a death in such a call is nobody's
//! fault but the bolt's.

use super::bolt_task::{BoltTask, Circuit};
use super::env::{Env, Event};
use super::track::Tracker;
use crate::telemetry::bump;
use anchorbolt_core::batch::Batch;
use anchorbolt_core::failure::Class;
use anchorbolt_core::port::{Call, CallError, Instance};
use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

impl BoltTask {
    /// Ticks when it is time.
    pub(crate) fn tick(&mut self, env: &Env, tracker: &mut Tracker, outbox: &mut VecDeque<Batch>) {
        let now = env.clock.now();
        let (Some(due), Some(every)) = (self.next_tick, self.parts.tick) else { return };
        if due > now || !self.ready(now) || self.has_work() {
            return;
        }
        self.next_tick = Some(due.after(every).max(now));
        self.side_call(env, tracker, outbox, "tick", |instance, call| instance.tick(call));
    }

    /// Emits and settles what is held, if it can be.
    pub(crate) fn flush(&mut self, env: &Env, tracker: &mut Tracker, outbox: &mut VecDeque<Batch>) {
        if matches!(self.circuit, Circuit::Closed) {
            self.side_call(env, tracker, outbox, "flush", |instance, call| instance.flush(call));
        }
    }

    /// A call without tuples.
    fn side_call(
        &mut self,
        env: &Env,
        tracker: &mut Tracker,
        outbox: &mut VecDeque<Batch>,
        what: &str,
        f: impl FnOnce(&mut dyn Instance, &mut Call) -> Result<(), CallError>,
    ) {
        let now = env.clock.now();
        if self.instance.is_none() && !self.revive(env, now) {
            return;
        }
        self.tuples.clear();
        self.parts.shared.held.lock().begin(0, now);
        let (result, took) = self.enter(env, 1, |instance, _, call| f(instance, call));
        bump(&self.parts.counters.execute_ns, took.as_nanos() as u64);
        match result {
            Err(CallError::Died(death)) => self.died(env, death, env.clock.now()),
            other => {
                if let Err(CallError::Declared(text)) = &other {
                    env.error(&self.applier.component, Class::Failed, &format!("{what}: {text}"));
                }
                self.settle(env, None, 0, env.clock.now());
            }
        }
        self.finish(env, tracker, outbox);
    }

    /// Publishes what is worth a look now and then. `cpu`: its share of what the thread has used since.
    pub(crate) fn publish(&self, cpu: Duration) {
        let memory = self.instance.as_ref().map_or(0, |i| i.memory_bytes());
        self.parts.counters.memory_bytes.store(memory, Relaxed);
        bump(&self.parts.counters.cpu_ns, cpu.as_nanos() as u64);
    }

    /// Lets go of an instance that holds nothing and has grown past `recycle-at`; the next call has a fresh one.
    pub(super) fn recycle(&mut self, env: &Env) {
        let Some(at) = self.parts.recycle_at else { return };
        // One that begins above it is replaced when it has grown, not after each call.
        let most = at.max(self.fresh_bytes);
        if self.instance.as_ref().is_some_and(|instance| instance.memory_bytes() > most) {
            self.close(env);
        }
    }

    /// The last call.
    pub(crate) fn close(&mut self, env: &Env) {
        let Some(mut instance) = self.instance.take() else { return };
        self.parts.counters.memory_bytes.store(instance.memory_bytes(), Relaxed);
        match instance.cleanup() {
            Ok(()) => {}
            Err(CallError::Declared(text)) => {
                env.error(&self.applier.component, Class::Failed, &format!("cleanup: {text}"));
            }
            Err(CallError::Died(death)) => {
                env.error(&self.applier.component, death.class, &format!("cleanup: {}", death.reason));
            }
        }
    }

    /// Tells the controller that the task pauses or that the run ends.
    pub(super) fn tell_paused(&self, env: &Env, text: String) {
        env.standing_still.store(true, Relaxed);
        env.tell(Event::Paused(text));
    }
}
