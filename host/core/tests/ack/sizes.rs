//! What tracking takes: memory, and how often a few bits of edge would deceive it.

use anchorbolt_core::ack::{Generations, Ledger, LedgerSettings, Slots, TreeEvent};
use anchorbolt_core::ids::{RootId, Time};
use std::sync::Arc;
use std::time::Duration;

fn tracker() -> (Arc<Generations>, Slots, Ledger) {
    let generations = Arc::new(Generations::new());
    let hour = Duration::from_secs(3600);
    let settings = LedgerSettings { owner: 0, shard: 0, shards: 1, timeout: hour, max_tree_age: hour };
    let slots = Slots::new(0, Arc::clone(&generations));
    (Arc::clone(&generations), slots, Ledger::new(settings, generations))
}

/// All that is kept for a pending tree: its ledger entry (32), its generation (4) and its slot with the spout
/// (8), and what the tables have in reserve, which is most just after one has grown.
#[test]
fn a_pending_tree_takes_at_most_48_bytes() {
    let (generations, mut slots, mut ledger) = tracker();
    let mut worst = 0.0_f64;
    for n in 1..=1_000_000_u64 {
        let root = slots.allocate(0, &mut None).expect("a slot is free");
        ledger.register(root, n, Time(n));
        if n >= 4096 && n % 512 == 1 {
            let bytes = generations.memory_bytes() + slots.memory_bytes() + ledger.memory_bytes();
            worst = worst.max(bytes as f64 / n as f64);
        }
    }
    let bytes = generations.memory_bytes() + slots.memory_bytes() + ledger.memory_bytes();
    let at_the_end = bytes as f64 / 1e6;
    assert!(at_the_end <= 45.5, "{at_the_end}");
    assert!(worst <= 48.0, "{worst}");
}

/// A report that says too little would hide what a budget is for.
#[test]
fn the_memory_that_is_reported_is_that_of_the_tables() {
    const TREES: u64 = 100_000;
    let (generations, mut slots, mut ledger) = tracker();
    let empty = (generations.memory_bytes(), slots.memory_bytes(), ledger.memory_bytes());
    assert_eq!(empty, (size_of::<Generations>(), size_of::<Slots>(), size_of::<Ledger>()));
    let per_tree = |bytes: usize| bytes as f64 / TREES as f64;
    let roots: Vec<RootId> = (0..TREES).filter_map(|_| slots.allocate(0, &mut None)).collect();
    for &root in &roots {
        ledger.register(root, 1, Time(1));
    }
    let registered = (generations.memory_bytes(), slots.memory_bytes(), ledger.memory_bytes());
    assert!((4.0..5.1).contains(&per_tree(registered.0 - empty.0)), "{registered:?}");
    assert!((8.0..8.6).contains(&per_tree(registered.1 - empty.1)), "{registered:?}");
    assert!((32.0..34.1).contains(&per_tree(registered.2 - empty.2)), "{registered:?}");
    // Trees whose deadline is out of order are listed with it, and events wait until they are taken.
    for &root in &roots {
        ledger.reset_timeout(root, Time(2));
    }
    let aged = ledger.memory_bytes();
    assert!((16.0..32.1).contains(&per_tree(aged - registered.2)), "{aged}");
    for &root in &roots {
        ledger.ack(root, 1, Time(3));
    }
    let event = size_of::<TreeEvent>() as f64;
    let ended = per_tree(ledger.memory_bytes() - aged);
    assert!((event..2.0 * event + 0.1).contains(&ended), "{ended}");
}

/// A tree seems complete while it is not when its open edges happen to cancel out: 2^-64 each time. With
/// edges of k bits it can be measured, and is 2^-k.
#[test]
fn edges_of_k_bits_deceive_one_time_in_two_to_the_k() {
    let mut rng = fastrand::Rng::with_seed(64);
    for bits in [4, 6, 8, 10] {
        let (_, mut slots, mut ledger) = tracker();
        let (mut partial, mut deceived) = (0, 0);
        for n in 0..200_000 {
            let mut list = None;
            let root = slots.allocate(0, &mut list).expect("a slot is free");
            // Two of three edges are open: not complete, whatever the XOR says.
            let mut edge = || rng.u64(..1 << bits);
            let edges = [edge(), edge(), edge()];
            ledger.register(root, (edges[0] ^ edges[1] ^ edges[2]) | 1 << 40, Time(n));
            ledger.ack(root, edges[0] | 1 << 40, Time(n));
            partial += 1;
            let mut events = vec![];
            ledger.drain(&mut events);
            deceived += events.len();
            if events.is_empty() {
                ledger.cancel(root);
                ledger.drain(&mut events);
            }
            slots.end(root);
            slots.release_list(list, |_| {});
        }
        let expected = f64::from(partial) / f64::from(1 << bits);
        let off = (deceived as f64 - expected).abs() / expected.sqrt();
        assert!(off < 4.0, "{bits} bits: deceived {deceived} times of {partial}, expected {expected:.0}");
    }
}
