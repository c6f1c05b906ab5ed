//! Tests of owned and borrowed memory of arrays.

use hlo_ir::AlignedBytes;
use stable_deref_trait::StableDeref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Elements that start `offset` bytes after a multiple of 16. Counts drops.
struct Counted {
    words: Vec<u128>,
    offset: usize,
    dropped: Arc<AtomicUsize>,
}

impl std::ops::Deref for Counted {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[self.offset..]
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: the elements are those of a vector, which do not move.
unsafe impl StableDeref for Counted {}

fn counted(offset: usize) -> (Counted, Arc<AtomicUsize>) {
    let dropped = Arc::new(AtomicUsize::new(0));
    (Counted { words: vec![u128::MAX; 2], offset, dropped: dropped.clone() }, dropped)
}

#[test]
fn aligned_elements_of_an_owner_are_not_copied_and_kept_as_long_as_they_are_used() {
    let (owner, dropped) = counted(0);
    let address = owner.as_ptr();
    let bytes = AlignedBytes::from_owner(owner);
    assert!(bytes.is_borrowed() && bytes.as_ptr() == address);
    let copy = bytes.clone();
    assert!(!copy.is_borrowed() && copy == bytes);
    assert_eq!(dropped.load(Ordering::Relaxed), 0);
    drop(bytes);
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
}

#[test]
fn elements_at_another_address_are_copied() {
    let (owner, dropped) = counted(4);
    let bytes = AlignedBytes::from_owner(owner);
    assert!(!bytes.is_borrowed());
    assert_eq!((bytes.len(), dropped.load(Ordering::Relaxed)), (28, 1));
}

#[test]
fn whoever_writes_has_a_copy() {
    let numbers: Arc<[u128]> = Arc::from([1u128, 2]);
    let mut bytes = AlignedBytes::from_owner(numbers.clone());
    bytes[0] = 7;
    assert_eq!((bytes[0], numbers[0]), (7, 1));
    assert!(!bytes.is_borrowed());
    assert_eq!(&*AlignedBytes::from_owner(Vec::<f32>::new()), []);
}
