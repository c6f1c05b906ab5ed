//! The allocator of the server, which counts the bytes that each thread holds.
//!
//! A compilation allocates on its own thread, so the count covers all kinds of data without an estimate for
//! each. LLVM does not use this allocator. [`hlo_client`] estimates that memory and requests it from the
//! budget.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator with a byte count for each thread.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static ALLOCATED_BYTES: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64) {
    // A thread that is ending has no count any more.
    let _ = ALLOCATED_BYTES.try_with(|held| held.set(held.get().wrapping_add(bytes)));
}

fn size(layout: Layout) -> i64 {
    // The size of a layout is at most `isize::MAX`.
    layout.size() as i64
}

/// Returns the bytes that this thread has allocated minus the bytes that it has freed. The result is negative
/// if the thread frees memory that other threads have allocated.
pub fn allocated_bytes() -> i64 {
    ALLOCATED_BYTES.try_with(Cell::get).unwrap_or(0)
}

// SAFETY: every call is passed to the system's allocator with the same arguments. Counting does not allocate
// or unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(size(layout));
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(size(layout));
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-size(layout));
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size as i64 - size(layout));
        // SAFETY: guaranteed by the caller.
        unsafe { System.realloc(memory, layout, new_size) }
    }
}

#[cfg(test)]
mod tests {
    use super::allocated_bytes;

    #[test]
    fn counts_what_a_thread_holds() {
        let before = allocated_bytes();
        let mut bytes = vec![0u8; 1000];
        assert_eq!(allocated_bytes() - before, 1000);
        bytes.reserve_exact(2000);
        assert_eq!(allocated_bytes() - before, 3000 - 1000 + 1000);
        drop(bytes);
        assert_eq!(allocated_bytes(), before);
        let _large = vec![0u8; 1 << 20];
        std::thread::spawn(|| assert!(allocated_bytes() < 1 << 20, "another thread's memory"))
            .join()
            .unwrap();
    }
}
