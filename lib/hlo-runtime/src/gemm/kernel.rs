//! The kernels: one tile of sums from a left and a right panel, for each kind of word and instruction set.

use super::{LANES, MR, NR};

/// One call of a kernel: `out[i][j] = init[i][j] + Σ_w a[w][i] · b[w][j]` for `rows` by `vectors * 16` sums.
#[derive(Clone, Copy)]
pub(crate) struct Tile<T> {
    pub(crate) words: usize,
    /// The left panel, `[word][MR]`.
    pub(crate) a: *const u32,
    /// The right panel, `[word][NR]`.
    pub(crate) b: *const u32,
    /// Rows to compute, 1 to `MR`.
    pub(crate) rows: usize,
    /// Vectors of columns to compute, 1 to `NR / LANES`.
    pub(crate) vectors: usize,
    /// Where the sums start; null for zero.
    pub(crate) init: *const T,
    /// Elements from one row of `init` to the next; zero repeats one row.
    pub(crate) init_stride: usize,
    pub(crate) out: *mut T,
    /// Elements from one row of `out` to the next.
    pub(crate) out_stride: usize,
}

/// How a tile is computed from words.
pub(crate) trait Kernel: Copy + Send + Sync + 'static {
    /// The type of the sums.
    type Sum: Copy + Send + Sync + 'static;
    /// Contracted elements in one word.
    const PER_WORD: usize;
    /// True when the sums are f32, false when they are i32.
    const FLOAT: bool;

    /// # Safety
    /// The pointers of `tile` must be valid for its sizes, and the processor must have what the kernel needs.
    unsafe fn tile(self, tile: &Tile<Self::Sum>);
}

