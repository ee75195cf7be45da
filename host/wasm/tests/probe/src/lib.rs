//! A bolt that does what the first tuple of a batch tells it, or what its configuration tells it.
//!
//! Rows are plain text here, not MessagePack: the host passes them through unread. An answer is emitted as
//! one unanchored row.

wit_bindgen::generate!({ path: "../../../../wit", world: "bolt" });

use anchorbolt::bolt::{collector, logging, metrics, types};
use exports::anchorbolt::bolt::guest::*;
use std::cell::RefCell;
use std::io::{Read, Write};
use std::time::Duration;

struct Probe;

thread_local! {
    static CONFIG: RefCell<String> = const { RefCell::new(String::new()) };
    static HELD: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static FILES: RefCell<Vec<std::fs::File>> = const { RefCell::new(Vec::new()) };
    static LISTINGS: RefCell<Vec<std::fs::ReadDir>> = const { RefCell::new(Vec::new()) };
}

fn spin() -> ! {
    let mut n = 0u64;
    loop {
        n = std::hint::black_box(n.wrapping_add(1));
    }
}

fn say(text: impl AsRef<[u8]>) {
    collector::emit(&rows(&[text.as_ref()]));
}

fn rows(rows: &[&[u8]]) -> types::Emissions {
    let mut e = empty();
    for row in rows {
        e.streams.push(0);
        e.anchor_offsets.push(0);
        e.data.extend_from_slice(row);
        e.offsets.push(e.data.len() as u32);
    }
    e
}

fn empty() -> types::Emissions {
    types::Emissions {
        streams: vec![],
        targets: vec![],
        anchor_offsets: vec![0],
        anchors: vec![],
        offsets: vec![0],
        data: vec![],
    }
}

#[inline(never)]
fn recurse(n: u64) -> u64 {
    if n == u64::MAX { 0 } else { std::hint::black_box(recurse(std::hint::black_box(n + 1)) + 1) }
}

fn split(batch: &Tuples) {
    let mut e = empty();
    for (i, id) in batch.ids.iter().enumerate() {
        if batch.stride == 1 {
            collector::progress(i as u32);
        }
        let text = &batch.data[batch.offsets[i] as usize..batch.offsets[i + 1] as usize];
        for word in text.split(|&b| b == b' ') {
            e.streams.push(0);
            e.anchors.push(*id);
            e.anchor_offsets.push(e.anchors.len() as u32);
            e.data.push(0x91);
            e.data.push(0xa0 | word.len() as u8);
            e.data.extend_from_slice(word);
            e.offsets.push(e.data.len() as u32);
        }
    }
    collector::emit(&e);
    collector::ack(&batch.ids);
}

/// What needs the network, files or time: true when it was such a command.
fn system(command: &str, arg: &str) -> bool {
    let answer = |r: std::io::Result<String>| say(r.unwrap_or_else(|e| format!("error: {e}")));
    match command {
        "env" => say(std::env::vars().map(|(k, v)| format!("{k}={v};")).collect::<String>()),
        "args" => say(format!("{}", std::env::args().count())),
        "read" => answer(std::fs::read_to_string(arg)),
        "write" => answer(std::fs::write(arg, "written").map(|()| "ok".into())),
        "mkdir" => answer(std::fs::create_dir(arg).map(|()| "ok".into())),
        "rm" => answer(std::fs::remove_file(arg).map(|()| "ok".into())),
        "link" | "rename" => {
            let (from, to) = arg.split_once(' ').unwrap();
            let done = if command == "link" { std::fs::hard_link(from, to) } else { std::fs::rename(from, to) };
            answer(done.map(|()| "ok".into()));
        }
        "list" => answer(std::fs::read_dir(arg).map(|d| format!("{}", d.count()))),
        "keep-listing" => {
            let listed = std::fs::read_dir(arg).map(|d| LISTINGS.with_borrow_mut(|open| open.push(d)));
            answer(listed.map(|()| "ok".into()));
        }
        "close-listings" => {
            LISTINGS.with_borrow_mut(Vec::clear);
            say("ok");
        }
        "open" => {
            let opened = std::fs::File::open(arg).map(|f| FILES.with_borrow_mut(|files| files.push(f)));
            answer(opened.map(|()| "ok".into()));
        }
        "connect" => answer(std::net::TcpStream::connect(arg).and_then(|mut s| {
            s.write_all(b"ping")?;
            let mut text = [0; 4];
            s.read_exact(&mut text)?;
            Ok(String::from_utf8_lossy(&text).into())
        })),
        "listen" => answer(std::net::TcpListener::bind(arg).map(|_| "listening".into())),
        "udp" => answer(std::net::UdpSocket::bind(arg).map(|_| "bound".into())),
        "sleep" => std::thread::sleep(Duration::from_millis(arg.parse().unwrap())),
        "naps" => (0..50).for_each(|_| std::thread::sleep(Duration::from_millis(arg.parse().unwrap()))),
        "stdin" => answer(std::io::stdin().read_line(&mut String::new()).map(|n| n.to_string())),
        _ => return false,
    }
    true
}

