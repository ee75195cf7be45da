//! Faults of timing, made by the order of steps: nobody steps but whom the test names.
//!
//! In: executors that rest while others work. Out: what a spout knows by then.

use super::fed::Fed;
use super::{ACK, guest, topology};
use anchorbolt_tests::bolt;
use std::time::Duration;

/// STORM-1742: a spout that comes late to an ack must not count its own delay.
#[test]
fn latency_ends_with_the_last_ack_and_not_when_the_spout_hears_of_it() {
    for ackers in ["", "ackers = 1"] {
        let mut fed = Fed::start(&topology(ackers, &["a"], &[("ack", ACK, &["a"])]), |topology| topology);
        let (spout, sink) = (fed.executors_of("a")[0], fed.executors_of("ack")[0]);
        fed.offer("a", 1);
        fed.settle_one(spout);
        // With an acker the registration comes first; it hears of the ack in time, and the spout does not.
        fed.advance(Duration::from_millis(30));
        fed.settle_one(sink);
        fed.executors_of("acker").into_iter().for_each(|acker| fed.settle_one(acker));
        fed.advance(Duration::from_secs(2));
        assert_eq!(fed.acked(), ["a 0"], "it has not heard of it");
        fed.settle();
        assert_eq!(fed.acked(), ["a 1"]);
        let latency = fed.report().latency;
        assert!((29_000..32_000).contains(&latency.max), "{ackers}: {latency:?}");
    }
}

/// STORM-1027: a spout that can't get rid of what it has emitted takes acks all the same.
#[test]
fn a_spout_before_a_full_queue_takes_acks() {
    let bolts = [("ack", "kind = \"null\"\ntasks = 2\nexecutors = 2", &["a"][..])];
    let mut fed = Fed::start(&topology("queue-tuples = 1", &["a"], &bolts), |topology| topology);
    let (spout, sinks) = (fed.executors_of("a")[0], fed.executors_of("ack"));
    fed.offer("a", 10);
    fed.settle_one(spout);
    assert_eq!(sinks.iter().map(|sink| fed.queued(*sink)).collect::<Vec<_>>(), [1, 1], "both are full");
    for n in 1..=3 {
        fed.settle_one(sinks[1]);
        fed.settle_one(spout);
        assert_eq!((fed.acked(), fed.queued(sinks[0])), (vec![format!("a {n}")], 1), "the first is full");
    }
    fed.settle();
    assert_eq!(fed.acked(), ["a 10"]);
}

/// STORM-1928: who is not called, since there is nothing to do, is not taken for hung.
#[test]
fn a_guest_that_idles_longer_than_its_deadline_is_alive() {
    let idle = guest("identity", "") + "\nlimits = { deadline = \"50ms\" }";
    let bolts = [("idle", &*idle, &["a"][..]), ("ack", ACK, &["idle"])];
    let mut fed = Fed::start(&topology("", &["a"], &bolts), |topology| topology);
    fed.feed("a");
    fed.pass(Duration::from_secs(36_000));
    // Deadlines of calls are in real time.
    std::thread::sleep(Duration::from_millis(200));
    fed.feed("a");
    assert_eq!((fed.acked(), bolt(&fed.report(), "idle").deaths), (vec!["a 2".into()], 0));
}
