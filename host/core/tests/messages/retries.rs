//! Failures, retries and who makes them.

use crate::task::{Task, retry_at};
use anchorbolt_core::failure::Cost;
use anchorbolt_core::ids::{MessageId, RootId, Time};
use anchorbolt_core::messages::{Fate, MessageEvent, MessageSlot};
use anchorbolt_core::retry::{OnExhausted, RetryPolicy};
use std::time::Duration;

#[test]
fn one_failure_cancels_the_other_trees_and_replays_all_rows() {
    let mut t = Task::standard();
    let roots: Vec<RootId> = [b"a", b"b", b"c"].into_iter().filter_map(|row| t.emit(7, row).1).collect();
    assert_eq!(t.ack(roots[0]), []);
    let due = retry_at(&t.fail(roots[1], Cost::Fault));
    assert_eq!(t.ledger.counts().pending, 0, "the third is cancelled");
    let counts = t.counts();
    assert_eq!((counts.trees_acked, counts.trees_failed, counts.trees_pending), (1, 2, 0));
    assert_eq!(due, Time(0).after(Duration::from_millis(100)));
    assert_eq!((t.messages.next_due(), t.replay()), (Some(due), vec![]), "not before its time");
    t.now = due;
    let replayed = t.replay();
    let (slot, again) = &replayed[0];
    let rows: Vec<&[u8]> = t.messages.rows(*slot).map(|(_, row)| row).collect();
    assert_eq!(rows, [b"a", b"b", b"c"]);
    assert_eq!((t.messages.attempt(*slot), again.len()), (2, 3));
    // Acks of the first attempt do nothing to the second.
    for &root in &roots {
        assert_eq!(t.ack(root), []);
    }
    let events: Vec<MessageEvent> = again.iter().flat_map(|&root| t.ack(root)).collect();
    assert!(matches!(events[..], [MessageEvent::Completed { attempt: 2, first: Time(0), .. }]), "{events:?}");
    let counts = t.counts();
    assert_eq!((counts.read, counts.completed, counts.trees_replayed), (1, 1, 3));
    assert_eq!(t.messages.slots_in_use(), 0);
}

/// STORM-2352, and the spout that forgets what it has put back: each failure is of the same message.
#[test]
fn a_message_that_always_fails_is_emitted_five_times_and_kept_with_its_failures() {
    let mut t = Task::standard();
    let (slot, root) = t.emit(1, b"poison");
    let (mut emissions, mut root) = (1, root.expect("a tree"));
    loop {
        let events = t.fail(root, Cost::Fault);
        if let [MessageEvent::Exhausted { action, id, .. }] = events[..] {
            assert_eq!((action, id), (OnExhausted::DeadLetter, MessageId::pair(0, 1)));
            break;
        }
        t.now = retry_at(&events);
        root = t.replay()[0].1[0];
        emissions += 1;
    }
    assert_eq!(emissions, 5);
    let attempts: Vec<u32> = t.messages.history(slot).iter().map(|attempt| attempt.number).collect();
    assert_eq!(attempts, [1, 2, 3, 4, 5]);
    assert_eq!(t.messages.rows(slot).next(), Some((0, b"poison".as_slice())));
    assert_eq!((t.counts().pending, t.counts().dead_lettered), (1, 0), "pending until its letter is durable");
    t.messages.close(slot, Fate::DeadLettered);
    assert_eq!((t.counts().pending, t.counts().dead_lettered), (0, 1));
    assert_eq!(t.messages.id(slot), None);
    t.messages.close(slot, Fate::Dropped);
    assert_eq!(t.counts().dropped, 0, "it has ended");
}

#[test]
fn a_spout_that_replays_by_itself_goes_on_with_the_same_message() {
    for unique_ids in [false, true] {
        let retry = RetryPolicy { max_faults: Some(6), ..RetryPolicy::default() };
        let mut t = Task::new(1, retry, unique_ids);
        let mut emissions = 0;
        loop {
            assert!(t.messages.room() > 0 || emissions == 0, "the spout is asked for what it owes");
            let (slot, root) = t.emit(9, b"row");
            emissions += 1;
            assert_eq!(t.messages.room(), 0);
            match t.fail(root.expect("a tree"), Cost::Fault)[..] {
                [MessageEvent::Failed { slot: failed, attempt, .. }] => {
                    assert_eq!((failed, attempt), (slot, emissions));
                    t.messages.hand_to_spout(failed);
                }
                [MessageEvent::Exhausted { .. }] => break,
                ref other => panic!("{other:?}"),
            }
            t.wait(Duration::from_secs(60));
            assert_eq!((t.messages.next_due(), t.replay()), (None, vec![]), "the host does not replay it");
        }
        assert_eq!((emissions, t.counts().read), (6, 1), "STORM-2352: the failures are not forgotten");
    }
}

#[test]
fn a_spout_that_never_replays_what_it_owes_stops_at_twice_its_limit() {
    let mut t = Task::new(10, RetryPolicy::default(), false);
    let mut id = 0;
    while t.messages.room() > 0 && id < 1000 {
        id += 1;
        let (slot, root) = t.emit(id, b"row");
        t.fail(root.expect("a tree"), Cost::Fault);
        t.messages.hand_to_spout(slot);
    }
    assert_eq!((id, t.counts().pending), (20, 20));
}

