//! The one deadline of a call, which holds in guest code and in host calls alike.
//!
//! A call's future comes in; its result, or none at the deadline, goes out. Guest code is cut by the epoch
//! callback, which asks [`Deadline::passed`]; a wait inside the host is cut by the timer in [`drive`]. Both
//! look at the same absolute moment, which `progress` may move.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// A moment that the call and whoever drives it share. One thread uses it, so orderings are relaxed.
pub(crate) struct Deadline {
    base: Instant,
    nanos: AtomicU64,
}

impl Deadline {
    pub(crate) fn new() -> Deadline {
        Deadline { base: Instant::now(), nanos: AtomicU64::new(0) }
    }

    /// The deadline is `limit` from now.
    pub(crate) fn arm(&self, limit: Duration) {
        let at = self.base.elapsed().saturating_add(limit);
        self.nanos.store(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn passed(&self) -> bool {
        self.base.elapsed() >= self.offset()
    }

    fn offset(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(Ordering::Relaxed))
    }

    fn at(&self) -> Instant {
        self.base + self.offset()
    }
}

/// Runs a guest call to its end. It is polled once without any timer, which is all that a call needs that
/// never waits. None: the deadline passed while it waited; the store must go.
pub(crate) fn drive<F: Future>(runtime: &Handle, deadline: &Deadline, call: F) -> Option<F::Output> {
    // What a host call starts in the background must belong to this runtime, not to the thread's.
    let _entered = runtime.enter();
    let mut call = pin!(call);
    if let Poll::Ready(done) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return Some(done);
    }
    runtime.block_on(async {
        loop {
            let at = deadline.at();
            match tokio::time::timeout_at(at.into(), call.as_mut()).await {
                Ok(done) => return Some(done),
                Err(_) if deadline.at() > at => {}
                Err(_) => return None,
            }
        }
    })
}
