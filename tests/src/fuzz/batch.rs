//! The target `batch`: what a guest hands over in its calls, up to the batches and the ledger.
//!
//! In: tuples that a task holds, and the logs of a few calls: columns that agree and that do not, handles, streams,
//! targets, anchors, settlements of all kinds. Out: an error if routing and effects are not those of slow code, if a
//! tree is touched that no named tuple belongs to, or if a call that broke the contract leaves something.
//! Invariant: the edges are drawn in one order, so both sides have the same.

mod case;
mod slow;

use super::bytes::Bytes;
use super::{Shape, Target, ensure, shape};
use anchorbolt_core::batch::Batch;
use anchorbolt_core::grouping::Router;
use anchorbolt_core::ids::{RootId, Time};
use anchorbolt_core::manifest::{Text, parse};
use anchorbolt_core::oplog::held::Held;
use anchorbolt_core::oplog::{Applier, Effects};
use anchorbolt_core::plan::{Plan, plan};
use anchorbolt_core::port::Declaration;
use fastrand::Rng;
use slow::{Copy, Settled, Slow};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

pub(super) const TARGET: Target = Target {
    name: "batch",
    bytes_max: 600,
    wall: Duration::from_secs(2),
    memory_max: 16 << 20,
    seeds,
    mutate,
    check,
};

/// A row may have so many bytes.
const ROW_BYTES_MAX: u64 = 40;
/// Which task of the bolt it is.
const INDEX: u32 = 1;

fn seeds() -> Vec<Vec<u8>> {
    let mut rng = Rng::with_seed(2);
    (1..60).map(|n| (0..n * 4).map(|_| rng.u8(..)).collect()).collect()
}

/// Copies or drops a run as long as an operation is.
fn mutate(rng: &mut Rng, input: &mut Vec<u8>) {
    if input.is_empty() {
        return input.extend((0..40).map(|_| rng.u8(..)));
    }
    let at = rng.usize(..input.len());
    let end = (at + rng.usize(1..12)).min(input.len());
    match rng.u8(..4) {
        0 => drop(input.drain(at..end)),
        1 => {
            let copy = input[at..end].to_vec();
            input.splice(at..at, copy);
        }
        2 => input[at] = rng.u8(..),
        _ => drop(input.splice(at..at, (0..rng.usize(1..8)).map(|_| rng.u8(..)))),
    }
}

/// A bolt of three streams, one of them direct, and takers in every way.
fn planned() -> &'static Plan {
    static PLAN: OnceLock<Plan> = OnceLock::new();
    PLAN.get_or_init(|| {
        let mut text = "[topology]\nname = \"t\"\n[spouts.source]\nkind = \"stdin\"\n[bolts.work]\nplugin = \"w\"\ntasks = 2\n\
                        inputs = [{ from = \"source\", grouping = \"shuffle\" }]\n"
            .to_owned();
        let takers = [
            ("a", 3, "", "\"shuffle\""),
            ("b", 5, "", "{ fields = [\"x\"] }"),
            ("c", 2, "", "\"all\""),
            ("d", 3, "stream = \"named\", ", "\"direct\""),
            ("e", 2, "stream = \"named\", ", "\"direct\""),
            ("f", 4, "stream = \"two\", ", "{ fields = [\"k\", \"v\"] }"),
            ("g", 2, "stream = \"two\", ", "\"global\""),
            ("h", 3, "stream = \"two\", ", "{ partial-key = [\"k\"] }"),
        ];
        for (name, tasks, stream, grouping) in takers {
            // Not the first input of all: who gets a row over which is to be seen.
            let other = if name == "e" { "{ from = \"source\", grouping = \"shuffle\" }, " } else { "" };
            text += &format!(
                "[bolts.{name}]\nplugin = \"w\"\ntasks = {tasks}\ninputs = [{other}{{ from = \"work\", {stream}grouping = {grouping} }}]\n"
            );
        }
        let parsed = parse(&Text { name: "t", text: &text, sets: &[], lookup: &|_| None });
        let work = Declaration::fields(["x"]).stream("two", ["k", "v"]).direct_stream("named", ["x"]);
        let mut declarations = BTreeMap::from([("work".to_owned(), work)]);
        declarations.extend(takers.map(|(name, ..)| (name.to_owned(), Declaration::default())));
        let planned = plan(&parsed.manifest, &declarations);
        planned.plan.unwrap_or_else(|| panic!("{:?} {:?}", parsed.diagnostics, planned.diagnostics))
    })
}

fn check(input: &[u8]) -> Result<Shape, String> {
    let (plan, mut bytes) = (planned(), Bytes(input));
    let work = plan.component("work").map_or(0, |(index, _)| index);
    let mut router = Router::new(plan, work, INDEX, ROW_BYTES_MAX);
    let first = if bytes.seldom(4) { u32::MAX - 3 } else { 1 };
    let (mut held, mut slow) = (Held::starting_at(first), Slow::new(plan, work, first));
    let mut shapes = vec![];
    for _ in 0..3 {
        shapes.push(call(&mut bytes, &mut router, &mut held, &mut slow)?);
        if bytes.is_empty() {
            break;
        }
    }
    Ok(shape((shapes.len(), shapes.last())))
}

