//! The native spouts: sources that the host brings along.
//!
//! In: the typed options of a manifest's spout. Out: a boxed [`Spout`], one a task. One module a kind; what they
//! share is beside them: `feed` (a bounded exchange with a reading thread), `splitter` (bytes into lines),
//! `taker` and `format` (lines into rows), `pace` and `words`. They know the ports of the core, its offsets
//! and nothing of the runtime.
//!
//! Invariant: each kind passes [`contract::check_spout`], which is there for the spouts of embedders too. A spout
//! that keeps its own pending messages, as Storm's examples do, is `examples/five_sentences.rs`.

pub mod contract;
mod feed;
pub mod files;
mod format;
mod generate;
mod letters;
mod lines;
mod pace;
mod splitter;
mod stdin;
mod taker;
mod words;

pub use generate::GenerateSpout;
pub use letters::{LettersSpout, Mail};
pub use lines::LinesSpout;
pub use stdin::StdinSpout;

use anchorbolt_core::manifest::kinds::SpoutKind;
use anchorbolt_core::port::Spout;
use std::path::Path;

/// The spout of a manifest, for one task. Paths are relative to `base`, the manifest's folder; a message larger
/// than `tuple_bytes_max` is refused.
pub fn open(kind: &SpoutKind, base: &Path, tuple_bytes_max: u64) -> Box<dyn Spout> {
    match kind {
        SpoutKind::Lines(options) => Box::new(LinesSpout::new(options.clone(), base, tuple_bytes_max)),
        SpoutKind::Generate(options) => Box::new(GenerateSpout::new(options.clone())),
        SpoutKind::Stdin => Box::new(StdinSpout::new(tuple_bytes_max)),
    }
}
