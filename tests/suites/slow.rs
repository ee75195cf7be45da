//! Slow is not dead: a bolt may take nearly its whole deadline for each tuple, whatever shares the call.
//!
//! In: rows of which some take nine tenths of the deadline. Out: nothing fails; the first overrun of a call may cost one
//! instance. The tenth that is left is 100 ms, so that a busy machine does not eat it.

use anchorbolt_tests::{Setup, bolt};

fn check(texts: &[String]) {
    let bolt_keys = "limits = { deadline = \"1s\" }\nconfig = { on = \"slow\", sleep_ms = 900 }\n\
                     restart = { budget = 1, on-circuit-open = \"stop\" }";
    let mut p = Setup { guest: "sleep_on", bolt: bolt_keys, ..Setup::default() }.over(texts);
    let ended = p.run();
    let n = texts.len() as u64;
    let t = ended.report.totals();
    assert_eq!((t.completed, t.trees_acked, t.trees_emitted), (n, n, n), "{:#?}", ended.report.errors);
    p.sink.check_texts(texts);
    let b = bolt(&ended.report, "bolt");
    assert_eq!((b.failed, b.faults), (0, [0; 5]), "{b:?}");
    assert!(b.deaths <= 1, "each overrun after the first is one too many: {b:?}");
}

#[test]
fn a_bolt_that_takes_nine_tenths_of_its_deadline_for_each_tuple_works() {
    check(&(0..6).map(|i| format!("slow-{i}")).collect::<Vec<_>>());
}

#[test]
fn slow_tuples_that_are_rare_and_come_together_cost_one_instance_at_most() {
    let text = |i| format!("{}-{i}", if i % 2000 > 1995 { "slow" } else { "quick" });
    check(&(0..4000).map(text).collect::<Vec<_>>());
}
