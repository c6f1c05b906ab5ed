//! Strided copies: transpositions of any rank and element size, in blocks that use whole cache lines on both
//! sides.

use crate::gemm::transpose_words;
use hlo_runtime_core::{Context, CopyDesc, Error, MAX_COPY_RANK, Shared};
use smallvec::SmallVec;

/// Copies a box of elements; see [`CopyDesc`]. Returns 0, or 1 with a message in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `desc` to a descriptor. Every element that the descriptor
/// reaches must be readable in `from` and writable in `to`. The two must not overlap, unless they are the
/// same pointer and have the same strides.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_copy_strided(
    ctx: *const Context,
    desc: *const CopyDesc,
    from: *const u8,
    to: *mut u8,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let (ctx, desc) = unsafe { (&*ctx, &*desc) };
    ctx.guard("copy", || {
        // SAFETY: guaranteed by the caller for each element type.
        unsafe {
            match desc.element_bytes {
                1 => copy::<u8>(ctx, desc, from, to),
                2 => copy::<u16>(ctx, desc, from, to),
                4 => copy::<u32>(ctx, desc, from, to),
                8 => copy::<u64>(ctx, desc, from, to),
                16 => copy::<[u64; 2]>(ctx, desc, from, to),
                n => Err(Error(format!("elements of {n} bytes"))),
            }
        }
    })
}

/// One dimension; strides are in bytes.
#[derive(Clone, Copy, Debug)]
struct Dim {
    size: usize,
    from: isize,
    to: isize,
}

/// A list with inline space for the maximum rank.
type Dims = SmallVec<[Dim; MAX_COPY_RANK]>;

/// Returns the dimensions with more than one element, sorted by descending output stride. Neighboring
/// dimensions are merged where both sides allow it. Returns `None` if there are no elements.
fn dims(desc: &CopyDesc) -> Result<Option<Dims>, Error> {
    let rank = usize::try_from(desc.rank).ok().filter(|&r| r <= MAX_COPY_RANK);
    let rank = rank.ok_or_else(|| Error(format!("the rank is {}", desc.rank)))?;
    let bytes = desc.element_bytes as isize;
    let mut dims = Dims::new();
    for d in 0..rank {
        let size =
            usize::try_from(desc.sizes[d]).map_err(|_| Error(format!("a size is {}", desc.sizes[d])))?;
        if size != 1 {
            let (from, to) = (desc.from_strides[d] as isize * bytes, desc.to_strides[d] as isize * bytes);
            dims.push(Dim { size, from, to });
        }
    }
    if dims.iter().any(|d| d.size == 0) {
        return Ok(None);
    }
    dims.sort_by_key(|d| std::cmp::Reverse(d.to.unsigned_abs()));
    let mut merged = Dims::new();
    for dim in dims {
        match merged.last_mut() {
            Some(outer)
                if outer.to == dim.to * dim.size as isize && outer.from == dim.from * dim.size as isize =>
            {
                *outer = Dim { size: outer.size * dim.size, ..dim };
            }
            _ => merged.push(dim),
        }
    }
    Ok(Some(merged))
}

/// The approximate number of bytes that a task copies.
const TASK_BYTES: usize = 1 << 18;
/// The minimum size for non-temporal stores of whole cache lines. An output of this size would not stay in
/// the cache.
const MIN_STREAM_BYTES: usize = 16 << 20;

/// # Safety
/// As for [`hlo_rt_copy_strided`], with elements of `T`'s size.
unsafe fn copy<T: Copy>(ctx: &Context, desc: &CopyDesc, from: *const u8, to: *mut u8) -> Result<(), Error> {
    let Some(mut dims) = dims(desc)? else { return Ok(()) };
    // The array is already at the destination of the copy.
    if std::ptr::eq(from, to) && dims.iter().all(|d| d.from == d.to) {
        return Ok(());
    }
    let total: usize = dims.iter().map(|d| d.size).product();
    let stream = total * size_of::<T>() >= MIN_STREAM_BYTES;
    // The fastest dimension of the output, and that of the input if it is different.
    let column = dims.pop().unwrap_or(Dim { size: 1, from: 0, to: 0 });
    let fastest = (0..dims.len()).min_by_key(|&d| (dims[d].from.unsigned_abs(), d));
    let row = match fastest.filter(|&d| dims[d].from.unsigned_abs() < column.from.unsigned_abs()) {
        Some(d) => dims.remove(d),
        None => dims.pop().unwrap_or(Dim { size: 1, from: 0, to: 0 }),
    };
    let plane = Plane { row, column, stream };
    // A task is a part of one plane, or several whole planes if they are small.
    let (rows, columns) = plane.block::<T>();
    let (row_blocks, column_blocks) = (row.size.div_ceil(rows), column.size.div_ceil(columns));
    let planes: usize = dims.iter().map(|d| d.size).product();
    let blocks = planes * row_blocks * column_blocks;
    let block_bytes = rows.min(row.size) * columns.min(column.size) * size_of::<T>();
    let grain = (TASK_BYTES / block_bytes.max(1)).clamp(1, blocks);
    // SAFETY: blocks write disjoint elements.
    let pointers = unsafe { Shared::new((from, to)) };
    ctx.for_each(blocks.div_ceil(grain), |task| {
        for block in task * grain..blocks.min((task + 1) * grain) {
            let (mut index, part) =
                (block / (row_blocks * column_blocks), block % (row_blocks * column_blocks));
            let (mut from, mut to) = pointers.get();
            for d in dims.iter().rev() {
                let i = (index % d.size) as isize;
                index /= d.size;
                (from, to) = (from.wrapping_offset(i * d.from), to.wrapping_offset(i * d.to));
            }
            let (r, c) = (part / column_blocks * rows, part % column_blocks * columns);
            // SAFETY: the block is inside the box.
            unsafe {
                plane.copy_block::<T>(
                    from,
                    to,
                    [r, c],
                    [rows.min(row.size - r), columns.min(column.size - c)],
                )
            };
        }
        #[cfg(target_arch = "x86_64")]
        if stream {
            // SAFETY: every x86-64 processor has the instruction.
            unsafe { std::arch::x86_64::_mm_sfence() };
        }
    });
    Ok(())
}

