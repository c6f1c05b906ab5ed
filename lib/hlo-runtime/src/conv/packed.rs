//! Convolutions as implicit matrix products: output pixels by output features, over window positions and input
//! features. Patches of the input are packed panel by panel as the product needs them; no matrix of patches
//! ever exists as a whole.

use super::geometry::Geometry;
use super::{Buffers, MAX_SPATIAL};
use crate::context::{Context, Error};
use crate::element::{Accumulator, ElementCode};
use crate::gemm::{self, Format, LANES, MR, NR, Panels, Sink, transpose_words};

/// # Safety
/// As for [`super::hlo_rt_conv`].
pub(super) unsafe fn conv(
    ctx: &Context,
    g: &Geometry,
    accumulator: Accumulator,
    buffers: Buffers,
) -> Result<(), Error> {
    let [l, r, _] = g.types;
    let float = accumulator == Accumulator::F32;
    let [lhs, rhs] = [l, r].map(|t| if float { Format::f32(t) } else { Format::i32(t) });
    let (Some(lhs), Some(rhs)) = (lhs, rhs) else {
        return Err(Error(format!("no product of {l:?} and {r:?}")));
    };
    let k = g.positions.checked_mul(g.group_in).ok_or_else(|| Error("the window is too large".into()))?;
    for group in 0..g.groups as isize {
        let features = group * g.group_out as isize;
        let patches = Patches {
            g,
            pointer: buffers.lhs.wrapping_offset(group * g.lhs_group_stride),
            format: lhs,
            merged: g.merged(),
        };
        let filter =
            Filter { g, pointer: buffers.rhs.wrapping_offset(features * g.rhs_out_stride), format: rhs };
        let out = Pixels { g, pointer: buffers.out.wrapping_offset(features * g.out_feature_stride) };
        let sizes = [g.pixels, g.group_out, k];
        // SAFETY: the caller's promise.
        unsafe {
            if float {
                gemm::product(ctx, gemm::F32, sizes, &patches, &filter, &out, false)?;
            } else {
                gemm::product(ctx, gemm::I32, sizes, &patches, &filter, &out, false)?;
            }
        }
    }
    Ok(())
}

impl Geometry {
    /// True when the elements under the innermost window dimension and the features form one run in memory.
    fn merged(&self) -> bool {
        let feature = self.lhs_feature_stride;
        self.dims.last().is_some_and(|d| {
            feature == self.types[0].byte_size() as isize
                && d.lhs_stride == feature * self.group_in as isize
                && d.lhs_dilation == 1
                && d.rhs_dilation == 1
        })
    }
}

/// The input of one group as the left operand: a row is the patch of an output pixel.
struct Patches<'a> {
    g: &'a Geometry,
    pointer: *const u8,
    format: Format,
    /// See [`Geometry::merged`].
    merged: bool,
}

// SAFETY: the input is only read.
unsafe impl Sync for Patches<'_> {}

/// Words of a run that are gathered before they are transposed.
const CHUNK: usize = 64;

/// The output pixels of one panel.
struct Panel {
    /// The input of each pixel's batch entry, and its output positions.
    pixels: [(*const u8, [usize; MAX_SPATIAL]); MR],
    count: usize,
    /// True when each pixel's input is the next element after its predecessor's.
    neighbours: bool,
    /// For merged runs, what each pixel reads along the innermost dimension: bytes from the line's start to the
    /// first element, and where in the run the elements are. That is the same for every line of the window.
    inner: [(isize, usize, usize); MR],
}

/// What one pixel reads of a run: `length` elements from `pointer` on, `skip` elements into the run.
#[derive(Clone, Copy)]
struct Piece {
    pointer: *const u8,
    skip: usize,
    length: usize,
}

impl Panels for Patches<'_> {
    unsafe fn pack<const P: usize>(&self, first: usize, word: usize, words: usize, to: *mut u32) {
        let panel = self.panel(first);
        let g = self.g;
        let inner = if self.merged { g.dims.last().map_or(1, |d| d.window) } else { 1 };
        let run = inner * g.group_in;
        let mut done = 0;
        while done < words {
            let (number, start) = ((word + done) / run, (word + done) % run);
            let n = (run - start).min(words - done).min(CHUNK);
            let pieces = self.pieces(&panel, number * inner);
            // SAFETY: `to` has room for `words` words of P, and pieces are inside the input.
            unsafe { self.gather::<P>(&panel, &pieces, [start, n, words - done], to.add(done * P)) };
            done += n;
        }
    }
}

