//! Products of a matrix and one or a few vectors: one pass over the matrix at memory speed.

use half::bf16;
use hlo_runtime_core::{Context, DotDesc, ElementCode, Error, Number, Scratch, Shared};

use super::Sizes;
use super::rows::{self, Rows, have_avx512};

/// The maximum number of vectors; more vectors are treated as a matrix.
const MAX_VECTORS: usize = 12;
/// The number of vectors of one pass over columns.
const COLUMN_PASS_VECTORS: usize = 4;
/// The number of vectors of one pass over rows without AVX-512.
const ROW_PASS_VECTORS: usize = 2;
/// The number of bytes of rows that stay in the cache while several passes process all vectors.
const MAX_CACHED_BYTES: usize = 1 << 16;
/// The minimum length of a row (or column), per vector, for which a product with several vectors uses these
/// passes.
const MIN_LENGTH_PER_VECTOR: usize = 64;
/// Below this row length, a product with one vector uses the algorithm for several vectors.
const MIN_SINGLE_VECTOR_ROW: usize = 1024;
/// The number of rows whose partial sums are in registers at the same time.
const INTERLEAVED_ROWS: usize = 4;
/// The minimum and maximum number of outputs per vector in one task, if the rows of the matrix are
/// contiguous.
const ROW_TASK_OUTPUTS: [usize; 2] = [64, 512];
/// The number of tasks among which rows are divided, if there are enough rows.
const TARGET_ROW_TASKS: usize = 16;
/// The number of outputs per vector in one task, if the columns of the matrix are contiguous.
const COLUMN_TASK_OUTPUTS: usize = 512;
/// The number of lines of columns that are multiplied by all vectors before the next lines, so that they stay
/// in the cache.
const LINES_PER_PASS: usize = 64;
/// The number of matrix elements below which several products of a batch share a task.
const BATCH_TASK_ELEMENTS: usize = 1 << 16;

/// An element of the matrix that can be widened to the type of the sums.
trait Entry<T>: Rows<T> {
    fn widen(self) -> T;
}

impl Entry<f32> for f32 {
    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }
}

impl Entry<f64> for f64 {
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }
}

impl Entry<f32> for bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
}

/// The arithmetic of the sums.
trait Real: Number {
    const CODE: ElementCode;
    fn fused(self, a: Self, b: Self) -> Self;
}

macro_rules! impl_real {
    ($t:ty, $code:ident) => {
        impl Real for $t {
            const CODE: ElementCode = ElementCode::$code;
            #[inline(always)]
            fn fused(self, a: Self, b: Self) -> Self {
                a.mul_add(b, self)
            }
        }
    };
}

impl_real!(f32, F32);
impl_real!(f64, F64);

/// Computes the product if one operand is one or a few vectors and the rows or columns of the matrix are
/// contiguous. Otherwise returns `None`.
///
/// # Safety
/// As for [`super::hlo_rt_dot`]. `types` must be the types of lhs, rhs and out.
pub(super) unsafe fn dot(
    ctx: &Context,
    desc: &DotDesc,
    sizes: Sizes,
    types: [ElementCode; 3],
    (lhs, rhs, out): (*const u8, *const u8, *mut u8),
) -> Option<Result<(), Error>> {
    let flipped;
    let (desc, sizes, lhs, rhs) = if sizes.n <= sizes.m {
        (desc, sizes, lhs, rhs)
    } else {
        flipped = desc.transposed();
        (&flipped, Sizes { m: sizes.n, n: sizes.m, ..sizes }, rhs, lhs)
    };
    let by_rows = desc.lhs_k_stride == 1;
    if sizes.m < INTERLEAVED_ROWS || !(by_rows || desc.lhs_m_stride == 1) {
        return None;
    }
    if sizes.n > 1 {
        // The kernels for matrices also read columns of f32 without packing.
        let is_covered = !by_rows && types[0] == ElementCode::F32;
        let along = if by_rows { sizes.k } else { sizes.m };
        if is_covered || sizes.n > MAX_VECTORS || along < MIN_LENGTH_PER_VECTOR * sizes.n {
            return None;
        }
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        let product = Product { desc, sizes, out_type: types[2], lhs, rhs, out };
        match (types[0], types[1]) {
            (ElementCode::F32, ElementCode::F32) if types[2] != ElementCode::F64 => {
                Some(product.run::<f32, f32>(ctx, types[1]))
            }
            (ElementCode::Bf16, ElementCode::Bf16) if types[2] != ElementCode::F64 => {
                Some(product.run::<bf16, f32>(ctx, types[1]))
            }
            (ElementCode::F64, ElementCode::F64) => Some(product.run::<f64, f64>(ctx, types[1])),
            _ => None,
        }
    }
}

