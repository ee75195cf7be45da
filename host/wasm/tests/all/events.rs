//! Logs and metrics reach the hook, cleaned and capped; nothing a guest prints stops it.

use crate::support::*;
use anchorbolt_wasm::{Level, Metric};

#[test]
fn what_is_printed_and_logged_reaches_the_hook() {
    let mut probe = Probe::new();
    probe.run("print hello \u{1b}[2Jthere").unwrap();
    probe.run("log careful").unwrap();
    let lines = probe.kept.lines.lock().unwrap().clone();
    assert_eq!(lines, [(Level::Info, "hello there".into()), (Level::Warn, "careful".into())]);
    assert!(probe.dies("panic x").output.contains('x'));
}

#[test]
fn a_megabyte_of_output_is_taken_and_left_out() {
    let mut probe = Probe::new();
    probe.run("print-flood 1000").unwrap();
    let bytes: usize = probe.kept.lines.lock().unwrap().iter().map(|(_, line)| line.len()).sum();
    assert!(bytes <= 128 << 10, "{bytes}");
    std::thread::sleep(std::time::Duration::from_millis(200));
    probe.run("print again").unwrap();
    let lines = probe.kept.lines.lock().unwrap();
    assert!(
        lines.iter().any(|(level, line)| *level == Level::Warn && line.contains("left out")),
        "{lines:?}"
    );
}

#[test]
fn lines_have_a_rate_over_instances() {
    let mut probe = Probe::with(|s| s.limits.log_lines_per_second = 10);
    probe.run("logs 100").unwrap();
    probe.fresh();
    probe.run("logs 100").unwrap();
    assert!(probe.kept.lines.lock().unwrap().len() <= 15);
}

#[test]
fn metrics_have_few_and_short_names() {
    let mut probe = Probe::new();
    probe.run("metric-name 500").unwrap();
    probe.run("metrics 2000").unwrap();
    let metrics = probe.kept.metrics.lock().unwrap();
    assert_eq!((metrics[0].0.len(), metrics[0].1), (128, Metric::Gauge(1.5)));
    assert_eq!(metrics.len(), 1000);
}
