//! Stable sorts along one dimension of any number of operands, by a compiled comparator or by the values of
//! some operands.
//!
//! Both kinds sort a permutation and apply it to every operand. If a comparator is not an order, the merge
//! sort that calls it defines the result, which is the same on any number of threads. Threads share the
//! slices; several threads sort one long slice.

mod key;
mod merge;
mod radix;
mod top_k;

use hlo_runtime_core::{Comparator, Context, Error, Filled, Scratch, SortDesc, SortKey};
pub use top_k::hlo_rt_top_k;

use key::Key;
use std::sync::atomic::{AtomicBool, Ordering};

/// The minimum number of elements of a task; also the maximum length of a slice that is a task by itself.
const MIN_TASK_ELEMENTS: usize = 1 << 12;
/// The length above which several threads sort a slice.
const MAX_SERIAL_LENGTH: usize = 1 << 13;
/// The number of elements of a long slice that one task moves.
const MOVE_TASK_ELEMENTS: usize = 1 << 15;

/// Sorts stably by a comparator. `element_bytes`, `from` and `to` have one entry for each operand. Returns 0,
/// or 1 with a message in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `desc` to a descriptor. Each operand must be fully readable and
/// each result fully writable. Results must not overlap anything. `comparator` must be as described for
/// [`Comparator`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_sort(
    ctx: *const Context,
    desc: *const SortDesc,
    element_bytes: *const i64,
    from: *const *const u8,
    to: *const *mut u8,
    comparator: Comparator,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        (*ctx).guard("sort", || {
            let ctx = &*ctx;
            let sort = Sort::new(&*desc, element_bytes, from, to)?;
            sort.run(ctx, |slice, indices| sort.by_comparator(ctx, slice, indices, comparator))
        })
    }
}

/// Sorts stably by `keys`, whose number is in the descriptor. The first key is the most significant.
/// Otherwise works as [`hlo_rt_sort`]. The order of a key must not leave NaNs to a comparator.
///
/// # Safety
/// As for [`hlo_rt_sort`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_sort_keys(
    ctx: *const Context,
    desc: *const SortDesc,
    element_bytes: *const i64,
    from: *const *const u8,
    to: *const *mut u8,
    keys: *const SortKey,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe { sort_keys(ctx, desc, element_bytes, from, to, keys, None) }
}

/// Sorts as [`hlo_rt_sort_keys`]. Slices with NaNs that are outside the order of the keys are sorted by the
/// comparator, which must agree with the keys for all other elements.
///
/// # Safety
/// As for [`hlo_rt_sort`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_sort_partial_keys(
    ctx: *const Context,
    desc: *const SortDesc,
    element_bytes: *const i64,
    from: *const *const u8,
    to: *const *mut u8,
    keys: *const SortKey,
    comparator: Comparator,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe { sort_keys(ctx, desc, element_bytes, from, to, keys, Some(comparator)) }
}

/// # Safety
/// As for [`hlo_rt_sort_partial_keys`].
unsafe fn sort_keys(
    ctx: *const Context,
    desc: *const SortDesc,
    element_bytes: *const i64,
    from: *const *const u8,
    to: *const *mut u8,
    keys: *const SortKey,
    comparator: Option<Comparator>,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        (*ctx).guard("sort", || {
            let ctx = &*ctx;
            let sort = Sort::new(&*desc, element_bytes, from, to)?;
            let count = usize::try_from((*desc).keys).unwrap_or(0);
            let mut by = Filled::new(count, None)?;
            for (i, slot) in by.iter_mut().enumerate() {
                let key = &*keys.add(i);
                let operand = usize::try_from(key.operand).ok().and_then(|n| sort.operands.get(n));
                let operand = operand.ok_or_else(|| Error(format!("there is no operand {}", key.operand)))?;
                *slot = Some((operand, Key::new(key, operand.bytes)?));
            }
            let by = || by.iter().flatten();
            let partial = || by().filter(|(_, key)| key.is_partial());
            if partial().next().is_some() && comparator.is_none() {
                return Err(Error("keys without a place for NaNs need a comparator".into()));
            }
            sort.run(ctx, |slice, indices| {
                if let Some(comparator) = comparator
                    && sort.any(ctx, |i| partial().any(|&(o, key)| key.is_nan(slice.element(o, i))))
                {
                    return sort.by_comparator(ctx, slice, indices, comparator);
                }
                // The least significant key first. Each pass keeps the order of equal elements.
                for &(operand, key) in by().rev() {
                    let load = |i: u32| key.of(slice.element(operand, i));
                    if key.is_short() {
                        radix::radix_sort(ctx, indices, |i| load(i) as u32)?;
                    } else {
                        radix::radix_sort(ctx, indices, load)?;
                    }
                }
                Ok(())
            })
        })
    }
}

