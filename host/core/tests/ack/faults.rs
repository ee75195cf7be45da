//! Orders of events that have hurt others, one by one; the numbers are Apache Storm's tickets.

use anchorbolt_core::ack::{Generations, Ledger, LedgerSettings, Refused, Slots, TreeEvent, TreeEventKind};
use anchorbolt_core::failure::{Class, Cost, Failure};
use anchorbolt_core::ids::{RootId, Time};
use std::sync::Arc;
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;

struct Tracker {
    slots: Slots,
    ledger: Ledger,
}

impl Tracker {
    /// 30 s a tree, 300 s with all resets.
    fn new() -> Tracker {
        let generations = Arc::new(Generations::new());
        let (timeout, max_tree_age) = (Duration::from_secs(30), Duration::from_secs(300));
        let settings = LedgerSettings { owner: 0, shard: 0, shards: 1, timeout, max_tree_age };
        Tracker { slots: Slots::new(0, Arc::clone(&generations)), ledger: Ledger::new(settings, generations) }
    }

    fn root(&mut self) -> RootId {
        self.slots.allocate(0, &mut None).expect("a slot is free")
    }

    fn registered(&mut self, xor: u64, now: Time) -> RootId {
        let root = self.root();
        self.ledger.register(root, xor, now);
        root
    }

    fn events(&mut self) -> Vec<TreeEvent> {
        let mut events = vec![];
        self.ledger.drain(&mut events);
        for event in &events {
            self.slots.end(event.root);
            self.slots.release_list(Some(event.root.slot()), |_| {});
        }
        events
    }

    fn kinds(&mut self) -> Vec<TreeEventKind> {
        self.events().into_iter().map(|event| event.kind).collect()
    }
}

fn failure(reason: &str) -> Failure {
    let (component, reason, output) = ("bolt".to_owned(), reason.to_owned(), String::new());
    Failure { class: Class::Failed, cost: Cost::Fault, component, task: 2, reason, output, input: None }
}

/// All orders of three things.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// STORM-1245, where an ack may come before its tree. Here it can't, so one that does is refused, and what
/// it said must be said again.
#[test]
fn registration_and_two_acks_in_every_order_complete_once() {
    for order in ORDERS {
        let mut t = Tracker::new();
        let root = t.root();
        let mut refused = vec![];
        for what in order {
            let before = t.ledger.counts().refused;
            match what {
                0 => t.ledger.register(root, 0b0011 ^ 0b0101, Time(1)),
                1 => t.ledger.ack(root, 0b0011, Time(2)),
                _ => t.ledger.ack(root, 0b0101, Time(3)),
            }
            if t.ledger.counts().refused != before {
                refused.push(if what == 1 { 0b0011 } else { 0b0101 });
            }
        }
        let early = order.iter().position(|&what| what == 0).expect("it is among them");
        assert_eq!(refused.len(), early, "{order:?}: words before the registration are refused");
        assert_eq!(t.events().len(), usize::from(early == 0), "{order:?}");
        for edge in refused {
            t.ledger.ack(root, edge, Time(4));
        }
        let kinds = t.kinds();
        assert_eq!(kinds.len(), usize::from(early > 0), "{order:?}: once in all");
        let counts = t.ledger.counts();
        assert_eq!((counts.acked, counts.pending, counts.late), (1, 0, 0), "{order:?}");
    }
}

#[test]
fn registration_ack_and_fail_in_every_order_fail_once() {
    for order in ORDERS {
        let mut t = Tracker::new();
        let root = t.root();
        for what in order {
            match what {
                0 => t.ledger.register(root, 0b0011 ^ 0b0101, Time(1)),
                1 => t.ledger.ack(root, 0b0011, Time(2)),
                _ => t.ledger.fail(root, failure("no")),
            }
        }
        let fail_was_early = order.iter().position(|&w| w == 2) < order.iter().position(|&w| w == 0);
        if fail_was_early {
            assert_eq!(t.kinds(), [], "{order:?}");
            t.ledger.fail(root, failure("no"));
        }
        assert_eq!(t.kinds(), [TreeEventKind::Failed(Box::new(failure("no")))], "{order:?}");
        assert_eq!((t.ledger.counts().failed, t.ledger.counts().pending), (1, 0), "{order:?}");
    }
}

