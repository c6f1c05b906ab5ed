//! Stable sorts along one dimension of any number of operands: by a compiled comparator, or by the order of the
//! first operand's numbers.
//!
//! Both sort a permutation and apply it to every operand. The comparator's merge sort stays within its slice
//! whatever the comparator answers, so an inconsistent one gives some permutation, never a fault.

use crate::context::{Context, Error, Shared};
use crate::element::ElementCode;
use crate::scratch::Scratch;

/// A compiled comparator: `env` is passed through; `elements` holds two pointers for each operand, to its left
/// and its right candidate, in the order of the comparator's parameters. Not 0 means left goes before right. It
/// must not unwind and may be called from several threads at once.
pub type Comparator = unsafe extern "C" fn(env: *const *mut u8, elements: *const *const u8) -> i8;

/// What is sorted: row-major arrays of `[outer, size, inner]` elements, sorted along the middle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct SortDesc {
    /// Product of the sizes before the sorted dimension.
    pub outer: i64,
    /// The size of the sorted dimension.
    pub size: i64,
    /// Product of the sizes after the sorted dimension.
    pub inner: i64,
    /// The number of operands.
    pub operands: i64,
}

/// The order of the numbers of a key operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum KeyOrder {
    /// Ascending; floats in total order: −NaN, −∞, …, −0, +0, …, +∞, +NaN.
    Ascending = 0,
    /// The reverse of `Ascending`.
    Descending = 1,
    /// Ascending; zeros are equal, and NaNs are equal and last.
    AscendingNumbers = 2,
    /// The reverse of `AscendingNumbers`: NaNs come first.
    DescendingNumbers = 3,
}

impl KeyOrder {
    fn from_code(code: i64) -> Result<KeyOrder, Error> {
        match code {
            0 => Ok(KeyOrder::Ascending),
            1 => Ok(KeyOrder::Descending),
            2 => Ok(KeyOrder::AscendingNumbers),
            3 => Ok(KeyOrder::DescendingNumbers),
            _ => Err(Error(format!("unknown order {code}"))),
        }
    }

    fn descends(self) -> bool {
        matches!(self, KeyOrder::Descending | KeyOrder::DescendingNumbers)
    }
}

/// Sorts by a comparator, stably. `element_bytes`, `from` and `to` have an entry for each operand. Returns 0, or
/// 1 with a message in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `desc` to a descriptor; each operand must be readable and each
/// result writable in full, results must not overlap anything, and `comparator` must be as [`Comparator`] says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_sort(
    ctx: *const Context,
    desc: *const SortDesc,
    element_bytes: *const i64,
    from: *const *const u8,
    to: *const *mut u8,
    comparator: Comparator,
    env: *const *mut u8,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        (*ctx).guard("sort", || {
            let sort = Sort::new(&*desc, element_bytes, from, to)?;
            let env = Shared::new(env);
            sort.run(&*ctx, |slice, indices| {
                let mut candidates = vec![std::ptr::null(); 2 * sort.operands.len()];
                let spare = Scratch::new::<u32>(indices.len())?;
                let spare = spare.pointer::<u32>();
                std::ptr::copy_nonoverlapping(indices.as_ptr(), spare, indices.len());
                let spare = std::slice::from_raw_parts_mut(spare, indices.len());
                merge_sort(indices, spare, &mut |a, b| {
                    for (pair, operand) in candidates.chunks_exact_mut(2).zip(&sort.operands) {
                        pair[0] = slice.element(operand, a);
                        pair[1] = slice.element(operand, b);
                    }
                    comparator(env.get(), candidates.as_ptr()) != 0
                });
                Ok(())
            })
        })
    }
}

/// Sorts by the first operand, of type `key_type` (not complex), in `order` (a [`KeyOrder`]), stably; otherwise
/// as [`hlo_rt_sort`].
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
    key_type: i64,
    order: i64,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        (*ctx).guard("sort", || {
            let (code, order) = (ElementCode::from_code(key_type)?, KeyOrder::from_code(order)?);
            if code.is_complex() {
                return Err(Error(format!("{code:?} has no order")));
            }
            let sort = Sort::new(&*desc, element_bytes, from, to)?;
            let Some(key) = sort.operands.first().filter(|o| o.bytes == code.byte_size()) else {
                return Err(Error(format!("the first operand is not of type {code:?}")));
            };
            sort.run(&*ctx, |slice, indices| {
                let load = |i: u32| key_of(code, order, slice.element(key, i));
                if code.byte_size() <= 4 {
                    radix_sort::<u32>(indices, |i| load(i) as u32)
                } else {
                    radix_sort::<u64>(indices, load)
                }
            })
        })
    }
}

