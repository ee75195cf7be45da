//! What a long run costs: no allocation per tuple, flat memory, no CPU while idle.
//!
//! A binary of its own, because its allocator counts for the whole process; its tests take turns.

#![allow(clippy::print_stdout, reason = "a test says what it measured")]
#![allow(unsafe_code, reason = "a global allocator is unsafe to write")]

use anchorbolt_core::ids::MessageId;
use anchorbolt_core::port::{
    Bolt, Collector, Declaration, Next, Spout, SpoutContext, SpoutError, SpoutOutput, Tuples,
};
use anchorbolt_host::runtime::{Ended, How};
use anchorbolt_tests::native::string_row;
use anchorbolt_tests::{Feed, Topology, check_flawless, wait};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: each call is handed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The process is measured as a whole, so one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|e| e.into_inner())
}

/// So many messages of one row, without a word written down.
struct Same {
    left: u64,
    next: u64,
    row: Vec<u8>,
}

impl Spout for Same {
    fn open(&mut self, _: SpoutContext) -> Result<(), SpoutError> {
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        let n = self.left.min(budget as u64);
        for id in self.next..self.next + n {
            out.emit(MessageId::pair(0, id), 0, &self.row);
        }
        (self.next, self.left) = (self.next + n, self.left - n);
        Ok(if self.left == 0 { Next::Done } else { Next::More })
    }

    fn ack(&mut self, _: &[MessageId]) {}

    fn unique_ids(&self) -> bool {
        true
    }

    fn finite(&self) -> bool {
        true
    }
}

struct Pass;

impl Bolt for Pass {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        for (i, id) in tuples.ids.iter().enumerate() {
            out.emit(0, &[*id], tuples.row(i));
        }
        out.ack(&tuples.ids);
        Ok(())
    }
}

fn topology(messages: u64, code: &str, settings: &str) -> Topology {
    let topology = Topology::new(&format!(
        "[topology]\nname = \"steady\"\n{settings}\n[spouts.feed]\nkind = \"generate\"\n\
         [bolts.bolt]\n{code}\ninputs = [{{ from = \"feed\", grouping = \"shuffle\" }}]\n\
         [bolts.sink]\nkind = \"null\"\ninputs = [{{ from = \"bolt\", grouping = \"shuffle\" }}]\n"
    ));
    let make = move |_| Same { left: messages, next: 0, row: string_row("the quick brown fox") };
    let topology = topology.spout("feed", Feed::declaration(), make);
    if code.starts_with("kind") {
        topology.bolt("bolt", Declaration::fields(["value"]), || Pass)
    } else {
        topology
    }
}

fn run(messages: u64, code: &str, settings: &str) -> (Ended, u64) {
    let mut topology = topology(messages, code, settings);
    let how = How { until_drained: true, limit: None };
    let running = topology.start(how);
    let before = ALLOCATIONS.load(Relaxed);
    let ended = wait(running, how);
    let allocations = ALLOCATIONS.load(Relaxed) - before;
    check_flawless(&ended, messages);
    (ended, allocations)
}

/// What each further message allocates. Starting and ending cost the same for both runs.
fn allocations_per_tuple(code: &str, settings: &str) -> f64 {
    let n = 300_000;
    let (_, few) = run(n, code, settings);
    let (_, many) = run(2 * n, code, settings);
    // Two tuples a message: one to the bolt, one to the sink.
    let per_tuple = many.saturating_sub(few) as f64 / (2 * n) as f64;
    println!("{code} {settings}: {few} for {n} messages, {many} for twice as many: {per_tuple:.4} a tuple");
    per_tuple
}

// A call, a batch and an ack message may allocate, a tuple may not. Measured: 0.01 with a guest, 0.06 with a native
// bolt (its collector starts anew with each call), 0.11 with two ackers; smaller batches on a busy machine cost more.
const WASM: f64 = 0.05;
const NATIVE: f64 = 0.25;
const ACKERS: f64 = 0.5;

