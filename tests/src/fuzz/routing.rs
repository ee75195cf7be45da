//! The target `routing`: rows of a guest, up to the task that gets them.
//!
//! In: an arity, a key, and bytes that may be a row. Out: an error if they are accepted and a slow decoder refuses them,
//! or the other way round; if equal keys go to two tasks, or unequal ones have one hash; if a place of a field is
//! wrong. Invariant: a length that lies allocates nothing.

use super::bytes::Bytes;
use super::model::{Encoder, Model, row as slow, same};
use super::{Shape, Target, ensure, kind, sample, shape, size};
use anchorbolt_core::grouping::{Router, Source};
use anchorbolt_core::manifest::{Text, parse};
use anchorbolt_core::plan::{Plan, plan};
use anchorbolt_core::port::Declaration;
use anchorbolt_row::{Row, check_row, key_hash, walk_row};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

pub(super) const TARGET: Target = Target {
    name: "routing",
    bytes_max: 2000,
    wall: Duration::from_secs(2),
    memory_max: 8 << 20,
    seeds,
    mutate,
    check,
};

/// Rows have up to so many fields.
const FIELDS_MAX: usize = 6;

fn seeds() -> Vec<Vec<u8>> {
    let mut rng = Rng::with_seed(1);
    (0..60).map(|i| [vec![(i % 7) as u8, i as u8], sample::row(&mut rng, i % 7)].concat()).collect()
}

/// Puts a value in, or a head that promises more than there is.
fn mutate(rng: &mut Rng, input: &mut Vec<u8>) {
    let at = rng.usize(input.len().min(2)..=input.len());
    match rng.u8(..4) {
        0 => {
            *input = [vec![rng.u8(..), rng.u8(..)], {
                let n = rng.usize(..7);
                sample::row(rng, n)
            }]
            .concat()
        }
        1 => drop(input.splice(at..at, sample::row(rng, 1).split_off(1))),
        2 => {
            let head = [0xdb, 0xc6, 0xdd, 0xdf, 0xc9, 0xda, 0xdc, 0x9f, 0x91, 0xc1, 0xd4];
            let mut lie = vec![rng.choice(head).unwrap_or(0xdd)];
            lie.extend((0..rng.usize(..5)).map(|_| *rng.choice(&[0, 1, 0x7f, 0xff]).unwrap_or(&0)));
            input.splice(at..at, lie);
        }
        _ => drop(input.splice(at..at, std::iter::repeat_n(0x91, rng.usize(60..70)))),
    }
}

fn check(input: &[u8]) -> Result<Shape, String> {
    let mut bytes = Bytes(input);
    let arity = bytes.below(FIELDS_MAX + 1);
    let seed = bytes.u8();
    let row = bytes.0;
    reading_is_safe(row);
    let slow = slow(row, arity);
    let fast = check_row(row, arity);
    ensure(fast.is_ok() == slow.is_some(), || format!("check_row says {fast:?}, the slow decoder {slow:?}"))?;
    let mut places = vec![];
    let walked = walk_row(row, arity, |i, place| places.push((i, place)));
    ensure(walked == fast, || format!("walk_row says {walked:?}, check_row {fast:?}"))?;
    let hash = key_hash(row, arity, &[0]);
    ensure(hash.map(drop) == fast, || format!("key_hash says {hash:?}, check_row {fast:?}"))?;
    let Some(fields) = slow else {
        return Ok(shape((arity, kind(&format!("{fast:?}")))));
    };
    let expected: Vec<_> = fields.iter().map(|(_, place)| place.clone()).enumerate().collect();
    ensure(places == expected, || format!("fields lie at {places:?}, they should at {expected:?}"))?;
    let fields: Vec<Model> = fields.into_iter().map(|(field, _)| field).collect();
    hashes(row, &fields)?;
    let again = Encoder::row(&mut Rng::with_seed(seed.into()), &fields);
    let task = routed(row, arity)?;
    let other = routed(&again, arity)?;
    ensure(task == other, || format!("{row:x?} goes to {task:?}, and encoded as {again:x?} to {other:?}"))?;
    Ok(shape((arity, fields.iter().map(outline).collect::<Vec<_>>())))
}