/// An operand and its result.
#[derive(Clone, Copy)]
struct Operand {
    bytes: usize,
    from: *const u8,
    to: *mut u8,
}

// SAFETY: tasks read operands and write disjoint slices of results.
unsafe impl Sync for Operand {}

/// A validated sort descriptor with its operands.
struct Sort {
    outer: usize,
    size: usize,
    inner: usize,
    operands: Filled<Operand>,
}

/// A slice to sort.
#[derive(Clone, Copy)]
struct Slice {
    /// Distance from the start of an operand to the slice, and between elements of the slice, in elements.
    start: usize,
    step: usize,
}

impl Slice {
    /// Returns the address of the element of an operand at position `i` of the slice.
    fn element(&self, operand: &Operand, i: u32) -> *const u8 {
        operand.from.wrapping_add((self.start + i as usize * self.step) * operand.bytes)
    }
}

impl Sort {
    /// # Safety
    /// The arrays must have an entry for each operand.
    unsafe fn new(
        desc: &SortDesc,
        element_bytes: *const i64,
        from: *const *const u8,
        to: *const *mut u8,
    ) -> Result<Sort, Error> {
        let size = |v: i64, name: &str| usize::try_from(v).map_err(|_| Error(format!("{name} is {v}")));
        let none = Operand { bytes: 0, from: std::ptr::null(), to: std::ptr::null_mut() };
        let mut operands = Filled::new(size(desc.operands, "the number of operands")?, none)?;
        for (i, operand) in operands.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            let (bytes, from, to) = unsafe { (*element_bytes.add(i), *from.add(i), *to.add(i)) };
            *operand = Operand { bytes: size(bytes, "an element's size")?, from, to };
        }
        let sort = Sort {
            outer: size(desc.outer, "the outer size")?,
            size: size(desc.size, "the sorted size")?,
            inner: size(desc.inner, "the inner size")?,
            operands,
        };
        if u32::try_from(sort.size).is_err() {
            return Err(Error(format!("slices of {} elements are too long", sort.size)));
        }
        Ok(sort)
    }

    /// Sorts the indices of a slice by a comparator.
    ///
    /// # Safety
    /// The operands must be readable, and `comparator` must be as described for [`Comparator`].
    unsafe fn by_comparator(
        &self,
        ctx: &Context,
        slice: Slice,
        indices: &mut [u32],
        comparator: Comparator,
    ) -> Result<(), Error> {
        merge::parallel_merge_sort(ctx, indices, || {
            let mut candidates = Filled::new(2 * self.operands.len(), std::ptr::null())?;
            Ok(move |a, b| {
                for (pair, operand) in candidates.chunks_exact_mut(2).zip(&*self.operands) {
                    pair[0] = slice.element(operand, a);
                    pair[1] = slice.element(operand, b);
                }
                // SAFETY: guaranteed by the caller.
                unsafe { comparator(candidates.as_ptr()) != 0 }
            })
        })
    }

    /// Returns whether `test` is true at any position of a slice. It may use other threads under the same
    /// condition as [`Sort::run`].
    fn any(&self, ctx: &Context, test: impl Fn(u32) -> bool + Sync) -> bool {
        let within = |mut range: std::ops::Range<usize>| range.any(|i| test(i as u32));
        if self.size <= MAX_SERIAL_LENGTH {
            return within(0..self.size);
        }
        let found = AtomicBool::new(false);
        ctx.for_each(self.size.div_ceil(MOVE_TASK_ELEMENTS), |task| {
            if within(task * MOVE_TASK_ELEMENTS..self.size.min((task + 1) * MOVE_TASK_ELEMENTS)) {
                found.store(true, Ordering::Relaxed);
            }
        });
        found.into_inner()
    }

    /// Calls `order` to permute the indices of each slice, and applies the permutations. `order` may use
    /// other threads only for slices of more than [`MAX_SERIAL_LENGTH`] elements.
    ///
    /// # Safety
    /// The operands must be readable and the results writable.
    unsafe fn run(
        &self,
        ctx: &Context,
        order: impl Fn(Slice, &mut [u32]) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let slices = self.outer * self.inner;
        if slices == 0 || self.size == 0 {
            return Ok(());
        }
        let sort_slices = |range: std::ops::Range<usize>, long: bool| {
            let scratch = Scratch::new::<u32>(self.size)?;
            // SAFETY: the buffer has room for the indices, which are written before they are read.
            let indices = unsafe {
                scratch.pointer::<u32>().write_bytes(0, self.size);
                std::slice::from_raw_parts_mut(scratch.pointer::<u32>(), self.size)
            };
            for s in range {
                indices.iter_mut().zip(0u32..).for_each(|(to, i)| *to = i);
                let start = s / self.inner * self.size * self.inner + s % self.inner;
                let slice = Slice { start, step: self.inner };
                order(slice, indices)?;
                for operand in &*self.operands {
                    // SAFETY: guaranteed by the caller; `indices` is a permutation of the slice.
                    unsafe {
                        if long {
                            ctx.for_each(self.size.div_ceil(MOVE_TASK_ELEMENTS), |task| {
                                let end = self.size.min((task + 1) * MOVE_TASK_ELEMENTS);
                                permute(
                                    operand,
                                    slice,
                                    task * MOVE_TASK_ELEMENTS,
                                    &indices[task * MOVE_TASK_ELEMENTS..end],
                                );
                            })
                        } else {
                            permute(operand, slice, 0, indices)
                        }
                    }
                }
            }
            Ok(())
        };
        if self.size > MAX_SERIAL_LENGTH {
            return sort_slices(0..slices, true);
        }
        let grain = (MIN_TASK_ELEMENTS / self.size).clamp(1, slices);
        ctx.try_for_each(slices.div_ceil(grain), |task| {
            sort_slices(task * grain..slices.min((task + 1) * grain), false)
        })
    }
}