/// A two-dimensional part of the box. `column` is the dimension with the smallest output stride. `row` is the
/// dimension with the smallest input stride, if that is a different one.
struct Plane {
    row: Dim,
    column: Dim,
    stream: bool,
}

impl Plane {
    /// Returns whether the plane is a transposition with adjacent elements on both sides.
    fn transposes<T>(&self) -> bool {
        let size = size_of::<T>() as isize;
        self.row.from == size && self.column.to == size && self.row.size > 1
    }

    /// Returns the number of rows and columns of one block.
    fn block<T>(&self) -> (usize, usize) {
        if self.column.from.unsigned_abs() <= self.row.from.unsigned_abs() {
            // Both sides have contiguous lines: one row is the block.
            (1, self.column.size.min(TASK_BYTES))
        } else {
            // The columns of a block fill some cache lines in the output, and its rows fill some in the
            // input.
            (1024.min(self.row.size), 256 / size_of::<T>().min(16))
        }
    }

    /// # Safety
    /// The block must be inside the box that starts at `from` and `to`.
    unsafe fn copy_block<T: Copy>(
        &self,
        from: *const u8,
        to: *mut u8,
        [r0, c0]: [usize; 2],
        [rows, columns]: [usize; 2],
    ) {
        let Plane { row, column, .. } = *self;
        let from = from.wrapping_offset(r0 as isize * row.from + c0 as isize * column.from);
        let to = to.wrapping_offset(r0 as isize * row.to + c0 as isize * column.to);
        let size = size_of::<T>();
        // SAFETY: guaranteed by the caller.
        unsafe {
            if column.from == size as isize && column.to == size as isize {
                for r in 0..rows as isize {
                    let (from, to) = (from.wrapping_offset(r * row.from), to.wrapping_offset(r * row.to));
                    std::ptr::copy_nonoverlapping(from, to, columns * size);
                }
                return;
            }
            if self.transposes::<T>() && (size == 4 || size == 8) && row.to > 0 {
                let aligned = to.cast::<[u8; 64]>().addr() % 64 == 0 && row.to % 64 == 0;
                let (rows_done, columns_done) = transpose_tiles(
                    size,
                    from,
                    column.from,
                    to,
                    row.to,
                    [rows, columns],
                    self.stream && aligned,
                );
                // The elements outside the tiles: the last columns of every row, then the last rows.
                let rest = from.wrapping_offset(columns_done as isize * column.from);
                let rest_to = to.wrapping_add(columns_done * size);
                self.copy_loops::<T>(rest, rest_to, [rows_done, columns - columns_done]);
                let rest = from.wrapping_add(rows_done * size);
                let rest_to = to.wrapping_offset(rows_done as isize * row.to);
                self.copy_loops::<T>(rest, rest_to, [rows - rows_done, columns]);
                return;
            }
            self.copy_loops::<T>(from, to, [rows, columns]);
        }
    }

    /// Copies element by element, in small squares, so that cache lines are reused while they are in the
    /// cache.
    ///
    /// # Safety
    /// As for [`Plane::copy_block`].
    unsafe fn copy_loops<T: Copy>(&self, from: *const u8, to: *mut u8, [rows, columns]: [usize; 2]) {
        const TILE_SIDE: usize = 32;
        let Plane { row, column, .. } = *self;
        for r0 in (0..rows).step_by(TILE_SIDE) {
            for c0 in (0..columns).step_by(TILE_SIDE) {
                for r in r0..rows.min(r0 + TILE_SIDE) {
                    let from = from.wrapping_offset(r as isize * row.from);
                    let to = to.wrapping_offset(r as isize * row.to);
                    for c in c0 as isize..columns.min(c0 + TILE_SIDE) as isize {
                        // SAFETY: guaranteed by the caller.
                        unsafe {
                            let value = from.wrapping_offset(c * column.from).cast::<T>().read_unaligned();
                            to.wrapping_offset(c * column.to).cast::<T>().write_unaligned(value);
                        }
                    }
                }
            }
        }
    }
}

