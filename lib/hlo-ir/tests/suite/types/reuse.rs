//! Tests of the reuse of the memory of large arrays.

use hlo_ir::internals::{MAX_CACHED_ARRAYS, MAX_CACHED_BYTES, MIN_REUSED_BYTES, Words};
use std::sync::{Mutex, PoisonError};

/// The tests use the same global state, so they run one at a time.
static TEST_LOCK: Mutex<()> = Mutex::new(());

#[test]
fn what_was_dropped_is_used_again() {
    let _alone = TEST_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let count = 3 * MIN_REUSED_BYTES / size_of::<u128>() + 1;
    assert!(Words::take_cached(count).is_none());
    let words = Words(vec![7; count]);
    let address = words.0.as_ptr();
    drop(words);
    let again = Words::take_cached(count).expect("the same memory");
    assert_eq!((again.0.as_ptr(), again.0[count - 1]), (address, 7));
    assert!(Words::take_cached(count).is_none());
}

#[test]
fn no_more_waits_than_is_said() {
    let _alone = TEST_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let count = MIN_REUSED_BYTES / size_of::<u128>() + 3;
    let words: Vec<Words> = (0..MAX_CACHED_ARRAYS + 10).map(|n| Words(vec![1; count + n % 2])).collect();
    drop(words);
    let take_all = |count: usize| std::iter::from_fn(move || Words::take_cached(count));
    let waiting: Vec<Words> = [count, count + 1].into_iter().flat_map(take_all).collect();
    let bytes: usize = waiting.iter().map(|words| size_of_val(&words.0[..])).sum();
    assert!(!waiting.is_empty() && waiting.len() <= MAX_CACHED_ARRAYS && bytes <= MAX_CACHED_BYTES);
}

#[test]
fn small_arrays_are_freed() {
    drop(Words(vec![1; 5]));
    assert!(Words::take_cached(5).is_none());
}
