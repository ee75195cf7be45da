//! What becomes of a task when its instance dies.
//!
//! The tuples of the call run again one by one, in a fresh instance; the one that dies alone has a fault.
//! What the instance held from earlier calls is replayed at once and pays nothing. Deaths that no tuple is to
//! blame for, and tuples in a row that all kill, spend the restart budget.

use super::bolt_task::{BoltTask, Circuit};
use super::env::{Env, Event};
use crate::telemetry::bump;
use anchorbolt_core::failure::{Class, Cost, Failure};
use anchorbolt_core::ids::Time;
use anchorbolt_core::manifest::OnCircuitOpen;
use anchorbolt_core::oplog::held::Entry;
use anchorbolt_core::port::{CallError, Death};
use anchorbolt_core::supervise::{Action, Blame};

/// A tuple that runs again, alone.
pub(crate) struct Rerun {
    /// What it stands for.
    pub entry: Entry,
    /// Its row.
    pub row: Vec<u8>,
}

impl BoltTask {
    /// The instance is gone: nothing of the call counts.
    pub(super) fn died(&mut self, env: &Env, death: Death, now: Time) {
        self.instance = None;
        self.call.log.clear();
        self.effects.clear();
        self.pace.on_death(death.class == Class::Deadline);
        bump(&self.parts.counters.deaths, 1);
        if !self.parts.stateless {
            bump(&self.parts.counters.state_lost, 1);
        }
        let (kept, mut window) = {
            let mut held = self.parts.shared.held.lock();
            self.parts.shared.router.lock().discard();
            (held.take_kept(), held.take_window())
        };
        self.parts.counters.held.store(0, std::sync::atomic::Ordering::Relaxed);
        let reason = format!("held by an instance that died: {}", death.reason);
        let collateral = self.applier.failure(death.class, Cost::Free, reason);
        for mut kept in kept {
            self.effects.fail_entry(&mut kept.entry, &collateral);
        }
        match &mut window[..] {
            [] => self.blameless(env, &death, now),
            [alone] => self.blame(env, alone, &death, now),
            _ => self.rerun(std::mem::take(&mut window), death.crowded),
        }
        window.clear();
        self.parts.shared.held.lock().put_window(window);
    }

    /// The tuples of the call go back, to run one by one. A call that was only too large is nobody's fault.
    fn rerun(&mut self, window: Vec<Entry>, crowded: bool) {
        self.rerun_blamed = crowded;
        for (i, entry) in window.into_iter().enumerate() {
            self.reruns.push_back(Rerun { entry, row: self.tuples.row(i).to_vec() });
        }
    }

    /// This tuple killed the instance, alone.
    fn blame(&mut self, env: &Env, entry: &mut Entry, death: &Death, now: Time) {
        self.rerun_blamed = true;
        self.parts.counters.fault(death.class);
        let failure = Failure {
            output: death.output.clone(),
            input: self.applier.input(entry, Some(self.tuples.row(0))),
            ..self.applier.failure(death.class, Cost::Fault, death.reason.clone())
        };
        env.failure(&failure);
        self.effects.fail_entry(entry, &failure);
        // A tuple that comes again is a known killer and says nothing new about the bolt.
        if entry.attempt <= 1 {
            let action = self.parts.supervisor.on_death(Blame::OneTuple, now);
            self.act(env, action, &death.reason);
        }
    }

    /// No tuple is to blame.
    fn blameless(&mut self, env: &Env, death: &Death, now: Time) {
        let text = match death.output.trim() {
            "" => death.reason.clone(),
            output => format!("{}; it printed: {output}", death.reason),
        };
        env.error(&self.applier.component, death.class, &text);
        let action = self.parts.supervisor.on_death(Blame::Nobody, now);
        self.act(env, action, &death.reason);
    }

    /// The last tuple of a re-run has run. When none died alone, the batch itself was deadly.
    pub(super) fn rerun_is_over(&mut self, env: &Env, now: Time) {
        if !std::mem::replace(&mut self.rerun_blamed, true) {
            let action = self.parts.supervisor.on_death(Blame::Nobody, now);
            self.act(env, action, "an instance died of a batch whose tuples are harmless one by one");
        }
    }

    /// Makes an instance after a death. False when that failed too.
    pub(super) fn revive(&mut self, env: &Env, now: Time) -> bool {
        match self.start() {
            Ok(()) => {
                bump(&self.parts.counters.restarts, 1);
                true
            }
            Err(CallError::Declared(text)) => {
                let death = Death::new(Class::Failed, format!("prepare: {text}"));
                self.blameless(env, &death, now);
                false
            }
            Err(CallError::Died(mut death)) => {
                death.reason = format!("prepare: {}", death.reason);
                bump(&self.parts.counters.deaths, 1);
                self.blameless(env, &death, now);
                false
            }
        }
    }

    fn act(&mut self, env: &Env, action: Action, reason: &str) {
        let name = &self.applier.component;
        match (action, self.parts.on_circuit_open) {
            (Action::RestartNow, _) => {}
            (Action::RestartAt(at), _) => self.circuit = Circuit::Waiting(at),
            (Action::OpenCircuit, OnCircuitOpen::DeadLetter) => {
                self.circuit = Circuit::DeadLetter;
                let text = format!("circuit open, its tuples are dead letters from now on: {reason}");
                env.error(name, Class::Circuit, &text);
            }
            (Action::OpenCircuit, OnCircuitOpen::Pause) => {
                self.circuit = Circuit::Paused;
                let text = format!(
                    "circuit open, the bolt is paused and nothing is lost: {reason}; mend the plugin and start again"
                );
                // The controller logs it, louder than an error of a tuple.
                env.errors.add(name, Class::Circuit, &text);
                self.tell_paused(env, format!("bolt `{name}`: {text}"));
            }
            (Action::OpenCircuit, OnCircuitOpen::Stop) => {
                self.circuit = Circuit::Paused;
                env.error(name, Class::Circuit, &format!("circuit open: {reason}"));
                env.tell(Event::Stop(format!("the circuit of bolt `{name}` is open: {reason}")));
            }
        }
    }
}
