//! Partial key grouping against the paper's promise, and its counts against calls that die.

use crate::{first, number, one, planned, producer};
use anchorbolt_core::grouping::{Source, candidates};
use anchorbolt_core::plan::Plan;
use anchorbolt_core::port::Declaration;
use anchorbolt_row::key_hash;
use std::collections::{BTreeMap, BTreeSet};

const TASKS: u32 = 16;

fn by(grouping: &str, tasks: u32) -> Plan {
    let grouping = format!("{{ {grouping} = [\"k\"] }}");
    planned(Declaration::fields(["k"]), &[("to", tasks, &[("default", &grouping)])])
}

/// Keys whose frequencies fall as 1/rank.
fn zipf(rng: &mut fastrand::Rng) -> u64 {
    (f64::exp(rng.f64() * 10f64.ln() * 4.0)) as u64
}

#[test]
fn a_skewed_stream_is_far_better_balanced_than_by_fields() {
    let seed = 7;
    let imbalance = |grouping: &str| {
        let (plan, mut rng, mut counts) =
            (by(grouping, TASKS), fastrand::Rng::with_seed(seed), BTreeMap::new());
        for index in 0..4 {
            let mut router = producer(&plan, index);
            for _ in 0..50_000 {
                *counts.entry(one(&mut router, &number(zipf(&mut rng)))).or_insert(0u64) += 1;
            }
        }
        counts.values().max().unwrap() - 200_000 / u64::from(TASKS)
    };
    let (fields, partial) = (imbalance("fields"), imbalance("partial-key"));
    assert!(
        partial * 5 < fields,
        "seed {seed}: most above the mean by fields {fields}, by partial-key {partial}"
    );
}

#[test]
fn a_key_of_a_producer_has_two_tasks_at_most_and_two_if_it_comes_often() {
    let (plan, mut rng) = (by("partial-key", TASKS), fastrand::Rng::with_seed(1));
    let mut router = producer(&plan, 2);
    let mut tasks: BTreeMap<u64, (u32, BTreeSet<u32>)> = BTreeMap::new();
    for _ in 0..100_000 {
        let key = zipf(&mut rng);
        let (count, tasks) = tasks.entry(key).or_default();
        *count += 1;
        tasks.insert(one(&mut router, &number(key)));
    }
    for (key, (count, tasks)) in tasks {
        assert!(tasks.len() <= 2, "key {key} went to {tasks:?}");
        assert!(count < 1000 || tasks.len() == 2, "key {key} came {count} times, to {tasks:?} only");
    }
}

#[test]
fn candidates_are_two_tasks_and_each_is_as_likely() {
    for tasks in [2u32, 3, 7, 64] {
        let mut counts = vec![[0u32; 2]; tasks as usize];
        for key in 0..u64::from(tasks) * 2000 {
            let (a, b) = candidates(key_hash(&number(key), 1, &[0]).unwrap(), tasks);
            assert!(a != b && a < tasks && b < tasks, "{a} {b} of {tasks}");
            counts[a as usize][0] += 1;
            counts[b as usize][1] += 1;
        }
        let even = |count: &u32| (1800..2200).contains(count);
        assert!(counts.iter().flatten().all(even), "{tasks} tasks: {counts:?}");
    }
    assert_eq!(candidates(99, 1), (0, 0));
}

/// The second comes from SplitMix64, whose numbers for the seed 0 are published.
#[test]
fn candidates_are_those_of_the_finalizer() {
    const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
    let numbers = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f_u64];
    for (number, seed) in numbers.into_iter().zip([0, GAMMA, GAMMA.wrapping_mul(2)]) {
        for tasks in [2u64, 3, 1009, 1 << 30] {
            let first = seed % tasks;
            let second = (first + 1 + number % (tasks - 1)) % tasks;
            assert_eq!(candidates(seed, tasks as u32), (first as u32, second as u32));
        }
    }
}

#[test]
fn of_two_that_are_used_alike_the_first_is_taken() {
    let plan = by("partial-key", TASKS);
    for key in 0..50 {
        let (candidate, _) = candidates(key_hash(&number(key), 1, &[0]).unwrap(), TASKS);
        assert_eq!(one(&mut producer(&plan, 0), &number(key)), first(&plan, "to") + candidate);
    }
}

/// A router that had a call die goes on as one that never had it.
#[test]
fn what_a_dead_call_picked_does_not_count() {
    let shuffled = planned(Declaration::fields(["k"]), &[("to", 3, &[("default", "\"shuffle\"")])]);
    for plan in [by("partial-key", 3), shuffled] {
        strike(&plan, 3);
    }
}

fn strike(plan: &Plan, seed: u64) {
    let (mut struck, mut calm) = (producer(plan, 0), producer(plan, 0));
    let mut rng = fastrand::Rng::with_seed(seed);
    for _ in 0..200 {
        struck.mark();
        if rng.bool() {
            for _ in 0..rng.usize(..20) {
                // Placed or routed, it is the same to the counts.
                let row = number(rng.u64(..5));
                match rng.bool() {
                    true => _ = one(&mut struck, &row),
                    false => _ = struck.place(0, 0, &row).unwrap(),
                }
            }
            struck.discard();
            continue;
        }
        for _ in 0..rng.usize(..20) {
            let row = number(rng.u64(..5));
            assert_eq!(one(&mut struck, &row), one(&mut calm, &row), "seed {seed}");
        }
    }
}

#[test]
fn a_placed_row_goes_where_it_was_placed_and_counts_once() {
    let plan = by("partial-key", 2);
    let (mut router, first) = (producer(&plan, 0), first(&plan, "to"));
    router.mark();
    let mut tasks = vec![];
    for _ in 0..4 {
        let placed = router.place(0, 0, &number(1)).unwrap();
        let mut draw = || 1;
        router.route_placed(0, &placed, &number(1), 1, Source::None, &mut draw).unwrap();
        assert_eq!(crate::taken(&mut router), [(placed[0], 0)]);
        tasks.push(placed[0] - first);
    }
    assert_eq!((tasks[0] != tasks[1], tasks[0] == tasks[2], tasks[1] == tasks[3]), (true, true, true));
}
