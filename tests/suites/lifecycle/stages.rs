//! In which order a topology comes up and goes down.
//!
//! In: spouts and bolts that write down each call. Out: the order of the calls over all of them.

use anchorbolt_core::ids::MessageId;
use anchorbolt_core::port::{
    Bolt, Collector, Context, Declaration, Next, Spout, SpoutContext, SpoutError, SpoutOutput, Tuples,
};
use anchorbolt_tests::native::int_row;
use anchorbolt_tests::{Topology, check_flawless};
use std::sync::{Arc, Mutex};

/// The calls so far, each with who was called.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<(&'static str, &'static str)>>>);

impl Calls {
    fn write(&self, who: &'static str, what: &'static str) {
        self.0.lock().unwrap().push((who, what));
    }

    /// Where this call stands; it was made once.
    fn at(&self, who: &str, what: &str) -> usize {
        let calls = self.0.lock().unwrap();
        let is = |call: &(&str, &str)| *call == (who, what);
        assert_eq!(calls.iter().filter(|call| is(call)).count(), 1, "{who} {what}: {calls:?}");
        calls.iter().position(is).unwrap()
    }
}

/// A spout of five messages.
struct Five(Calls, u64);

impl Spout for Five {
    fn open(&mut self, _: SpoutContext) -> Result<(), SpoutError> {
        self.0.write("feed", "open");
        Ok(())
    }

    fn activate(&mut self) -> Result<(), SpoutError> {
        self.0.write("feed", "activate");
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        for _ in 0..budget {
            if self.1 == 5 {
                return Ok(Next::Done);
            }
            if self.1 == 0 {
                self.0.write("feed", "first");
            }
            out.emit(MessageId::pair(0, self.1), 0, &int_row(self.1 as i64));
            self.1 += 1;
        }
        Ok(Next::More)
    }

    fn ack(&mut self, ids: &[MessageId]) {
        if ids.contains(&MessageId::pair(0, 4)) {
            self.0.write("feed", "last ack");
        }
    }

    fn deactivate(&mut self) {
        self.0.write("feed", "deactivate");
    }

    fn close(&mut self) {
        self.0.write("feed", "close");
    }

    fn finite(&self) -> bool {
        true
    }
}

struct Stage(Calls, &'static str);

impl Bolt for Stage {
    fn prepare(&mut self, _: &Context) -> Result<(), String> {
        self.0.write(self.1, "prepare");
        Ok(())
    }

    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        for (i, id) in tuples.ids.iter().enumerate() {
            out.emit(0, &[*id], tuples.row(i));
        }
        out.ack(&tuples.ids);
        Ok(())
    }

    fn cleanup(&mut self) -> Result<(), String> {
        self.0.write(self.1, "cleanup");
        Ok(())
    }
}

#[test]
fn bolts_are_prepared_before_spouts_open_and_cleaned_up_after_the_last_ack() {
    let calls = Calls::default();
    let (spout, early, late) = (calls.clone(), calls.clone(), calls.clone());
    // The names are against the order of the stream: it is not by name.
    let mut topology = Topology::new(
        r#"
        [topology]
        name = "stages"
        [spouts.feed]
        kind = "generate"
        [bolts.zeta]
        kind = "null"
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.alpha]
        kind = "null"
        inputs = [{ from = "zeta", grouping = "shuffle" }]
        "#,
    )
    .spout("feed", Declaration::fields(["n"]), move |_| Five(spout.clone(), 0))
    .bolt("zeta", Declaration::fields(["n"]), move || Stage(early.clone(), "zeta"))
    .bolt("alpha", Declaration::fields(["n"]), move || Stage(late.clone(), "alpha"));
    check_flawless(&topology.run(), 5);
    let at = |who: &str, what: &str| calls.at(who, what);
    let opened = at("feed", "open");
    assert!(at("zeta", "prepare") < opened && at("alpha", "prepare") < opened, "{:?}", calls.0);
    assert!(opened < at("feed", "activate") && at("feed", "activate") < at("feed", "first"), "{:?}", calls.0);
    let done = at("feed", "last ack");
    assert!(done < at("feed", "close") && at("feed", "deactivate") < at("feed", "close"), "{:?}", calls.0);
    assert!(
        at("feed", "close") < at("zeta", "cleanup"),
        "nothing is emitted into a closed bolt: {:?}",
        calls.0
    );
    assert!(at("zeta", "cleanup") < at("alpha", "cleanup"), "in the order of the stream: {:?}", calls.0);
}