/// The example of the literature: 0010 xor 1011 = 1001, and 0 only when both are in twice.
#[test]
fn xor_by_hand() {
    let mut t = Tracker::new();
    // The spout emits 0010; the bolt acks it and makes 1011: 1001 reaches the tree, 1011 is left.
    let root = t.registered(0b0010, Time(0));
    t.ledger.ack(root, 0b0010 ^ 0b1011, Time(1));
    assert_eq!(t.kinds(), []);
    t.ledger.ack(root, 0b1011, Time(2));
    assert_eq!(t.kinds(), [TreeEventKind::Acked { at: Time(2) }]);
    // Two tuples of the spout, one of which becomes three, acked from the leaves up. (Of edges of four bits
    // some would cancel out half-way: 0001 xor 0110 is 0111.)
    let root = t.registered(0b0001 ^ 0b0110, Time(3));
    let children = [0x71, 0xc2, 0x54];
    for child in children {
        t.ledger.ack(root, child, Time(4));
    }
    t.ledger.ack(root, 0b0110, Time(5));
    assert_eq!(t.kinds(), []);
    t.ledger.ack(root, 0b0001 ^ children.iter().fold(0, |xor, child| xor ^ child), Time(6));
    assert_eq!(t.kinds(), [TreeEventKind::Acked { at: Time(6) }]);
}

#[test]
fn a_tree_without_tuples_is_acked_at_once() {
    let mut t = Tracker::new();
    t.registered(0, Time(9));
    assert_eq!(t.kinds(), [TreeEventKind::Acked { at: Time(9) }]);
}

/// STORM-2786: each late ack of a failed tree made an entry that nobody removed.
#[test]
fn a_hundred_thousand_failures_with_late_acks_leave_nothing() {
    let mut t = Tracker::new();
    let first = t.registered(0b0011, Time(0));
    t.ledger.fail(first, failure("branch a"));
    assert_eq!(t.events().len(), 1);
    let memory = t.ledger.memory_bytes();
    for n in 1..=100_000 {
        let root = t.registered(0b0011 ^ 0b0101, Time(n));
        t.ledger.fail(root, failure("branch a"));
        t.ledger.ack(root, 0b0101, Time(n));
        assert_eq!(t.events().len(), 1);
    }
    let counts = t.ledger.counts();
    assert_eq!((counts.pending, counts.failed, counts.late), (0, 100_001, 100_000));
    assert_eq!(counts.refused, Refused::default());
    assert_eq!((t.ledger.next_deadline(), t.slots.used()), (None, 0));
    assert!(t.ledger.memory_bytes() <= memory + 4096, "{} of {memory} bytes", t.ledger.memory_bytes());
}

/// STORM-17: two trees drew one root id. Here none is drawn; a slot used again has another generation.
#[test]
fn roots_never_repeat() {
    let mut t = Tracker::new();
    let mut seen = std::collections::HashSet::new();
    let mut rng = fastrand::Rng::with_seed(17);
    let mut pending = vec![];
    for n in 0..200_000 {
        let root = t.registered(1, Time(n));
        assert!(seen.insert(root), "{root:?} again");
        pending.push(root);
        if pending.len() > 100 {
            let root = pending.swap_remove(rng.usize(..pending.len()));
            t.ledger.ack(root, 1, Time(n));
            t.events();
        }
    }
    assert!(t.slots.memory_bytes() < 10_000, "and the slots are used again");
}

/// STORM-870: an ack for a spout that is gone must not reach another tree.
#[test]
fn an_old_ack_does_not_complete_the_next_tree_in_its_slot() {
    let mut t = Tracker::new();
    let old = t.registered(1, Time(0));
    t.ledger.fail(old, failure("gone"));
    t.events();
    let new = t.registered(1, Time(1));
    assert_eq!(new.slot(), old.slot());
    t.ledger.ack(old, 1, Time(2));
    t.ledger.fail(old, failure("again"));
    t.ledger.cancel(old);
    t.ledger.reset_timeout(old, Time(3));
    assert_eq!((t.kinds(), t.ledger.counts().late), (vec![], 4));
    t.ledger.ack(new, 1, Time(4));
    assert_eq!(t.kinds(), [TreeEventKind::Acked { at: Time(4) }]);
}

/// STORM-1742: what an ack waits for on its way is not the tree's latency.
#[test]
fn a_tree_is_acked_when_its_last_ack_was_made() {
    let mut t = Tracker::new();
    let root = t.registered(1, Time(5 * SECOND));
    t.ledger.ack(root, 1, Time(6 * SECOND));
    let events = t.events();
    assert_eq!(
        (events[0].started, &events[0].kind),
        (Time(5 * SECOND), &TreeEventKind::Acked { at: Time(6 * SECOND) })
    );
}

#[test]
fn a_batch_of_acks_is_each_of_its_acks() {
    let mut t = Tracker::new();
    let roots = [t.registered(1, Time(0)), t.registered(2, Time(0)), t.registered(4 ^ 8, Time(0))];
    t.ledger.ack_batch(&[(roots[0], 1), (roots[1], 1), (roots[2], 4), (roots[2], 8), (roots[0], 1)], Time(1));
    let kind = TreeEventKind::Acked { at: Time(1) };
    let acked = [0, 2].map(|n| TreeEvent { root: roots[n], started: Time(0), kind: kind.clone() });
    assert_eq!((t.events(), t.ledger.counts().late), (acked.to_vec(), 1));
}

