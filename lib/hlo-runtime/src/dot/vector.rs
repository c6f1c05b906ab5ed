//! Products of a matrix and a vector: one pass over the matrix at the speed of memory.

use half::bf16;

use super::{DotDesc, Sizes};
use crate::context::{Context, Error, Shared};
use crate::element::{ElementCode, Number};
use crate::scratch::Scratch;

/// Lanes of a group of partial sums.
const LANES: usize = 32;
/// Rows whose partial sums are in registers at the same time.
const ROWS: usize = 4;
/// Outputs of one task when the matrix's rows are contiguous.
const ROW_TASK: usize = 64;
/// Outputs of one task when the matrix's columns are contiguous.
const COLUMN_TASK: usize = 512;
/// Elements of the matrix below which a product of a batch shares a task with others.
const TASK: usize = 1 << 16;

/// An element of the matrix, widened to the type of the sums.
trait Entry<T>: Copy {
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

/// The arithmetic of sums.
trait Real: Number {
    fn fused(self, a: Self, b: Self) -> Self;
}

macro_rules! impl_real {
    ($t:ty) => {
        impl Real for $t {
            #[inline(always)]
            fn fused(self, a: Self, b: Self) -> Self {
                a.mul_add(b, self)
            }
        }
    };
}

impl_real!(f32);
impl_real!(f64);

/// Computes the product if one operand is a vector and the matrix is contiguous one way; `None` otherwise.
///
/// # Safety
/// As for [`super::hlo_rt_dot`], with `types` the types of lhs, rhs and out.
pub(super) unsafe fn dot(
    ctx: &Context,
    desc: &DotDesc,
    sizes: Sizes,
    types: [ElementCode; 3],
    (lhs, rhs, out): (*const u8, *const u8, *mut u8),
) -> Option<Result<(), Error>> {
    let flipped;
    let (desc, sizes, lhs, rhs) = if sizes.n == 1 {
        (desc, sizes, lhs, rhs)
    } else if sizes.m == 1 {
        flipped = desc.transposed();
        (&flipped, Sizes { m: sizes.n, n: 1, ..sizes }, rhs, lhs)
    } else {
        return None;
    };
    if sizes.m < ROWS || (desc.lhs_k_stride != 1 && desc.lhs_m_stride != 1) {
        return None;
    }
    // SAFETY: the caller's promise is passed on.
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

/// A batch of `m` by `k` matrices times vectors of `k`.
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
    /// As for [`dot`]; the matrix has elements of type `E`, the vector of type `vector`.
    unsafe fn run<E: Entry<T>, T: Real>(&self, ctx: &Context, vector: ElementCode) -> Result<(), Error> {
        let Sizes { batch, m, k, .. } = self.sizes;
        let by_rows = self.desc.lhs_k_stride == 1;
        let block = if by_rows { ROW_TASK } else { COLUMN_TASK };
        let blocks = m.div_ceil(block);
        let total = blocks.checked_mul(batch).ok_or_else(|| Error("the batch is too large".into()))?;
        let grain = (TASK / (m.min(block) * k).max(1)).clamp(1, total);
        // SAFETY: tasks write disjoint outputs.
        let this = unsafe { Shared::new(self) };
        ctx.try_for_each(total.div_ceil(grain), |task| {
            let this = this.get();
            // The vector, widened and contiguous.
            let scratch = Scratch::new::<T>(k)?;
            let x = scratch.pointer::<T>();
            let mut loaded = usize::MAX;
            for part in task * grain..total.min((task + 1) * grain) {
                let (b, first) = (part / blocks, part % blocks * block);
                let count = block.min(m - first);
                // SAFETY: the part is inside the product.
                unsafe {
                    if loaded != b {
                        this.load_vector::<T>(vector, b, x);
                        loaded = b;
                    }
                    let x = std::slice::from_raw_parts(x, k);
                    let offset = this.desc.lhs_batch_stride.wrapping_mul(b as i64)
                        + this.desc.lhs_m_stride.wrapping_mul(first as i64);
                    let a = this.lhs.cast::<E>().offset(offset as isize);
                    let mut sums = [T::ZERO; COLUMN_TASK];
                    let sums = &mut sums[..count];
                    if by_rows {
                        rows::<E, T>(a, this.desc.lhs_m_stride as isize, x, sums);
                    } else {
                        columns::<E, T>(a, this.desc.lhs_k_stride as isize, x, sums);
                    }
                    for (i, sum) in sums.iter().enumerate() {
                        let at = this.desc.out_batch_stride.wrapping_mul(b as i64)
                            + this.desc.out_m_stride.wrapping_mul((first + i) as i64);
                        let bytes = at as isize * this.out_type.byte_size() as isize;
                        sum.store(this.out_type, this.out.offset(bytes));
                    }
                }
            }
            Ok(())
        })
    }

    /// # Safety
    /// As for [`dot`]; `x` must be writable for `k` elements.
    unsafe fn load_vector<T: Real>(&self, code: ElementCode, b: usize, x: *mut T) {
        let start = self.desc.rhs_batch_stride.wrapping_mul(b as i64);
        for i in 0..self.sizes.k {
            let at = start + self.desc.rhs_k_stride.wrapping_mul(i as i64);
            // SAFETY: the caller's promise.
            unsafe {
                let value = T::load(code, self.rhs.offset(at as isize * code.byte_size() as isize));
                x.add(i).write(value);
            }
        }
    }
}

/// Compiles a loop for the widest vectors of this processor.
macro_rules! wide {
    ($(#[$doc:meta])* $name:ident => $inner:ident) => {
        $(#[$doc])*
        unsafe fn $name<E: Entry<T>, T: Real>(a: *const E, stride: isize, x: &[T], sums: &mut [T]) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,fma")]
                unsafe fn avx512<E: Entry<T>, T: Real>(a: *const E, stride: isize, x: &[T], sums: &mut [T]) {
                    // SAFETY: the caller's promise.
                    unsafe { $inner::<E, T, true>(a, stride, x, sums) }
                }
                #[target_feature(enable = "avx2,fma")]
                unsafe fn avx2<E: Entry<T>, T: Real>(a: *const E, stride: isize, x: &[T], sums: &mut [T]) {
                    // SAFETY: the caller's promise.
                    unsafe { $inner::<E, T, true>(a, stride, x, sums) }
                }
                if is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("fma")
                {
                    // SAFETY: the features are there; the rest is the caller's promise.
                    return unsafe { avx512(a, stride, x, sums) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the features are there; the rest is the caller's promise.
                    return unsafe { avx2(a, stride, x, sums) };
                }
            }
            // SAFETY: the caller's promise.
            unsafe { $inner::<E, T, false>(a, stride, x, sums) }
        }
    };
}

wide! {
    /// `sums[i] = Σ_k a[i * stride + k] · x[k]`.
    ///
    /// # Safety
    /// `a` must be readable for `sums.len()` rows of `x.len()`.
    rows => rows_loops
}

wide! {
    /// `sums[i] = Σ_k a[k * stride + i] · x[k]`.
    ///
    /// # Safety
    /// `a` must be readable for `x.len()` lines of `sums.len()`.
    columns => columns_loops
}

#[inline(always)]
fn multiply_add<T: Real, const FMA: bool>(sum: T, a: T, b: T) -> T {
    if FMA { sum.fused(a, b) } else { sum.mul_add(a, b) }
}

/// # Safety
/// As for [`rows`].
#[inline(always)]
unsafe fn rows_loops<E: Entry<T>, T: Real, const FMA: bool>(
    a: *const E,
    stride: isize,
    x: &[T],
    sums: &mut [T],
) {
    for (group, sums) in sums.chunks_mut(ROWS).enumerate() {
        let mut partial = [[T::ZERO; LANES]; ROWS];
        // Rows beyond the last repeat it; their sums are not used.
        let row = |r: usize| a.wrapping_offset((group * ROWS + r.min(sums.len() - 1)) as isize * stride);
        let lines = [row(0), row(1), row(2), row(3)];
        let whole = x.len() / LANES * LANES;
        for k in (0..whole).step_by(LANES) {
            // SAFETY: the caller's promise; whole groups of lanes are read at once.
            unsafe {
                let factors = x.as_ptr().add(k).cast::<[T; LANES]>().read();
                for r in 0..ROWS {
                    let values = lines[r].add(k).cast::<[E; LANES]>().read_unaligned();
                    for l in 0..LANES {
                        partial[r][l] = multiply_add::<T, FMA>(partial[r][l], values[l].widen(), factors[l]);
                    }
                }
            }
        }
        for ((partial, line), sum) in partial.iter_mut().zip(lines).zip(sums) {
            for k in whole..x.len() {
                // SAFETY: the caller's promise.
                let value = unsafe { line.add(k).read_unaligned() }.widen();
                partial[k - whole] = multiply_add::<T, FMA>(partial[k - whole], value, x[k]);
            }
            let mut width = LANES / 2;
            while width > 0 {
                for l in 0..width {
                    partial[l] = partial[l].plus(partial[l + width]);
                }
                width /= 2;
            }
            *sum = partial[0];
        }
    }
}

/// # Safety
/// As for [`columns`].
#[inline(always)]
unsafe fn columns_loops<E: Entry<T>, T: Real, const FMA: bool>(
    a: *const E,
    stride: isize,
    x: &[T],
    sums: &mut [T],
) {
    // Several lines at a time, so that the sums are loaded and stored once for all of them.
    let line = |k: usize| a.wrapping_offset(k as isize * stride);
    let whole = x.len() / ROWS * ROWS;
    for k in (0..whole).step_by(ROWS) {
        let lines = [line(k), line(k + 1), line(k + 2), line(k + 3)];
        let factors = [x[k], x[k + 1], x[k + 2], x[k + 3]];
        for (i, sum) in sums.iter_mut().enumerate() {
            let mut value = *sum;
            for (line, factor) in lines.into_iter().zip(factors) {
                // SAFETY: the caller's promise.
                let entry = unsafe { line.add(i).read_unaligned() }.widen();
                value = multiply_add::<T, FMA>(value, entry, factor);
            }
            *sum = value;
        }
    }
    for (k, &factor) in x.iter().enumerate().skip(whole) {
        for (i, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            let entry = unsafe { line(k).add(i).read_unaligned() }.widen();
            *sum = multiply_add::<T, FMA>(*sum, entry, factor);
        }
    }
}
