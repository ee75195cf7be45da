//! The table at the end of a run.

use anchorbolt_host::core::port::SpoutError;
use anchorbolt_host::runtime::Ended;
use anchorbolt_host::telemetry::Report;

/// How many errors are shown.
const ERRORS_MAX: usize = 20;

/// The table, and how it ended.
pub(crate) fn table(ended: &Ended) -> String {
    let r = &ended.report;
    let t = r.totals();
    let rate = t.completed as f64 / r.elapsed.as_secs_f64().max(0.001);
    let mut out = format!(
        "\n{}: {} messages read in {:.3} s: {} completed ({:.0}/s)",
        r.topology,
        t.read,
        r.elapsed.as_secs_f64(),
        t.completed,
        rate
    );
    let parts = [
        (t.untracked, "untracked"),
        (t.dead_lettered, "dead-lettered"),
        (t.dropped, "dropped"),
        (t.handed_back, "handed back"),
        (t.pending, "pending"),
        (t.replayed, "replayed trees"),
        (t.trees_failed, "failed trees"),
        (t.trees_timed_out, "timed-out trees"),
    ];
    for (n, what) in parts.into_iter().filter(|(n, _)| *n > 0) {
        out += &format!(", {n} {what}");
    }
    let l = &r.latency;
    out += &format!(
        "\ncomplete latency us: mean {:.1}, p50 {}, p99 {}, p99.9 {}, max {}\n\n",
        l.mean, l.p50, l.p99, l.p999, l.max
    );
    out += &components(r);
    out += &errors(r);
    out + &end(ended)
}

fn components(r: &Report) -> String {
    let head = [
        "component",
        "read",
        "executed",
        "emitted",
        "acked",
        "failed",
        "deaths",
        "held",
        "ns/tuple",
        "cpu s",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let dash = || "-".to_owned();
    for (name, s) in &r.spouts {
        let failed = s.trees_failed + s.trees_timed_out;
        let emitted = s.trees_emitted + s.untracked;
        let numbers =
            [s.read.to_string(), dash(), emitted.to_string(), s.trees_acked.to_string(), failed.to_string()];
        rows.push([vec![name.clone()], numbers.to_vec(), vec![dash(), dash(), dash(), dash()]].concat());
    }
    for (name, b) in &r.bolts {
        let per_tuple = b.execute_ns.checked_div(b.executed).unwrap_or(0);
        let cpu = format!("{:.2}", b.cpu_ns as f64 / 1e9);
        let numbers = [b.executed, b.emitted, b.acked, b.failed, b.deaths, b.held, per_tuple];
        let numbers = numbers.iter().map(u64::to_string).collect();
        rows.push([vec![name.clone(), dash()], numbers, vec![cpu]].concat());
    }
    aligned(&rows, |c| c > 0).map(|line| format!("  {line}\n")).collect()
}

/// Rows as lines, in columns two spaces apart; those that are to the `right` end below each other.
pub(crate) fn aligned<'a>(
    rows: &'a [Vec<String>],
    right: impl Fn(usize) -> bool + 'a,
) -> impl Iterator<Item = String> + 'a {
    let columns = rows.first().map_or(0, Vec::len);
    let width =
        |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter().map(move |row| {
        let cells = row.iter().zip(&widths).enumerate().map(|(c, (cell, width))| {
            if right(c) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    })
}

fn errors(r: &Report) -> String {
    let mut out = String::new();
    if !r.errors.is_empty() {
        out += "\nerrors\n";
    }
    for e in r.errors.iter().take(ERRORS_MAX) {
        let text = e.message.replace('\n', "\n        ");
        out += &format!("  {} x {} in {}: {text}\n", e.count, e.class, e.component);
    }
    if r.errors.len() > ERRORS_MAX {
        out += &format!("  and {} more texts, all in the report\n", r.errors.len() - ERRORS_MAX);
    }
    out
}

fn end(ended: &Ended) -> String {
    let mut out = String::new();
    if let Some(text) = &ended.broken {
        out += &format!("\nerror: the host broke: {text}\n");
    }
    if let Some(SpoutError::Input(text) | SpoutError::Environment(text)) = &ended.spout_error {
        out += &format!("\nerror: {text}\n");
    }
    if let Some(text) = &ended.stopped {
        out += &format!("\nstopped: {text}\n");
    }
    if let Some(text) = &ended.unwritten {
        out += &format!("\nerror: {text}\n");
    }
    let pending = ended.report.totals().pending;
    if ended.unfinished {
        out += &format!("\nnot drained: {pending} messages stay unacked at their source\n");
    }
    let lost: Vec<String> = ended
        .report
        .bolts
        .iter()
        .filter(|(_, b)| b.state_lost > 0)
        .map(|(n, b)| format!("{n} ({} times)", b.state_lost))
        .collect();
    if !lost.is_empty() {
        out += &format!("\nstate in instance memory was lost with deaths of: {}\n", lost.join(", "));
    }
    out
}
