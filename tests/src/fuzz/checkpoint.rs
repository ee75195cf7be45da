//! The target `checkpoint`: what a spout saved, and the file that it is in.
//!
//! In: a checkpoint's file with changes, a file of any bytes, or what `generate` or `lines` saved, changed but with a
//! right checksum. Out: an error if a file gives something that was not saved, if an error does not name the file, or
//! if a spout passes over a message that was not said to be done, or emits one twice. Invariant: nothing is done that
//! the texts do not say.

mod spouts;

use super::bytes::Bytes;
use super::{Shape, Target, ensure, kind, mutate as plain, shape, size};
use crate::simulation::disk::Disk;
use anchorbolt_host::durable::Checkpoints;
use fastrand::Rng;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub(super) const TARGET: Target = Target {
    name: "checkpoint",
    bytes_max: 4000,
    wall: Duration::from_secs(4),
    memory_max: 64 << 20,
    seeds,
    mutate,
    check,
};

/// What the first byte of an input says that the rest is.
const EDITED: u8 = 0;
const FILE: u8 = 1;
const GENERATE: u8 = 2;
const LINES: u8 = 3;

const FOLDER: &str = "data/checkpoints";
const PATH: &str = "data/checkpoints/source.3.checkpoint";

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![[&[EDITED, 0], &b"payload\n\0\xff"[..]].concat(), vec![EDITED, 0]];
    seeds.push([&[FILE], saved(b"some payload").as_slice()].concat());
    seeds.extend(spouts::generated().into_iter().map(|texts| [vec![GENERATE], texts].concat()));
    seeds.extend(spouts::lined().into_iter().map(|texts| [vec![LINES], texts].concat()));
    seeds
}

fn mutate(rng: &mut Rng, input: &mut Vec<u8>) {
    match input.first() {
        Some(&EDITED) => {
            let n = rng.u8(1..4);
            let payload =
                input.get(2 + 4 * usize::from(input.get(1).copied().unwrap_or(0) % 4)..).unwrap_or_default();
            let edits = (0..4 * n).map(|_| rng.u8(..)).collect();
            *input = [vec![EDITED, n], edits, payload.to_vec()].concat();
        }
        Some(&(GENERATE | LINES)) if rng.u8(..4) == 0 => {
            let words = [
                "[1,2],",
                "[]",
                "null",
                "\"carried\":[",
                "},{",
                "\0",
                "0",
                "18446744073709551615",
                "[0,9]",
                "-1",
            ];
            let at = rng.usize(1..=input.len());
            input.splice(at..at, rng.choice(words).unwrap_or("").bytes());
        }
        Some(&(GENERATE | LINES)) if rng.u8(..6) == 0 => {
            if let Some(layout) = input.get_mut(1) {
                *layout = rng.u8(..);
            }
        }
        _ => plain::decimal(rng, input),
    }
}

fn check(input: &[u8]) -> Result<Shape, String> {
    let Some((mode, rest)) = input.split_first() else { return Ok(0) };
    match mode % 4 {
        EDITED => edited(rest),
        FILE => any_file(rest),
        GENERATE => spouts::generate(rest),
        _ => spouts::lines(rest),
    }
}

fn checkpoints(disk: &Disk) -> Checkpoints {
    Checkpoints::new(Arc::new(disk.clone()), Path::new(FOLDER).to_owned())
}

/// The file of a payload.
fn saved(payload: &[u8]) -> Vec<u8> {
    let disk = Disk::default();
    let written = checkpoints(&disk).save("source", 3, payload);
    written.ok().and_then(|()| disk.content(Path::new(PATH))).unwrap_or_default()
}

fn load(file: &[u8]) -> Result<Vec<u8>, String> {
    let disk = Disk::default();
    disk.put(Path::new(PATH), file);
    match checkpoints(&disk).load("source").map_err(|error| error.0)?.as_slice() {
        [(3, payload)] => Ok(payload.clone()),
        other => Err(format!("{PATH}: not one checkpoint but {other:?}")),
    }
}

/// A good file with some changes.
fn edited(input: &[u8]) -> Result<Shape, String> {
    let mut bytes = Bytes(input);
    let edits = bytes.u8() % 4;
    let edits: Vec<[u8; 4]> = (0..edits).map(|_| std::array::from_fn(|_| bytes.u8())).collect();
    let payload = bytes.0;
    let good = saved(payload);
    let mut file = good.clone();
    for [how, high, low, byte] in edits {
        let at = usize::from(u16::from_be_bytes([high, low])) % file.len().max(1);
        match how % 5 {
            _ if file.is_empty() => {}
            0 => file[at] = byte,
            1 => file[at] ^= 1 << (byte % 8),
            2 => file.truncate(at),
            3 => file.insert(at, byte),
            _ => drop(file.remove(at)),
        }
    }
    match load(&file) {
        Ok(loaded) => {
            ensure(loaded == payload, || {
                format!("{loaded:?} came of a file in which {payload:?} was saved")
            })?;
            Ok(shape((0, file == good, size(payload.len()))))
        }
        Err(text) => {
            ensure(file != good, || format!("a good file: {text}"))?;
            ensure(text.contains(PATH), || format!("the file is not named: {text}"))?;
            Ok(shape((1, kind(&text))))
        }
    }
}

/// Any bytes: what loads has the checksum that it has when it is saved.
fn any_file(file: &[u8]) -> Result<Shape, String> {
    match load(file) {
        Ok(payload) => {
            let text = String::from_utf8(saved(&payload)).unwrap_or_default();
            let sum =
                text.split("\"sha256\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("?");
            let found = String::from_utf8_lossy(file).replace("\\/", "/").contains(sum);
            ensure(found || text.is_empty(), || format!("{payload:?} loads without its checksum {sum}"))?;
            Ok(shape((2, size(payload.len()))))
        }
        Err(text) => {
            ensure(text.contains(PATH), || format!("the file is not named: {text}"))?;
            Ok(shape((3, kind(&text))))
        }
    }
}
