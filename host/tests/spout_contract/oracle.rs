//! `lines` against a reader that takes the whole file and splits it.

use crate::support::{Got, kind, open_task};
use anchorbolt_core::manifest::kinds::LineFormat;
use anchorbolt_core::port::Next;
use anchorbolt_host::spouts::{self, StdinSpout};
use std::fs;
use std::io::{self, Read};
use tempfile::tempdir;

/// Offset, then what `Got::first_fields` calls the line, or its size if it is over the limit.
type Message = (u64, Result<Vec<u8>, usize>);

fn slow_reader(content: &[u8], limit: usize) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut at = 0;
    while at < content.len() {
        let rest = &content[at..];
        let end = rest.iter().position(|&b| b == b'\n');
        let mut line = &rest[..end.unwrap_or(rest.len())];
        if end.is_some() && line.ends_with(b"\r") {
            line = &line[..line.len() - 1];
        }
        let kind = if std::str::from_utf8(line).is_ok() { b"s:" } else { b"b:" };
        let told = if line.len() > limit { Err(line.len()) } else { Ok([kind, line].concat()) };
        messages.push((at as u64, told));
        at += end.map_or(rest.len(), |end| end + 1);
    }
    messages
}

fn told(got: &Got) -> Vec<Message> {
    let mut messages: Vec<Message> =
        got.offsets().into_iter().zip(got.first_fields().into_iter().map(Ok)).collect();
    messages.extend(got.refused.iter().map(|(id, failure)| {
        let size = failure.reason.split(" has ").nth(1).unwrap().split(' ').next().unwrap();
        (id.low(), Err(size.parse().unwrap()))
    }));
    messages.sort_by_key(|(at, _)| *at);
    messages
}

fn content(random: &mut fastrand::Rng) -> Vec<u8> {
    let mut content = Vec::new();
    let most = *random.choice(&[3, 50, 5_000, 200_000]).unwrap();
    for _ in 0..random.usize(..200) {
        let size = if random.u8(..20) == 0 { random.usize(..most) } else { random.usize(..60) };
        match random.u8(..10) {
            0 => content.extend((0..size).map(|_| random.u8(..))),
            1 => content.extend("é".repeat(size).bytes()),
            2 => content.extend(vec![b'\r'; size % 4]),
            _ => content.extend(vec![b'a' + (size % 26) as u8; size]),
        }
        content.extend_from_slice(random.choice([b"\n".as_slice(), b"\r\n", b"\n\n", b"\r"]).unwrap());
    }
    content.truncate(content.len() - random.usize(..=content.len().min(3)));
    content
}

#[test]
fn random_files_read_as_a_slow_reader_reads_them() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..300 {
        let content = content(&mut random);
        let limit = *random.choice(&[0, 10, 59, 4_000, 150_000, 1 << 20]).unwrap();
        let dir = tempdir().unwrap();
        fs::write(dir.path().join("in"), &content).unwrap();
        let kind = kind(&["in"], LineFormat::Line, false);
        let mut driven = open_task(spouts::open(&kind, dir.path(), limit as u64), 0, 1).unwrap();
        loop {
            let before = driven.got.rows.len() + driven.got.refused.len();
            let budget = random.usize(..2000);
            let next = driven.step(budget).unwrap();
            assert!(driven.got.rows.len() + driven.got.refused.len() - before <= budget);
            match next {
                Next::Done => break,
                Next::Idle(_) => driven.wait(),
                Next::More => {}
            }
        }
        assert!(told(&driven.got) == slow_reader(&content, limit), "round {round}, limit {limit}");
    }
}

/// Gives what it has in small pieces.
struct Trickle(Vec<u8>, usize, fastrand::Rng);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.2.u8(..10) == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let n = (1 + self.2.usize(..9)).min(self.0.len() - self.1).min(buffer.len());
        buffer[..n].copy_from_slice(&self.0[self.1..self.1 + n]);
        self.1 += n;
        Ok(n)
    }
}

#[test]
fn it_does_not_matter_how_the_bytes_arrive() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..100 {
        let mut content = content(&mut random);
        content.truncate(20_000);
        let limit = *random.choice(&[0, 10, 59, 4_000]).unwrap();
        let source = Trickle(content.clone(), 0, fastrand::Rng::with_seed(random.u64(..)));
        let spout = StdinSpout::over(source, limit as u64);
        let got = open_task(Box::new(spout), 0, 1).unwrap().finish().unwrap();
        let numbered = slow_reader(&content, limit).into_iter().enumerate();
        let expected: Vec<Message> = numbered.map(|(i, (_, told))| (i as u64 + 1, told)).collect();
        assert!(told(&got) == expected, "round {round}, limit {limit}");
    }
}
