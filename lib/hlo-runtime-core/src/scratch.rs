//! Working memory that each thread keeps between calls, so that a run in steady state allocates nothing.

use std::alloc::{Layout, alloc, dealloc};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use crate::error::Error;

/// The alignment of every buffer: a cache line, and a whole AVX-512 register.
const ALIGN: usize = 64;
/// The maximum number of free buffers that a thread keeps. One runtime function does not use more at a time.
const MAX_FREE_BUFFERS: usize = 16;
/// The maximum total size of the free buffers that a thread keeps. Buffers beyond it are returned to the
/// system.
const MAX_FREE_BYTES: usize = 256 << 20;

struct Block {
    pointer: *mut u8,
    bytes: usize,
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: `pointer` came from `alloc` with this same layout, which was valid then.
        unsafe { dealloc(self.pointer, Layout::from_size_align_unchecked(self.bytes, ALIGN)) };
    }
}

thread_local! {
    static FREE: RefCell<Vec<Block>> = const { RefCell::new(Vec::new()) };
}

/// A buffer of this thread with unspecified contents, aligned to 64 bytes. Dropping it returns it to the
/// thread's free list.
pub struct Scratch {
    block: Option<Block>,
}

impl Scratch {
    /// Returns a buffer of at least `len` elements of `T`.
    ///
    /// # Errors
    /// Returns an error if the buffer does not fit the address space, or if there is not enough memory.
    pub fn new<T>(len: usize) -> Result<Scratch, Error> {
        let bytes = len
            .checked_mul(size_of::<T>())
            .filter(|&b| b <= isize::MAX as usize - ALIGN)
            .ok_or_else(|| Error("the working memory does not fit the address space".into()))?
            .max(ALIGN);
        let kept = FREE.with_borrow_mut(|free| {
            // Take the smallest buffer that fits, so that a small request does not take a large buffer.
            let best = (0..free.len()).filter(|&i| free[i].bytes >= bytes).min_by_key(|&i| free[i].bytes);
            best.map(|i| free.swap_remove(i))
        });
        let block = match kept {
            Some(block) => block,
            None => {
                let bytes = bytes.next_multiple_of(4096);
                let layout = Layout::from_size_align(bytes, ALIGN).map_err(|e| Error(e.to_string()))?;
                // SAFETY: the layout's size is not zero.
                let pointer = unsafe { alloc(layout) };
                if pointer.is_null() {
                    return Err(Error(format!(
                        "there is no memory for working space of {} MiB",
                        bytes.div_ceil(1 << 20)
                    )));
                }
                Block { pointer, bytes }
            }
        };
        Ok(Scratch { block: Some(block) })
    }

    /// Returns a pointer to the start of the buffer.
    pub fn pointer<T>(&self) -> *mut T {
        self.block.as_ref().map_or(std::ptr::null_mut(), |b| b.pointer.cast())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let Some(block) = self.block.take() else { return };
        // The list may already be gone while the thread ends. The block is then freed.
        let _ = FREE.try_with(|free| {
            let mut free = free.borrow_mut();
            free.push(block);
            // Remove the smallest buffers first; a larger one has usually replaced them.
            while free.len() > MAX_FREE_BUFFERS
                || free.iter().map(|b| b.bytes).sum::<usize>() > MAX_FREE_BYTES
            {
                let Some(i) = (0..free.len()).min_by_key(|&i| free[i].bytes) else { break };
                free.swap_remove(i);
            }
        });
    }
}

/// Working memory of `len` initialized elements of `T`.
pub struct Filled<T> {
    memory: Scratch,
    len: usize,
    element: PhantomData<T>,
}

// SAFETY: a shared reference only reads elements.
unsafe impl<T: Sync> Sync for Filled<T> {}

impl<T: Copy> Filled<T> {
    /// Allocates `len` elements and sets each to `value`.
    ///
    /// # Errors
    /// As [`Scratch::new`].
    pub fn new(len: usize, value: T) -> Result<Self, Error> {
        const { assert!(align_of::<T>() <= ALIGN) };
        let memory = Scratch::new::<T>(len)?;
        for i in 0..len {
            // SAFETY: the buffer has room for `len` elements.
            unsafe { memory.pointer::<T>().add(i).write(value) };
        }
        Ok(Self { memory, len, element: PhantomData })
    }
}

impl<T: Copy> Deref for Filled<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: `new` wrote all elements.
        unsafe { std::slice::from_raw_parts(self.memory.pointer(), self.len) }
    }
}

impl<T: Copy> DerefMut for Filled<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above; this value owns the memory exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.memory.pointer(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_reused_and_aligned() {
        let first = Scratch::new::<f32>(1000).unwrap();
        let pointer = first.pointer::<f32>();
        assert_eq!(pointer as usize % ALIGN, 0);
        drop(first);
        let again = Scratch::new::<f32>(900).unwrap();
        assert_eq!(again.pointer::<f32>(), pointer);
        assert_ne!(Scratch::new::<f32>(900).unwrap().pointer::<f32>(), pointer);
    }

    #[test]
    fn impossible_sizes_are_errors() {
        assert!(Scratch::new::<f64>(usize::MAX).is_err());
        assert!(Scratch::new::<u8>(1 << 62).is_err());
    }
}
