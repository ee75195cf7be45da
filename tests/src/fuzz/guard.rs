//! Runs one input so that nothing which it does is lost: a broken promise, a panic, too much memory, no end.
//!
//! In: a target and an input. Out: its shape, or what went wrong. Invariant: an input that can't be stopped is kept,
//! and named with the command that repeats it, before the process ends.

use super::{Shape, Target, corpus, memory};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

/// An input that breaks a promise.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Which target.
    pub target: &'static str,
    /// What went wrong.
    pub what: String,
    /// The input, made smaller.
    pub input: Vec<u8>,
    /// Where it is kept.
    pub kept: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Failure { target, what, input, kept } = self;
        let shown = String::from_utf8_lossy(&input[..input.len().min(2000)]);
        write!(
            f,
            "{target}: {what}\ninput ({} bytes): {:?}\nagain: {}",
            input.len(),
            shown,
            again(target, kept)
        )
    }
}

fn again(target: &str, kept: &str) -> String {
    format!("cargo xtask fuzz {target} --input {kept}")
}

/// What runs now, for the watchdog and the allocator.
struct Now {
    target: &'static Target,
    input: Vec<u8>,
    since: Instant,
}

static NOW: Mutex<Option<Now>> = Mutex::new(None);

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
    static WORDS: Cell<Option<String>> = const { Cell::new(None) };
}

/// Runs an input.
pub(super) fn run(target: &'static Target, input: &[u8]) -> Result<Shape, String> {
    start();
    enter(Some(Now { target, input: input.to_vec(), since: Instant::now() }));
    QUIET.set(true);
    let (began, at) = (Instant::now(), memory::begin());
    let done = catch_unwind(AssertUnwindSafe(|| (target.check)(input)));
    let (time, bytes) = (began.elapsed(), memory::peak(at));
    QUIET.set(false);
    enter(None);
    let shape = done.unwrap_or_else(|_| Err(format!("panic: {}", WORDS.take().unwrap_or_default())))?;
    if bytes > target.memory_max {
        return Err(format!("it took {bytes} bytes of memory, at most {} are right", target.memory_max));
    }
    if time > target.wall {
        return Err(format!("it took {time:?}, at most {:?} are right", target.wall));
    }
    Ok(shape)
}

fn enter(now: Option<Now>) {
    *NOW.lock().unwrap_or_else(PoisonError::into_inner) = now;
}

/// Once: panics are caught in silence, and a thread looks for inputs without an end.
fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let other = take_hook();
        set_hook(Box::new(move |info| match QUIET.get() {
            true => WORDS.set(Some(info.to_string())),
            false => other(info),
        }));
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(Duration::from_millis(250));
                watch();
            }
        });
    });
}

fn watch() {
    let hangs = match &*NOW.lock().unwrap_or_else(PoisonError::into_inner) {
        // Slow is said by `run`; this is for what has no end.
        Some(now) => now.since.elapsed() > 3 * now.target.wall,
        None => false,
    };
    if hangs {
        give_up("it has no end");
    }
}

/// Keeps the input that runs now and ends the process.
pub(super) fn give_up(what: &str) {
    let Ok(mut now) = NOW.try_lock() else { return };
    if let Some(Now { target, input, .. }) = now.take() {
        let kept = corpus::keep(target, &input);
        println!("{}: {what}\nagain: {}", target.name, again(target.name, &kept));
        std::process::exit(1);
    }
}
