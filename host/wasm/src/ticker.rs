//! The epoch ticker: every 10 ms it lets running guests look at their deadlines.
//!
//! Calls come in as [`Running`] guards; epochs go out. While no guest runs the thread is parked, and it is
//! woken by the first call: an idle host does not wake up at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How late an endless loop may be noticed. At 10 ms a guest's check costs nothing that can be measured.
pub(crate) const TICK: Duration = Duration::from_millis(10);

pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    running: AtomicUsize,
    parked: AtomicBool,
    stop: AtomicBool,
}

/// A guest runs as long as this lives.
pub(crate) struct Running<'a>(&'a Shared);

impl Ticker {
    /// Starts the thread, parked.
    pub(crate) fn start(tick: impl Fn() + Send + 'static) -> std::io::Result<Ticker> {
        let shared = Arc::new(Shared::default());
        let mine = shared.clone();
        let builder = thread::Builder::new().name("epochs".into()).stack_size(128 << 10);
        let thread = builder.spawn(move || mine.run(tick))?;
        Ok(Ticker { shared, thread: Some(thread) })
    }

    /// A guest starts to run. All orderings are sequential: either this sees `parked`, or the ticker sees
    /// `running`.
    pub(crate) fn enter(&self) -> Running<'_> {
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        if self.shared.parked.load(Ordering::SeqCst) {
            self.wake();
        }
        Running(&self.shared)
    }

    fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Shared {
    fn run(&self, tick: impl Fn()) {
        while !self.stop.load(Ordering::SeqCst) {
            self.parked.store(true, Ordering::SeqCst);
            if self.running.load(Ordering::SeqCst) == 0 && !self.stop.load(Ordering::SeqCst) {
                thread::park();
            }
            self.parked.store(false, Ordering::SeqCst);
            // Also right after waking, so that a busy host wakes this thread at most once a tick.
            thread::park_timeout(TICK);
            tick();
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.wake();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ticks_while_a_guest_runs_and_only_then() {
        let count = Arc::new(AtomicUsize::new(0));
        let mine = count.clone();
        let ticker = Ticker::start(move || {
            mine.fetch_add(1, Ordering::SeqCst);
        })
        .expect("thread");
        thread::sleep(TICK * 5);
        let idle = count.load(Ordering::SeqCst);
        assert!(idle <= 1, "ticked {idle} times while idle");
        let running = ticker.enter();
        thread::sleep(TICK * 20);
        drop(running);
        let busy = count.load(Ordering::SeqCst) - idle;
        assert!((2..=21).contains(&busy), "ticked {busy} times in 20 ticks");
        thread::sleep(TICK * 3);
        let after = count.load(Ordering::SeqCst);
        thread::sleep(TICK * 10);
        assert_eq!(count.load(Ordering::SeqCst), after);
    }
}
