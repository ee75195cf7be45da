//! What becomes of messages, from their rows to their end.

use crate::task::{Task, failure, retry_at};
use anchorbolt_core::ack::Slots;
use anchorbolt_core::failure::{Class, Cost};
use anchorbolt_core::ids::{MessageId, RootId, Time};
use anchorbolt_core::messages::{Counts, Fate, MessageEvent, MessageState, TreeEnd};
use anchorbolt_core::retry::RetryPolicy;

#[test]
fn a_message_of_one_row_completes_with_its_times() {
    let mut t = Task::standard();
    t.now = Time(5);
    let (_, root) = t.emit(1, b"row");
    t.now = Time(9);
    let events = t.ack(root.expect("a tree"));
    let id = MessageId::pair(0, 1);
    let completed = MessageEvent::Completed { id, first: Time(5), started: Time(5), at: Time(9), attempt: 1 };
    assert_eq!(events, [completed]);
    let counts = Counts { read: 1, completed: 1, trees_emitted: 1, trees_acked: 1, ..Counts::default() };
    assert_eq!(t.counts(), counts);
    assert_eq!(t.messages.slots_in_use(), 0);
}

/// "Confusion of Storm acker": one word as the id of several tuples. One message, done when all three are.
#[test]
fn three_rows_with_one_id_are_one_message() {
    for unique_ids in [false, true] {
        let mut t = Task::new(2048, RetryPolicy::default(), unique_ids);
        let roots: Vec<RootId> = (0..3).filter_map(|_| t.emit(7, b"x").1).collect();
        assert_eq!((t.counts().read, t.counts().trees_emitted), (1, 3));
        assert_eq!(t.ack(roots[2]), []);
        assert_eq!(t.ack(roots[0]), []);
        assert_eq!(t.ack(roots[1]).len(), 1);
        assert_eq!((t.counts().completed, t.counts().pending), (1, 0));
    }
}

#[test]
fn rows_of_other_messages_may_lie_between_unless_ids_are_unique() {
    let mut t = Task::standard();
    let roots: Vec<RootId> = [1, 2, 1, 3, 2, 1].into_iter().filter_map(|id| t.emit(id, b"x").1).collect();
    assert_eq!((t.counts().read, t.counts().pending), (3, 3));
    let completed: usize = roots.iter().map(|&root| t.ack(root).len()).sum();
    assert_eq!(completed, 3);
}

#[test]
fn a_refused_message_is_exhausted_at_once_and_counted_as_read() {
    let mut t = Task::standard();
    let id = MessageId::pair(4, 2);
    let slot = t.messages.refuse(id, failure(Class::Size, Cost::Fault), Time(3)).expect("room");
    let events = t.turn();
    assert!(matches!(&events[..], [MessageEvent::Exhausted { failure, .. }] if failure.class == Class::Size));
    assert_eq!((t.counts().read, t.counts().pending), (1, 1));
    t.messages.close(slot, Fate::Dropped);
    assert_eq!((t.counts().dropped, t.counts().pending, t.messages.room()), (1, 0, 2048));
}

/// streamparse#111: what is emitted without an id is not limited.
#[test]
fn untracked_messages_are_counted_and_not_limited() {
    let mut t = Task::new(1, RetryPolicy::default(), false);
    let id = Some(MessageId(5));
    let new: Vec<bool> =
        [None, None, id, id, None, id].into_iter().map(|id| t.messages.untracked(id)).collect();
    assert_eq!(new, [true, true, true, false, true, true]);
    let counts = t.counts();
    assert_eq!((counts.read, counts.untracked, counts.pending, t.messages.room()), (5, 5, 0, 1));
}

#[test]
fn handing_back_a_message_in_any_state_leaves_nothing() {
    let mut t = Task::standard();
    let (emitted, old) = t.emit(1, b"row");
    let (waiting, root) = t.emit(2, b"row");
    t.fail(root.expect("a tree"), Cost::Fault);
    let (with_spout, root) = t.emit(3, b"row");
    t.fail(root.expect("a tree"), Cost::Fault);
    t.messages.hand_to_spout(with_spout);
    let states: Vec<MessageState> = [emitted, waiting, with_spout]
        .iter()
        .filter_map(|&m| t.messages.message(m))
        .map(|m| m.state)
        .collect();
    assert!(
        matches!(states[..], [MessageState::Emitted, MessageState::Waiting(_), MessageState::WithSpout]),
        "{states:?}"
    );
    for m in [emitted, waiting, with_spout] {
        t.messages.close(m, Fate::HandedBack);
    }
    assert_eq!(t.turn(), []);
    assert_eq!((t.counts().handed_back, t.counts().pending, t.messages.slots_in_use()), (3, 0, 0));
    assert_eq!((t.messages.next_due(), t.messages.room()), (None, 2048));
    assert_eq!(t.ack(old.expect("a tree")), [], "late acks do nothing");
}

#[test]
fn a_root_leads_to_its_message_while_its_tree_is_open() {
    let mut t = Task::standard();
    let (slot, root) = t.emit(1, b"row");
    let root = root.expect("a tree");
    let found = t.messages.message_of(root).map(|m| (m.slot, m.attempt));
    assert_eq!(found, Some((slot, 1)));
    let due = retry_at(&t.fail(root, Cost::Fault));
    assert_eq!(t.messages.message_of(root).map(|m| m.slot), None);
    t.now = due;
    let again = t.replay()[0].1[0];
    assert_eq!(again.slot(), root.slot());
    assert_eq!(t.messages.message_of(root).map(|m| m.slot), None, "an old root of the same slot");
    assert_eq!(t.messages.message_of(again).map(|m| m.attempt), Some(2));
}