/// One operand and its result.
struct Operand {
    bytes: usize,
    from: *const u8,
    to: *mut u8,
}

// SAFETY: tasks read operands and write disjoint slices of results.
unsafe impl Sync for Operand {}

/// A validated sort.
struct Sort {
    outer: usize,
    size: usize,
    inner: usize,
    operands: Vec<Operand>,
}

/// One slice to sort.
#[derive(Clone, Copy)]
struct Slice {
    /// Elements from the start of an operand to the slice, and from one element of it to the next.
    start: usize,
    step: usize,
}

impl Slice {
    /// The element of an operand at position `i` of the slice.
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
        let mut operands = Vec::new();
        for i in 0..size(desc.operands, "the number of operands")? {
            // SAFETY: the caller's promise.
            let (bytes, from, to) = unsafe { (*element_bytes.add(i), *from.add(i), *to.add(i)) };
            operands.push(Operand { bytes: size(bytes, "an element's size")?, from, to });
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

    /// Lets `order` permute the indices of each slice, and applies the permutations.
    ///
    /// # Safety
    /// The operands must be readable and the results writable.
    unsafe fn run(
        &self,
        ctx: &Context,
        order: impl Fn(Slice, &mut [u32]) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        /// Elements that a task should have at least.
        const TASK: usize = 1 << 12;
        let slices = self.outer * self.inner;
        if slices == 0 || self.size == 0 {
            return Ok(());
        }
        let grain = (TASK / self.size).clamp(1, slices);
        ctx.try_for_each(slices.div_ceil(grain), |task| {
            let indices = Scratch::new::<u32>(self.size)?;
            // SAFETY: the buffer has room for the indices, which are written before they are read.
            let indices = unsafe {
                (0..self.size).for_each(|i| indices.pointer::<u32>().add(i).write(i as u32));
                std::slice::from_raw_parts_mut(indices.pointer::<u32>(), self.size)
            };
            for s in task * grain..slices.min((task + 1) * grain) {
                indices.iter_mut().zip(0u32..).for_each(|(to, i)| *to = i);
                let start = s / self.inner * self.size * self.inner + s % self.inner;
                let slice = Slice { start, step: self.inner };
                order(slice, indices)?;
                for operand in &self.operands {
                    // SAFETY: the caller's promise; `indices` is a permutation of the slice.
                    unsafe { permute(operand, slice, indices) };
                }
            }
            Ok(())
        })
    }
}

/// Writes one slice of a result in its new order.
///
/// # Safety
/// The operand must be readable and the result writable.
unsafe fn permute(operand: &Operand, slice: Slice, indices: &[u32]) {
    /// # Safety
    /// As for [`permute`], with elements of `T`'s size.
    unsafe fn typed<T: Copy>(operand: &Operand, slice: Slice, indices: &[u32]) {
        let to = operand.to.cast::<T>().wrapping_add(slice.start);
        for (position, &i) in indices.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe {
                let value = slice.element(operand, i).cast::<T>().read_unaligned();
                to.wrapping_add(position * slice.step).write_unaligned(value);
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe {
        match operand.bytes {
            1 => typed::<u8>(operand, slice, indices),
            2 => typed::<u16>(operand, slice, indices),
            4 => typed::<u32>(operand, slice, indices),
            8 => typed::<u64>(operand, slice, indices),
            16 => typed::<[u64; 2]>(operand, slice, indices),
            bytes => {
                for (position, &i) in indices.iter().enumerate() {
                    let at = slice.start + position * slice.step;
                    let to = operand.to.wrapping_add(at * bytes);
                    std::ptr::copy_nonoverlapping(slice.element(operand, i), to, bytes);
                }
            }
        }
    }
}

/// Sorts indices stably; `before(a, b)` says whether `a` must precede `b`.
fn merge_sort(indices: &mut [u32], spare: &mut [u32], before: &mut impl FnMut(u32, u32) -> bool) {
    const RUN: usize = 12;
    for run in indices.chunks_mut(RUN) {
        for i in 1..run.len() {
            let mut j = i;
            while j > 0 && before(run[j], run[j - 1]) {
                run.swap(j, j - 1);
                j -= 1;
            }
        }
    }
    let n = indices.len();
    let mut width = RUN;
    while width < n {
        for (part, spare) in indices.chunks_mut(2 * width).zip(spare.chunks_mut(2 * width)) {
            // Runs in order already, as sorted input has them, need no merging.
            if part.len() <= width || !before(part[width], part[width - 1]) {
                continue;
            }
            let (left, right) = part.split_at(width);
            let (mut l, mut r) = (0, 0);
            for to in spare.iter_mut() {
                let from_right = r < right.len() && (l >= left.len() || before(right[r], left[l]));
                *to = if from_right { right[r] } else { left[l] };
                if from_right { r += 1 } else { l += 1 }
            }
            part.copy_from_slice(spare);
        }
        width *= 2;
    }
}

/// The key of an element as an unsigned number whose order is the wanted one; of 32 bits for elements of up to
/// four bytes.
///
/// # Safety
/// The element must be readable.
unsafe fn key_of(code: ElementCode, order: KeyOrder, p: *const u8) -> u64 {
    let bits = 8 * code.byte_size() as u32;
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    // SAFETY: the caller's promise.
    let mut value = unsafe {
        match bits {
            8 => u64::from(p.read()),
            16 => u64::from(p.cast::<u16>().read_unaligned()),
            32 => u64::from(p.cast::<u32>().read_unaligned()),
            _ => p.cast::<u64>().read_unaligned(),
        }
    };
    let sign = 1 << (bits - 1);
    if code.is_float() {
        let infinity: u64 = match code {
            ElementCode::F16 => 0x7c00,
            ElementCode::Bf16 => 0x7f80,
            ElementCode::F32 => 0x7f80_0000,
            _ => 0x7ff0_0000_0000_0000,
        };
        if matches!(order, KeyOrder::AscendingNumbers | KeyOrder::DescendingNumbers) {
            let magnitude = value & !sign;
            if magnitude == 0 {
                value = 0;
            } else if magnitude > infinity {
                value = mask & !sign;
            }
        }
        value = if value & sign != 0 { !value & mask } else { value | sign };
    } else if matches!(code, ElementCode::S8 | ElementCode::S16 | ElementCode::S32 | ElementCode::S64) {
        value ^= sign;
    }
    if order.descends() { !value & mask } else { value }
}

/// A key of a radix sort.
trait Digits: Copy + Default {
    const DIGITS: usize;
    fn digit(self, d: usize) -> usize;
}

impl Digits for u32 {
    const DIGITS: usize = 4;
    fn digit(self, d: usize) -> usize {
        (self >> (8 * d)) as usize & 0xff
    }
}

impl Digits for u64 {
    const DIGITS: usize = 8;
    fn digit(self, d: usize) -> usize {
        (self >> (8 * d)) as usize & 0xff
    }
}

/// Sorts indices stably by their keys, digit by digit from the lowest; a digit that all keys share costs
/// nothing.
fn radix_sort<K: Digits>(indices: &mut [u32], key: impl Fn(u32) -> K) -> Result<(), Error> {
    let n = indices.len();
    let (first, second) = (Scratch::new::<(K, u32)>(n)?, Scratch::new::<(K, u32)>(n)?);
    // SAFETY: the buffers have room for `n` pairs and are filled here, with plain numbers.
    let (mut from, mut to) = unsafe {
        for (i, &index) in indices.iter().enumerate() {
            first.pointer::<(K, u32)>().add(i).write((key(index), index));
            second.pointer::<(K, u32)>().add(i).write((K::default(), 0));
        }
        (
            std::slice::from_raw_parts_mut(first.pointer::<(K, u32)>(), n),
            std::slice::from_raw_parts_mut(second.pointer::<(K, u32)>(), n),
        )
    };
    let mut counts = vec![[0usize; 256]; K::DIGITS];
    for (key, _) in from.iter() {
        for (d, counts) in counts.iter_mut().enumerate() {
            counts[key.digit(d)] += 1;
        }
    }
    for (d, counts) in counts.iter_mut().enumerate() {
        if counts.contains(&n) {
            continue;
        }
        let mut next = 0;
        for count in counts.iter_mut() {
            (*count, next) = (next, next + *count);
        }
        for &(key, index) in from.iter() {
            let place = &mut counts[key.digit(d)];
            to[*place] = (key, index);
            *place += 1;
        }
        (from, to) = (to, from);
    }
    for (to, (_, index)) in indices.iter_mut().zip(from.iter()) {
        *to = *index;
    }
    Ok(())
}
