//! Whether the columns of emissions are what they claim to be, before anything is read from them.
//!
//! In: columns from a guest. Out: nothing, or the first thing that is wrong. Invariant: after this, every offset is in
//! range.

use super::Violation;
use crate::port::Emissions;

/// Lengths agree; offsets start at 0, ascend and stay in range.
pub(super) fn check_columns(e: &Emissions) -> Result<(), Violation> {
    let m = e.streams.len();
    let length = |name: &str, is: usize, should: usize| match is == should {
        true => Ok(()),
        false => Err(Violation::new(format!("emit: {m} emissions need {should} {name}, there are {is}"))),
    };
    length("offsets", e.offsets.len(), m + 1)?;
    length("anchor-offsets", e.anchor_offsets.len(), m + 1)?;
    if !e.targets.is_empty() {
        length("targets", e.targets.len(), m)?;
    }
    check_offsets("offsets", &e.offsets, e.data.len())?;
    check_offsets("anchor-offsets", &e.anchor_offsets, e.anchors.len())
}

fn check_offsets(name: &str, offsets: &[u32], end: usize) -> Result<(), Violation> {
    if offsets.first() != Some(&0) {
        return Err(Violation::new(format!("emit: {name} do not start at 0")));
    }
    if let Some(i) = (1..offsets.len()).find(|&i| offsets[i] < offsets[i - 1]) {
        return Err(Violation::new(format!(
            "emit: {name} descend at {i}: {} after {}",
            offsets[i],
            offsets[i - 1]
        )));
    }
    match offsets.last() {
        Some(&last) if last as usize > end => {
            Err(Violation::new(format!("emit: {name} end at {last}, but there are {end}")))
        }
        _ => Ok(()),
    }
}