/// A product of a batch of `m` by `k` matrices and `n` vectors of length `k`.
struct Product<'a> {
    desc: &'a DotDesc,
    sizes: Sizes,
    out_type: ElementCode,
    lhs: *const u8,
    rhs: *const u8,
    out: *mut u8,
}

impl Product<'_> {
    /// # Safety
    /// As for [`dot`]. The matrix must have elements of type `E`, and the vectors elements of type `vector`.
    unsafe fn run<E: Entry<T>, T: Real>(&self, ctx: &Context, vector: ElementCode) -> Result<(), Error> {
        let Sizes { batch, m, n, k } = self.sizes;
        let rows = match self.desc.lhs_k_stride {
            1 => m
                .div_ceil(TARGET_ROW_TASKS)
                .next_multiple_of(INTERLEAVED_ROWS)
                .clamp(ROW_TASK_OUTPUTS[0], ROW_TASK_OUTPUTS[1]),
            _ => COLUMN_TASK_OUTPUTS,
        };
        let near =
            (MAX_CACHED_BYTES / (k * size_of::<E>()).max(1)).max(1).next_multiple_of(2 * INTERLEAVED_ROWS);
        let again = self.desc.lhs_k_stride == 1 && n > 1;
        let block = if again { rows.min(near) } else { rows };
        let blocks = m.div_ceil(block);
        let total = blocks.checked_mul(batch).ok_or_else(|| Error("the batch is too large".into()))?;
        let grain = (BATCH_TASK_ELEMENTS / (m.min(block) * k).max(1)).max(rows / block).clamp(1, total);
        let in_place =
            vector == T::CODE && self.desc.rhs_k_stride == 1 && n == 1 && self.rhs.cast::<T>().is_aligned();
        let room = k.checked_mul(n).ok_or_else(|| Error("the vectors are too large".into()))?;
        // SAFETY: tasks write disjoint outputs.
        let this = unsafe { Shared::new(self) };
        ctx.try_for_each(total.div_ceil(grain), |task| {
            let this = this.get();
            // The vectors, widened and contiguous, followed by the sums.
            let scratch = Scratch::new::<T>(room + block * n)?;
            let mut x = scratch.pointer::<T>().cast_const();
            let sums = scratch.pointer::<T>().wrapping_add(room);
            let mut loaded = usize::MAX;
            for part in task * grain..total.min((task + 1) * grain) {
                let (b, first) = (part / blocks, part % blocks * block);
                let count = block.min(m - first);
                // SAFETY: the part is inside the product, and the scratch buffer has room for the vectors and
                // the sums.
                unsafe {
                    if in_place {
                        x = this
                            .rhs
                            .cast::<T>()
                            .wrapping_offset(this.desc.rhs_batch_stride as isize * b as isize);
                    } else if loaded != b {
                        this.load_vectors::<T>(vector, b, x.cast_mut());
                        loaded = b;
                    }
                    (0..count * n).for_each(|i| sums.add(i).write(T::ZERO));
                    let sums = std::slice::from_raw_parts_mut(sums, count * n);
                    this.block::<E, T>([b, first], std::slice::from_raw_parts(x, room), sums);
                    this.store([b, first], sums);
                }
            }
            Ok(())
        })
    }

    /// Computes the sums of one block of rows. The sums of each vector are contiguous.
    ///
    /// # Safety
    /// As for [`dot`]; the block must be inside the product.
    unsafe fn block<E: Entry<T>, T: Real>(&self, [b, first]: [usize; 2], x: &[T], sums: &mut [T]) {
        let (n, k) = (self.sizes.n, self.sizes.k);
        let count = sums.len() / n;
        let offset = self.desc.lhs_batch_stride.wrapping_mul(b as i64)
            + self.desc.lhs_m_stride.wrapping_mul(first as i64);
        let a = self.lhs.cast::<E>().wrapping_offset(offset as isize);
        let (row, line) = (self.desc.lhs_m_stride as isize, self.desc.lhs_k_stride as isize);
        let (by_rows, avx512) = (line == 1, have_avx512());
        let step = if by_rows { k } else { LINES_PER_PASS };
        let most = match (by_rows, avx512) {
            (true, true) => rows::MAX_VECTORS,
            (true, false) => ROW_PASS_VECTORS,
            _ => COLUMN_PASS_VECTORS,
        };
        for first in (0..k).step_by(step.max(1)) {
            let span = [first, k.min(first + step)];
            // All passes have nearly the same number of vectors.
            let passes = n.div_ceil(most);
            for pass in 0..passes {
                let (v, end) = (pass * n / passes, (pass + 1) * n / passes);
                let vectors = end - v;
                let (x, sums) = (&x[v * k..end * k], &mut sums[v * count..end * count]);
                // SAFETY: guaranteed by the caller.
                unsafe {
                    match (by_rows, vectors) {
                        // For short rows, the rest of a row after whole groups of lanes and the final
                        // addition of the lanes are significant.
                        (true, 1) if avx512 && k < MIN_SINGLE_VECTOR_ROW => E::rows(1, a, row, x, sums),
                        // As many lanes as the registers allow for the partial sums of all rows and vectors.
                        (true, 1) => rows::<E, T, 1, 32>(a, row, x, span, sums),
                        (true, vectors) if avx512 => E::rows(vectors, a, row, x, sums),
                        (true, _) if size_of::<T>() > 4 => {
                            rows::<E, T, ROW_PASS_VECTORS, 4>(a, row, x, span, sums)
                        }
                        (true, _) => rows::<E, T, ROW_PASS_VECTORS, 8>(a, row, x, span, sums),
                        (false, 1) => columns::<E, T, 1, 0>(a, line, x, span, sums),
                        (false, 2) => columns::<E, T, 2, 0>(a, line, x, span, sums),
                        (false, 3) => columns::<E, T, 3, 0>(a, line, x, span, sums),
                        (false, _) => columns::<E, T, 4, 0>(a, line, x, span, sums),
                    }
                }
            }
        }
    }

    /// Writes the sums of a block to the output.
    ///
    /// # Safety
    /// As for [`Product::block`].
    unsafe fn store<T: Real>(&self, [b, first]: [usize; 2], sums: &[T]) {
        let count = sums.len() / self.sizes.n;
        let size = self.out_type.byte_size() as isize;
        for (v, sums) in sums.chunks_exact(count).enumerate() {
            let start = self.desc.out_batch_stride.wrapping_mul(b as i64)
                + self.desc.out_n_stride.wrapping_mul(v as i64);
            if self.out_type == T::CODE && self.desc.out_m_stride == 1 {
                let at = start + first as i64;
                // SAFETY: guaranteed by the caller.
                unsafe {
                    let to = self.out.offset(at as isize * size);
                    std::ptr::copy_nonoverlapping(sums.as_ptr().cast::<u8>(), to, size_of_val(sums));
                }
                continue;
            }
            for (i, sum) in sums.iter().enumerate() {
                let at = start + self.desc.out_m_stride.wrapping_mul((first + i) as i64);
                // SAFETY: guaranteed by the caller.
                unsafe { sum.store(self.out_type, self.out.offset(at as isize * size)) };
            }
        }
    }

    /// # Safety
    /// As for [`dot`]; `x` must be writable for `n` times `k` elements.
    unsafe fn load_vectors<T: Real>(&self, code: ElementCode, b: usize, x: *mut T) {
        let (size, k) = (code.byte_size() as isize, self.sizes.k);
        for v in 0..self.sizes.n {
            let start = self.desc.rhs_batch_stride.wrapping_mul(b as i64)
                + self.desc.rhs_n_stride.wrapping_mul(v as i64);
            if code == T::CODE {
                let from = self.rhs.cast::<T>().wrapping_offset(start as isize);
                for i in 0..k {
                    let at = (i as isize).wrapping_mul(self.desc.rhs_k_stride as isize);
                    // SAFETY: guaranteed by the caller.
                    unsafe { x.add(v * k + i).write(from.wrapping_offset(at).read_unaligned()) };
                }
                continue;
            }
            for i in 0..k {
                let at = start + self.desc.rhs_k_stride.wrapping_mul(i as i64);
                // SAFETY: guaranteed by the caller.
                unsafe { x.add(v * k + i).write(T::load(code, self.rhs.offset(at as isize * size))) };
            }
        }
    }
}

