//! What a call costs. Compare within one run on one machine; build with `--release`.

use crate::support::*;
use anchorbolt_core::port::{Call, InstanceFactory, Op, Tuples};
use std::time::{Duration, Instant};

pub fn run() {
    let mut probe = Probe::new();
    probe.prepare("split").unwrap();
    let mut call = Call::default();
    let empty = time(|| probe.instance.execute(&mut tuples("", 0), &mut call).unwrap());
    println!("empty call of execute: {empty} ns, with an emit and an ack of nothing");
    let tick = time(|| probe.instance.tick(&mut call).unwrap());
    println!("empty call of tick: {tick} ns");
    println!("the same tick in bare wasmtime, polled once: {} ns", floor());
    for (n, stride) in [(1, 0), (16, 0), (64, 0), (256, 0), (1024, 0), (256, 1)] {
        let mut batch = Tuples { stride, ..sentences(n) };
        let mut words = 0;
        let nanos = time(|| {
            probe.instance.execute(&mut batch, &mut call).unwrap();
            words = call.log.iter().map(|op| if let Op::Emit(e) = op { e.streams.len() } else { 0 }).sum();
            call.log.clear();
        });
        let (tuple, word) = (nanos as f64 / f64::from(n), nanos as f64 / words as f64);
        println!(
            "split, batch {n}, stride {stride}: {nanos} ns a call, {tuple:.0} a tuple, {word:.1} a word"
        );
    }
    let create = time(|| drop(probe.factory.create().unwrap()));
    println!("create and drop an instance: {create} ns");
}

/// The same export of the same guest, called with nothing round it: no deadline, no limits, no log.
fn floor() -> u64 {
    use wasmtime::component::{Component, Linker};
    let mut config = wasmtime::Config::new();
    config.concurrency_support(false).epoch_interruption(true).max_wasm_stack(512 << 10);
    let engine = wasmtime::Engine::new(&config).unwrap();
    let component = Component::new(&engine, probe_bytes()).unwrap();
    let mut linker = Linker::new(&engine);
    linker.define_unknown_imports_as_traps(&component).unwrap();
    let mut store = wasmtime::Store::new(&engine, ());
    store.set_epoch_deadline(1 << 40);
    let instance = once(linker.instantiate_async(&mut store, &component)).unwrap();
    let guest = component.get_export_index(None, "anchorbolt:bolt/guest@0.1.0").unwrap();
    let tick = component.get_export_index(Some(&guest), "tick").unwrap();
    let tick = instance.get_typed_func::<(), (Result<(), String>,)>(&mut store, tick).unwrap();
    time(|| once(tick.call_async(&mut store, ())).unwrap().0.unwrap())
}

fn once<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(done) => done,
        std::task::Poll::Pending => panic!("it waits"),
    }
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