/// One call on both sides.
fn call(
    bytes: &mut Bytes<'_>,
    router: &mut Router,
    held: &mut Held,
    slow: &mut Slow<'_>,
) -> Result<Shape, String> {
    let tuples = case::begin(bytes, held, slow);
    router.mark();
    let (turns, used) = (slow.turns.clone(), slow.used.clone());
    let log = case::log(bytes, router, slow)?;
    let ops: Vec<_> = log.iter().map(std::mem::discriminant).collect();
    let shown = || format!("{log:?}");
    let applier =
        Applier { component: "work".to_owned(), task: 3, streams: vec!["source/default".to_owned()] };
    let (mut effects, mut edge) = (Effects::default(), slow.edge);
    let mut draw = || {
        edge += 1;
        edge
    };
    let result = applier.apply(&mut log.clone(), &tuples, held, router, &mut effects, &mut draw);
    let expected = slow.apply(&log);
    ensure(result.is_ok() == expected.is_ok(), || {
        format!("{result:?}, it should be {expected:?}: {}", shown())
    })?;
    let mut out = vec![];
    if let Ok(settled) = expected {
        router.take(&mut out);
        compare(&effects, &settled, copies(&mut out)).map_err(|text| format!("{text}: {}", shown()))?;
        held.end(1000, &mut vec![]);
        let live: Vec<u32> = slow.live();
        let wrong = slow.given.iter().find(|handle| held.is_live(**handle) != live.contains(handle));
        ensure(wrong.is_none(), || format!("handle {wrong:?} is live or not: {}", shown()))?;
        let counts = settled.counts().map(|n| n.min(2));
        return Ok(shape((ops.len(), counts, effects.breaches.first().map(|f| super::kind(&f.reason)))));
    }
    router.discard();
    router.take(&mut out);
    ensure(out.is_empty(), || format!("a breach left {out:?}: {}", shown()))?;
    // The instance is dead: what it held is gone on both sides.
    held.take_window();
    held.take_kept();
    (slow.turns, slow.used) = (turns, used);
    slow.tuples.clear();
    Ok(shape((ops.last().copied(), result.err().map(|violation| super::kind(&violation.reason)))))
}

/// What was routed, for each task in its order.
fn copies(batches: &mut [Batch]) -> BTreeMap<u32, Vec<Copy>> {
    let mut copies: BTreeMap<u32, Vec<Copy>> = BTreeMap::new();
    for batch in batches {
        for i in 0..batch.len() {
            let input =
                batch.inputs.iter().find(|(_, end)| *end as usize > i).map_or(u32::MAX, |(input, _)| *input);
            let (row, attempt) = (batch.row(i).to_vec(), batch.attempt(i));
            let lineage = batch.take_lineage(i).iter().collect();
            copies.entry(batch.task).or_default().push(Copy { input, row, attempt, lineage });
        }
    }
    copies
}

fn compare(effects: &Effects, settled: &Settled, copies: BTreeMap<u32, Vec<Copy>>) -> Result<(), String> {
    let mut acks: BTreeMap<RootId, u64> = BTreeMap::new();
    for (root, xor) in &effects.acks {
        *acks.entry(*root).or_default() ^= xor;
    }
    ensure(acks == settled.acks, || format!("acks {acks:?}, it should be {:?}", settled.acks))?;
    // In the order of the roots: that in which a tuple's trees were added says nothing.
    let mut fails: Vec<_> =
        effects.fails.iter().map(|(root, failure)| (*root, failure.class, failure.cost)).collect();
    fails.sort_by_key(|(root, ..)| *root);
    let mut expected = settled.fails.clone();
    expected.sort_by_key(|(root, ..)| *root);
    ensure(fails == expected, || format!("fails {fails:?}, it should be {expected:?}"))?;
    let sorted = |roots: &[RootId]| roots.iter().copied().collect::<std::collections::BTreeSet<_>>();
    // Each tree once, however often it was asked for.
    let resets = effects.resets.len() == sorted(&effects.resets).len()
        && sorted(&effects.resets) == sorted(&settled.resets);
    ensure(resets, || format!("resets {:?}, it should be {:?}", effects.resets, settled.resets))?;
    let counts = [
        effects.emitted,
        effects.transferred,
        effects.acked,
        effects.failed,
        effects.repeated,
        effects.breaches.len() as u64,
    ];
    ensure(counts == settled.counts(), || format!("counts {counts:?}, it should be {:?}", settled.counts()))?;
    ensure(copies == settled.copies, || format!("routed {copies:?}, it should be {:?}", settled.copies))?;
    let touched = acks.keys().chain(effects.fails.iter().map(|(root, _)| root)).chain(&effects.resets);
    let stranger = touched.copied().find(|root| !settled.named.contains(root));
    ensure(stranger.is_none(), || format!("{stranger:?} is of no tuple that is named"))
}

fn root(slot: u32) -> RootId {
    RootId::new(0, slot, 1)
}

/// The beginning of all.
const START: Time = Time(0);
