//! Transposition of blocks of 32-bit words, in registers where the processor has AVX-512.

/// Blocks with fewer rows or columns than this are moved word by word.
const MIN_TRANSPOSED_SIDE: usize = 3;

/// Sets `to[c * to_stride + r] = from[r * from_stride + c]` for `rows` by `columns` words. `from_stride`
/// counts bytes, so that rows of narrower elements can start anywhere. `to_stride` counts words.
///
/// # Safety
/// Every word named above must be readable (any alignment) or writable.
pub unsafe fn transpose_words(
    from: *const u8,
    from_stride: isize,
    rows: usize,
    columns: usize,
    to: *mut u32,
    to_stride: usize,
) {
    let (mut full_rows, mut full_columns) = (0, 0);
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the feature; the blocks are inside the memory that the caller guarantees.
        unsafe {
            if rows >= 16 {
                (full_rows, full_columns) = (rows / 16 * 16, columns / 16 * 16);
                for r in (0..full_rows).step_by(16) {
                    for c in (0..full_columns).step_by(16) {
                        let from = from.offset(r as isize * from_stride).add(4 * c);
                        avx512::block16(from, from_stride, to.add(c * to_stride + r), to_stride);
                    }
                }
            } else if rows >= 8 {
                (full_rows, full_columns) = (8, columns / 16 * 16);
                for c in (0..full_columns).step_by(16) {
                    avx512::block8(from.add(4 * c), from_stride, to.add(c * to_stride), to_stride);
                }
            }
        }
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") && rows.min(columns) >= MIN_TRANSPOSED_SIDE {
        let rest = |first: usize, rows: usize, from_column: usize| {
            for r in (first..rows).step_by(16) {
                for c in (from_column..columns).step_by(16) {
                    // SAFETY: the processor has the feature; the block is inside the memory that the caller
                    // guarantees.
                    unsafe {
                        let from = from.offset(r as isize * from_stride).add(4 * c);
                        let size = [(rows - r).min(16), (columns - c).min(16)];
                        avx512::part16(from, from_stride, size, to.add(c * to_stride + r), to_stride);
                    }
                }
            }
        };
        rest(0, full_rows, full_columns);
        rest(full_rows, rows, 0);
        return;
    }
    for r in 0..rows {
        let first = if r < full_rows { full_columns } else { 0 };
        for c in first..columns {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let word = from.offset(r as isize * from_stride).add(4 * c).cast::<u32>().read_unaligned();
                to.add(c * to_stride + r).write(word);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::transpose_16;

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    /// Transposes the four 4x4 blocks of four rows within the 128-bit lanes. In each lane, result `c`
    /// contains column `4 * lane + c` of the rows.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn lanes4(r: [__m512i; 4]) -> [__m512i; 4] {
        let ab_lo = _mm512_unpacklo_epi32(r[0], r[1]);
        let ab_hi = _mm512_unpackhi_epi32(r[0], r[1]);
        let cd_lo = _mm512_unpacklo_epi32(r[2], r[3]);
        let cd_hi = _mm512_unpackhi_epi32(r[2], r[3]);
        [
            _mm512_unpacklo_epi64(ab_lo, cd_lo),
            _mm512_unpackhi_epi64(ab_lo, cd_lo),
            _mm512_unpacklo_epi64(ab_hi, cd_hi),
            _mm512_unpackhi_epi64(ab_hi, cd_hi),
        ]
    }

    /// Loads row `r` of a block.
    ///
    /// # Safety
    /// 16 words must be readable at that row.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn row(from: *const u8, stride: isize, r: usize) -> __m512i {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm512_loadu_si512(from.offset(r as isize * stride).cast()) }
    }

    /// Loads a block of 16 by 16 words and returns its columns. `from_stride` is the distance between rows in
    /// bytes.
    ///
    /// # Safety
    /// The block must be readable.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) unsafe fn transpose_16(from: *const u8, from_stride: isize) -> [__m512i; 16] {
        let mut rows = [_mm512_setzero_si512(); 16];
        for (r, to) in rows.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            *to = unsafe { row(from, from_stride, r) };
        }
        columns_of(rows)
    }

    /// Returns the columns of a block given by its rows.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn columns_of(rows: [__m512i; 16]) -> [__m512i; 16] {
        let mut groups = [[_mm512_setzero_si512(); 4]; 4];
        for (group, rows) in groups.iter_mut().zip(rows.as_chunks().0) {
            *group = lanes4(*rows);
        }
        let mut columns = [_mm512_setzero_si512(); 16];
        let [g0, g1, g2, g3] = groups;
        for (c, (((r0, r1), r2), r3)) in g0.into_iter().zip(g1).zip(g2).zip(g3).enumerate() {
            // Lane `l` of group `g` contains rows `4g..4g+4` of column `4l + c`. Transpose the 4x4 lanes.
            let low01 = _mm512_shuffle_i32x4::<0x44>(r0, r1);
            let high01 = _mm512_shuffle_i32x4::<0xee>(r0, r1);
            let low23 = _mm512_shuffle_i32x4::<0x44>(r2, r3);
            let high23 = _mm512_shuffle_i32x4::<0xee>(r2, r3);
            columns[c] = _mm512_shuffle_i32x4::<0x88>(low01, low23);
            columns[4 + c] = _mm512_shuffle_i32x4::<0xdd>(low01, low23);
            columns[8 + c] = _mm512_shuffle_i32x4::<0x88>(high01, high23);
            columns[12 + c] = _mm512_shuffle_i32x4::<0xdd>(high01, high23);
        }
        columns
    }

    /// Transposes 16 by 16 words.
    ///
    /// # Safety
    /// The block must be readable and writable.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn block16(from: *const u8, from_stride: isize, to: *mut u32, to_stride: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            for (c, column) in transpose_16(from, from_stride).into_iter().enumerate() {
                _mm512_storeu_si512(to.add(c * to_stride).cast(), column);
            }
        }
    }

    /// Transposes up to 16 by 16 words.
    ///
    /// # Safety
    /// The block must be readable and writable.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn part16(
        from: *const u8,
        from_stride: isize,
        [rows, columns]: [usize; 2],
        to: *mut u32,
        to_stride: usize,
    ) {
        let mask = |n: usize| ((1u32 << n.min(16)) - 1) as u16;
        let mut block = [_mm512_setzero_si512(); 16];
        // SAFETY: guaranteed by the caller.
        unsafe {
            for (r, row) in block.iter_mut().enumerate().take(rows) {
                let from = from.offset(r as isize * from_stride);
                *row = _mm512_maskz_loadu_epi32(mask(columns), from.cast());
            }
            for (c, column) in columns_of(block).into_iter().enumerate().take(columns) {
                _mm512_mask_storeu_epi32(to.add(c * to_stride).cast(), mask(rows), column);
            }
        }
    }

    /// Transposes 8 rows of 16 words into 16 rows of 8 words.
    ///
    /// # Safety
    /// The block must be readable and writable.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn block8(from: *const u8, from_stride: isize, to: *mut u32, to_stride: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut groups = [[_mm512_setzero_si512(); 4]; 2];
            for (g, group) in groups.iter_mut().enumerate() {
                *group = lanes4([
                    row(from, from_stride, 4 * g),
                    row(from, from_stride, 4 * g + 1),
                    row(from, from_stride, 4 * g + 2),
                    row(from, from_stride, 4 * g + 3),
                ]);
            }
            let [upper, lower] = groups;
            for (c, (r0, r1)) in upper.into_iter().zip(lower).enumerate() {
                // Lane `l` of group `g` contains rows `4g..4g+4` of column `4l + c`. Pair the lanes of the
                // groups.
                let low = _mm512_shuffle_i32x4::<0x44>(r0, r1);
                let high = _mm512_shuffle_i32x4::<0xee>(r0, r1);
                let low = _mm512_shuffle_i32x4::<0xd8>(low, low);
                let high = _mm512_shuffle_i32x4::<0xd8>(high, high);
                let store = |column: usize, half: __m256i| {
                    _mm256_storeu_si256(to.add(column * to_stride).cast(), half);
                };
                store(c, _mm512_castsi512_si256(low));
                store(4 + c, _mm512_extracti64x4_epi64::<1>(low));
                store(8 + c, _mm512_castsi512_si256(high));
                store(12 + c, _mm512_extracti64x4_epi64::<1>(high));
            }
        }
    }
}
