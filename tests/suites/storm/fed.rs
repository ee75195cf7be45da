//! A topology without threads whose spouts emit what they are fed, when they are fed.
//!
//! In: a manifest whose spouts are `a`, `b`, `c`. Out: how many of each were acked and failed. Invariant: after each call
//! nobody has anything to do at this moment of the clock.

use anchorbolt_core::failure::Failure;
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::port::{Declaration, Next, Replay, Spout, SpoutContext, SpoutError, SpoutOutput, Waker};
use anchorbolt_host::runtime::{How, ManualClock, Order, Stepped, launch_stepped};
use anchorbolt_host::telemetry::Report;
use anchorbolt_tests::Topology;
use anchorbolt_tests::native::int_row;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a feeder was given and told.
#[derive(Default)]
struct Book {
    fed: u64,
    emitted: u64,
    acked: Vec<u64>,
    failed: Vec<(u64, String)>,
    waker: Option<Waker>,
}

#[derive(Clone, Default)]
struct Feeder(Arc<Mutex<Book>>);

/// A topology that is fed.
pub(super) struct Fed {
    // Its folder is there as long as it is.
    _topology: Topology,
    stepped: Stepped,
    clock: Arc<ManualClock>,
    feeders: BTreeMap<String, Feeder>,
}

impl Fed {
    /// Starts it; `natives` may put native bolts into it.
    pub(super) fn start(text: &str, natives: impl FnOnce(Topology) -> Topology) -> Fed {
        Fed::launch(text, natives, false)
    }

    /// The same, inactive.
    pub(super) fn start_inactive(text: &str, natives: impl FnOnce(Topology) -> Topology) -> Fed {
        Fed::launch(text, natives, true)
    }

    fn launch(text: &str, natives: impl FnOnce(Topology) -> Topology, inactive: bool) -> Fed {
        let mut topology = natives(Topology::new(text));
        let mut feeders = BTreeMap::new();
        for name in ["a", "b", "c"].into_iter().filter(|name| text.contains(&format!("[spouts.{name}]"))) {
            let feeder = Feeder::default();
            feeders.insert(name.to_owned(), feeder.clone());
            topology = topology.spout(name, Declaration::fields(["value"]), move |_| feeder.clone());
        }
        let loaded = topology.load();
        assert!(loaded.is_ok(), "{:#?}", loaded.diagnostics);
        let clock = ManualClock::new();
        let (plan, mut parts) = loaded.into_parts(How::default(), clock.clone()).unwrap();
        parts.inactive = inactive;
        let stepped = launch_stepped(plan, parts).unwrap();
        let mut fed = Fed { _topology: topology, stepped, clock, feeders };
        fed.settle();
        fed
    }

    /// Everybody does what there is to do now.
    pub(super) fn settle(&mut self) {
        loop {
            let n = self.stepped.executors();
            let awake: Vec<usize> = (0..=n).filter(|i| self.stepped.is_awake(*i)).collect();
            if awake.is_empty() {
                return;
            }
            for i in awake {
                self.stepped.step(i);
            }
        }
    }

    /// Feeds one tuple, whose value is its number, from 0.
    pub(super) fn feed(&mut self, feeder: &str) {
        self.offer(feeder, 1);
        self.settle();
    }

    /// Feeds so many tuples, and nobody takes a step.
    pub(super) fn offer(&self, feeder: &str, n: u64) {
        let waker = {
            let mut book = self.feeders[feeder].0.lock().unwrap();
            book.fed += n;
            book.waker.clone()
        };
        waker.expect("the feeder is open").wake();
    }

    /// The executors of a component.
    pub(super) fn executors_of(&self, component: &str) -> Vec<usize> {
        (0..self.stepped.executors()).filter(|i| self.stepped.name(*i) == component).collect()
    }

    /// This executor, and no other, does what there is to do.
    pub(super) fn settle_one(&mut self, executor: usize) {
        let mut steps = 0;
        while self.stepped.is_awake(executor) {
            self.stepped.step(executor);
            steps += 1;
            assert!(steps < 10_000, "{} never sleeps", self.stepped.name(executor));
        }
    }

    /// How many tuples wait for an executor.
    pub(super) fn queued(&self, executor: usize) -> usize {
        self.stepped.queued(executor).0
    }

    /// So much time passes, and nobody takes a step.
    pub(super) fn advance(&self, time: Duration) {
        self.clock.advance(time);
    }

    /// So much time passes.
    pub(super) fn pass(&mut self, time: Duration) {
        self.clock.advance(time);
        self.settle();
    }

    /// Spouts read from now on.
    pub(super) fn activate(&mut self) {
        let ordered = self.stepped.control().order(Order::Activate);
        self.settle();
        ordered.wait().unwrap();
    }

    /// How many of each feeder were acked: `a 1`.
    pub(super) fn acked(&self) -> Vec<String> {
        let acked =
            |(name, feeder): (&String, &Feeder)| format!("{name} {}", feeder.0.lock().unwrap().acked.len());
        self.feeders.iter().map(acked).collect()
    }

    /// Which of feeder `a` were acked.
    pub(super) fn which_acked(&self) -> Vec<u64> {
        self.feeders["a"].0.lock().unwrap().acked.clone()
    }

    /// Which of feeder `a` failed, and why.
    pub(super) fn failed(&self) -> Vec<(u64, String)> {
        self.failed_of("a")
    }

    /// Which of a feeder failed, and why.
    pub(super) fn failed_of(&self, feeder: &str) -> Vec<(u64, String)> {
        self.feeders[feeder].0.lock().unwrap().failed.clone()
    }

    /// Messages read so far.
    pub(super) fn read(&self) -> u64 {
        self.stepped.figures().read
    }

    /// What was counted so far.
    pub(super) fn report(&self) -> Report {
        self.stepped.watch().report()
    }

    /// Errors of the report: component and text.
    pub(super) fn errors(&self) -> Vec<(String, String)> {
        let errors = self.report().errors;
        errors.into_iter().map(|e| (e.component, e.message)).collect()
    }
}

impl Spout for Feeder {
    fn open(&mut self, context: SpoutContext) -> Result<(), SpoutError> {
        self.0.lock().unwrap().waker = Some(context.waker);
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        let mut book = self.0.lock().unwrap();
        for _ in 0..budget {
            if book.emitted == book.fed {
                return Ok(Next::Idle(None));
            }
            out.emit(MessageId::pair(0, book.emitted), 0, &int_row(book.emitted as i64));
            book.emitted += 1;
        }
        Ok(Next::More)
    }

    fn ack(&mut self, ids: &[MessageId]) {
        self.0.lock().unwrap().acked.extend(ids.iter().map(|id| id.low()));
    }

    fn fail(&mut self, id: MessageId, failure: &Failure) -> Replay {
        self.0.lock().unwrap().failed.push((id.low(), failure.to_string()));
        Replay::Host
    }

    fn give_up(&mut self, _: MessageId) {}

    fn unique_ids(&self) -> bool {
        true
    }
}
