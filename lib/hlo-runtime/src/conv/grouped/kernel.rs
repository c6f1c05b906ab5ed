//! The innermost loops: compute sums of a few output pixels for a vector of groups.

use hlo_runtime_core::{Number, Truth};
use num_complex::Complex;

/// The maximum number of pixels of a tile. With two AVX-512 registers each, the sums take eighteen registers.
pub(super) const PIXELS: usize = 9;

/// One term of a sum: the offsets, in elements, from the input of a pixel and from the start of the filter.
#[derive(Clone, Copy)]
pub(in crate::conv) struct Tap {
    pub(super) input: u32,
    pub(super) filter: u32,
}

/// An output pixel: the offsets, in elements, from the start of the packed input and from the start of the
/// sums.
#[derive(Clone, Copy)]
pub(in crate::conv) struct Pixel {
    pub(super) input: u32,
    pub(super) sums: u32,
}

/// A tile of sums: `sums[pixel][f] += Σ_tap input[pixel + tap] · filter[tap][f]`, in vectors of `L` groups.
#[derive(Clone, Copy)]
pub(in crate::conv) struct Tile<'a, T> {
    pub(super) pixels: &'a [Pixel],
    pub(super) taps: &'a [Tap],
    pub(super) input: *const T,
    pub(super) filter: *const T,
    pub(super) sums: *mut T,
}

/// An element type of sums that can be computed in tiles.
pub(in crate::conv) trait Lanes: Number {
    /// Returns `self + a * b`, rounded once if the processor can do so.
    fn fused(self, a: Self, b: Self) -> Self;
    /// Computes a tile for `features` output features of each group, for any number of pixels.
    ///
    /// # Safety
    /// All positions of the pixels and the taps must be valid for vectors of `L` elements.
    unsafe fn tile<const L: usize>(tile: &Tile<'_, Self>, features: usize);
}

/// Computes the tile feature by feature and pixel by pixel.
///
/// # Safety
/// As for [`Lanes::tile`].
#[inline(always)]
unsafe fn loops<T: Lanes, const L: usize, const FMA: bool>(t: &Tile<'_, T>, features: usize) {
    for pixel in t.pixels {
        for f in 0..features {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let input = t.input.add(pixel.input as usize);
                let mut sums = [T::ZERO; L];
                for tap in t.taps {
                    let x = input.add(tap.input as usize).cast::<[T; L]>().read();
                    let y = t.filter.add(tap.filter as usize + f * L).cast::<[T; L]>().read();
                    for i in 0..L {
                        sums[i] = if FMA { sums[i].fused(x[i], y[i]) } else { sums[i].mul_add(x[i], y[i]) };
                    }
                }
                let to = &mut *t.sums.add(pixel.sums as usize + f * L).cast::<[T; L]>();
                for i in 0..L {
                    to[i] = to[i].plus(sums[i]);
                }
            }
        }
    }
}

/// Implements [`Lanes`] by plain loops, compiled for the widest vectors of this processor.
macro_rules! by_loops {
    ($t:ty, |$sum:ident, $a:ident, $b:ident| $fused:expr) => {
        impl Lanes for $t {
            #[inline(always)]
            fn fused(self, $a: Self, $b: Self) -> Self {
                let $sum = self;
                $fused
            }
            unsafe fn tile<const L: usize>(tile: &Tile<'_, Self>, features: usize) {
                #[cfg(target_arch = "x86_64")]
                {
                    #[target_feature(enable = "avx512f,avx512dq,fma")]
                    unsafe fn avx512<const L: usize>(tile: &Tile<'_, $t>, features: usize) {
                        // SAFETY: guaranteed by the caller.
                        unsafe { loops::<$t, L, true>(tile, features) }
                    }
                    if is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("fma") {
                        // SAFETY: the processor has the features; the caller guarantees the rest.
                        return unsafe { avx512::<L>(tile, features) };
                    }
                }
                // SAFETY: guaranteed by the caller.
                unsafe { loops::<$t, L, false>(tile, features) }
            }
        }
    };
}

by_loops!(f64, |sum, a, b| a.mul_add(b, sum));
by_loops!(i32, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b)));
by_loops!(i64, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b)));
by_loops!(Complex<f32>, |sum, a, b| sum + a * b);
by_loops!(Complex<f64>, |sum, a, b| sum + a * b);
by_loops!(Truth, |sum, a, b| Truth(sum.0 | (a.0 & b.0)));