/// What ends badly: true when it was such a command and came back.
fn harm(command: &str, arg: &str) -> bool {
    match command {
        "panic" => panic!("{arg}"),
        "loop" => spin(),
        "exit" => std::process::exit(arg.parse().unwrap()),
        "recurse" => say(recurse(0).to_string()),
        "null" => {
            say([unsafe { std::ptr::read_volatile(std::hint::black_box(0xffff_0000_usize) as *const u8) }])
        }
        "alloc" => HELD.with_borrow_mut(|held| held.resize(arg.parse::<usize>().unwrap() << 20, 1)),
        // So many further pages of memory.
        "grow" => assert_ne!(core::arch::wasm32::memory_grow::<0>(arg.parse().unwrap()), usize::MAX, "no memory"),
        "try-alloc" => {
            let got = Vec::<u8>::new().try_reserve(arg.parse::<usize>().unwrap() << 20).is_ok();
            say(got.to_string());
        }
        "bad-utf8" => collector::report_error(unsafe {
            std::str::from_utf8_unchecked(std::hint::black_box(&b"a\xffb"[..]))
        }),
        _ => return false,
    }
    true
}

/// What uses the collector; the number is how often.
fn collect(command: &str, arg: &str, batch: &Tuples) -> bool {
    let n: usize = arg.parse().unwrap_or(1);
    match command {
        "emit" => (0..n).for_each(|i| say(i.to_string())),
        "emit-empty" => (0..n).for_each(|_| collector::emit(&empty())),
        "emit-bytes" => say(vec![b'x'; n]),
        "flood" => (0..n).for_each(|_| say(vec![b'x'; 1 << 20])),
        "anchors" => {
            let mut e = rows(&[b"x"]);
            e.anchors = vec![batch.ids[0]; n];
            e.anchor_offsets[1] = n as u32;
            collector::emit(&e);
        }
        "emit-then-panic" => {
            say("lost");
            collector::ack(&batch.ids);
            panic!("half-way");
        }
        "ack" => collector::ack(&batch.ids),
        "fail" => {
            let kinds = [types::Failure::Fail, types::Failure::Retry, types::Failure::Reject];
            collector::fail(&types::Failures {
                ids: batch.ids.clone(),
                reasons: batch.ids.iter().map(|id| format!("no \u{1b}[31m{id}")).collect(),
                kinds: batch.ids.iter().map(|id| kinds[*id as usize % 3]).collect(),
            });
        }
        "order" => {
            collector::ack(&batch.ids);
            say("after");
            collector::reset_timeout(&batch.ids);
            collector::report_error("look");
        }
        "placed" => say(format!("{:?}", collector::emit_placed(&rows(&[b"a", b"b"])))),
        "describe-many" => drop(collector::describe(&vec![1; n])),
        "describe" => say(format!("{:?}", collector::describe(&batch.ids))),
        "big-reasons" => {
            // One text, aliased: small in the guest, huge in the host.
            let reason = "r".repeat(1 << 20);
            (0..n).for_each(|_| collector::report_error(&reason));
        }
        "bad-fail" => {
            let (ids, kinds) = (batch.ids.clone(), vec![]);
            collector::fail(&types::Failures { ids, reasons: vec![], kinds });
        }
        _ => return false,
    }
    true
}