/// Writes the elements at `indices` to a slice of the result, starting at its element `first`.
///
/// # Safety
/// The operand must be readable and the result writable.
unsafe fn permute(operand: &Operand, slice: Slice, first: usize, indices: &[u32]) {
    /// # Safety
    /// As for [`permute`], with elements of `T`'s size.
    unsafe fn typed<T: Copy>(operand: &Operand, slice: Slice, first: usize, indices: &[u32]) {
        let to = operand.to.cast::<T>().wrapping_add(slice.start);
        for (position, &i) in indices.iter().enumerate() {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let value = slice.element(operand, i).cast::<T>().read_unaligned();
                to.wrapping_add((first + position) * slice.step).write_unaligned(value);
            }
        }
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        match operand.bytes {
            1 => typed::<u8>(operand, slice, first, indices),
            2 => typed::<u16>(operand, slice, first, indices),
            4 => typed::<u32>(operand, slice, first, indices),
            8 => typed::<u64>(operand, slice, first, indices),
            16 => typed::<[u64; 2]>(operand, slice, first, indices),
            bytes => {
                for (position, &i) in indices.iter().enumerate() {
                    let at = slice.start + (first + position) * slice.step;
                    let to = operand.to.wrapping_add(at * bytes);
                    std::ptr::copy_nonoverlapping(slice.element(operand, i), to, bytes);
                }
            }
        }
    }
}
