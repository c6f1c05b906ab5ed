//! Reuse of the memory of large arrays. The operating system clears and maps fresh pages when they are first
//! touched, which can take longer than computing their contents. A program that runs repeatedly has results
//! of the same sizes.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Minimum size in bytes of arrays that are reused here. The allocator reuses smaller ones itself.
pub const MIN_REUSED_BYTES: usize = 1 << 16;

/// Maximum number of bytes kept for reuse.
pub const MAX_CACHED_BYTES: usize = 1 << 27;

/// Maximum number of arrays kept for reuse.
pub const MAX_CACHED_ARRAYS: usize = 256;

/// Words that are kept for reuse when they are dropped.
#[derive(Default)]
pub struct Words(pub Vec<u128>);

/// The arrays kept for reuse, the oldest first.
struct ArrayCache {
    arrays: VecDeque<Vec<u128>>,
    bytes: usize,
}

static ARRAY_CACHE: Mutex<ArrayCache> = Mutex::new(ArrayCache { arrays: VecDeque::new(), bytes: 0 });

impl Words {
    /// Returns `count` words of a dropped array with unspecified contents; `None` if there is no array of
    /// this size.
    pub fn take_cached(count: usize) -> Option<Self> {
        let bytes = count.checked_mul(size_of::<u128>()).filter(|&bytes| bytes >= MIN_REUSED_BYTES)?;
        let mut waiting = ARRAY_CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        // The most recently used array may still be in the caches.
        let at = waiting.arrays.iter().rposition(|a| a.len() == count)?;
        waiting.bytes -= bytes;
        waiting.arrays.remove(at).map(Self)
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        let words = std::mem::take(&mut self.0);
        let bytes = size_of_val(&words[..]);
        if !(MIN_REUSED_BYTES..=MAX_CACHED_BYTES).contains(&bytes) || words.capacity() != words.len() {
            return;
        }
        let mut gone = Vec::new();
        let mut waiting = ARRAY_CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.bytes += bytes;
        waiting.arrays.push_back(words);
        while waiting.bytes > MAX_CACHED_BYTES || waiting.arrays.len() > MAX_CACHED_ARRAYS {
            let Some(oldest) = waiting.arrays.pop_front() else { break };
            waiting.bytes -= size_of_val(&oldest[..]);
            gone.push(oldest);
        }
        // The memory is freed after the lock is released.
        drop(waiting);
    }
}
