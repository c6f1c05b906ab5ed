//! The innermost loops: compute tiles of sums of a few output pixels by a few output features in registers.

use hlo_runtime_core::Truth;
use num_complex::Complex;

use crate::conv::grouped::Lanes;

/// The number of pixels of a tile if vectors contain features.
pub(super) const PIXELS: usize = 8;
/// The number of vectors of features of a tile.
pub(super) const VECTORS: usize = 3;
/// The number of features of a tile if vectors contain pixels.
pub(super) const FEATURES: usize = 8;
/// The number of vectors of pixels of a tile, for each number of features. The sums must fit the registers,
/// and must be numerous enough to hide the latency of an addition.
pub(super) const PIXEL_VECTORS: [usize; FEATURES + 1] = [0, 6, 6, 6, 4, 4, 4, 3, 3];

/// One term of a sum: the offsets, in elements, from the input of a pixel and from the start of a packed
/// filter panel.
#[derive(Clone, Copy)]
pub(super) struct Tap {
    pub(super) input: u32,
    pub(super) filter: u32,
}

/// A pixel or a vector of pixels: the offsets, in elements, from the start of the packed input and from the
/// start of the sums.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) input: u32,
    pub(super) sums: isize,
}

/// Sums over all taps for some places and a panel of features.
#[derive(Clone, Copy)]
pub(in crate::conv) struct Tile<'a, T> {
    pub(super) places: &'a [Place],
    pub(super) taps: &'a [Tap],
    pub(super) input: *const T,
    pub(super) filter: *const T,
    pub(super) sums: *mut T,
    /// Distance between the sums of adjacent features, in elements, if vectors contain pixels.
    pub(super) pitch: usize,
    /// Whether to add to the existing sums.
    pub(super) add: bool,
}

/// An element type of sums that can be computed in tiles.
pub(in crate::conv) trait Tiles: Lanes {
    /// The number of elements of a vector.
    const WIDTH: usize;
    /// Computes a tile with vectors of features: up to [`PIXELS`] places and `vectors` vectors of features.
    ///
    /// # Safety
    /// All positions of the places and the taps must be valid.
    unsafe fn pixels(tile: &Tile<'_, Self>, vectors: usize);
    /// Computes a tile with vectors of pixels: up to [`PIXEL_VECTORS`] places and `features` features.
    ///
    /// # Safety
    /// As for [`Tiles::pixels`], for whole vectors.
    unsafe fn across(tile: &Tile<'_, Self>, features: usize);
}

/// The number of rows of sums that [`loops`] keeps.
const ROWS: usize = 4;

/// Computes a tile by plain loops. One operand is read in vectors of `W`, the other element by element. For
/// each tap, `row` and `vector` return the addresses of row `r` and vector `c`. `sums` returns the address of
/// their sums.
///
/// # Safety
/// The functions must return valid addresses.
#[inline(always)]
unsafe fn loops<T: Lanes, const W: usize, const FMA: bool>(
    t: &Tile<'_, T>,
    [rows, vectors]: [usize; 2],
    row: impl Fn(Tap, usize) -> *const T,
    vector: impl Fn(Tap, usize) -> *const T,
    sums: impl Fn(usize, usize) -> *mut T,
) {
    for c in 0..vectors {
        for first in (0..rows).step_by(ROWS) {
            let mut total = [[T::ZERO; W]; ROWS];
            // SAFETY: guaranteed by the caller.
            unsafe {
                for &tap in t.taps {
                    let x = vector(tap, c).cast::<[T; W]>().read_unaligned();
                    for (r, total) in total.iter_mut().enumerate() {
                        let y = row(tap, (first + r).min(rows - 1)).read();
                        for (sum, &x) in total.iter_mut().zip(&x) {
                            *sum = if FMA { sum.fused(x, y) } else { sum.mul_add(x, y) };
                        }
                    }
                }
                for (r, total) in total.iter().enumerate().take(rows - first) {
                    let to = sums(first + r, c);
                    for (i, &sum) in total.iter().enumerate() {
                        let to = to.add(i);
                        to.write_unaligned(if t.add { to.read_unaligned().plus(sum) } else { sum });
                    }
                }
            }
        }
    }
}

/// Implements [`Tiles::pixels`] by [`loops`].
///
/// # Safety
/// As for [`Tiles::pixels`].
#[inline(always)]
unsafe fn pixels<T: Lanes, const W: usize, const FMA: bool>(t: &Tile<'_, T>, vectors: usize) {
    let row = |tap: Tap, r: usize| t.input.wrapping_add(t.places[r].input as usize + tap.input as usize);
    let vector = |tap: Tap, c: usize| t.filter.wrapping_add(tap.filter as usize + c * W);
    let sums = |r: usize, c: usize| t.sums.wrapping_offset(t.places[r].sums).wrapping_add(c * W);
    // SAFETY: guaranteed by the caller.
    unsafe { loops::<T, W, FMA>(t, [t.places.len(), vectors], row, vector, sums) }
}

/// Implements [`Tiles::across`] by [`loops`].
///
/// # Safety
/// As for [`Tiles::across`].
#[inline(always)]
unsafe fn across<T: Lanes, const W: usize, const FMA: bool>(t: &Tile<'_, T>, features: usize) {
    let row = |tap: Tap, r: usize| t.filter.wrapping_add(tap.filter as usize + r);
    let vector = |tap: Tap, c: usize| t.input.wrapping_add(t.places[c].input as usize + tap.input as usize);
    let sums = |r: usize, c: usize| t.sums.wrapping_offset(t.places[c].sums).wrapping_add(r * t.pitch);
    // SAFETY: guaranteed by the caller.
    unsafe { loops::<T, W, FMA>(t, [features, t.places.len()], row, vector, sums) }
}

/// Implements [`Tiles`] for a type with vectors of `$width` elements. Uses `$wide`, if given, on processors
/// with AVX-512, and plain loops otherwise.
macro_rules! tiles {
    ($t:ty, $width:literal $(, $wide:ident)?) => {
        impl Tiles for $t {
            const WIDTH: usize = $width;
            unsafe fn pixels(tile: &Tile<'_, $t>, vectors: usize) {
                tiles!(@call tile, vectors, $t, $width, pixels $(, $wide)?)
            }
            unsafe fn across(tile: &Tile<'_, $t>, features: usize) {
                tiles!(@call tile, features, $t, $width, across $(, $wide)?)
            }
        }
    };
    (@call $tile:ident, $n:ident, $t:ty, $width:literal, $f:ident $(, $wide:ident)?) => {{
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512dq") {
                // SAFETY: the processor has the features; the caller guarantees the rest.
                $(return unsafe { avx512::$wide::$f($tile, $n) };)?
            }
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2(tile: &Tile<'_, $t>, n: usize) {
                // SAFETY: guaranteed by the caller.
                unsafe { $f::<$t, $width, true>(tile, n) }
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                // SAFETY: the processor has the features; the caller guarantees the rest.
                return unsafe { avx2($tile, $n) };
            }
        }
        // SAFETY: guaranteed by the caller.
        unsafe { $f::<$t, $width, false>($tile, $n) }
    }};
}

