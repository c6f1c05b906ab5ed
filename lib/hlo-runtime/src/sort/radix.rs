//! A stable parallel radix sort of indices by unsigned keys.

use super::merge::merge_sort;
use hlo_runtime_core::{Context, Error, Scratch, Shared};

/// The maximum number of keys that are sorted by merging.
const MAX_MERGE_SORTED_KEYS: usize = 64;
/// The number of keys of a task. The split into tasks depends only on the number of keys.
const TASK_KEYS: usize = 1 << 16;
/// The maximum number of tasks. More tasks only increase the size of the counters.
const MAX_TASKS: usize = 64;
/// The minimum number of keys for 11-bit digits, whose counters still fit the first-level cache.
const MIN_WIDE_DIGIT_KEYS: usize = 1 << 14;

/// An unsigned key.
pub(super) trait Digits: Copy + Ord + Default + Send + Sync {
    const BITS: u32;
    fn bits(self) -> u64;
}

impl Digits for u32 {
    const BITS: u32 = 32;
    fn bits(self) -> u64 {
        self.into()
    }
}

impl Digits for u64 {
    const BITS: u32 = 64;
    fn bits(self) -> u64 {
        self
    }
}

/// Sorts indices stably by their keys, digit by digit from the lowest. A digit that is the same in all keys
/// is skipped.
pub(super) fn radix_sort<K: Digits>(
    ctx: &Context,
    indices: &mut [u32],
    key: impl Fn(u32) -> K + Sync,
) -> Result<(), Error> {
    let n = indices.len();
    let (first, second) = (Scratch::new::<(K, u32)>(n)?, Scratch::new::<(K, u32)>(n)?);
    let per_task = TASK_KEYS.max(n.div_ceil(MAX_TASKS));
    let tasks = n.div_ceil(per_task);
    let range = |task: usize| task * per_task..n.min((task + 1) * per_task);
    // A single task runs on this thread, which may be a pool thread.
    let for_each = |body: &(dyn Fn(usize) + Sync)| match tasks {
        0 | 1 => (0..tasks).for_each(body),
        _ => ctx.for_each(tasks, body),
    };
    // SAFETY: tasks write disjoint parts of the buffers.
    let (mut from, mut to) =
        unsafe { (Shared::new(first.pointer::<(K, u32)>()), Shared::new(second.pointer::<(K, u32)>())) };
    let unsorted = &*indices;
    for_each(&|task| {
        for i in range(task) {
            // SAFETY: the buffer has room for `n` pairs.
            unsafe { from.get().add(i).write((key(unsorted[i]), unsorted[i])) };
        }
    });
    if n <= MAX_MERGE_SORTED_KEYS {
        // SAFETY: the first buffer is filled; the second is filled here.
        unsafe {
            std::ptr::copy_nonoverlapping(from.get(), to.get(), n);
            let pairs = std::slice::from_raw_parts_mut(from.get(), n);
            let spare = std::slice::from_raw_parts_mut(to.get(), n);
            merge_sort(pairs, spare, &mut |a, b| a.0 < b.0);
            indices.iter_mut().zip(pairs).for_each(|(to, pair)| *to = pair.1);
        }
        return Ok(());
    }
    let mut differing = 0;
    // SAFETY: all pairs have been written; nothing writes them while they are read.
    unsafe {
        let first = (*from.get()).0.bits();
        for i in 0..n {
            differing |= (*from.get().add(i)).0.bits() ^ first;
        }
    }
    let digit_bits = if n < MIN_WIDE_DIGIT_KEYS { 8 } else { 11 };
    let bins = 1usize << digit_bits;
    let counters = Scratch::new::<u32>(bins * tasks)?;
    // SAFETY: tasks use disjoint parts of the counters.
    let counts = unsafe { Shared::new(counters.pointer::<u32>()) };
    for shift in (0..K::BITS).step_by(digit_bits) {
        if (differing >> shift) & (bins as u64 - 1) == 0 {
            continue;
        }
        let digit = |key: K| (key.bits() >> shift) as usize & (bins - 1);
        for_each(&|task| {
            // SAFETY: each task has its own counters, and no task writes the pairs.
            unsafe {
                let counts = std::slice::from_raw_parts_mut(counts.get().add(task * bins), bins);
                counts.fill(0);
                for i in range(task) {
                    counts[digit((*from.get().add(i)).0)] += 1;
                }
            }
        });
        let mut next = 0;
        for bin in 0..bins {
            for task in 0..tasks {
                // SAFETY: the tasks are done.
                unsafe {
                    let count = counts.get().add(task * bins + bin);
                    (*count, next) = (next, next + *count);
                }
            }
        }
        for_each(&|task| {
            // SAFETY: each task writes its own positions in the other buffer, as the counters give them.
            unsafe {
                let places = std::slice::from_raw_parts_mut(counts.get().add(task * bins), bins);
                for i in range(task) {
                    let pair = *from.get().add(i);
                    let place = &mut places[digit(pair.0)];
                    to.get().add(*place as usize).write(pair);
                    *place += 1;
                }
            }
        });
        (from, to) = (to, from);
    }
    // SAFETY: the buffer contains all pairs.
    let sorted = unsafe { std::slice::from_raw_parts(from.get(), n) };
    indices.iter_mut().zip(sorted).for_each(|(to, pair)| *to = pair.1);
    Ok(())
}