/// Calls `$f::<R, C>` for the run-time numbers of rows and vectors.
macro_rules! by_size {
    ($tile:expr, $f:ident) => {
        by_size!(@rows $tile, $f, [1 2 3 4 5 6 7 8])
    };
    (@rows $tile:expr, $f:ident, [$($r:literal)*]) => {
        match ($tile.rows, $tile.vectors) {
            $(($r, 1) => $f::<$r, 1>($tile), ($r, 2) => $f::<$r, 2>($tile), ($r, _) => $f::<$r, 3>($tile),)*
            _ => {}
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::*;
    use std::arch::x86_64::*;

    macro_rules! kernel {
        ($(#[$doc:meta])* $name:ident, $f:ident, $features:literal, $sum:ty, $per_word:literal,
         $vector:ty, $zero:ident, $load:ident, $store:ident, |$acc:ident, $x:ident, $y:ident| $step:expr) => {
            $(#[$doc])*
            #[derive(Clone, Copy)]
            pub(crate) struct $name;

            impl Kernel for $name {
                type Sum = $sum;
                const PER_WORD: usize = $per_word;
                const FLOAT: bool = matches!(stringify!($sum).as_bytes(), b"f32");
                #[inline]
                unsafe fn tile(self, tile: &Tile<$sum>) {
                    // SAFETY: the caller's promise.
                    unsafe { by_size!(tile, $f) }
                }
            }

            /// # Safety
            /// As for [`Kernel::tile`], with `R` rows and `C` vectors.
            #[target_feature(enable = $features)]
            unsafe fn $f<const R: usize, const C: usize>(t: &Tile<$sum>) {
                // SAFETY: the caller's promise: every access is inside the panels and the tile.
                unsafe {
                    let mut acc: [[$vector; C]; R] = [[$zero(); C]; R];
                    if !t.init.is_null() {
                        for i in 0..R {
                            for j in 0..C {
                                acc[i][j] = $load(t.init.add(i * t.init_stride + j * LANES).cast());
                            }
                        }
                    }
                    let (mut a, mut b) = (t.a.cast::<i32>(), t.b.cast::<i32>());
                    for _ in 0..t.words {
                        let mut right: [__m512i; C] = [_mm512_setzero_si512(); C];
                        for j in 0..C {
                            right[j] = _mm512_loadu_si512(b.add(j * LANES).cast());
                        }
                        for i in 0..R {
                            let $x = _mm512_set1_epi32(a.add(i).read());
                            for j in 0..C {
                                let ($acc, $y) = (acc[i][j], right[j]);
                                acc[i][j] = $step;
                            }
                        }
                        a = a.add(MR);
                        b = b.add(NR);
                    }
                    for i in 0..R {
                        for j in 0..C {
                            $store(t.out.add(i * t.out_stride + j * LANES).cast(), acc[i][j]);
                        }
                    }
                }
            }
        };
    }

    kernel! {
        /// f32 by AVX-512 fused multiply-adds.
        Avx512F32, tile_f32, "avx512f", f32, 1, __m512, _mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps,
        |acc, x, y| _mm512_fmadd_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y), acc)
    }
    kernel! {
        /// Pairs of bf16 by AVX512-BF16. The instruction takes subnormal operands as zero and flushes
        /// subnormal sums.
        Avx512Bf16, tile_bf16, "avx512f,avx512bf16", f32, 2, __m512, _mm512_setzero_ps, _mm512_loadu_ps,
        _mm512_storeu_ps,
        |acc, x, y| _mm512_dpbf16_ps(
            acc,
            std::mem::transmute::<__m512i, __m512bh>(x),
            std::mem::transmute::<__m512i, __m512bh>(y),
        )
    }
    kernel! {
        /// Four unsigned bytes of the left panel times four signed ones of the right by AVX512-VNNI, wrapping.
        Avx512S8, tile_s8, "avx512f,avx512vnni", i32, 4, __m512i, _mm512_setzero_si512, _mm512_loadu_si512,
        _mm512_storeu_si512,
        |acc, x, y| _mm512_dpbusd_epi32(acc, x, y)
    }
    kernel! {
        /// Pairs of i16 by AVX512-VNNI, wrapping.
        Avx512Pairs, tile_pairs, "avx512f,avx512vnni", i32, 2, __m512i, _mm512_setzero_si512,
        _mm512_loadu_si512, _mm512_storeu_si512,
        |acc, x, y| _mm512_dpwssd_epi32(acc, x, y)
    }
    kernel! {
        /// i32 by AVX-512 multiplications, wrapping.
        Avx512I32, tile_i32, "avx512f", i32, 1, __m512i, _mm512_setzero_si512, _mm512_loadu_si512,
        _mm512_storeu_si512,
        |acc, x, y| _mm512_add_epi32(acc, _mm512_mullo_epi32(x, y))
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::{Avx512Bf16, Avx512S8};

/// The arithmetic of one kind of word, for the kernel that is plain loops.
trait Word {
    type Sum: Copy + Send + Sync + 'static;
    const ZERO: Self::Sum;
    fn multiply_add<const FMA: bool>(sum: Self::Sum, x: u32, y: u32) -> Self::Sum;
}

/// One f32 to a word.
#[derive(Clone, Copy)]
pub(crate) struct F32;
/// Two i16 to a word, summed in i32, wrapping.
#[derive(Clone, Copy)]
pub(crate) struct Pairs;
/// One i32 to a word, wrapping.
#[derive(Clone, Copy)]
pub(crate) struct I32;

impl Word for F32 {
    type Sum = f32;
    const ZERO: f32 = 0.0;
    #[inline(always)]
    fn multiply_add<const FMA: bool>(sum: f32, x: u32, y: u32) -> f32 {
        let (x, y) = (f32::from_bits(x), f32::from_bits(y));
        if FMA { x.mul_add(y, sum) } else { sum + x * y }
    }
}

impl Word for Pairs {
    type Sum = i32;
    const ZERO: i32 = 0;
    #[inline(always)]
    fn multiply_add<const FMA: bool>(sum: i32, x: u32, y: u32) -> i32 {
        let low = i32::from(x as i16).wrapping_mul(i32::from(y as i16));
        let high = ((x as i32) >> 16).wrapping_mul((y as i32) >> 16);
        sum.wrapping_add(low.wrapping_add(high))
    }
}

impl Word for I32 {
    type Sum = i32;
    const ZERO: i32 = 0;
    #[inline(always)]
    fn multiply_add<const FMA: bool>(sum: i32, x: u32, y: u32) -> i32 {
        sum.wrapping_add((x as i32).wrapping_mul(y as i32))
    }
}

/// Implements [`Kernel`] by the AVX-512 kernel where the processor has the features, else by plain loops
/// compiled for the instruction set that runs them.
macro_rules! best_kernel {
    ($name:ident, $sum:ty, $per_word:literal, $wide:ident, $($feature:tt)&&+) => {
        impl Kernel for $name {
            type Sum = $sum;
            const PER_WORD: usize = $per_word;
            const FLOAT: bool = matches!(stringify!($sum).as_bytes(), b"f32");
            #[inline]
            unsafe fn tile(self, tile: &Tile<$sum>) {
                // SAFETY: the features are checked; the rest is the caller's promise.
                unsafe {
                    #[cfg(target_arch = "x86_64")]
                    {
                        if $(is_x86_feature_detected!($feature))&&+ {
                            return avx512::$wide.tile(tile);
                        }
                        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                            return loops_avx2::<$name>(tile);
                        }
                    }
                    loops::<$name, false>(tile)
                }
            }
        }
    };
}

best_kernel!(F32, f32, 1, Avx512F32, "avx512f");
best_kernel!(Pairs, i32, 2, Avx512Pairs, "avx512f" && "avx512vnni");
best_kernel!(I32, i32, 1, Avx512I32, "avx512f");

/// # Safety
/// As for [`Kernel::tile`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn loops_avx2<W: Word>(tile: &Tile<W::Sum>) {
    // SAFETY: the caller's promise.
    unsafe { loops::<W, true>(tile) }
}

/// # Safety
/// As for [`Kernel::tile`].
#[inline(always)]
unsafe fn loops<W: Word, const FMA: bool>(t: &Tile<W::Sum>) {
    const ROWS: usize = 4;
    for i0 in (0..t.rows).step_by(ROWS) {
        for j0 in (0..t.vectors * LANES).step_by(LANES) {
            let rows = ROWS.min(t.rows - i0);
            let mut acc = [[W::ZERO; LANES]; ROWS];
            // SAFETY: panels hold MR rows and NR columns of every word; only the tile's rows are read and
            // written outside the panels.
            unsafe {
                if !t.init.is_null() {
                    for (i, acc) in acc.iter_mut().enumerate().take(rows) {
                        for (j, acc) in acc.iter_mut().enumerate() {
                            *acc = t.init.add((i0 + i) * t.init_stride + j0 + j).read();
                        }
                    }
                }
                for w in 0..t.words {
                    let right = &*t.b.add(w * NR + j0).cast::<[u32; LANES]>();
                    let left = &*t.a.add(w * MR + i0).cast::<[u32; ROWS]>();
                    for (acc, &x) in acc.iter_mut().zip(left) {
                        for (acc, &y) in acc.iter_mut().zip(right) {
                            *acc = W::multiply_add::<FMA>(*acc, x, y);
                        }
                    }
                }
                for (i, acc) in acc.iter().enumerate().take(rows) {
                    for (j, &sum) in acc.iter().enumerate() {
                        t.out.add((i0 + i) * t.out_stride + j0 + j).write(sum);
                    }
                }
            }
        }
    }
}