#[test]
fn a_native_pipeline_does_not_allocate_for_each_tuple() {
    let _turn = alone();
    let per_tuple = allocations_per_tuple("kind = \"null\"", "");
    assert!(per_tuple < NATIVE, "{per_tuple}");
}

#[test]
fn a_wasm_pipeline_does_not_allocate_for_each_tuple() {
    let _turn = alone();
    let per_tuple = allocations_per_tuple("plugin = \"guest:identity\"", "");
    assert!(per_tuple < WASM, "{per_tuple}");
}

#[test]
fn ledgers_on_threads_of_their_own_do_not_allocate_for_each_tuple() {
    let _turn = alone();
    let per_tuple = allocations_per_tuple("kind = \"null\"", "ackers = 2");
    assert!(per_tuple < ACKERS, "{per_tuple}");
}

/// The resident memory of this process, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line VmRSS");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn memory_is_flat_over_a_million_messages() {
    let _turn = alone();
    run(200_000, "plugin = \"guest:identity\"", "");
    let messages = 1_200_000;
    let how = How { until_drained: true, limit: None };
    let mut topology = topology(messages, "plugin = \"guest:identity\"", "");
    let running = topology.start(how);
    let watch = running.watch();
    let sampler = std::thread::spawn(move || {
        let mut samples = vec![];
        while watch.progress().completed < messages {
            samples.push((watch.progress().completed, resident()));
            std::thread::sleep(Duration::from_millis(20));
        }
        samples
    });
    check_flawless(&wait(running, how), messages);
    let samples = sampler.join().expect("the sampler ends");
    let within = |from: u64, to: u64| {
        samples.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, kib)| *kib).max()
    };
    let (early, late) = (within(100_000, 400_000), within(messages * 3 / 4, messages));
    println!("resident KiB: {early:?} early, {late:?} late, {} samples", samples.len());
    let (early, late) = (early.expect("a sample"), late.expect("a sample"));
    assert!(late < early + 2_048, "{early} KiB became {late} KiB");
}

/// CPU time of all threads of this process so far.
fn cpu() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux");
    let of = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        text.split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
    };
    Duration::from_nanos(tasks.filter_map(Result::ok).map(of).sum())
}

#[test]
fn an_idle_topology_uses_no_cpu() {
    let _turn = alone();
    for settings in ["", "ackers = 2"] {
        let mut topology = topology(1_000, "plugin = \"guest:identity\"\nexecutors = 4", settings);
        let running = topology.start(How::default());
        while running.watch().progress().completed < 1_000 {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(300));
        let before = cpu();
        std::thread::sleep(Duration::from_secs(1));
        let used = cpu().saturating_sub(before);
        println!("{settings}: {used:?} of CPU in 1 s");
        assert!(used < Duration::from_millis(10), "{used:?}");
        running.stopper().stop();
        check_flawless(&wait(running, How::default()), 1_000);
    }
}

/// The first tuple after idling does not wait for a timer.
#[test]
fn the_first_tuple_after_idling_is_quick() {
    let _turn = alone();
    let mut topology = Topology::new(
        "[topology]\nname = \"rare\"\n[spouts.feed]\nkind = \"generate\"\nrate = 10\ncount = 15\n\
         [bolts.bolt]\nplugin = \"guest:identity\"\nconfig = { fields = [\"seq\", \"sentence\"] }\n\
         inputs = [{ from = \"feed\", grouping = \"shuffle\" }]\n\
         [bolts.sink]\nkind = \"null\"\ninputs = [{ from = \"bolt\", grouping = \"shuffle\" }]\n",
    );
    let ended = topology.run();
    check_flawless(&ended, 15);
    println!("{:?}", ended.report.latency);
    assert!(ended.report.latency.p50 < 2_000, "{:?}", ended.report.latency);
}
