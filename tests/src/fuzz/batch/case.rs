//! A call out of bytes: the tuples it is made with, and its log.
//!
//! In: bytes. Out: tuples on both sides, and operations, most of them right. Invariant: each number that a guest could
//! give can come.

use super::super::bytes::Bytes;
use super::super::ensure;
use super::slow::{Slow, Tuple};
use super::{START, root};
use anchorbolt_core::batch::Lineage;
use anchorbolt_core::grouping::Router;
use anchorbolt_core::oplog::held::Held;
use anchorbolt_core::port::{Emissions, FailKind, Op, Tuples};

/// Rows of one and of two fields, right and wrong.
const ROWS: [&[u8]; 14] = [
    b"\x91\xa1x",
    b"\x91\xa1y",
    b"\x91\x01",
    b"\x91\xcd\x00\x01",
    b"\x92\xa1k\x07",
    b"\x92\xa1k\xcb\x40\x1c\x00\x00\x00\x00\x00\x00",
    b"\x91\x81\x01\x02",
    b"",
    b"\xc0",
    b"\x91",
    b"\x91\xa2\xc3\x28",
    b"\x91\xdd\xff\xff\xff\xff",
    b"\x91\x01\x02",
    b"\x91\xd9\x28aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

/// Begins a call with up to three tuples.
pub(super) fn begin(bytes: &mut Bytes<'_>, held: &mut Held, slow: &mut Slow<'_>) -> Tuples {
    let count = bytes.below(4) as u32;
    let base = held.begin(count, START);
    slow.begin(base, count);
    let mut tuples = Tuples { offsets: vec![0], ..Tuples::default() };
    for handle in base..base + count {
        let mut lineage = Lineage::None;
        for _ in 0..bytes.below(3) + usize::from(!bytes.seldom(6)) {
            lineage.add(root(bytes.below(5) as u32), slow.draw());
        }
        let attempt = 1 + bytes.below(2) as u32;
        slow.push(handle, Tuple { lineage: lineage.iter().collect(), attempt, children: 0, live: true });
        held.push(lineage, 0, attempt, 1, 0);
        tuples.ids.push(handle);
        tuples.data.extend(ROWS[0]);
        tuples.offsets.push(tuples.data.len() as u32);
    }
    tuples
}

/// The log of a call. Places are drawn while it runs, so before any of it is applied.
pub(super) fn log(
    bytes: &mut Bytes<'_>,
    router: &mut Router,
    slow: &mut Slow<'_>,
) -> Result<Vec<Op>, String> {
    let mut log = vec![];
    for _ in 0..bytes.below(6) {
        log.push(match bytes.below(11) {
            0..4 => Op::Emit(emissions(bytes, slow)),
            4 => {
                let emissions = emissions(bytes, slow);
                match placed(&emissions, router, slow)? {
                    Some(placed) => Op::EmitPlaced(emissions, placed),
                    None => continue,
                }
            }
            5..8 => Op::Ack(handles(bytes, slow)),
            8 => {
                let kind = [FailKind::Fail, FailKind::Retry, FailKind::Reject][bytes.below(3)];
                Op::Fail(
                    handles(bytes, slow).into_iter().map(|handle| (handle, kind, "no".to_owned())).collect(),
                )
            }
            9 => Op::ResetTimeout(handles(bytes, slow)),
            _ => Op::ReportError("it rains".to_owned()),
        });
    }
    Ok(log)
}

fn handles(bytes: &mut Bytes<'_>, slow: &Slow<'_>) -> Vec<u32> {
    (0..bytes.below(4)).map(|_| handle(bytes, slow)).collect()
}

/// Mostly one that was given out.
fn handle(bytes: &mut Bytes<'_>, slow: &Slow<'_>) -> u32 {
    let pick = usize::from(bytes.u8());
    match (pick, slow.given.len()) {
        (0..240, n) if n > 0 => slow.given.iter().rev().nth(pick % n.min(8)).copied().unwrap_or(0),
        (240..244, _) => 0,
        (244..248, _) => slow.given.last().copied().unwrap_or(0).wrapping_add(1),
        (248..250, _) => u32::MAX,
        _ => bytes.u32(),
    }
}

/// Columns, which disagree now and then.
fn emissions(bytes: &mut Bytes<'_>, slow: &Slow<'_>) -> Emissions {
    let mut e = Emissions { anchor_offsets: vec![0], offsets: vec![0], ..Emissions::default() };
    let targets = bytes.seldom(3);
    for _ in 0..bytes.below(4) {
        let stream = if bytes.seldom(30) { bytes.u32() } else { bytes.below(3) as u32 };
        e.streams.push(stream);
        if targets {
            e.targets.push(if bytes.seldom(8) { bytes.u32() } else { bytes.below(24) as u32 });
        }
        e.anchors.extend((0..bytes.below(4)).map(|_| handle(bytes, slow)));
        e.anchor_offsets.push(e.anchors.len() as u32);
        let row = match bytes.u8() {
            250.. => {
                let n = bytes.below(50);
                bytes.take(n)
            }
            n @ 0..200 => ROWS[usize::from(n) % 7],
            n => ROWS[usize::from(n) % ROWS.len()],
        };
        e.data.extend(row);
        e.offsets.push(e.data.len() as u32);
    }
    if bytes.seldom(8) {
        lie(bytes, &mut e);
    }
    e
}

/// Makes one column wrong, or only seem so.
fn lie(bytes: &mut Bytes<'_>, e: &mut Emissions) {
    let column = match bytes.below(6) {
        0 => &mut e.streams,
        1 => &mut e.targets,
        2 => &mut e.anchor_offsets,
        3 => &mut e.anchors,
        4 => &mut e.offsets,
        _ => {
            e.data.pop();
            return;
        }
    };
    let at = bytes.below(column.len());
    let number = if bytes.seldom(2) { bytes.u32() } else { bytes.below(9) as u32 };
    match (bytes.below(4), column.get_mut(at)) {
        (0, _) => _ = column.pop(),
        (1, _) => column.push(number),
        (2, Some(old)) => *old = number,
        (_, Some(old)) => *old = old.wrapping_sub(1),
        _ => {}
    }
}

/// The receivers as the runtime draws them; none where it ends the call.
fn placed(e: &Emissions, router: &mut Router, slow: &mut Slow<'_>) -> Result<Option<Vec<Vec<u32>>>, String> {
    let mut placed = vec![];
    for (i, &stream) in e.streams.iter().enumerate() {
        let range = e.offsets.get(i).zip(e.offsets.get(i + 1));
        let Some(row) = range.and_then(|(&a, &z)| e.data.get(a as usize..z as usize)) else {
            return Ok(None);
        };
        let target = e.targets.get(i).copied().unwrap_or(0);
        let (fast, expected) = (router.place(stream, target, row), slow.receivers(stream, target, row));
        let expected: Option<Vec<u32>> =
            expected.ok().map(|all| all.into_iter().map(|(task, _)| task).collect());
        ensure(fast.as_ref().ok() == expected.as_ref(), || {
            format!("placed {fast:?}, it should be {expected:?}")
        })?;
        match fast {
            Ok(tasks) => placed.push(tasks),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(placed))
}
