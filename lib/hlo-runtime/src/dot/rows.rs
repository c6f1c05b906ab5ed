//! Products of matrix rows and one or more vectors in AVX-512 registers. Each element is loaded once for all
//! vectors.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use half::bf16;

/// The maximum number of vectors of one pass.
pub(super) const MAX_VECTORS: usize = 8;

/// An element type of the matrix; `T` is the type of the sums.
pub(super) trait Rows<T>: Copy {
    /// Adds to the sums: `sums[v][i] += Σ_k a[i * stride + k] · x[v][k]` for `vectors` vectors, 1 to
    /// [`MAX_VECTORS`].
    ///
    /// # Safety
    /// [`have_avx512`] must return true. `a` must be readable for `sums.len() / vectors` rows of `x.len() /
    /// vectors` elements.
    unsafe fn rows(vectors: usize, a: *const Self, stride: isize, x: &[T], sums: &mut [T]);
}

/// Returns whether the processor has the features that [`Rows`] needs.
pub(super) fn have_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

macro_rules! rows {
    ($name:ident, $entry:ty, $sum:ty, $vector:ty, $lanes:literal, $mask:ty, $zero:ident, $load:ident, $fused:ident, $total:ident,
     |$m:ident, $p:ident| $widen:expr) => {
        /// # Safety
        /// As for [`Rows::rows`] with `V` vectors. The function computes `R` rows at a time.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        unsafe fn $name<const V: usize, const R: usize>(
            a: *const $entry,
            stride: isize,
            x: &[$sum],
            sums: &mut [$sum],
        ) {
            let (count, k) = (sums.len() / V, x.len() / V);
            for first in (0..count).step_by(R) {
                // Rows after the last repeat the last row; their sums are not used.
                let lines: [*const $entry; R] =
                    std::array::from_fn(|r| a.wrapping_offset((first + r).min(count - 1) as isize * stride));
                let mut partial: [[$vector; V]; R] = [[$zero(); V]; R];
                for at in (0..k).step_by($lanes) {
                    let $m = if k - at < $lanes { ((1u32 << (k - at)) - 1) as $mask } else { <$mask>::MAX };
                    // SAFETY: guaranteed by the caller; the mask excludes elements after the end of the rows
                    // and vectors.
                    unsafe {
                        let mut factors = [$zero(); V];
                        for (v, factor) in factors.iter_mut().enumerate() {
                            *factor = $load($m, x.as_ptr().add(v * k + at));
                        }
                        for (line, partial) in lines.iter().zip(&mut partial) {
                            let $p = line.add(at);
                            let value = $widen;
                            for (sum, &factor) in partial.iter_mut().zip(&factors) {
                                *sum = $fused(value, factor, *sum);
                            }
                        }
                    }
                }
                for (r, partial) in partial.iter().enumerate().take(count - first) {
                    for (v, &partial) in partial.iter().enumerate() {
                        sums[v * count + first + r] += $total(partial);
                    }
                }
            }
        }

        impl Rows<$sum> for $entry {
            unsafe fn rows(vectors: usize, a: *const Self, stride: isize, x: &[$sum], sums: &mut [$sum]) {
                // As many rows as fit the registers. SAFETY: guaranteed by the caller.
                #[cfg(target_arch = "x86_64")]
                unsafe {
                    match vectors {
                        1 => $name::<1, 8>(a, stride, x, sums),
                        2 => $name::<2, 8>(a, stride, x, sums),
                        3 => $name::<3, 4>(a, stride, x, sums),
                        4 => $name::<4, 4>(a, stride, x, sums),
                        5 => $name::<5, 4>(a, stride, x, sums),
                        6 => $name::<6, 2>(a, stride, x, sums),
                        7 => $name::<7, 2>(a, stride, x, sums),
                        _ => $name::<MAX_VECTORS, 2>(a, stride, x, sums),
                    }
                }
            }
        }
    };
}

rows!(
    rows_f32,
    f32,
    f32,
    __m512,
    16,
    __mmask16,
    _mm512_setzero_ps,
    _mm512_maskz_loadu_ps,
    _mm512_fmadd_ps,
    _mm512_reduce_add_ps,
    |m, p| _mm512_maskz_loadu_ps(m, p)
);
rows!(
    rows_f64,
    f64,
    f64,
    __m512d,
    8,
    __mmask8,
    _mm512_setzero_pd,
    _mm512_maskz_loadu_pd,
    _mm512_fmadd_pd,
    _mm512_reduce_add_pd,
    |m, p| _mm512_maskz_loadu_pd(m, p)
);
rows!(
    rows_bf16,
    bf16,
    f32,
    __m512,
    16,
    __mmask16,
    _mm512_setzero_ps,
    _mm512_maskz_loadu_ps,
    _mm512_fmadd_ps,
    _mm512_reduce_add_ps,
    |m, p| _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(
        m,
        p.cast()
    ))))
);
