//! What leaves a router: batches of a bounded size, edges that add up, paths, and buffers that are used again.

use crate::{first, number, planned, producer, taken};
use anchorbolt_core::batch::Batch;
use anchorbolt_core::grouping::{Router, Source};
use anchorbolt_core::ids::{Paths, RootId, TaskId};
use anchorbolt_core::plan::Plan;
use anchorbolt_core::port::Declaration;
use anchorbolt_row::write_row;

/// One stream of two fields, taken by all tasks of `a`, in turn by those of `b`, and by `c`: its first task, and one by key `y`.
fn three() -> Plan {
    let by_key = "{ fields = [\"y\"] }";
    planned(
        Declaration::fields(["x", "y"]),
        &[
            ("a", 3, &[("default", "\"all\"")]),
            ("b", 2, &[("default", "\"shuffle\"")]),
            ("c", 16, &[("default", "\"global\""), ("default", by_key)]),
        ],
    )
}

fn pair(x: u64, y: u64) -> Vec<u8> {
    let mut row = vec![];
    write_row(&mut row, |row| {
        row.uint(x).uint(y);
    });
    row
}

fn batches(router: &mut Router) -> Vec<Batch> {
    let mut batches = vec![];
    router.take(&mut batches);
    batches
}

/// A direct stream of two tasks, so that a test says where each row goes.
fn named() -> (Router, TaskId) {
    let from = Declaration::fields(["x"]).direct_stream("named", ["x"]);
    let plan = planned(from, &[("to", 2, &[("named", "\"direct\"")])]);
    (producer(&plan, 0), first(&plan, "to"))
}

fn sizes(router: &mut Router) -> Vec<(TaskId, usize)> {
    batches(router).iter().map(|batch| (batch.task, batch.len())).collect()
}

#[test]
fn a_batch_is_sealed_when_it_has_many_tuples_or_bytes() {
    let (mut router, to) = named();
    let send = |router: &mut Router, task, row: &[u8], n| {
        for _ in 0..n {
            router.route(1, task, row, 1, Source::None, &mut || 1).unwrap();
        }
    };
    send(&mut router, to + 1, &number(1), 3);
    send(&mut router, to, &number(1), 2500);
    assert_eq!(sizes(&mut router), [(to, 1024), (to, 1024), (to + 1, 3), (to, 452)]);
    let mut large = vec![];
    write_row(&mut large, |row| {
        row.bin(&vec![0; 600_000]);
    });
    send(&mut router, to + 1, &number(1), 1);
    send(&mut router, to, &large, 3);
    assert_eq!(sizes(&mut router), [(to, 2), (to + 1, 1), (to, 1)]);
    assert_eq!(sizes(&mut router), []);
}

#[test]
fn the_edges_of_all_copies_add_up_to_what_is_told() {
    let (plan, seed) = (three(), 11);
    let (mut router, mut rng) = (producer(&plan, 0), fastrand::Rng::with_seed(seed));
    for n in 0..100 {
        let mut draw = || rng.u64(1..);
        let (xor, copies) = router.route(0, 0, &pair(1, n), 1, Source::One(RootId(7)), &mut draw).unwrap();
        let edges: Vec<u64> = batches(&mut router).into_iter().flat_map(|batch| batch.edges).collect();
        assert_eq!((copies, edges.len()), (6, 6));
        assert_eq!(xor, edges.iter().fold(0, |xor, edge| xor ^ edge), "seed {seed}, row {n}");
    }
}

#[test]
fn placed_copies_go_over_the_input_of_whoever_has_the_task() {
    let plan = three();
    let (mut placing, mut routing) = (producer(&plan, 0), producer(&plan, 0));
    for n in 0..20 {
        let placed = placing.place(0, 0, &pair(1, n)).unwrap();
        let told = placing.route_placed(0, &placed, &pair(1, n), 1, Source::None, &mut || 1);
        routing.route(0, 0, &pair(1, n), 1, Source::None, &mut || 1).unwrap();
        let sent = taken(&mut routing);
        assert_eq!(sent, taken(&mut placing));
        assert_eq!(told, Ok(6));
        assert!(placed.iter().copied().eq(sent.into_iter().map(|(task, _)| task)));
    }
}

#[test]
fn the_field_that_is_named_is_the_key() {
    let plan = three();
    let (mut router, c) = (producer(&plan, 0), first(&plan, "c"));
    let mut last = |x, y| router.place(0, 0, &pair(x, y)).unwrap()[5] - c;
    assert!((0..20).all(|x| last(x, 1) == last(0, 1)));
    assert!((0..20).any(|y| last(1, y) != last(1, 0)));
}

#[test]
fn tuples_carry_their_paths_where_somebody_may_ask() {
    let plan = three();
    let mut router = producer(&plan, 0);
    let paths = |router: &mut Router, ordinal| {
        router.descend(Paths::of(5, ordinal));
        router.route(0, 0, &pair(1, 1), 1, Source::None, &mut || 1).unwrap();
        batches(router).into_iter().flat_map(|batch| batch.paths).collect::<Vec<_>>()
    };
    assert!(!router.keeps_paths() && paths(&mut router, 1).is_empty());
    router.keep_paths();
    assert!(router.keeps_paths());
    for ordinal in 0..2 {
        let mut expected = Paths::of(5, ordinal);
        let expected: Vec<_> = (0..6).map(|_| expected.next_copy()).collect();
        assert_eq!(paths(&mut router, ordinal), expected);
    }
}

#[test]
fn lent_buffers_are_used_and_empty_first() {
    let (mut router, to) = named();
    let mut used = Batch::new(9, 9);
    used.push_one(3, RootId::NONE, 0, 1, &number(1));
    assert_eq!(router.spare(), 0);
    router.lend(&mut vec![used, Batch::default()]);
    assert_eq!(router.spare(), 2);
    router.route(1, to, &number(1), 1, Source::None, &mut || 1).unwrap();
    router.route(1, to + 1, &number(1), 1, Source::None, &mut || 1).unwrap();
    assert_eq!((router.spare(), sizes(&mut router)), (0, vec![(to, 1), (to + 1, 1)]));
}

#[test]
fn a_row_may_be_as_long_as_the_limit() {
    let plan = three();
    let from = plan.component("from").unwrap().0;
    let mut router = Router::new(&plan, from, 0, 3);
    assert!(router.place(0, 0, &pair(1, 1)).is_ok());
    assert!(router.place(0, 0, &pair(1, 200)).is_err(), "four bytes");
}