tiles!(f32, 16, f32s);
tiles!(f64, 8, f64s);
tiles!(i32, 16, i32s);
tiles!(i64, 8, i64s);
tiles!(Complex<f32>, 8);
tiles!(Complex<f64>, 4);
tiles!(Truth, 64);

#[cfg(target_arch = "x86_64")]
mod avx512 {
    /// Calls `pixel_tile::<R, C>` for the number of places and vectors at run time.
    macro_rules! by_size {
        ($tile:ident, $vectors:ident, [$($r:literal)*]) => {
            match ($tile.places.len(), $vectors) {
                $(
                    ($r, 1) => pixel_tile::<$r, 1>($tile),
                    ($r, 2) => pixel_tile::<$r, 2>($tile),
                    ($r, 3) => pixel_tile::<$r, 3>($tile),
                )*
                _ => {}
            }
        };
    }

    /// Calls `across_tile::<R, C>` for the number of features at run time, with half the vectors if there are
    /// few places.
    macro_rules! by_features {
        ($tile:ident, $features:ident, [$($r:literal)*]) => {
            match $features {
                $(
                    $r if $tile.places.len() <= PIXEL_VECTORS[$r] / 2 => {
                        across_tile::<$r, { PIXEL_VECTORS[$r] / 2 }>($tile);
                    }
                    $r => across_tile::<$r, { PIXEL_VECTORS[$r] }>($tile),
                )*
                _ => {}
            }
        };
    }

