//! What a tree waits for: each task that got a tuple, each root of a joined one, and nobody once it is over.
//!
//! In: native bolts that hold, join and tick. Out: who is acked and who fails, exactly.

use super::fed::Fed;
use super::{ACK, guest, topology};
use anchorbolt_core::port::{Bolt, Collector, Context, Declaration, Tuples};
use anchorbolt_tests::native::int_row;
use anchorbolt_tests::{Topology, bolt};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn native<B: Bolt + 'static>(
    make: impl Fn() -> B + Send + Sync + 'static,
) -> impl FnOnce(Topology) -> Topology {
    |topology| topology.bolt("bolt", Declaration::fields(["value"]), make)
}

/// Its last task acks a tuple when it gets the next; the others ack at once.
#[derive(Default)]
struct LastIsBehind {
    is_last: bool,
    before: Option<u32>,
}

impl Bolt for LastIsBehind {
    fn prepare(&mut self, context: &Context) -> Result<(), String> {
        self.is_last = context.task_index == 2;
        Ok(())
    }

    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        for id in &tuples.ids {
            let done = if self.is_last { self.before.replace(*id) } else { Some(*id) };
            out.ack(done.as_slice());
        }
        Ok(())
    }
}

#[test]
fn a_tuple_to_three_tasks_is_acked_when_each_of_them_has() {
    let bolts = [("bolt", "kind = \"null\"\ntasks = 3", &["a"][..])];
    let text = topology("", &["a"], &bolts).replace("\"shuffle\"", "\"all\"");
    let mut fed = Fed::start(&text, native(LastIsBehind::default));
    fed.feed("a");
    assert_eq!(fed.acked(), ["a 0"], "two of three have acked");
    fed.feed("a");
    assert_eq!(fed.which_acked(), [0]);
    assert_eq!(bolt(&fed.report(), "bolt").executed, 6);
}

/// Of each two tuples it makes one.
#[derive(Default)]
struct Join(Option<u32>);

impl Bolt for Join {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        for id in &tuples.ids {
            match self.0.take() {
                None => self.0 = Some(*id),
                Some(first) => {
                    out.emit(0, &[first, *id], &int_row(1));
                    out.ack(&[first, *id]);
                }
            }
        }
        Ok(())
    }
}

#[test]
fn a_joined_tuple_that_fails_fails_each_of_its_roots() {
    let no = guest("fails_all", "");
    let bolts = [("bolt", ACK, &["a", "b", "c"][..]), ("no", &*no, &["bolt"])];
    let mut fed = Fed::start(&topology("", &["a", "b", "c"], &bolts), native(Join::default));
    fed.feed("a");
    fed.feed("b");
    fed.feed("c");
    for feeder in ["a", "b"] {
        let failed = fed.failed_of(feeder);
        assert_eq!(failed.len(), 1, "{failed:?}");
        assert!(failed[0].0 == 0 && failed[0].1.contains("no"), "{failed:?}");
    }
    assert_eq!(fed.failed_of("c"), [], "it is in no tree of theirs");
    assert_eq!(
        (fed.acked(), bolt(&fed.report(), "no").failed),
        (vec!["a 0".into(), "b 0".into(), "c 0".into()], 1)
    );
}

/// Holds what comes from `a`; what comes from `b` it joins with all that it holds, or sends both on their own.
struct Late {
    joins: bool,
    held: Vec<u32>,
}

impl Bolt for Late {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        for (id, input) in tuples.ids.iter().zip(&tuples.inputs) {
            self.held.push(*id);
            if *input == 0 {
                continue;
            }
            if self.joins {
                out.emit(0, &self.held, &int_row(1));
            } else {
                self.held.iter().for_each(|id| out.emit(0, &[*id], &int_row(1)));
            }
            out.ack(&std::mem::take(&mut self.held));
        }
        Ok(())
    }
}

/// Two of `a` are held until they have timed out; then comes one of `b`.
fn late(joins: bool, end: &str) -> Fed {
    let bolts = [("bolt", ACK, &["a", "b"][..]), ("end", end, &["bolt"])];
    let text = topology("message-timeout = \"10s\"", &["a", "b"], &bolts);
    let mut fed = Fed::start(&text, native(move || Late { joins, held: vec![] }));
    fed.feed("a");
    fed.feed("a");
    fed.pass(10 * SECOND);
    assert_eq!(fed.failed().len(), 2);
    fed.feed("b");
    assert_eq!(fed.failed().len(), 2, "their trees were over");
    assert!(fed.which_acked().is_empty());
    let totals = fed.report().totals();
    assert_eq!((totals.trees_timed_out, totals.trees_pending), (2, 0));
    fed
}

#[test]
fn a_tree_that_is_over_takes_no_part_in_what_is_joined_with_it() {
    let fed = late(true, ACK);
    assert_eq!((fed.acked(), bolt(&fed.report(), "end").acked), (vec!["a 0".into(), "b 1".into()], 1));
    let fed = late(true, &guest("fails_all", ""));
    assert_eq!((fed.failed_of("b").len(), fed.report().totals().trees_failed), (1, 1));
}

#[test]
fn what_descends_from_nothing_but_trees_that_are_over_is_discarded() {
    let fed = late(false, ACK);
    let end = bolt(&fed.report(), "end").clone();
    assert_eq!((fed.acked(), end.acked, end.stale), (vec!["a 0".into(), "b 1".into()], 1, 2));
}

/// Emits at each tick.
struct Clockwork;

impl Bolt for Clockwork {
    fn execute(&mut self, _: &Tuples, _: &mut Collector<'_>) -> Result<(), String> {
        Err("nobody feeds it".to_owned())
    }

    fn tick(&mut self, out: &mut Collector<'_>) -> Result<(), String> {
        out.emit(0, &[], &int_row(1));
        Ok(())
    }
}

#[test]
fn a_tick_of_a_millisecond_is_a_call_and_what_it_emits_needs_no_ack() {
    let bolts = [("bolt", "kind = \"null\"\ntick = \"1ms\"", &["a"][..]), ("end", ACK, &["bolt"])];
    let text = topology("message-timeout = \"1s\"", &["a"], &bolts);
    let mut fed = Fed::start(&text, native(|| Clockwork));
    (0..5).for_each(|_| fed.pass(Duration::from_millis(1)));
    let (bolts, totals) = (fed.report(), fed.report().totals());
    assert_eq!((bolt(&bolts, "bolt").emitted, bolt(&bolts, "end").acked), (5, 5));
    assert_eq!((bolt(&bolts, "bolt").executed, bolt(&bolts, "bolt").queued), (0, 0), "no tuple of any queue");
    fed.pass(10 * SECOND);
    assert_eq!((totals.trees_emitted, fed.failed(), fed.errors()), (0, vec![], vec![]));
}