/// Transposes the whole tiles of a block of 4- or 8-byte elements: `to[r][c] = from[c][r]`. Returns the
/// number of rows and columns that the tiles cover.
///
/// # Safety
/// The block must be readable and writable. With `stream`, rows of `to` must be aligned to 64 bytes.
unsafe fn transpose_tiles(
    size: usize,
    from: *const u8,
    from_stride: isize,
    to: *mut u8,
    to_stride: isize,
    [rows, columns]: [usize; 2],
    stream: bool,
) -> (usize, usize) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        let tile = 64 / size;
        let (rows, columns) = (rows / tile * tile, columns / tile * tile);
        for r in (0..rows).step_by(tile) {
            for c in (0..columns).step_by(tile) {
                // SAFETY: the tile is inside the block.
                unsafe {
                    let from = from.add(r * size).wrapping_offset(c as isize * from_stride);
                    let to = to.wrapping_offset(r as isize * to_stride).add(c * size);
                    match (size, stream) {
                        (4, true) => tiles::words::<true>(from, from_stride, to, to_stride),
                        (4, false) => tiles::words::<false>(from, from_stride, to, to_stride),
                        (_, true) => tiles::doubles::<true>(from, from_stride, to, to_stride),
                        (_, false) => tiles::doubles::<false>(from, from_stride, to, to_stride),
                    }
                }
            }
        }
        return (rows, columns);
    }
    let _ = stream;
    if size == 4 && to_stride % 4 == 0 && to.cast::<u32>().is_aligned() {
        // SAFETY: guaranteed by the caller; `from` has `columns` lines of `rows` words.
        unsafe { transpose_words(from, from_stride, columns, rows, to.cast(), to_stride as usize / 4) };
        return (rows, columns);
    }
    (0, 0)
}

#[cfg(target_arch = "x86_64")]
mod tiles {
    use std::arch::x86_64::*;

    /// # Safety
    /// 64 bytes must be writable at `to`, aligned to 64 if `STREAM`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn store<const STREAM: bool>(to: *mut u8, value: __m512i) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if STREAM { _mm512_stream_si512(to.cast(), value) } else { _mm512_storeu_si512(to.cast(), value) }
        }
    }

    /// Transposes 16 by 16 elements of four bytes.
    ///
    /// # Safety
    /// The tile must be readable and writable, and rows of `to` aligned to 64 bytes if `STREAM`.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn words<const STREAM: bool>(
        from: *const u8,
        from_stride: isize,
        to: *mut u8,
        to_stride: isize,
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let columns = crate::gemm::transpose_16(from, from_stride);
            for (r, value) in columns.into_iter().enumerate() {
                store::<STREAM>(to.wrapping_offset(r as isize * to_stride), value);
            }
        }
    }

    /// Transposes 8 by 8 elements of eight bytes.
    ///
    /// # Safety
    /// As for [`words`].
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn doubles<const STREAM: bool>(
        from: *const u8,
        from_stride: isize,
        to: *mut u8,
        to_stride: isize,
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut pairs = [[_mm512_setzero_si512(); 2]; 4];
            for (p, pair) in pairs.iter_mut().enumerate() {
                let a = _mm512_loadu_si512(from.wrapping_offset(2 * p as isize * from_stride).cast());
                let b = _mm512_loadu_si512(from.wrapping_offset((2 * p as isize + 1) * from_stride).cast());
                *pair = [_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)];
            }
            let [p0, p1, p2, p3] = pairs;
            for (c, (((r0, r1), r2), r3)) in p0.into_iter().zip(p1).zip(p2).zip(p3).enumerate() {
                // Lane `l` of pair `p` contains lines `2p` and `2p + 1` of element `2l + c`. Transpose the
                // 4x4 lanes.
                let low01 = _mm512_shuffle_i64x2::<0x44>(r0, r1);
                let high01 = _mm512_shuffle_i64x2::<0xee>(r0, r1);
                let low23 = _mm512_shuffle_i64x2::<0x44>(r2, r3);
                let high23 = _mm512_shuffle_i64x2::<0xee>(r2, r3);
                let rows = [
                    _mm512_shuffle_i64x2::<0x88>(low01, low23),
                    _mm512_shuffle_i64x2::<0xdd>(low01, low23),
                    _mm512_shuffle_i64x2::<0x88>(high01, high23),
                    _mm512_shuffle_i64x2::<0xdd>(high01, high23),
                ];
                for (l, value) in rows.into_iter().enumerate() {
                    store::<STREAM>(to.wrapping_offset((2 * l + c) as isize * to_stride), value);
                }
            }
        }
    }
}
