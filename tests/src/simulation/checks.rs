//! What holds in a life, after each step and when nobody would run.
//!
//! In: what can be seen of the topology, what the oracle knows. Out: nothing, or what is wrong. Invariant: looking
//! changes nothing but who was stepped for no reason, as a thread may be.

use super::life::Life;
use super::oracle::Check;
use anchorbolt_core::port::Waker;
use anchorbolt_host::runtime::Stepping;

impl Life<'_> {
    /// Nobody would run. True: nothing more will ever happen, and nothing has to.
    pub(super) fn all_wait(&mut self) -> Result<bool, String> {
        for who in 0..self.stepped.executors() {
            if self.stepped.step(who) == Stepping::Moved {
                self.note(who, Stepping::Moved);
                self.check()?;
                return Err(format!(
                    "{}/{who} had something to do and was not woken",
                    self.stepped.name(who)
                ));
            }
        }
        self.world.lock().oracle.quiet += 1;
        let pending = self.stepped.figures().pending;
        self.check_hands()?;
        if self.world.lock().calm() && pending > 0 {
            return Err(self.stuck("all wait, nothing goes wrong, and messages are pending"));
        }
        let now = self.now();
        let dues = (0..=self.stepped.executors()).filter_map(|i| self.stepped.due(i));
        if let Some(due) = dues.filter(|due| *due > now).min() {
            self.world.lock().clock.advance(due.since(now));
            return Ok(false);
        }
        let sleepers = std::mem::take(&mut self.world.lock().sleepers);
        if !sleepers.is_empty() {
            sleepers.iter().for_each(Waker::wake);
            return Ok(false);
        }
        if self.orders.go_on() {
            return Ok(false);
        }
        let ends = self.plan.how.until_drained || self.ending.is_some();
        if pending > 0 || ends {
            return Err(self.stuck("all wait for ever"));
        }
        // Nothing is left to do: the end may come at once.
        self.steps = self.steps.max(self.plan.steps);
        Ok(false)
    }

    /// All wait and no queue has anything: what is not settled is held by bolts, or it is lost.
    fn check_hands(&self) -> Check {
        let n = self.stepped.executors();
        if (0..n).any(|who| self.stepped.queued(who) != (0, 0)) {
            return Ok(());
        }
        let world = self.world.lock();
        // One that waits for its restart, or makes none any more, may have a batch in hand.
        let rests = |who: usize| {
            let bolt = self.stepped.name(who).strip_prefix('b').and_then(|b| b.parse::<usize>().ok());
            bolt.is_none_or(|bolt| {
                let (shape, died) = (&world.graph.bolts[bolt], world.deaths.0[bolt] > 0);
                let waits = if shape.tick.is_some() { died } else { self.stepped.due(who).is_some() };
                !waits && shape.restart.budget > 1000
            })
        };
        if !(0..n).all(rests) {
            return Ok(());
        }
        let (pending, held) = (self.stepped.figures().trees_pending, world.hands.values().flatten());
        let most = world.oracle.trees_of(held);
        drop(world);
        if pending <= most {
            return Ok(());
        }
        Err(self.stuck(&format!(
            "{pending} trees are pending, queues are empty, and bolts hold tuples of {most}"
        )))
    }

    /// What always holds.
    pub(super) fn check(&self) -> Check {
        if let Some(text) = self.world.lock().violation.take() {
            return Err(text);
        }
        let f = self.stepped.figures();
        let ends = f.completed + f.untracked + f.dead_lettered + f.dropped + f.handed_back + f.pending;
        if f.read != ends {
            return Err(format!("messages do not add up: {f:?}"));
        }
        if f.trees_emitted != f.trees_acked + f.trees_failed + f.trees_timed_out + f.trees_pending {
            return Err(format!("trees do not add up: {f:?}"));
        }
        if self.plan.how.limit.is_some_and(|limit| f.read > limit + self.slack) {
            return Err(format!("more is read than {:?}: {f:?}", self.plan.how));
        }
        let told = self.world.lock().oracle.told();
        if (f.completed, f.dead_lettered + f.dropped) != told {
            return Err(format!("the spouts were told of {told:?} ends: {f:?}"));
        }
        // Queues that become one may be full both, and a batch was in a hand of each.
        let most = self.queue_tuples * self.orders.moved();
        for who in 0..self.stepped.executors() {
            let (queued, _) = self.stepped.queued(who);
            if queued > most {
                let name = self.stepped.name(who);
                return Err(format!("{queued} tuples wait for {name}/{who}, the most is {most}"));
            }
        }
        Ok(())
    }

    pub(super) fn stuck(&self, what: &str) -> String {
        let f = self.stepped.figures();
        let who = |i: usize| format!("{}/{i} {:?}", self.stepped.name(i), self.stepped.queued(i));
        let queues: Vec<String> = (0..self.stepped.executors()).map(who).collect();
        format!("{what}: {f:?}; queues: {}", queues.join(", "))
    }
}
