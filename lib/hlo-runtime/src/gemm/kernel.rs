//! The kernels: compute one tile of sums from a left and a right panel, for each kind of word and instruction
//! set.

use super::LANES;

/// One call of a kernel: `out[i][j] = init[i][j] + Σ_w a[w][i] · b[w][j]` for `rows` by `columns` sums. The
/// kernel accesses no other elements.
#[derive(Clone, Copy)]
pub(crate) struct Tile<T> {
    pub(crate) words: usize,
    /// The left operand: a packed panel, or the operand in its memory layout.
    pub(crate) a: *const u32,
    /// Distance from one row of the left operand to the next, in words; 1 in a panel.
    pub(crate) a_row: isize,
    /// Distance from one word of a row to the next, in words; `MR` in a panel.
    pub(crate) a_word: isize,
    /// The right operand, with adjacent columns.
    pub(crate) b: *const u32,
    /// Distance from one row of the right operand to the next, in words; `NR` in a panel.
    pub(crate) b_word: isize,
    /// The number of rows to compute, 1 to `MR`.
    pub(crate) rows: usize,
    /// The number of columns to compute, 1 to `NR`.
    pub(crate) columns: usize,
    /// The initial sums; null for zero.
    pub(crate) init: *const T,
    /// Distance from one row of `init` to the next, in elements; zero repeats one row.
    pub(crate) init_stride: usize,
    pub(crate) out: *mut T,
    /// Distance from one row of `out` to the next, in elements.
    pub(crate) out_stride: usize,
}

/// A computation of tiles from words.
pub(crate) trait Kernel: Copy + Send + Sync + 'static {
    /// The type of the sums.
    type Sum: Copy + Send + Sync + 'static;
    /// The number of contracted elements in one word.
    const PER_WORD: usize;
    /// Whether the sums are f32; otherwise they are i32.
    const FLOAT: bool;

    /// # Safety
    /// The pointers of `tile` must be valid for its sizes, and the processor must have the features that the
    /// kernel needs.
    unsafe fn tile(self, tile: &Tile<Self::Sum>);
}

