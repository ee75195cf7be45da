//! What it costs: memory by open messages alone, and time that does not grow.

use anchorbolt_core::offsets::{Snapshot, Spans};

#[test]
fn memory_goes_with_the_open_messages() {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut spans = Spans::new(1000);
    let (mut open, mut most) = (Vec::new(), 0);
    for start in 0..200_000 {
        spans.read(start, start + 1);
        open.push(start);
        if open.len() > 100 {
            // One of a hundred waits for ever, it seems.
            let at = rng.usize(1..open.len());
            spans.done(open.swap_remove(at));
        }
        most = most.max(spans.entries());
    }
    assert!(most <= 500, "{most} entries for 100 open messages");
    assert!(spans.ranges() <= 100);
}

#[test]
fn what_a_restart_brings_is_counted_too() {
    let ranges = vec![10..20, 30..40];
    let mut spans = Spans::restore(Snapshot { low: 0, ranges }, 10).expect("it is a snapshot");
    assert_eq!(spans.entries(), 2);
    spans.read(0, 5);
    assert_eq!(spans.entries(), 3);
}

/// A square of the messages would take minutes.
#[test]
fn reverse_and_random_orders_are_quick() {
    const MESSAGES: u64 = 300_000;
    for seed in 0..3 {
        let mut spans = Spans::new(10);
        let mut order: Vec<u64> = (0..MESSAGES).collect();
        for start in &order {
            spans.read(*start, start + 1);
        }
        match seed {
            0 => order.reverse(),
            seed => fastrand::Rng::with_seed(seed).shuffle(&mut order),
        }
        for start in order {
            assert!(spans.done(start));
        }
        assert_eq!((spans.low(), spans.entries()), (MESSAGES, 0));
    }
}