impl Lanes for f32 {
    #[inline(always)]
    fn fused(self, a: Self, b: Self) -> Self {
        a.mul_add(b, self)
    }
    unsafe fn tile<const L: usize>(tile: &Tile<'_, f32>, features: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has the feature; the caller guarantees the rest.
                return unsafe { avx512::tile::<L>(tile, features) };
            }
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2<const L: usize>(tile: &Tile<'_, f32>, features: usize) {
                // SAFETY: guaranteed by the caller.
                unsafe { loops::<f32, L, true>(tile, features) }
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                // SAFETY: the processor has the features; the caller guarantees the rest.
                return unsafe { avx2::<L>(tile, features) };
            }
        }
        // SAFETY: guaranteed by the caller.
        unsafe { loops::<f32, L, false>(tile, features) }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::*;
    use std::arch::x86_64::*;

    /// The number of lanes of a register.
    const WIDTH: usize = 16;

    /// # Safety
    /// As for [`Lanes::tile`].
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn tile<const L: usize>(t: &Tile<'_, f32>, features: usize) {
        let mut f = 0;
        while f < features {
            // As many features at once as allow the sums to stay in registers.
            let n = match features - f {
                4.. => 4,
                2.. => 2,
                _ => 1,
            };
            let most = PIXELS / n;
            let tiles = t.pixels.len().div_ceil(most);
            let each = t.pixels.len().div_ceil(tiles.max(1)).max(1);
            for pixels in t.pixels.chunks(each) {
                for lane in (0..L).step_by(2 * WIDTH) {
                    // SAFETY: guaranteed by the caller.
                    unsafe {
                        let part = Tile {
                            pixels,
                            input: t.input.add(lane),
                            filter: t.filter.add(f * L + lane),
                            sums: t.sums.add(f * L + lane),
                            ..*t
                        };
                        if L - lane > WIDTH {
                            by_size::<L, 2>(&part, n);
                        } else {
                            by_size::<L, 1>(&part, n);
                        }
                    }
                }
            }
            f += n;
        }
    }

    /// # Safety
    /// As for [`Lanes::tile`].
    #[target_feature(enable = "avx512f")]
    unsafe fn by_size<const L: usize, const V: usize>(t: &Tile<'_, f32>, features: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match (features, t.pixels.len()) {
                (1, 1) => one::<L, V, 1, 1>(t),
                (1, 2) => one::<L, V, 1, 2>(t),
                (1, 3) => one::<L, V, 1, 3>(t),
                (1, 4) => one::<L, V, 1, 4>(t),
                (1, 5) => one::<L, V, 1, 5>(t),
                (1, 6) => one::<L, V, 1, 6>(t),
                (1, 7) => one::<L, V, 1, 7>(t),
                (1, 8) => one::<L, V, 1, 8>(t),
                (1, 9) => one::<L, V, 1, 9>(t),
                (2, 1) => one::<L, V, 2, 1>(t),
                (2, 2) => one::<L, V, 2, 2>(t),
                (2, 3) => one::<L, V, 2, 3>(t),
                (2, 4) => one::<L, V, 2, 4>(t),
                (4, 1) => one::<L, V, 4, 1>(t),
                (4, 2) => one::<L, V, 4, 2>(t),
                _ => {}
            }
        }
    }

    /// Computes `V` registers of groups by `F` output features by `R` pixels.
    ///
    /// # Safety
    /// As for [`Lanes::tile`]; the tile must have `R` pixels.
    #[expect(clippy::needless_range_loop, reason = "all loops of a tile read alike, and are unrolled")]
    #[target_feature(enable = "avx512f")]
    unsafe fn one<const L: usize, const V: usize, const F: usize, const R: usize>(t: &Tile<'_, f32>) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut inputs = [t.input; R];
            for r in 0..R {
                inputs[r] = t.input.add(t.pixels[r].input as usize);
            }
            let mut sums = [[[_mm512_setzero_ps(); V]; F]; R];
            for tap in t.taps {
                let mut weights = [[_mm512_setzero_ps(); V]; F];
                for f in 0..F {
                    for v in 0..V {
                        weights[f][v] =
                            _mm512_loadu_ps(t.filter.add(tap.filter as usize + f * L + v * WIDTH));
                    }
                }
                for r in 0..R {
                    for v in 0..V {
                        let x = _mm512_loadu_ps(inputs[r].add(tap.input as usize + v * WIDTH));
                        for f in 0..F {
                            sums[r][f][v] = _mm512_fmadd_ps(x, weights[f][v], sums[r][f][v]);
                        }
                    }
                }
            }
            for r in 0..R {
                for f in 0..F {
                    for v in 0..V {
                        let to = t.sums.add(t.pixels[r].sums as usize + f * L + v * WIDTH);
                        _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), sums[r][f][v]));
                    }
                }
            }
        }
    }
}
