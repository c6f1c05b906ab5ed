//! A counting allocator, for tests of memory use.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static TOTAL: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator with counters. A test installs it with `#[global_allocator]`.
pub struct Counting;

/// The memory use of a piece of work.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// The maximum number of bytes allocated at the same time, in addition to those allocated before.
    pub peak: usize,
    /// The total number of bytes allocated: a measure of work that is the same in every run.
    pub total: usize,
}

/// Runs `work` and counts the allocations of all threads.
pub fn measure<T>(work: impl FnOnce() -> T) -> (T, Usage) {
    let (before, total) = (LIVE.load(Relaxed), TOTAL.load(Relaxed));
    PEAK.store(before, Relaxed);
    let result = work();
    let usage = Usage {
        peak: PEAK.load(Relaxed).saturating_sub(before),
        total: TOTAL.load(Relaxed).wrapping_sub(total),
    };
    (result, usage)
}

fn grow(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    TOTAL.fetch_add(bytes, Relaxed);
    PEAK.fetch_max(live, Relaxed);
}

// SAFETY: every call is forwarded to the system's allocator unchanged, and counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller guarantees the conditions of this function, which are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // A block that grows may be moved. In this case, both blocks exist for a short time.
        LIVE.fetch_sub(layout.size(), Relaxed);
        grow(size);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}
