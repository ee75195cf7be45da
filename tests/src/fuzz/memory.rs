//! How much memory an input takes, measured at the allocator.
//!
//! In: what the process allocates, if its binary has [`Counting`] as its allocator. Out: the most that was there at one
//! time. A single request beyond any bound ends the process, after the input was kept: the allocator can't refuse it
//! in a way that could be caught.
//!
//! Invariant: nothing is counted twice, and nothing is allocated while counting.

#![allow(unsafe_code, reason = "a global allocator is unsafe to write")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// One request of this size is wrong, whatever it is for.
const REQUEST_MAX: usize = 8 << 30;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counted.
pub struct Counting;

// SAFETY: each call is handed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(at, layout, size) }
    }
}

fn add(bytes: usize) {
    if bytes > REQUEST_MAX {
        super::guard::give_up(&format!("it asks for {bytes} bytes at once"));
    }
    let now = NOW.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(now, Relaxed);
}

/// Begins to measure.
pub(super) fn begin() -> usize {
    let now = NOW.load(Relaxed);
    PEAK.store(now, Relaxed);
    now
}

/// How much more there was at one time than when it began.
pub(super) fn peak(began: usize) -> usize {
    PEAK.load(Relaxed).saturating_sub(began)
}