/// Two fields have one hash exactly if they mean the same.
fn hashes(row: &[u8], fields: &[Model]) -> Result<(), String> {
    for (i, a) in fields.iter().enumerate() {
        for (j, b) in fields.iter().enumerate().skip(i + 1) {
            let (x, y) = (key_hash(row, fields.len(), &[i]), key_hash(row, fields.len(), &[j]));
            ensure((x == y) == same(a, b), || format!("hashes of {a:?} and {b:?}: {x:x?} {y:x?}"))?;
        }
    }
    Ok(())
}

/// The tasks that get it: by all its fields, and by the first and last.
fn routed(row: &[u8], arity: usize) -> Result<Vec<u32>, String> {
    static PLANS: OnceLock<Vec<Plan>> = OnceLock::new();
    let plans = PLANS.get_or_init(|| (0..=FIELDS_MAX).map(planned).collect());
    let plan = &plans[arity];
    let from = plan.component("from").map_or(0, |(index, _)| index);
    let mut router = Router::new(plan, from, 0, 1 << 20);
    let mut edge = 0;
    let mut draw = || {
        edge += 1;
        edge
    };
    router.route(0, 0, row, 1, Source::None, &mut draw).map_err(|fault| format!("a good row: {fault}"))?;
    let mut batches = vec![];
    router.take(&mut batches);
    ensure(batches.iter().all(|batch| batch.row(0) == row), || "another row came".to_owned())?;
    let mut tasks: Vec<u32> = batches.iter().map(|batch| batch.task).collect();
    tasks.sort_unstable();
    ensure(tasks.len() == plan.edges.len() - 1, || format!("it goes to {tasks:?}"))?;
    Ok(tasks)
}

/// A bolt `from` of one stream of so many fields, and takers of it.
fn planned(arity: usize) -> Plan {
    let names: Vec<String> = (0..arity).map(|i| format!("f{i}")).collect();
    let mut text =
        "[topology]\nname = \"t\"\n[spouts.s]\nkind = \"stdin\"\n[bolts.from]\nplugin = \"x.wasm\"\n\
                    inputs = [{ from = \"s\", grouping = \"shuffle\" }]\n"
            .to_owned();
    let mut taker = |name: &str, grouping: &str| {
        text += &format!(
            "[bolts.{name}]\nplugin = \"x.wasm\"\ntasks = 37\ninputs = [{{ from = \"from\", grouping = {grouping} }}]\n"
        );
    };
    match names.as_slice() {
        [] => taker("all", "\"global\""),
        [first, ..] => {
            taker("all", &format!("{{ fields = {names:?} }}"));
            let last = names.last().unwrap_or(first);
            let ends = if first == last { vec![first] } else { vec![last, first] };
            taker("ends", &format!("{{ fields = {ends:?} }}"));
        }
    }
    let parsed = parse(&Text { name: "t", text: &text, sets: &[], lookup: &|_| None });
    let declarations =
        ["from", "all", "ends"].map(|bolt| (bolt.to_owned(), Declaration::fields(names.clone())));
    let planned = plan(&parsed.manifest, &BTreeMap::from(declarations));
    planned.plan.unwrap_or_else(|| panic!("{:?} {:?}", parsed.diagnostics, planned.diagnostics))
}

fn outline(value: &Model) -> (u8, u32) {
    match value {
        Model::Nil => (0, 0),
        Model::Bool(_) => (1, 0),
        Model::Int(i) => (2, 128 - i.unsigned_abs().leading_zeros()),
        Model::Float(f) => (3, u32::from(f.is_nan()) + 2 * u32::from(f.fract() == 0.0)),
        Model::Str(s) => (4, size(s.len())),
        Model::Bin(b) => (5, size(b.len())),
        Model::Array(list) => (6, size(list.len()) * 20 + list.first().map_or(0, |v| outline(v).0.into())),
        Model::Map(map) => (7, size(map.len()) * 20 + map.first().map_or(0, |(k, _)| outline(k).0.into())),
        Model::Timestamp(..) => (8, 0),
        Model::Ext(_, body) => (9, size(body.len())),
    }
}

/// Reading must end and not panic, whatever the bytes.
fn reading_is_safe(data: &[u8]) {
    let row = Row::new(data);
    let fields = row.fields().iter().take(100).count();
    for i in 0..fields + 1 {
        let _ = (row.field(i), row.raw(i), row.str(i), row.bytes(i));
        let _ = (row.i64(i), row.u64(i), row.f64(i), row.bool(i));
    }
    let _ = data.len() < 100 && format!("{row:?}").is_empty();
}
