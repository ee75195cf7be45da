//! The spout's side: whose tree each root is, from when it is handed out to when its slot is free again.

use anchorbolt_core::ack::{Generations, Ledger, LedgerSettings, Refused, SlotState, Slots};
use anchorbolt_core::ids::{RootId, Time};
use std::sync::Arc;
use std::time::Duration;

fn slots(owner: u32) -> Slots {
    Slots::new(owner, Arc::new(Generations::new()))
}

#[test]
fn a_root_says_whose_tree_it_is_and_whether_that_ended() {
    let mut slots = slots(3);
    for message in [0, 1, 2, 1000, Slots::MESSAGES_MAX / 2, Slots::MESSAGES_MAX - 1] {
        let mut list = None;
        let roots = [(); 3].map(|()| slots.allocate(message, &mut list).expect("a slot is free"));
        slots.end(roots[1]);
        let states = roots.map(|root| slots.state(root));
        assert_eq!(states, [SlotState::Open(message), SlotState::Ended(message), SlotState::Open(message)]);
        assert_eq!(slots.open_roots(list).collect::<Vec<_>>(), [roots[2], roots[0]]);
        assert_eq!((slots.used(), slots.cancelled()), (3, 0));
        let mut cancelled = vec![];
        slots.release_list(list, |root| cancelled.push(root));
        assert_eq!(cancelled, [roots[2], roots[0]]);
        let states = roots.map(|root| slots.state(root));
        assert_eq!(states, [SlotState::Cancelled, SlotState::Unknown, SlotState::Cancelled]);
        assert_eq!((slots.used(), slots.cancelled()), (2, 2));
        slots.release_cancelled(roots[1]);
        assert_eq!(slots.used(), 2, "it is free already");
        slots.release_cancelled(roots[0]);
        slots.release_cancelled(roots[2]);
        assert_eq!((slots.used(), slots.cancelled()), (0, 0));
        assert!(roots.into_iter().all(|root| slots.state(root) == SlotState::Unknown));
    }
}

#[test]
fn what_was_not_handed_out_is_unknown() {
    let mut slots = slots(3);
    let root = slots.allocate(0, &mut None).expect("a slot is free");
    let (slot, generation) = (root.slot(), root.generation());
    for other in [
        RootId::new(4, slot, generation),
        RootId::new(3, slot + 1, generation),
        RootId::new(3, slot, generation + 1),
        RootId::NONE,
        RootId::MANY,
    ] {
        assert_eq!(slots.state(other), SlotState::Unknown, "{other:?}");
    }
    assert_eq!(slots.state(root), SlotState::Open(0));
}

/// Two ledgers share one owner's slots; neither takes a word that is for the other.
#[test]
fn a_word_for_another_shard_is_refused() {
    let generations = Arc::new(Generations::new());
    let mut slots = Slots::new(0, Arc::clone(&generations));
    let timeout = Duration::from_secs(30);
    let mut ledgers = [0, 1].map(|shard| {
        let settings = LedgerSettings { owner: 0, shard, shards: 2, timeout, max_tree_age: timeout };
        Ledger::new(settings, Arc::clone(&generations))
    });
    let roots = [(); 4].map(|()| slots.allocate(0, &mut None).expect("a slot is free"));
    for root in roots {
        let shard = root.slot() as usize % 2;
        ledgers[1 - shard].register(root, 1, Time(0));
        ledgers[shard].register(root, 1, Time(0));
        ledgers[1 - shard].ack(root, 1, Time(1));
        assert!(!generations.is_over(root));
        ledgers[shard].ack(root, 1, Time(1));
        assert!(generations.is_over(root));
    }
    for ledger in &ledgers {
        let counts = ledger.counts();
        assert_eq!((counts.registered, counts.acked, counts.late), (2, 2, 0));
        assert_eq!(counts.refused, Refused { unknown: 4, ..Refused::default() });
    }
}
