//! `lines`: a line that is larger than anything is allowed to be.

use crate::support::{kind, open_task, read_all};
use anchorbolt_core::failure::{Class, Cost};
use anchorbolt_core::manifest::kinds::LineFormat;
use anchorbolt_host::spouts;
use anchorbolt_row::Row;
use std::fs;
use std::io::{self, Read};
use tempfile::tempdir;

const BIG: usize = 50 << 20;

#[test]
fn a_line_of_50_mib_is_refused_with_both_figures_and_reading_goes_on() {
    let dir = tempdir().unwrap();
    let content = [b"first\n".as_slice(), &vec![b'x'; BIG], b"\r\nlast\n", &vec![b'y'; 2000]].concat();
    fs::write(dir.path().join("in"), content).unwrap();
    let spout = spouts::open(&kind(&["in"], LineFormat::Line, false), dir.path(), 1024);
    let got = read_all(spout).unwrap();
    assert_eq!(got.shown(), [r#"["first"]"#, r#"["last"]"#]);
    assert_eq!(got.offsets(), [0, 6 + BIG as u64 + 2]);
    assert_eq!(got.refused.len(), 2);
    let (id, failure) = &got.refused[0];
    assert_eq!((id.low(), failure.class, failure.cost), (6, Class::Size, Cost::Final));
    let text = &failure.reason;
    assert!(text.contains(&BIG.to_string()) && text.contains("1024") && text.contains("byte 6"), "{text}");
    assert!(got.refused[1].1.reason.contains("2000 bytes"), "a last line without an end is measured too");
}

#[test]
fn with_a_higher_limit_it_passes_whole() {
    let dir = tempdir().unwrap();
    let line: Vec<u8> = (0..BIG).map(|i| b'a' + (i % 23) as u8).collect();
    fs::write(dir.path().join("in"), [b"first\n".as_slice(), &line, b"\nlast"].concat()).unwrap();
    let spout = spouts::open(&kind(&["in"], LineFormat::Line, false), dir.path(), BIG as u64);
    let got = read_all(spout).unwrap();
    assert!(got.refused.is_empty() && got.rows.len() == 3);
    assert!(Row::new(&got.rows[1]).str(0).unwrap().as_bytes() == line);
}

#[test]
fn the_limit_is_exact_and_does_not_count_the_line_end() {
    for limit in [0, 1, 5, 131_070, 131_072, 131_073, 300_000] {
        for end in ["\n", "\r\n", ""] {
            for (size, refused) in [(limit, 0), (limit + 1, 1), (limit + 2, 1)] {
                let dir = tempdir().unwrap();
                fs::write(dir.path().join("in"), "z".repeat(size) + end).unwrap();
                let kind = kind(&["in"], LineFormat::Line, false);
                let got = read_all(spouts::open(&kind, dir.path(), limit as u64)).unwrap();
                let empty = usize::from(size == 0 && end.is_empty());
                let counts = (got.refused.len(), got.rows.len());
                assert_eq!(
                    counts,
                    (refused, 1 - refused - empty),
                    "{size} bytes, limit {limit}, end {end:?}"
                );
                for (_, failure) in &got.refused {
                    assert!(failure.reason.contains(&format!(" {size} bytes")), "{}", failure.reason);
                }
            }
        }
    }
}

/// 4 GiB of one line that exists nowhere.
struct Endless(u64);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.0.min(buffer.len() as u64) as usize;
        self.0 -= n as u64;
        buffer[..n].fill(b'x');
        Ok(n)
    }
}

fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or("0 0");
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Run alone, in a process of its own, since other tests take memory too.
#[test]
#[ignore = "started by `memory_does_not_grow_with_a_line_over_the_limit`"]
fn alone_a_line_of_4_gib() {
    let size = 4 << 30;
    let spout = spouts::StdinSpout::over(Endless(size), 1 << 20);
    let got = open_task(Box::new(spout), 0, 1).unwrap().finish().unwrap();
    assert!(got.refused[0].1.reason.contains(&size.to_string()));
    assert!(peak_kib() < 64 << 10, "{} KiB", peak_kib());
}

#[test]
fn memory_does_not_grow_with_a_line_over_the_limit() {
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "large::alone_a_line_of_4_gib", "--ignored"])
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
}