#[test]
fn each_kind_of_wrong_word_is_refused_under_its_name() {
    let mut t = Tracker::new();
    let root = t.registered(1, Time(0));
    t.ledger.register(root, 1, Time(1));
    t.ledger.ack(RootId::new(1, root.slot(), 1), 1, Time(1));
    t.ledger.ack(RootId::new(0, 77_777, 1), 1, Time(1));
    t.ledger.ack(RootId::NONE, 1, Time(1));
    t.ledger.ack(RootId::MANY, 1, Time(1));
    t.ledger.ack(RootId::new(0, root.slot(), 2), 1, Time(1));
    let unregistered = t.root();
    t.ledger.fail(unregistered, failure("early"));
    let expected = Refused { unknown: 4, early: 1, unregistered: 1, twice: 1 };
    assert_eq!((t.ledger.counts().refused, t.ledger.counts().late), (expected, 0));
    t.ledger.ack(root, 1, Time(2));
    assert_eq!(t.kinds(), [TreeEventKind::Acked { at: Time(2) }]);
    t.ledger.register(root, 1, Time(3));
    assert_eq!(t.ledger.counts().refused.twice, 2, "a tree that is over was registered before");
}

#[test]
fn timeouts_are_exact() {
    let mut t = Tracker::new();
    let roots: Vec<RootId> = (0..100).map(|n| t.registered(1, Time(n))).collect();
    for (n, &root) in (0..).zip(&roots) {
        let deadline = Time(30 * SECOND + n);
        assert_eq!(t.ledger.next_deadline(), Some(deadline));
        t.ledger.expire(Time(deadline.0 - 1));
        assert_eq!(t.events(), []);
        t.ledger.expire(deadline);
        assert_eq!(t.events(), [TreeEvent { root, started: Time(n), kind: TreeEventKind::TimedOut }]);
    }
    assert_eq!(t.ledger.next_deadline(), None);
}

#[test]
fn a_reset_starts_the_timeout_again_up_to_the_largest_age() {
    let mut t = Tracker::new();
    let root = t.registered(1, Time(0));
    let other = t.registered(1, Time(SECOND));
    t.ledger.reset_timeout(root, Time(10 * SECOND));
    assert_eq!(t.ledger.next_deadline(), Some(Time(31 * SECOND)), "the other is first now");
    t.ledger.expire(Time(31 * SECOND));
    assert_eq!(t.events()[0].root, other);
    assert_eq!(t.ledger.next_deadline(), Some(Time(40 * SECOND)));
    for second in (35..295).step_by(5) {
        t.ledger.reset_timeout(root, Time(second * SECOND));
        t.ledger.expire(Time(second * SECOND));
        let deadline = Time((second + 30).min(300) * SECOND);
        assert_eq!(t.ledger.next_deadline(), Some(deadline), "reset at {second} s");
    }
    t.ledger.expire(Time(300 * SECOND - 1));
    assert_eq!(t.kinds(), []);
    t.ledger.self_check().expect("sound");
    t.ledger.expire(Time(300 * SECOND));
    assert_eq!(t.kinds(), [TreeEventKind::TimedOut]);
    assert_eq!(t.ledger.next_deadline(), None);
}

#[test]
fn a_tree_at_its_largest_age_can_still_complete() {
    let mut t = Tracker::new();
    let root = t.registered(1, Time(0));
    for second in (20..300).step_by(20) {
        t.ledger.reset_timeout(root, Time(second * SECOND));
    }
    t.ledger.ack(root, 1, Time(299 * SECOND));
    t.ledger.expire(Time(400 * SECOND));
    assert_eq!(t.kinds(), [TreeEventKind::Acked { at: Time(299 * SECOND) }]);
    assert_eq!((t.ledger.counts().pending, t.ledger.next_deadline()), (0, None));
}

#[test]
fn the_age_of_one_tree_does_not_end_the_next_in_its_slot() {
    let mut t = Tracker::new();
    let old = t.registered(1, Time(0));
    for second in (20..300).step_by(20) {
        t.ledger.reset_timeout(old, Time(second * SECOND));
    }
    t.ledger.ack(old, 1, Time(290 * SECOND));
    t.events();
    let new = t.registered(1, Time(291 * SECOND));
    assert_eq!(new.slot(), old.slot());
    t.ledger.expire(Time(300 * SECOND));
    assert_eq!((t.kinds(), t.ledger.next_deadline()), (vec![], Some(Time(321 * SECOND))));
}