fn talk(command: &str, arg: &str) -> bool {
    let n: usize = arg.parse().unwrap_or(1);
    match command {
        "print" => println!("{arg}"),
        "eprint" => eprint!("{arg}"),
        "print-flood" => (0..n).for_each(|_| println!("{}", "y".repeat(1023))),
        "log" => logging::log(logging::Level::Warn, arg),
        "logs" => (0..n).for_each(|i| logging::log(logging::Level::Info, &format!("line {i}"))),
        "metrics" => (0..n).for_each(|i| metrics::counter_add(&format!("m{i}"), 1)),
        "metric-name" => metrics::gauge_set(&"n".repeat(n), 1.5),
        "memory" => say("here"),
        _ => return false,
    }
    true
}

fn stride(command: &str, arg: &str, batch: &Tuples) -> bool {
    match command {
        // Each tuple takes this many milliseconds, with progress before it.
        "steps" => (0..batch.ids.len() as u32).for_each(|i| {
            collector::progress(i);
            std::thread::sleep(Duration::from_millis(arg.parse().unwrap()));
        }),
        "hang-at" => {
            let hang: u32 = arg.parse().unwrap();
            (0..=hang).for_each(collector::progress);
            spin();
        }
        "progress" => arg.split(',').for_each(|i| collector::progress(i.parse().unwrap())),
        _ => return false,
    }
    true
}

fn obey(text: &str, batch: &Tuples) -> Result<(), String> {
    let (command, arg) = text.split_once(' ').unwrap_or((text, ""));
    if command == "err" {
        return Err(arg.into());
    }
    let known = system(command, arg)
        || harm(command, arg)
        || collect(command, arg, batch)
        || talk(command, arg)
        || stride(command, arg, batch)
        || command.is_empty();
    if known { Ok(()) } else { Err(format!("unknown command {command}")) }
}

fn configured(call: &str) -> Result<(), String> {
    let config = CONFIG.with_borrow(String::clone);
    match config.split_once(':') {
        Some((when, text)) if when == call => {
            obey(text, &Tuples { ids: vec![], inputs: vec![], offsets: vec![0], data: vec![], stride: 0 })
        }
        _ => Ok(()),
    }
}

impl Guest for Probe {
    fn declare(config: String) -> Result<Declaration, String> {
        CONFIG.set(config);
        configured("declare")?;
        Ok(Declaration {
            outputs: vec![OutputStream {
                name: "default".into(),
                fields: vec!["text".into()],
                direct: false,
            }],
            encoding: Encoding::Msgpack,
            stateless: true,
        })
    }

    fn prepare(context: Context) -> Result<(), String> {
        CONFIG.set(context.config.clone());
        if context.config == "show" {
            return Err(format!("{context:?}"));
        }
        configured("prepare")
    }

    fn execute(batch: Tuples) -> Result<(), String> {
        if CONFIG.with_borrow(|c| c == "split") {
            split(&batch);
            return Ok(());
        }
        if batch.ids.is_empty() {
            return Ok(());
        }
        let row = &batch.data[batch.offsets[0] as usize..batch.offsets[1] as usize];
        obey(std::str::from_utf8(row).unwrap(), &batch)
    }

    fn tick() -> Result<(), String> {
        configured("tick")
    }

    fn flush() -> Result<(), String> {
        configured("flush")
    }

    fn cleanup() -> Result<(), String> {
        configured("cleanup")
    }
}

export!(Probe);