#[test]
fn what_a_spout_owes_may_have_more_rows_than_twice_the_limit() {
    let mut t = Task::new(2, RetryPolicy::default(), true);
    let mut owed = vec![];
    for id in 0..2 {
        let (slot, root) = t.emit(id, b"one");
        for _ in 0..2 {
            t.messages.keep_row(slot, 0, b"more");
            t.open(slot);
        }
        owed.push((slot, root));
    }
    assert_eq!(t.messages.room(), 0);
    for (slot, root) in owed {
        t.fail(root.expect("a tree"), Cost::Fault);
        t.messages.hand_to_spout(slot);
    }
    assert_eq!(
        (t.messages.room(), t.messages.owed()),
        (2, 2),
        "six rows, and the spout is asked for both messages"
    );
}

/// STORM-3058: with one message in flight the next must not overtake one that failed.
#[test]
fn a_message_that_waits_for_its_retry_keeps_its_place() {
    let mut t = Task::new(1, RetryPolicy::default(), true);
    assert_eq!(t.messages.room(), 1);
    let (_, root) = t.emit(1, b"row");
    assert_eq!(t.messages.room(), 0);
    let due = retry_at(&t.fail(root.expect("a tree"), Cost::Patience));
    assert_eq!(t.messages.room(), 0);
    t.now = due;
    let root = t.replay()[0].1[0];
    t.ack(root);
    assert_eq!(t.messages.room(), 1);
}

#[test]
fn an_outage_ends_in_back_pressure_and_not_in_dead_letters() {
    let mut t = Task::new(100, RetryPolicy::default(), true);
    for id in 0..t.messages.room() as u64 {
        t.emit(id, b"row");
    }
    let minutes = Duration::from_secs(14 * 60);
    let mut exhausted = 0;
    while t.now < Time(0).after(minutes) {
        let roots: Vec<RootId> = t.messages.pending().flat_map(|m| t.messages.open_roots(m.slot)).collect();
        for root in roots {
            let events = t.fail(root, Cost::Patience);
            exhausted += events.iter().filter(|e| matches!(e, MessageEvent::Exhausted { .. })).count();
        }
        assert_eq!(t.messages.room(), 0);
        t.now = t.messages.next_due().expect("they wait");
        t.replay();
    }
    assert_eq!((exhausted, t.counts().read, t.counts().pending), (0, 100, 100));
    let roots: Vec<RootId> = t.messages.pending().flat_map(|m| t.messages.open_roots(m.slot)).collect();
    for root in roots {
        t.ack(root);
    }
    t.wait(Duration::from_secs(11));
    for (_, roots) in t.replay() {
        t.ack(roots[0]);
    }
    assert_eq!((t.counts().completed, t.counts().pending), (100, 0));
}

/// Nobody but the table cancels; if someone does, the message is not lost.
#[test]
fn a_tree_that_others_cancelled_is_replayed_free() {
    let mut t = Task::standard();
    let (slot, root) = t.emit(1, b"row");
    t.ledger.cancel(root.expect("a tree"));
    assert_eq!(retry_at(&t.turn()), t.now, "at once");
    let counts = t.counts();
    assert_eq!((counts.trees_emitted, counts.trees_failed, counts.trees_pending), (1, 1, 0));
    assert_eq!(t.messages.history(slot)[0].failure.cost, Cost::Free);
    let root = t.replay()[0].1[0];
    t.ack(root);
    assert_eq!((t.counts().completed, t.counts().trees_replayed), (1, 1));
}

#[test]
fn what_the_bolts_reject_is_never_tried_again() {
    let mut t = Task::standard();
    let root = t.emit(1, b"row").1.expect("a tree");
    assert!(matches!(t.fail(root, Cost::Final)[..], [MessageEvent::Exhausted { .. }]));
}

#[test]
fn a_row_that_joins_a_waiting_message_goes_with_its_retry() {
    let mut t = Task::standard();
    let (slot, root) = t.emit(1, b"a");
    let due = retry_at(&t.fail(root.expect("a tree"), Cost::Fault));
    assert_eq!(t.emit(1, b"b"), (slot, None));
    t.now = due;
    let roots = t.replay().remove(0).1;
    assert_eq!(roots.len(), 2);
    roots.into_iter().for_each(|root| drop(t.ack(root)));
    assert_eq!((t.counts().read, t.counts().completed), (1, 1));
}

#[test]
fn of_messages_that_are_due_together_the_first_to_fail_is_first() {
    let mut t = Task::standard();
    let emitted: Vec<(MessageSlot, RootId)> =
        (0..50).map(|id| t.emit(id, b"row")).map(|(slot, root)| (slot, root.expect("a tree"))).collect();
    let order: Vec<usize> = (0..50).map(|n| n * 7 % 50).collect();
    for &n in &order {
        t.fail(emitted[n].1, Cost::Fault);
    }
    t.wait(Duration::from_secs(1));
    let replayed: Vec<MessageSlot> = t.replay().into_iter().map(|(slot, _)| slot).collect();
    assert_eq!(replayed, order.iter().map(|&n| emitted[n].0).collect::<Vec<_>>());
}