/// Calls `$f::<R, C, PACKED>` for the number of rows and vectors at run time. `PACKED` is whether rows are
/// adjacent.
macro_rules! by_size {
    ($tile:expr, $f:ident) => {
        by_size!(@rows $tile, $f, [1 2 3 4 5 6 7 8])
    };
    (@rows $tile:expr, $f:ident, [$($r:literal)*]) => {
        match ($tile.rows, $tile.columns.div_ceil(LANES), $tile.a_row == 1) {
            $(
                ($r, 1, true) => $f::<$r, 1, true>($tile),
                ($r, 2, true) => $f::<$r, 2, true>($tile),
                ($r, _, true) => $f::<$r, 3, true>($tile),
                ($r, 1, false) => $f::<$r, 1, false>($tile),
                ($r, 2, false) => $f::<$r, 2, false>($tile),
                ($r, _, false) => $f::<$r, 3, false>($tile),
            )*
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
         $vector:ty, $zero:ident, $add:ident, $load:ident, $store:ident, |$acc:ident, $x:ident, $y:ident| $step:expr) => {
            $(#[$doc])*
            #[derive(Clone, Copy)]
            pub(crate) struct $name;

            impl Kernel for $name {
                type Sum = $sum;
                const PER_WORD: usize = $per_word;
                const FLOAT: bool = matches!(stringify!($sum).as_bytes(), b"f32");
                #[inline]
                unsafe fn tile(self, tile: &Tile<$sum>) {
                    // SAFETY: guaranteed by the caller.
                    unsafe { by_size!(tile, $f) }
                }
            }

            /// # Safety
            /// As for [`Kernel::tile`], with `R` rows, which are adjacent if `PACKED`, and `C` vectors.
            #[target_feature(enable = $features)]
            unsafe fn $f<const R: usize, const C: usize, const PACKED: bool>(t: &Tile<$sum>) {
                // SAFETY: the caller guarantees that every access is inside the panels and the tile.
                unsafe {
                    // The last vector may have fewer lanes.
                    let last = u16::MAX >> (C * LANES - t.columns);
                    let mask = |j: usize| if j + 1 == C { last } else { u16::MAX };
                    let mut acc: [[$vector; C]; R] = [[$zero(); C]; R];
                    if !t.init.is_null() {
                        for i in 0..R {
                            for j in 0..C {
                                acc[i][j] = $load(mask(j), t.init.add(i * t.init_stride + j * LANES).cast());
                            }
                        }
                    }
                    let (mut a, mut b) = (t.a.cast::<i32>(), t.b.cast::<i32>());
                    // `black_box` keeps the compiler from computing each row's address from the address of
                    // the previous row.
                    let lines: [*const i32; R] = std::array::from_fn(|i| a.wrapping_offset(i as isize * t.a_row));
                    let lines = if PACKED { lines } else { std::hint::black_box(lines) };
                    let mut at = 0isize;
                    // The sums of every second term, for tiles of one vector. With one sum only, each
                    // addition would wait for the previous one.
                    let mut other: [$vector; R] = [$zero(); R];
                    let mut w = 0;
                    while C == 1 && w + 1 < t.words {
                        let both = [b, b.wrapping_offset(t.b_word)].map(|b| _mm512_maskz_loadu_epi32(last, b));
                        for i in 0..R {
                            let word = if PACKED { a.add(i) } else { lines[i].offset(at) };
                            let ($acc, $x, $y) = (acc[i][0], _mm512_set1_epi32(word.read()), both[0]);
                            acc[i][0] = $step;
                            let word = word.offset(t.a_word);
                            let ($acc, $x, $y) = (other[i], _mm512_set1_epi32(word.read()), both[1]);
                            other[i] = $step;
                        }
                        if PACKED {
                            a = a.wrapping_offset(2 * t.a_word);
                        } else {
                            at = at.wrapping_add(2 * t.a_word);
                        }
                        b = b.wrapping_offset(2 * t.b_word);
                        w += 2;
                    }
                    while w < t.words {
                        let mut right: [__m512i; C] = [_mm512_setzero_si512(); C];
                        for j in 0..C {
                            right[j] = _mm512_maskz_loadu_epi32(mask(j), b.add(j * LANES));
                        }
                        for i in 0..R {
                            let word = if PACKED { a.add(i) } else { lines[i].offset(at) };
                            let $x = _mm512_set1_epi32(word.read());
                            for j in 0..C {
                                let ($acc, $y) = (acc[i][j], right[j]);
                                acc[i][j] = $step;
                            }
                        }
                        if PACKED {
                            a = a.wrapping_offset(t.a_word);
                        } else {
                            at = at.wrapping_add(t.a_word);
                        }
                        b = b.wrapping_offset(t.b_word);
                        w += 1;
                    }
                    if C == 1 {
                        for i in 0..R {
                            acc[i][0] = $add(acc[i][0], other[i]);
                        }
                    }
                    for i in 0..R {
                        for j in 0..C {
                            $store(t.out.add(i * t.out_stride + j * LANES).cast(), mask(j), acc[i][j]);
                        }
                    }
                }
            }
        };
    }

    kernel! {
        /// f32 with AVX-512 fused multiply-adds.
        Avx512F32, tile_f32, "avx512f", f32, 1, __m512, _mm512_setzero_ps, _mm512_add_ps, _mm512_maskz_loadu_ps, _mm512_mask_storeu_ps,
        |acc, x, y| _mm512_fmadd_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y), acc)
    }
    kernel! {
        /// Pairs of bf16 with AVX512-BF16. The instruction treats subnormal operands as zero and flushes
        /// subnormal sums.
        Avx512Bf16, tile_bf16, "avx512f,avx512bf16", f32, 2, __m512, _mm512_setzero_ps, _mm512_add_ps, _mm512_maskz_loadu_ps,
        _mm512_mask_storeu_ps,
        |acc, x, y| _mm512_dpbf16_ps(
            acc,
            std::mem::transmute::<__m512i, __m512bh>(x),
            std::mem::transmute::<__m512i, __m512bh>(y),
        )
    }
    kernel! {
        /// Four unsigned bytes of the left panel times four signed bytes of the right panel with AVX512-VNNI,
        /// wrapping.
        Avx512S8, tile_s8, "avx512f,avx512vnni", i32, 4, __m512i, _mm512_setzero_si512, _mm512_add_epi32, _mm512_maskz_loadu_epi32,
        _mm512_mask_storeu_epi32,
        |acc, x, y| _mm512_dpbusd_epi32(acc, x, y)
    }
    kernel! {
        /// Pairs of i16 with AVX512-VNNI, wrapping.
        Avx512Pairs, tile_pairs, "avx512f,avx512vnni", i32, 2, __m512i, _mm512_setzero_si512, _mm512_add_epi32,
        _mm512_maskz_loadu_epi32, _mm512_mask_storeu_epi32,
        |acc, x, y| _mm512_dpwssd_epi32(acc, x, y)
    }
    kernel! {
        /// i32 with AVX-512 multiplications, wrapping.
        Avx512I32, tile_i32, "avx512f", i32, 1, __m512i, _mm512_setzero_si512, _mm512_add_epi32, _mm512_maskz_loadu_epi32,
        _mm512_mask_storeu_epi32,
        |acc, x, y| _mm512_add_epi32(acc, _mm512_mullo_epi32(x, y))
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::{Avx512Bf16, Avx512S8};

/// The arithmetic of one kind of word, for the kernel of plain loops.
trait Word {
    type Sum: Copy + Send + Sync + 'static;
    const ZERO: Self::Sum;
    fn multiply_add<const FMA: bool>(sum: Self::Sum, x: u32, y: u32) -> Self::Sum;
}

/// Words of one f32.
#[derive(Clone, Copy)]
pub(crate) struct F32;
/// Words of two i16, which are summed in i32, wrapping.
#[derive(Clone, Copy)]
pub(crate) struct Pairs;
/// Words of one i32, wrapping.
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

/// Implements [`Kernel`] by the AVX-512 kernel if the processor has the features. Otherwise it uses plain
/// loops, compiled for AVX2 and FMA if the processor has these.
macro_rules! best_kernel {
    ($name:ident, $sum:ty, $per_word:literal, $wide:ident, $($feature:tt)&&+) => {
        impl Kernel for $name {
            type Sum = $sum;
            const PER_WORD: usize = $per_word;
            const FLOAT: bool = matches!(stringify!($sum).as_bytes(), b"f32");
            #[inline]
            unsafe fn tile(self, tile: &Tile<$sum>) {
                // SAFETY: the features are checked; the caller guarantees the rest.
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
    // SAFETY: guaranteed by the caller.
    unsafe { loops::<W, true>(tile) }
}

/// # Safety
/// As for [`Kernel::tile`].
#[inline(always)]
unsafe fn loops<W: Word, const FMA: bool>(t: &Tile<W::Sum>) {
    const ROWS: usize = 4;
    for i0 in (0..t.rows).step_by(ROWS) {
        for j0 in (0..t.columns).step_by(LANES) {
            let (rows, lanes) = (ROWS.min(t.rows - i0), LANES.min(t.columns - j0));
            let mut acc = [[W::ZERO; LANES]; ROWS];
            // SAFETY: guaranteed by the caller; only the rows and columns of the tile are accessed.
            unsafe {
                if !t.init.is_null() {
                    for (i, acc) in acc.iter_mut().enumerate().take(rows) {
                        for (j, acc) in acc.iter_mut().enumerate().take(lanes) {
                            *acc = t.init.add((i0 + i) * t.init_stride + j0 + j).read();
                        }
                    }
                }
                // Rows after the last repeat the last row; their sums are not stored.
                let lines: [isize; ROWS] = std::array::from_fn(|i| (i0 + i.min(rows - 1)) as isize * t.a_row);
                for w in 0..t.words as isize {
                    let right = t.b.add(j0).offset(w * t.b_word);
                    let right = match lanes {
                        LANES => right.cast::<[u32; LANES]>().read(),
                        _ => std::array::from_fn(|j| if j < lanes { right.add(j).read() } else { 0 }),
                    };
                    for (acc, line) in acc.iter_mut().zip(lines) {
                        let x = t.a.offset(line + w * t.a_word).read();
                        for (acc, &y) in acc.iter_mut().zip(&right) {
                            *acc = W::multiply_add::<FMA>(*acc, x, y);
                        }
                    }
                }
                for (i, acc) in acc.iter().enumerate().take(rows) {
                    for (j, &sum) in acc.iter().enumerate().take(lanes) {
                        t.out.add((i0 + i) * t.out_stride + j0 + j).write(sum);
                    }
                }
            }
        }
    }
}