#[test]
fn the_end_of_a_tree_that_is_told_twice_or_made_up_is_refused() {
    let mut t = Task::standard();
    let (_, root) = t.emit(1, b"row");
    let root = root.expect("a tree");
    t.ack(root);
    let made_up = [root, RootId::new(1, 0, 1), RootId::new(0, 99, 1), RootId::NONE, RootId::MANY];
    let (_, open) = t.emit(2, b"row");
    assert_eq!(open.map(RootId::slot), Some(root.slot()));
    for root in made_up {
        t.messages.tree_event(root, TreeEnd::Acked { at: Time(0) }, Time(0), 0);
    }
    assert_eq!((t.counts().refused, t.counts().completed, t.counts().pending), (5, 1, 1));
    t.messages.self_check().expect("sound");
}

/// Ten times as many messages take no more memory than the first did.
#[test]
fn nothing_grows_with_the_number_of_messages() {
    let mut t = Task::new(16, RetryPolicy::default(), true);
    for id in 0..50_000 {
        let root = t.emit(id, &[1; 100]).1.expect("a tree");
        if id % 7 == 0 {
            t.now = retry_at(&t.fail(root, Cost::Fault));
            let root = t.replay()[0].1[0];
            t.ack(root);
        } else {
            t.ack(root);
        }
    }
    assert_eq!(t.counts().completed, 50_000);
    assert!(t.messages.tree_memory_bytes() < 2000);
    assert_eq!(t.messages.pending().count(), 0);
}

#[test]
fn lent_rows_come_back_unless_others_came_meanwhile() {
    let mut t = Task::standard();
    let (slot, _) = t.emit(1, b"a");
    t.emit(1, b"b");
    let lent = t.messages.lend_rows(slot);
    let rows = |t: &Task| t.messages.rows(slot).map(|(_, row)| row.to_vec()).collect::<Vec<_>>();
    assert_eq!((lent.iter().count(), rows(&t)), (2, vec![]));
    t.messages.return_rows(slot, lent.clone());
    assert_eq!(rows(&t), [b"a", b"b"]);
    t.messages.lend_rows(slot);
    t.emit(1, b"c");
    t.messages.return_rows(slot, lent.clone());
    assert_eq!(rows(&t), [b"c"]);
    t.messages.close(slot, Fate::Dropped);
    t.messages.return_rows(slot, lent);
    assert!(t.messages.lend_rows(slot).is_empty() && rows(&t).is_empty());
}

#[test]
fn a_pending_message_is_found_by_its_id() {
    for unique_ids in [false, true] {
        let mut t = Task::new(2048, RetryPolicy::default(), unique_ids);
        let (first, _) = t.emit(1, b"row");
        let (second, root) = t.emit(2, b"row");
        let find = |t: &Task, id| t.messages.find(MessageId::pair(0, id));
        assert_eq!([1, 2, 3].map(|id| find(&t, id)), [Some(first), Some(second), None]);
        t.ack(root.expect("a tree"));
        assert_eq!([1, 2].map(|id| find(&t, id)), [Some(first), None]);
    }
}

/// The place of a message is used again; who still has its old name reaches nothing.
#[test]
fn the_name_of_a_message_that_ended_does_not_reach_the_next_in_its_place() {
    let mut t = Task::standard();
    let (old, root) = t.emit(1, b"old");
    t.ack(root.expect("a tree"));
    let (new, root) = t.emit(2, b"new");
    assert_ne!(old, new);
    t.messages.keep_row(old, 0, b"stray");
    t.messages.hand_to_spout(old);
    t.messages.close(old, Fate::Dropped);
    assert_eq!(
        (t.messages.id(old), t.messages.attempt(old), t.messages.open_tree(old, t.now)),
        (None, 0, None)
    );
    assert!(t.messages.rows(old).next().is_none() && t.messages.message(old).is_none());
    assert_eq!((t.messages.id(new), t.messages.rows(new).count()), (Some(MessageId::pair(0, 2)), 1));
    t.ack(root.expect("a tree"));
    assert_eq!((t.counts().completed, t.counts().dropped), (2, 0));
}

#[test]
fn the_memory_of_trees_is_at_least_that_of_their_slots() {
    let mut t = Task::standard();
    for id in 0..1000 {
        t.emit(id, b"row");
    }
    assert_eq!(t.messages.slots_in_use(), 1000);
    assert!(t.messages.tree_memory_bytes() >= 1000 * Slots::SLOT_BYTES);
}

/// Of an id that comes again nothing of the first time is left, wherever its new message has its place.
#[test]
fn an_id_whose_message_ended_begins_a_new_one() {
    let mut t = Task::standard();
    let mut read = 0;
    for ids in [100, 50, 10] {
        let first: Vec<_> = (0..ids).map(|id| t.emit(id, b"a")).collect();
        let second: Vec<_> = (0..ids).map(|id| t.emit(id, b"b")).collect();
        assert!(first.iter().zip(&second).all(|(first, second)| first.0 == second.0), "{ids} ids");
        for (_, root) in first.into_iter().chain(second) {
            t.ack(root.expect("a tree"));
        }
        read += ids;
        assert_eq!((t.counts().read, t.counts().completed), (read, read));
    }
}
