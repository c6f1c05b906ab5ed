//! Memory of large arrays that is used again. Fresh pages have to be cleared and mapped when they are first touched, which takes longer
//! than many a program that fills them; a program that runs again and again has results of the same sizes.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Smaller arrays are not worth it: the allocator gives their memory again.
const LEAST_BYTES: usize = 1 << 16;

/// The most bytes that wait to be used again.
const MOST_BYTES: usize = 1 << 27;

/// The most arrays that do.
const MOST_ARRAYS: usize = 256;

/// Words that go back to where they are used again.
#[derive(Default)]
pub(super) struct Words(pub(super) Vec<u128>);

/// What waits to be used again, the oldest first.
struct Waiting {
    arrays: VecDeque<Vec<u128>>,
    bytes: usize,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting { arrays: VecDeque::new(), bytes: 0 });

impl Words {
    /// So many words that some array had, with whatever it left in them; nothing if there are none.
    pub(super) fn again(count: usize) -> Option<Self> {
        let bytes = count.checked_mul(size_of::<u128>()).filter(|&bytes| bytes >= LEAST_BYTES)?;
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        // The one that was used last is the one that caches may still have.
        let at = waiting.arrays.iter().rposition(|a| a.len() == count)?;
        waiting.bytes -= bytes;
        waiting.arrays.remove(at).map(Self)
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        let words = std::mem::take(&mut self.0);
        let bytes = size_of_val(&words[..]);
        if !(LEAST_BYTES..=MOST_BYTES).contains(&bytes) || words.capacity() != words.len() {
            return;
        }
        let mut gone = Vec::new();
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.bytes += bytes;
        waiting.arrays.push_back(words);
        while waiting.bytes > MOST_BYTES || waiting.arrays.len() > MOST_ARRAYS {
            let Some(oldest) = waiting.arrays.pop_front() else { break };
            waiting.bytes -= size_of_val(&oldest[..]);
            gone.push(oldest);
        }
        // What goes is freed without the lock.
        drop(waiting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tests look at the same memory, one after the other.
    static ALONE: Mutex<()> = Mutex::new(());

    #[test]
    fn what_was_dropped_is_used_again() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let count = 3 * LEAST_BYTES / size_of::<u128>() + 1;
        assert!(Words::again(count).is_none());
        let words = Words(vec![7; count]);
        let address = words.0.as_ptr();
        drop(words);
        let again = Words::again(count).expect("the same memory");
        assert_eq!((again.0.as_ptr(), again.0[count - 1]), (address, 7));
        assert!(Words::again(count).is_none());
    }

    #[test]
    fn no_more_waits_than_is_said() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let count = LEAST_BYTES / size_of::<u128>() + 3;
        let words: Vec<Words> = (0..MOST_ARRAYS + 10).map(|_| Words(vec![1; count])).collect();
        drop(words);
        let waiting = WAITING.lock().expect("no test fails with it");
        assert!(waiting.arrays.len() <= MOST_ARRAYS && waiting.bytes <= MOST_BYTES);
    }

    #[test]
    fn small_arrays_are_freed() {
        drop(Words(vec![1; 5]));
        assert!(Words::again(5).is_none());
    }
}
