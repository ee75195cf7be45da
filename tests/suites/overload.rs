//! More messages than a bolt can bear: as many complete as when there are just enough. In virtual time, so exact.

use anchorbolt_core::ids::{MessageId, Time};
use anchorbolt_core::port::{
    Bolt, Collector, Declaration, InstanceFactory, Next, Spout, SpoutContext, SpoutError, SpoutOutput, Tuples,
};
use anchorbolt_host::runtime::{Clock, How, ManualClock, NativeFactory, Parts, SpoutFactory, launch_stepped};
use anchorbolt_tests::Topology;
use anchorbolt_tests::native::int_row;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How long the bolt works on a tuple: it can bear 1,000 a second.
const WORK: Duration = Duration::from_millis(1);
/// How long each run is.
const RUN: Duration = Duration::from_secs(60);

/// Takes its time, in virtual time.
struct Busy(Arc<ManualClock>);

impl Bolt for Busy {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        self.0.advance(WORK * tuples.len() as u32);
        out.ack(&tuples.ids);
        Ok(())
    }
}

/// So many messages a second, whether they are wanted or not: those that are late come at once.
struct Arrivals {
    clock: Arc<ManualClock>,
    a_second: u64,
    emitted: u64,
}

impl Spout for Arrivals {
    fn open(&mut self, _: SpoutContext) -> Result<(), SpoutError> {
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        let due = self.clock.now().0 * self.a_second / 1_000_000_000;
        let n = (due - self.emitted).min(budget as u64);
        for _ in 0..n {
            out.emit(MessageId::pair(0, self.emitted), 0, &int_row(self.emitted as i64));
            self.emitted += 1;
        }
        Ok(if n > 0 { Next::More } else { Next::Idle(Some(Duration::from_millis(1))) })
    }

    fn ack(&mut self, _: &[MessageId]) {}

    fn unique_ids(&self) -> bool {
        true
    }
}

/// Messages that completed within the run, and trees that timed out, at this rate. Far more may be pending than the
/// bolt works through within the timeout.
fn goodput(a_second: u64) -> (u64, u64) {
    let mut text = Topology::new(
        "[topology]\nname = \"overload\"\nmessage-timeout = \"2s\"\nmax-spout-pending = 20000\nqueue-tuples = 20000\n\
         [spouts.feed]\nkind = \"generate\"\nfields = { id = \"int\" }\n[bolts.busy]\nkind = \"null\"\ninputs = [{ from = \"feed\", grouping = \"shuffle\" }]\n",
    );
    let clock = ManualClock::new();
    let (for_bolt, for_spout) = (clock.clone(), clock.clone());
    let busy = NativeFactory::new(Declaration::default(), move || Box::new(Busy(for_bolt.clone())));
    let busy: Arc<dyn InstanceFactory> = Arc::new(busy);
    let feed: SpoutFactory =
        Box::new(move |_| Box::new(Arrivals { clock: for_spout.clone(), a_second, emitted: 0 }));
    let parts = Parts {
        bolts: BTreeMap::from([("busy".to_owned(), busy)]),
        spouts: BTreeMap::from([("feed".to_owned(), feed)]),
        seed: Some(1),
        ..Parts::new(How::default(), clock.clone())
    };
    let mut stepped = launch_stepped(text.load().plan.unwrap(), parts).unwrap();
    while clock.now() < Time(RUN.as_nanos() as u64) {
        assert_eq!(stepped.round(&clock), Ok(false), "nobody told it to end");
    }
    let totals = stepped.watch().report().totals();
    (totals.completed, totals.trees_timed_out)
}

#[test]
fn goodput_under_overload_is_a_plateau() {
    let capacity = 1_000;
    let found = [1, 2, 3].map(|times| goodput(capacity * times));
    println!(
        "completed and timed out in {RUN:?} at 1, 2, 3 times the capacity of {capacity} a second: {found:?}"
    );
    let all = RUN.as_secs() * capacity;
    for (completed, _) in found {
        assert!(completed * 10 >= all * 9 && completed <= all, "{completed} of {all}");
    }
    assert!(found[2].1 > 0, "the queue was never longer than the timeout: this tests nothing");
}
