//! What a call costs. Compare within one run on one machine; build with `--release`.

use crate::support::*;
use anchorbolt_core::port::{Call, InstanceFactory, Op, Tuples};
use std::time::{Duration, Instant};

pub fn run() {
    let mut probe = Probe::new();
    probe.prepare("split").unwrap();
    let mut call = Call::default();
    let empty = time(|| probe.instance.execute(&mut tuples("", 0), &mut call).unwrap());
    println!("empty call of execute: {empty} ns (with one emit and one ack of nothing)");
    let tick = time(|| probe.instance.tick(&mut call).unwrap());
    println!("empty call of tick: {tick} ns");
    for n in [1, 16, 64, 256, 1024] {
        let mut batch = sentences(n);
        let mut words = 0;
        let nanos = time(|| {
            probe.instance.execute(&mut batch, &mut call).unwrap();
            words = call.log.iter().map(|op| if let Op::Emit(e) = op { e.streams.len() } else { 0 }).sum();
            call.log.clear();
        });
        let each = nanos as f64 / f64::from(n);
        println!(
            "split, batch {n}: {nanos} ns a call, {each:.0} ns a tuple, {:.1} ns a word",
            nanos as f64 / words as f64
        );
    }
    let create = time(|| drop(probe.factory.create().unwrap()));
    println!("create and drop an instance: {create} ns");
}

/// The best of many rounds: what is above it is the machine's noise.
fn time(mut f: impl FnMut()) -> u64 {
    let mut best = u64::MAX;
    let end = Instant::now() + Duration::from_millis(600);
    while Instant::now() < end {
        let start = Instant::now();
        let mut n = 0;
        while start.elapsed() < Duration::from_millis(10) {
            (0..16).for_each(|_| f());
            n += 16;
        }
        best = best.min(start.elapsed().as_nanos() as u64 / n);
    }
    best
}

fn sentences(n: u32) -> Tuples {
    const TEXTS: [&str; 5] = [
        "the cat sat on mats",
        "we count words all day",
        "small boats cross the wide bay",
        "do not panic now friend",
        "every tree gets an ack",
    ];
    let mut t = Tuples { offsets: vec![0], ..Tuples::default() };
    for id in 0..n {
        t.ids.push(id);
        t.inputs.push(0);
        t.data.extend_from_slice(TEXTS[id as usize % 5].as_bytes());
        t.offsets.push(t.data.len() as u32);
    }
    t
}