impl Patches<'_> {
    fn panel(&self, first: usize) -> Panel {
        let g = self.g;
        let count = g.pixels.saturating_sub(first).min(MR);
        let mut pixels = [(std::ptr::null(), [0; MAX_SPATIAL]); MR];
        for (i, pixel) in pixels.iter_mut().enumerate().take(count) {
            let (b, at) = g.pixel(first + i);
            *pixel = (self.pointer.wrapping_offset(b as isize * g.lhs_batch_stride), at);
        }
        let step = g.dims.last().map_or(0, |d| d.lhs_stride * d.stride as isize);
        let same_line = |a: &[usize; MAX_SPATIAL], b: &[usize; MAX_SPATIAL]| {
            let last = g.dims.len().saturating_sub(1);
            (0..MAX_SPATIAL).all(|d| if d == last { b[d] == a[d] + 1 } else { a[d] == b[d] })
        };
        let neighbours = count == MR
            && step == g.types[0].byte_size() as isize
            && g.dims.last().is_some_and(|d| d.lhs_dilation == 1)
            && pixels.windows(2).all(|w| w[0].0 == w[1].0 && same_line(&w[0].1, &w[1].1));
        let mut inner = [(0, 0, 0); MR];
        if let (true, Some(last)) = (self.merged, g.dims.last()) {
            for (inner, (_, at)) in inner.iter_mut().zip(&pixels).take(count) {
                let begin = last.first(at[g.dims.len() - 1]);
                let skipped = (-begin).clamp(0, last.window as i64);
                let end = (last.in_size - begin).clamp(skipped, last.window as i64);
                let (skip, length) = (skipped as usize * g.group_in, (end - skipped) as usize * g.group_in);
                *inner = ((begin + skipped) as isize * last.lhs_stride, skip, length);
            }
        }
        Panel { pixels, count, neighbours, inner }
    }

    /// What each pixel reads of the run that starts at window position number `position`.
    fn pieces(&self, panel: &Panel, position: usize) -> [Piece; MR] {
        let g = self.g;
        let window = g.window(position);
        let mut pieces = [Piece { pointer: std::ptr::null(), skip: 0, length: 0 }; MR];
        let outer = if self.merged { g.dims.len() - 1 } else { g.dims.len() };
        let whole_run = (0, 0, g.group_in);
        for (i, (input, at)) in panel.pixels.iter().enumerate().take(panel.count) {
            let mut dims = g.dims[..outer].iter().zip(at).zip(&window);
            let line = dims.try_fold(0, |sum, ((d, &o), &w)| Some(sum + d.input(o, w)? * d.lhs_stride));
            let (offset, skip, length) = if self.merged { panel.inner[i] } else { whole_run };
            if let Some(line) = line {
                pieces[i] = Piece { pointer: input.wrapping_offset(line + offset), skip, length };
            }
        }
        pieces
    }

    /// Packs elements `start..start + n` of the pixels' runs, `n <= CHUNK`. The words after them, up to `room`
    /// words in all, may be overwritten.
    ///
    /// # Safety
    /// The pieces must be readable, and `to` writable for `room * P` words, `room >= n`.
    unsafe fn gather<const P: usize>(
        &self,
        panel: &Panel,
        pieces: &[Piece; MR],
        [start, n, room]: [usize; 3],
        to: *mut u32,
    ) {
        let feature = self.g.lhs_feature_stride;
        // SAFETY: the caller's promise; the temporary block holds MR rows of CHUNK words.
        unsafe {
            if pieces.iter().all(|p| p.length == 0) {
                return to.write_bytes(0, n * P);
            }
            if panel.neighbours && !self.merged && pieces.iter().all(|p| p.length > 0) {
                let step = self.g.types[0].byte_size() as isize;
                for z in 0..n {
                    let from = pieces[0].pointer.wrapping_offset((start + z) as isize * feature);
                    self.format.fetch(from, step, MR, to.add(z * P).cast());
                }
                return;
            }
            let mut block = [[0u32; CHUNK]; MR];
            for (row, piece) in block.iter_mut().zip(pieces) {
                let from = piece.skip.clamp(start, start + n);
                let end = (piece.skip + piece.length).clamp(from, start + n);
                if end > from {
                    let pointer = piece.pointer.wrapping_offset((from - piece.skip) as isize * feature);
                    self.format.fetch(pointer, feature, end - from, row[from - start..].as_mut_ptr().cast());
                }
            }
            // Whole vectors are transposed faster; what they write too much is packed later.
            let whole = n.next_multiple_of(LANES);
            let columns = if whole <= room { whole } else { n };
            transpose_words(block.as_ptr().cast(), 4 * CHUNK as isize, P.min(MR), columns, to, P);
        }
    }
}

/// The filter of one group as the right operand: a column is an output feature.
struct Filter<'a> {
    g: &'a Geometry,
    pointer: *const u8,
    format: Format,
}

// SAFETY: the filter is only read.
unsafe impl Sync for Filter<'_> {}

impl Panels for Filter<'_> {
    unsafe fn pack<const P: usize>(&self, first: usize, word: usize, words: usize, to: *mut u32) {
        let g = self.g;
        let columns = g.group_out.saturating_sub(first).min(P);
        let start = self.pointer.wrapping_offset(first as isize * g.rhs_out_stride);
        let mut done = 0;
        while done < words {
            let (position, z) = ((word + done) / g.group_in, (word + done) % g.group_in);
            let n = (g.group_in - z).min(words - done);
            let base = start.wrapping_offset(g.rhs_offset(g.window(position)));
            for i in 0..n {
                let mut line = [0u32; NR];
                let from = base.wrapping_offset((z + i) as isize * g.rhs_in_stride);
                // SAFETY: the columns are inside the filter; a panel is at most NR wide.
                unsafe {
                    self.format.fetch(from, g.rhs_out_stride, columns, line.as_mut_ptr().cast());
                    std::ptr::copy_nonoverlapping(line.as_ptr(), to.add((done + i) * P), P);
                }
            }
            done += n;
        }
    }
}

/// The output of one group: a row is a pixel.
struct Pixels<'a> {
    g: &'a Geometry,
    pointer: *mut u8,
}

// SAFETY: tasks write disjoint elements.
unsafe impl Sync for Pixels<'_> {}

impl Sink for Pixels<'_> {
    fn code(&self) -> ElementCode {
        self.g.types[2]
    }
    fn column_stride(&self) -> isize {
        self.g.out_feature_stride / self.code().byte_size() as isize
    }
    fn row_stride(&self) -> Option<isize> {
        Some(self.g.out_pixel_stride()? / self.code().byte_size() as isize)
    }
    fn row(&self, i: usize) -> *mut u8 {
        self.pointer.wrapping_offset(self.g.out_offset(i))
    }
}
