//! Snapshots as sets of places.

use anchorbolt_core::offsets::{Snapshot, Spans};
use std::ops::Range;

fn snapshot(low: u64, ranges: &[Range<u64>]) -> Snapshot {
    Snapshot { low, ranges: ranges.to_vec() }
}

fn set(snapshot: &Snapshot) -> Vec<bool> {
    (0..80).map(|place| snapshot.is_done(place)).collect()
}

fn random(rng: &mut fastrand::Rng) -> Snapshot {
    let (mut ranges, mut at) = (Vec::new(), rng.u64(0..20));
    for _ in 0..rng.usize(0..5) {
        let start = at + rng.u64(0..6);
        at = start + rng.u64(1..8);
        ranges.push(start..at);
    }
    Snapshot { low: rng.u64(0..20), ranges }.normal().expect("it is ascending")
}

#[test]
fn the_shortest_form_is_the_same_set() {
    let normal = snapshot(10, &[3..5, 8..12, 12..14, 20..30]).normal();
    assert_eq!(normal, Ok(snapshot(14, &[20..30])));
}

#[test]
fn what_is_no_snapshot_is_refused() {
    let error = |ranges: &[Range<u64>]| Spans::restore(snapshot(1, ranges), 10).map(drop);
    assert_eq!(error(&[5..5]), Err("the range 5 to 5 is empty".to_owned()));
    let back = Range { start: 7, end: 4 };
    assert!(error(&[back]).is_err());
    let overlap = error(&[5..9, 8..12]);
    assert_eq!(overlap, Err("the range 8 to 12 begins before 9, where another ends".to_owned()));
}

#[test]
fn a_union_has_what_either_has() {
    for seed in 0..2000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (a, b) = (random(&mut rng), random(&mut rng));
        let both: Vec<bool> = set(&a).into_iter().zip(set(&b)).map(|(a, b)| a || b).collect();
        let union = a.clone().union(b.clone());
        assert_eq!(set(&union), both, "seed {seed}: {a:?} and {b:?}");
        assert!(union.ranges.windows(2).all(|two| two[0].end < two[1].start), "seed {seed}: {union:?}");
        assert_eq!(union.clone().normal(), Ok(union), "seed {seed}");
    }
}

#[test]
fn a_cut_forgets_what_lies_above() {
    for seed in 0..2000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (whole, at) = (random(&mut rng), rng.u64(0..60));
        let mut cut = whole.clone();
        cut.cut(at);
        for place in 0..80 {
            let wanted = place < at && whole.is_done(place);
            assert_eq!(cut.is_done(place), wanted, "seed {seed}: {whole:?} cut at {at}, place {place}");
        }
        assert!(cut.end() <= at && cut.clone().normal().is_ok(), "seed {seed}");
    }
}

#[test]
fn the_end_lies_behind_all() {
    assert_eq!(snapshot(7, &[]).end(), 7);
    assert_eq!(snapshot(7, &[9..12, 20..31]).end(), 31);
}
