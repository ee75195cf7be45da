//! What a bolt did, kept for the test to look at.
//!
//! In: the stand-in's calls. Out: plain lists. Invariant: everything is in the order in which the bolt did it.

use std::collections::BTreeMap;
use std::fmt;

use crate::log::Level;
use crate::{Failure, IntoRow, Row};

/// One emission.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Emission {
    /// Its stream.
    pub stream: String,
    /// The task it was emitted to, on a direct stream.
    pub task: Option<u32>,
    /// The handles it is anchored to.
    pub anchors: Vec<u32>,
    /// Its row.
    pub row: OwnedRow,
}

/// One failed tuple.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failed {
    /// Its handle.
    pub handle: u32,
    /// What should happen next.
    pub kind: Failure,
    /// Why.
    pub reason: String,
}

/// A row that can be compared with whatever could be emitted as one.
///
/// ```
/// # use anchorbolt_sdk::testing::OwnedRow;
/// assert_eq!(OwnedRow::from(("cat", 3)), ("cat", 3));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct OwnedRow(Vec<u8>);

impl OwnedRow {
    pub(crate) fn copy(data: &[u8]) -> Self {
        Self(data.into())
    }

    /// The row, to be read.
    pub fn row(&self) -> Row<'_> {
        Row::new(&self.0)
    }
}

impl<R: IntoRow> From<R> for OwnedRow {
    fn from(row: R) -> Self {
        let mut data = Vec::new();
        row.append_to(&mut data);
        Self(data)
    }
}

impl<R: IntoRow + Clone> PartialEq<R> for OwnedRow {
    fn eq(&self, other: &R) -> bool {
        let Self(other) = other.clone().into();
        self.0 == other
    }
}

impl fmt::Debug for OwnedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.row().fmt(f)
    }
}

/// All that a bolt did.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) emitted: Vec<Emission>,
    pub(crate) acked: Vec<u32>,
    pub(crate) failed: Vec<Failed>,
    pub(crate) timeouts_reset: Vec<u32>,
    pub(crate) errors: Vec<String>,
    pub(crate) progress: Vec<u32>,
    pub(crate) logs: Vec<(Level, String)>,
    pub(crate) counters: BTreeMap<String, u64>,
    pub(crate) gauges: BTreeMap<String, f64>,
    pub(crate) histograms: BTreeMap<String, Vec<f64>>,
}
