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

/// How many lines of a burst reach the hook, and what is said of the rest. The rate lets more through while time passes,
/// so a burst that took long says nothing and is tried again.
fn burst(lines: u32, bytes: u64, command: &str) -> (usize, Vec<String>) {
    for _ in 0..50 {
        let mut probe = Probe::with(|s| {
            (s.limits.log_lines_per_second, s.limits.log_bytes_per_second) = (lines, bytes);
        });
        let begin = std::time::Instant::now();
        probe.run(command).unwrap();
        let took = begin.elapsed();
        let kept = probe.kept.clone();
        drop(probe);
        if took.as_millis() < 80 {
            let all = kept.lines.lock().unwrap().clone();
            let (said, passed): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|(_, line)| line.contains("left out"));
            return (passed.len(), said.into_iter().map(|(_, line)| line).collect());
        }
    }
    panic!("no burst was quick enough");
}

#[test]
fn lines_end_exactly_at_their_rate_and_the_rest_is_said() {
    assert_eq!(burst(10, 1 << 20, "logs 9"), (9, vec![]));
    assert_eq!(burst(10, 1 << 20, "logs 10"), (10, vec![]));
    let said = "1 line was left out: the bolt logs more than 10 lines or 1 MiB a second".to_owned();
    assert_eq!(burst(10, 1 << 20, "logs 11"), (10, vec![said]));
}

/// Each line has 6 bytes.
#[test]
fn bytes_end_exactly_at_their_rate_and_the_rest_is_said() {
    assert_eq!(burst(1000, 60, "logs 9"), (9, vec![]));
    assert_eq!(burst(1000, 60, "logs 10"), (10, vec![]));
    let said = "1 line was left out: the bolt logs more than 1000 lines or 59 bytes a second".to_owned();
    assert_eq!(burst(1000, 59, "logs 10"), (9, vec![said]));
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
