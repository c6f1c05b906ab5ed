//! An allocator that counts, for tests of how much memory something takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static TOTAL: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting. A test installs it with `#[global_allocator]`.
pub struct Counting;

/// What a piece of work took.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// The most bytes that were allocated at one time, beyond what was there before.
    pub peak: usize,
    /// All bytes ever allocated: a measure of work that is the same on every run.
    pub total: usize,
}

/// Runs `work` and counts what all threads allocate meanwhile.
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

// SAFETY: every call goes to the system's allocator as it is; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promise is the one that is asked for.
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
        // A block that grows may be moved: for a while there are two.
        LIVE.fetch_sub(layout.size(), Relaxed);
        grow(size);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}