    /// Defines the kernels of one element type in a separate module.
    macro_rules! kernels {
        ($name:ident, $t:ty, $width:literal, $vector:ty, $zero:ident, $load:ident, $store:ident, $set:ident,
         $plus:ident, |$acc:ident, $x:ident, $y:ident| $step:expr) => {
            pub(super) mod $name {
                use super::super::{Tile, PIXEL_VECTORS};
                use std::arch::x86_64::*;

                /// # Safety
                /// As for [`super::super::Tiles::pixels`].
                #[target_feature(enable = "avx512f,avx512dq")]
                pub(in super::super) unsafe fn pixels(t: &Tile<'_, $t>, vectors: usize) {
                    // SAFETY: guaranteed by the caller.
                    unsafe { by_size!(t, vectors, [1 2 3 4 5 6 7 8]) }
                }

                /// # Safety
                /// As for [`super::super::Tiles::across`].
                #[target_feature(enable = "avx512f,avx512dq")]
                pub(in super::super) unsafe fn across(t: &Tile<'_, $t>, features: usize) {
                    // SAFETY: guaranteed by the caller.
                    unsafe { by_features!(t, features, [1 2 3 4 5 6 7 8]) }
                }

                /// Computes `R` pixels by `C` vectors of features.
                ///
                /// # Safety
                /// As for [`super::super::Tiles::pixels`].
                #[target_feature(enable = "avx512f,avx512dq")]
                unsafe fn pixel_tile<const R: usize, const C: usize>(t: &Tile<'_, $t>) {
                    // SAFETY: guaranteed by the caller.
                    unsafe {
                        let mut inputs = [t.input; R];
                        for r in 0..R {
                            inputs[r] = t.input.add(t.places[r].input as usize);
                        }
                        let mut sums: [[$vector; C]; R] = [[$zero(); C]; R];
                        for tap in t.taps {
                            let filter = t.filter.add(tap.filter as usize);
                            let mut right = [$zero(); C];
                            for c in 0..C {
                                right[c] = $load(filter.add(c * $width).cast());
                            }
                            for r in 0..R {
                                let $x = $set(inputs[r].add(tap.input as usize).read());
                                for c in 0..C {
                                    let ($acc, $y) = (sums[r][c], right[c]);
                                    sums[r][c] = $step;
                                }
                            }
                        }
                        for r in 0..R {
                            let to = t.sums.offset(t.places[r].sums);
                            for c in 0..C {
                                let to = to.add(c * $width);
                                let sum = if t.add { $plus(sums[r][c], $load(to.cast())) } else { sums[r][c] };
                                $store(to.cast(), sum);
                            }
                        }
                    }
                }

                /// Computes `R` features by up to `C` vectors of pixels.
                ///
                /// # Safety
                /// As for [`super::super::Tiles::across`].
                #[target_feature(enable = "avx512f,avx512dq")]
                unsafe fn across_tile<const R: usize, const C: usize>(t: &Tile<'_, $t>) {
                    let Some(most) = t.places.len().checked_sub(1) else { return };
                    // SAFETY: guaranteed by the caller.
                    unsafe {
                        let mut inputs = [t.input; C];
                        for c in 0..C {
                            inputs[c] = t.input.add(t.places[c.min(most)].input as usize);
                        }
                        let mut sums: [[$vector; C]; R] = [[$zero(); C]; R];
                        for tap in t.taps {
                            let filter = t.filter.add(tap.filter as usize);
                            let mut right = [$zero(); C];
                            for c in 0..C {
                                right[c] = $load(inputs[c].add(tap.input as usize).cast());
                            }
                            for r in 0..R {
                                let $x = $set(filter.add(r).read());
                                for c in 0..C {
                                    let ($acc, $y) = (sums[r][c], right[c]);
                                    sums[r][c] = $step;
                                }
                            }
                        }
                        for c in 0..C {
                            if c > most {
                                break;
                            }
                            let to = t.sums.offset(t.places[c].sums);
                            for r in 0..R {
                                let to = to.add(r * t.pitch);
                                let sum = if t.add { $plus(sums[r][c], $load(to.cast())) } else { sums[r][c] };
                                $store(to.cast(), sum);
                            }
                        }
                    }
                }
            }
        };
    }

    kernels! {
        f32s, f32, 16, __m512, _mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps, _mm512_add_ps,
        |acc, x, y| _mm512_fmadd_ps(x, y, acc)
    }
    kernels! {
        f64s, f64, 8, __m512d, _mm512_setzero_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_set1_pd, _mm512_add_pd,
        |acc, x, y| _mm512_fmadd_pd(x, y, acc)
    }
    kernels! {
        i32s, i32, 16, __m512i, _mm512_setzero_si512, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_set1_epi32,
        _mm512_add_epi32, |acc, x, y| _mm512_add_epi32(acc, _mm512_mullo_epi32(x, y))
    }
    kernels! {
        i64s, i64, 8, __m512i, _mm512_setzero_si512, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_set1_epi64,
        _mm512_add_epi64, |acc, x, y| _mm512_add_epi64(acc, _mm512_mullo_epi64(x, y))
    }
}