/// Defines a function that runs a loop compiled for the widest vectors of this processor.
macro_rules! wide {
    ($(#[$doc:meta])* $name:ident => $inner:ident) => {
        $(#[$doc])*
        unsafe fn $name<E: Entry<T>, T: Real, const V: usize, const L: usize>(
            a: *const E,
            stride: isize,
            x: &[T],
            span: [usize; 2],
            sums: &mut [T],
        ) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,fma")]
                unsafe fn avx512<E: Entry<T>, T: Real, const V: usize, const L: usize>(
                    a: *const E,
                    stride: isize,
                    x: &[T],
                    span: [usize; 2],
                    sums: &mut [T],
                ) {
                    // SAFETY: guaranteed by the caller.
                    unsafe { $inner::<E, T, true, V, L>(a, stride, x, span, sums) }
                }
                #[target_feature(enable = "avx2,fma")]
                unsafe fn avx2<E: Entry<T>, T: Real, const V: usize, const L: usize>(
                    a: *const E,
                    stride: isize,
                    x: &[T],
                    span: [usize; 2],
                    sums: &mut [T],
                ) {
                    // SAFETY: guaranteed by the caller.
                    unsafe { $inner::<E, T, true, V, L>(a, stride, x, span, sums) }
                }
                if is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("fma")
                {
                    // SAFETY: the processor has the features; the caller guarantees the rest.
                    return unsafe { avx512::<E, T, V, L>(a, stride, x, span, sums) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has the features; the caller guarantees the rest.
                    return unsafe { avx2::<E, T, V, L>(a, stride, x, span, sums) };
                }
            }
            // SAFETY: guaranteed by the caller.
            unsafe { $inner::<E, T, false, V, L>(a, stride, x, span, sums) }
        }
    };
}

wide! {
    /// Adds to the sums: `sums[v][i] += Σ_k a[i * stride + k] · x[v][k]` over the span of `k`, in `L` partial
    /// sums, for `V` vectors.
    ///
    /// # Safety
    /// `a` must be readable for `sums.len() / V` rows of `x.len() / V` elements.
    rows => rows_loops
}

wide! {
    /// Adds to the sums: `sums[v][i] += Σ_k a[k * stride + i] · x[v][k]` over the span of `k`, for `V`
    /// vectors.
    ///
    /// # Safety
    /// `a` must be readable for `x.len() / V` lines of `sums.len() / V` elements.
    columns => columns_loops
}

#[inline(always)]
fn multiply_add<T: Real, const FMA: bool>(sum: T, a: T, b: T) -> T {
    if FMA { sum.fused(a, b) } else { sum.mul_add(a, b) }
}

/// # Safety
/// As for [`rows`].
#[inline(always)]
unsafe fn rows_loops<E: Entry<T>, T: Real, const FMA: bool, const V: usize, const L: usize>(
    a: *const E,
    stride: isize,
    x: &[T],
    span: [usize; 2],
    sums: &mut [T],
) {
    let (count, k) = (sums.len() / V, x.len() / V);
    let whole = span[0] + (span[1] - span[0]) / L * L;
    for first in (0..count).step_by(INTERLEAVED_ROWS) {
        let mut partial = [[[T::ZERO; L]; V]; INTERLEAVED_ROWS];
        // Rows after the last repeat the last row; their sums are not used.
        let lines: [*const E; INTERLEAVED_ROWS] =
            std::array::from_fn(|r| a.wrapping_offset((first + r).min(count - 1) as isize * stride));
        for at in (span[0]..whole).step_by(L) {
            // SAFETY: guaranteed by the caller; only whole groups of lanes are read.
            unsafe {
                let factors: [[T; L]; V] =
                    std::array::from_fn(|v| x.as_ptr().add(v * k + at).cast::<[T; L]>().read());
                for r in 0..INTERLEAVED_ROWS {
                    let values = lines[r].add(at).cast::<[E; L]>().read_unaligned();
                    for v in 0..V {
                        for l in 0..L {
                            partial[r][v][l] =
                                multiply_add::<T, FMA>(partial[r][v][l], values[l].widen(), factors[v][l]);
                        }
                    }
                }
            }
        }
        for (r, (partial, line)) in partial.iter_mut().zip(lines).enumerate().take(count - first) {
            for (v, partial) in partial.iter_mut().enumerate() {
                for at in whole..span[1] {
                    // SAFETY: guaranteed by the caller.
                    let value = unsafe { line.add(at).read_unaligned() }.widen();
                    partial[at - whole] = multiply_add::<T, FMA>(partial[at - whole], value, x[v * k + at]);
                }
                let sum = &mut sums[v * count + first + r];
                *sum = sum.plus(total(partial));
            }
        }
    }
}

/// Returns the sum of partial sums, added in pairs.
#[inline(always)]
fn total<T: Real, const L: usize>(partial: &mut [T; L]) -> T {
    let mut width = L / 2;
    while width > 0 {
        for l in 0..width {
            partial[l] = partial[l].plus(partial[l + width]);
        }
        width /= 2;
    }
    partial[0]
}

/// # Safety
/// As for [`columns`].
#[inline(always)]
unsafe fn columns_loops<E: Entry<T>, T: Real, const FMA: bool, const V: usize, const L: usize>(
    a: *const E,
    stride: isize,
    x: &[T],
    span: [usize; 2],
    sums: &mut [T],
) {
    let (count, k) = (sums.len() / V, x.len() / V);
    // Several lines at a time, so that the sums are loaded and stored once for all of them.
    let line = |at: usize| a.wrapping_offset(at as isize * stride);
    let whole = span[0] + (span[1] - span[0]) / INTERLEAVED_ROWS * INTERLEAVED_ROWS;
    for at in (span[0]..whole).step_by(INTERLEAVED_ROWS) {
        let lines: [*const E; INTERLEAVED_ROWS] = std::array::from_fn(|r| line(at + r));
        let factors: [[T; INTERLEAVED_ROWS]; V] =
            std::array::from_fn(|v| std::array::from_fn(|r| x[v * k + at + r]));
        for i in 0..count {
            // SAFETY: guaranteed by the caller.
            let entries: [T; INTERLEAVED_ROWS] =
                std::array::from_fn(|r| unsafe { lines[r].add(i).read_unaligned() }.widen());
            for (v, factors) in factors.iter().enumerate() {
                let sum = &mut sums[v * count + i];
                for (entry, &factor) in entries.into_iter().zip(factors) {
                    *sum = multiply_add::<T, FMA>(*sum, entry, factor);
                }
            }
        }
    }
    for at in whole..span[1] {
        for i in 0..count {
            // SAFETY: guaranteed by the caller.
            let entry = unsafe { line(at).add(i).read_unaligned() }.widen();
            for v in 0..V {
                let sum = &mut sums[v * count + i];
                *sum = multiply_add::<T, FMA>(*sum, entry, x[v * k + at]);
            }
        }
    }
}
