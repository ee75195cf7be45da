//! A topology that a program puts together: a spout and a sink of its own, in Rust, and a plugin between them.
//!
//! ```text
//! cargo xtask guests
//! cargo run --example embedded -- examples/word-count/plugins
//! ```

use anchorbolt_core::ids::MessageId;
use anchorbolt_core::port::{Declaration, Next, Spout, SpoutContext, SpoutError, SpoutOutput};
use anchorbolt_host::assemble::{Host, NativeBolt, NativeSpout, RunOptions, TopologyBuilder};
use anchorbolt_host::runtime::{Ended, How};
use anchorbolt_row::{Row, write_row};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::{Arc, Mutex};

const LINES: [&str; 3] = ["to be or not to be", "that is the question", "to sleep"];

/// Emits the lines once. The host keeps a row until it is done, and replays it if it fails.
struct Lines {
    next: usize,
}

impl Spout for Lines {
    fn open(&mut self, _: SpoutContext) -> Result<(), SpoutError> {
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        for _ in 0..budget {
            let Some(line) = LINES.get(self.next) else { return Ok(Next::Done) };
            out.emit_with(MessageId::pair(0, self.next as u64), 0, |data| {
                write_row(data, |row| {
                    row.str(line);
                });
            });
            self.next += 1;
        }
        Ok(Next::More)
    }

    fn ack(&mut self, _: &[MessageId]) {}

    fn finite(&self) -> bool {
        true
    }
}

/// Counts the words of the lines, with the plugin `split.wasm` of that folder.
pub(crate) fn run(host: &Host, plugins: &Path) -> Result<(BTreeMap<String, u64>, Ended), Box<dyn Error>> {
    let counts = Arc::new(Mutex::new(BTreeMap::new()));
    let shared = Arc::clone(&counts);
    let count = NativeBolt::of_fn(Declaration::default(), move |tuples, out| {
        let mut counts = shared.lock().map_err(|e| e.to_string())?;
        for i in 0..tuples.len() {
            let word = Row::new(tuples.row(i)).str(0).ok_or("a word is no string")?;
            *counts.entry(word.to_owned()).or_default() += 1;
        }
        out.ack(&tuples.ids);
        Ok(())
    });

    let mut builder = TopologyBuilder::new("embedded");
    let lines = NativeSpout::new(Declaration::fields(["line"]), |_task| Lines { next: 0 });
    builder.set_spout("lines", lines, 1).set_max_spout_pending(100);
    builder.set_bolt("split", "split.wasm", 2).shuffle_grouping("lines").set_memory_limit("16MiB");
    builder.set_bolt("count", count, 2).fields_grouping("split", ["word"]);

    let loaded = builder.create_topology(host, plugins);
    if let Some(mistake) = loaded.diagnostics.first() {
        return Err(format!("{}: {}", mistake.code, mistake.message).into());
    }
    let how = How { until_drained: true, ..How::default() };
    let ended = loaded.start(RunOptions { how, ..RunOptions::default() })?.wait(how);
    let counts = counts.lock().map_err(|e| e.to_string())?.clone();
    Ok((counts, ended))
}

#[allow(dead_code, reason = "a test runs the rest")]
#[allow(clippy::print_stdout, reason = "the result of the example")]
fn main() -> Result<(), Box<dyn Error>> {
    let plugins = std::env::args().nth(1).unwrap_or_else(|| "examples/word-count/plugins".to_owned());
    let (counts, ended) = run(&Host::in_process(None)?, plugins.as_ref())?;
    println!("{counts:?}\n{:#}", ended.report.json());
    Ok(())
}
