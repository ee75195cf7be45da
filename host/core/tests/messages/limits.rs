//! How much may be under way.

use crate::task::{Task, failure};
use anchorbolt_core::failure::{Class, Cost};
use anchorbolt_core::ids::{RootId, Time};
use anchorbolt_core::messages::TreeEnd;
use anchorbolt_core::retry::RetryPolicy;
use std::collections::VecDeque;
use std::time::Duration;

#[test]
fn rows_of_a_message_each_take_a_place() {
    let mut t = Task::new(10, RetryPolicy::default(), false);
    for _ in 0..7 {
        t.emit(1, b"row");
    }
    t.emit(2, b"row");
    assert_eq!(t.messages.room(), 2);
    for _ in 0..50 {
        t.emit(2, b"row");
    }
    assert_eq!(t.messages.room(), 0);
}

#[test]
fn a_timeout_in_a_queue_halves_the_limit_and_costs_nothing() {
    let mut t = Task::new(64, RetryPolicy::default(), true);
    for id in 0..64 {
        t.emit(id, b"row");
    }
    t.wait(Duration::from_secs(30));
    t.ledger.expire(t.now);
    let events = t.turn();
    assert_eq!(events.len(), 64);
    assert_eq!((t.messages.effective_limit(), t.messages.room()), (32, 0), "once for all of them");
    assert_eq!(t.counts().trees_timed_out, 64);
    // Replays wait under the limit, and come before new messages.
    let first = t.replay();
    assert_eq!(first.len(), 32);
    assert_eq!((t.messages.next_due(), t.messages.room()), (None, 0));
    t.ack(first[0].1[0]);
    assert_eq!(t.replay().len(), 1);
    for (_, roots) in &first[1..] {
        t.ack(roots[0]);
    }
    assert!(t.messages.effective_limit() > 32, "and recovers");
    while t.counts().completed < 64 {
        let roots: Vec<RootId> = t.messages.pending().flat_map(|m| t.messages.open_roots(m.slot)).collect();
        roots.into_iter().for_each(|root| drop(t.ack(root)));
        t.replay();
    }
    assert!(t.messages.pending().all(|m| m.history.len() <= 1));
    for id in 64..2000 {
        let root = t.emit(id, b"row").1.expect("a tree");
        t.ack(root);
    }
    assert_eq!(t.messages.effective_limit(), 64);
}

#[test]
fn no_other_failure_halves_the_limit() {
    for (class, cost, limit) in [
        (Class::Timeout, Cost::Free, 32),
        (Class::Timeout, Cost::Patience, 64),
        (Class::Host, Cost::Free, 64),
        (Class::Failed, Cost::Fault, 64),
    ] {
        let mut t = Task::new(64, RetryPolicy::default(), true);
        let root = t.emit(1, b"row").1.expect("a tree");
        t.messages.tree_event(root, TreeEnd::TimedOut(Box::new(failure(class, cost))), t.now, 0);
        assert_eq!(t.messages.effective_limit(), limit, "{class:?}, {cost:?}");
    }
}

/// Two bolts share one core, turn by turn, a millisecond a tuple; the first makes three tuples of each, so
/// the second falls behind. The spout would always have ten times as much under way as ends in time. Left
/// alone, a quarter of the work goes into trees that time out half-way.
#[test]
fn under_overload_goodput_is_a_plateau() {
    let mut t = Task::with_timeout(Duration::from_secs(4), 10_000, RetryPolicy::default(), true);
    t.check = false;
    let (mut first, mut second) = (VecDeque::new(), VecDeque::new());
    let (mut id, mut warm) = (0, 0);
    for millisecond in 0..120_000_u64 {
        t.now = Time(millisecond * 1_000_000);
        // What nobody waits for any more is discarded when it is dequeued, and takes no time.
        let live = |(root, _): &(RootId, u64)| !t.generations.is_over(*root);
        let take = |queue: &mut VecDeque<(RootId, u64)>| loop {
            match queue.pop_front() {
                Some(tuple) if !live(&tuple) => {}
                found => break found,
            }
        };
        let (turn, other) =
            if millisecond % 2 == 0 { (&mut first, &mut second) } else { (&mut second, &mut first) };
        match take(turn).or_else(|| take(other)) {
            Some((root, 1)) => {
                t.ledger.ack(root, 1 ^ 2 ^ 4 ^ 8, t.now);
                second.extend([(root, 2), (root, 4), (root, 8)]);
            }
            Some((root, edge)) => t.ledger.ack(root, edge, t.now),
            None => {}
        }
        t.ledger.expire(t.now);
        t.turn();
        first.extend(t.replay().into_iter().flat_map(|(_, roots)| roots).map(|root| (root, 1)));
        for _ in 0..t.messages.room() {
            first.extend(t.emit(id, b"row").1.map(|root| (root, 1)));
            id += 1;
        }
        warm = if millisecond == 40_000 { t.counts().completed } else { warm };
    }
    let goodput = (t.counts().completed - warm) as f64 / (80_000.0 / 4.0);
    assert!(goodput > 0.9, "{goodput}");
}
