//! Direct streams: the one consumer that has the task gets the row, over its own input.

use crate::{first, number, planned, producer, send, taken};
use anchorbolt_core::grouping::{RowFault, Source};
use anchorbolt_core::plan::Plan;
use anchorbolt_core::port::Declaration;

/// Two takers of one direct stream, the second over its second input, and one of another stream.
fn two() -> Plan {
    let from = Declaration::fields(["x"]).direct_stream("named", ["x"]);
    let both: &[(&str, &str)] = &[("default", "\"all\""), ("named", "\"direct\"")];
    planned(
        from,
        &[("a", 3, &[("named", "\"direct\"")]), ("b", 2, both), ("c", 2, &[("default", "\"shuffle\"")])],
    )
}

#[test]
fn the_consumer_that_has_the_task_gets_it_and_no_other() {
    let plan = two();
    let (mut router, a, b) = (producer(&plan, 0), first(&plan, "a"), first(&plan, "b"));
    for (target, input) in [(a, 0), (a + 2, 0), (b, 1), (b + 1, 1)] {
        assert_eq!(send(&mut router, 1, target, &number(1)), Ok(vec![(target, input)]));
        // Told during the call, and sent after it.
        let placed = router.place(1, target, &number(1)).unwrap();
        assert_eq!(placed, [target]);
        let copies = router.route_placed(1, &placed, &number(1), 1, Source::None, &mut || 1);
        assert_eq!((copies, taken(&mut router)), (Ok(1), vec![(target, input)]));
    }
}

#[test]
fn a_task_that_does_not_take_the_stream_is_named() {
    let plan = two();
    let mut router = producer(&plan, 0);
    let fault = |router: &mut _, stream, target| match send(router, stream, target, &number(1)) {
        Err(fault @ (RowFault::Target { .. } | RowFault::NoTarget { .. })) => fault.to_string(),
        other => panic!("{other:?}"),
    };
    let c = first(&plan, "c");
    assert_eq!(fault(&mut router, 1, c), format!("task {c} takes nothing from stream `named`"));
    assert_eq!(fault(&mut router, 1, 999), "task 999 takes nothing from stream `named`");
    assert_eq!(
        fault(&mut router, 1, 0),
        "stream `named` is direct: an emission on it names the task that it goes to"
    );
    assert_eq!(fault(&mut router, 0, c), format!("task {c} takes nothing from stream `default`"));
    assert_eq!(taken(&mut router), []);
}
