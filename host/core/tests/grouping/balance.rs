//! How evenly rows spread.

use crate::{first, number, one, planned, producer, send};
use anchorbolt_core::port::Declaration;

#[test]
fn a_million_keys_spread_over_64_tasks_to_five_per_cent() {
    let plan = planned(Declaration::fields(["k"]), &[("to", 64, &[("default", "{ fields = [\"k\"] }")])]);
    let (mut router, first) = (producer(&plan, 0), first(&plan, "to"));
    let mut counts = [0u32; 64];
    for key in 0..1_000_000u64 {
        counts[(one(&mut router, &number(key)) - first) as usize] += 1;
    }
    let even = 1_000_000 / 64;
    let worst = counts.iter().map(|count| count.abs_diff(even)).max().unwrap();
    assert!(worst * 20 <= even, "{worst} off {even}: {counts:?}");
}

#[test]
fn shuffle_counts_of_each_producer_differ_by_at_most_one() {
    for grouping in ["\"shuffle\"", "\"none\"", "\"local-or-shuffle\""] {
        let plan = planned(Declaration::fields(["k"]), &[("to", 7, &[("default", grouping)])]);
        for producer_index in 0..4 {
            let (mut router, mut counts) = (producer(&plan, producer_index), [0u32; 7]);
            for n in 0..1000 {
                counts[(one(&mut router, &number(n)) - first(&plan, "to")) as usize] += 1;
                let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
                assert!(most - least <= 1, "{grouping} of producer {producer_index}: {counts:?}");
            }
        }
    }
}

#[test]
fn each_input_gets_its_copy_by_its_own_grouping() {
    let inputs: &[(&str, &str)] =
        &[("default", "\"all\""), ("default", "{ fields = [\"k\"] }"), ("default", "\"global\"")];
    let plan =
        planned(Declaration::fields(["k"]), &[("a", 3, inputs), ("b", 2, &[("default", "\"shuffle\"")])]);
    let mut router = producer(&plan, 0);
    let (a, b) = (first(&plan, "a"), first(&plan, "b"));
    let mut last = None;
    for n in 0..20 {
        let sent = send(&mut router, 0, 0, &number(n)).unwrap();
        let of = |first, tasks, input| {
            let mine = sent.iter().filter(move |(t, i)| (first..first + tasks).contains(t) && *i == input);
            mine.map(|(task, _)| *task).collect::<Vec<_>>()
        };
        let mut all = of(a, 3, 0);
        all.sort_unstable();
        assert_eq!(all, [a, a + 1, a + 2]);
        assert_eq!(of(a, 3, 1).len(), 1);
        assert_eq!(of(a, 3, 2), [a], "global takes the lowest task");
        let turn = of(b, 2, 0);
        assert!(turn.len() == 1 && Some(turn[0]) != last.replace(turn[0]), "two tasks take turns");
        assert_eq!(sent.len(), 6);
    }
}
