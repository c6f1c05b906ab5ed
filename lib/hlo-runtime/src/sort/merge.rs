//! A stable merge sort, sequential or parallel, whose result is defined even if the comparison is
//! inconsistent.
//!
//! Each half of the elements is sorted separately (the first half is longer if the number is odd). Runs of
//! [`INSERTION_RUN_ELEMENTS`] elements are sorted by insertion, then adjacent runs are merged into runs of
//! twice the length, until one run remains. Finally the two halves are merged, from the back if the first one
//! is longer. For a comparison that is not an order, the result is therefore that of `std::stable_sort` in
//! GNU's library, and of XLA's CPU backend, which uses it.
//!
//! Several threads merge two runs in pieces. Bisection finds the start of each piece. Afterwards each start
//! is compared with the actual end of the piece before it. If they differ, because comparisons contradict
//! each other, the piece is merged again.

use super::MAX_SERIAL_LENGTH;
use hlo_runtime_core::{Context, Error, Filled, Scratch, Shared};
use std::ops::Range;

/// The number of elements that are sorted by insertion.
const INSERTION_RUN_ELEMENTS: usize = 7;
/// The number of elements that one task sorts by repeated merging of runs.
const BLOCK_ELEMENTS: usize = INSERTION_RUN_ELEMENTS << 10;
/// The number of elements that one task merges.
const PIECE_ELEMENTS: usize = 1 << 13;

/// Sorts stably. `before(a, b)` returns whether `a` must precede `b`. `spare` must be as long as `items`.
pub(super) fn merge_sort<T: Copy>(items: &mut [T], spare: &mut [T], before: &mut impl FnMut(T, T) -> bool) {
    let first = items.len().div_ceil(2);
    let ((left, right), (left_spare, right_spare)) = (items.split_at_mut(first), spare.split_at_mut(first));
    sort_runs(left, left_spare, before);
    sort_runs(right, right_spare, before);
    let both = Merge { left, right, backward: left.len() > right.len() };
    both.write(0, 0, spare, before);
    items.copy_from_slice(spare);
}

/// Sorts runs by insertion and merges adjacent runs until one run remains.
fn sort_runs<T: Copy>(items: &mut [T], spare: &mut [T], before: &mut impl FnMut(T, T) -> bool) {
    for run in items.chunks_mut(INSERTION_RUN_ELEMENTS) {
        for i in 1..run.len() {
            let item = run[i];
            let mut to = i;
            if before(item, run[0]) {
                to = 0;
            } else {
                while to > 1 && before(item, run[to - 1]) {
                    to -= 1;
                }
            }
            run.copy_within(to..i, to + 1);
            run[to] = item;
        }
    }
    let (mut from, mut to, mut width) = (items, spare, INSERTION_RUN_ELEMENTS);
    let mut swapped = false;
    while width < from.len() {
        for (runs, to) in from.chunks(2 * width).zip(to.chunks_mut(2 * width)) {
            let (left, right) = runs.split_at(width.min(runs.len()));
            Merge { left, right, backward: false }.write(0, 0, to, before);
        }
        std::mem::swap(&mut from, &mut to);
        swapped = !swapped;
        width *= 2;
    }
    if swapped {
        to.copy_from_slice(from);
    }
}

/// A merge of two runs, from the front or from the back.
#[derive(Clone, Copy)]
struct Merge<'a, T> {
    left: &'a [T],
    right: &'a [T],
    backward: bool,
}

impl<T: Copy> Merge<'_, T> {
    /// Continues after `merged` elements, of which `taken` came from the left run, until `to` is full.
    /// Returns the total number of elements taken from the left run. A backward merge fills `to` from its
    /// end.
    fn write(
        &self,
        merged: usize,
        taken: usize,
        to: &mut [T],
        before: &mut impl FnMut(T, T) -> bool,
    ) -> usize {
        if self.backward {
            self.write_towards::<true>(merged, taken, to, before)
        } else {
            self.write_towards::<false>(merged, taken, to, before)
        }
    }

    fn write_towards<const BACKWARD: bool>(
        &self,
        merged: usize,
        taken: usize,
        to: &mut [T],
        before: &mut impl FnMut(T, T) -> bool,
    ) -> usize {
        let at = |run: &[T], i: usize| if BACKWARD { run[run.len() - 1 - i] } else { run[i] };
        let (mut l, mut r, len) = (taken, merged - taken, to.len());
        for n in 0..len {
            // For equal elements, a forward merge takes the left one first, a backward merge the right one.
            let from_left = l < self.left.len()
                && (r >= self.right.len() || before(at(self.right, r), at(self.left, l)) == BACKWARD);
            to[if BACKWARD { len - 1 - n } else { n }] =
                if from_left { at(self.left, l) } else { at(self.right, r) };
            if from_left { l += 1 } else { r += 1 }
        }
        l
    }

    /// Returns how many of the first `merged` elements come from the left run, if the comparison is an order.
    /// Otherwise returns some possible number.
    fn taken(&self, merged: usize, before: &mut impl FnMut(T, T) -> bool) -> usize {
        let front = if self.backward { self.left.len() + self.right.len() - merged } else { merged };
        let (mut low, mut high) = (front.saturating_sub(self.right.len()), front.min(self.left.len()));
        while low < high {
            let middle = (low + high) / 2;
            // `middle` is less than `front` and at least `front - right.len()`.
            if before(self.right[front - middle - 1], self.left[middle]) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        if self.backward { self.left.len() - low } else { low }
    }
}

/// Sorts indices stably, in parallel if there are many. Each thread gets its `before` from `comparison()`.
pub(super) fn parallel_merge_sort<F: FnMut(u32, u32) -> bool>(
    ctx: &Context,
    indices: &mut [u32],
    comparison: impl Fn() -> Result<F, Error> + Sync,
) -> Result<(), Error> {
    let n = indices.len();
    let spare = Scratch::new::<u32>(n)?;
    // SAFETY: the buffer has room for the indices, which are written here.
    let spare = unsafe {
        std::ptr::copy_nonoverlapping(indices.as_ptr(), spare.pointer::<u32>(), n);
        std::slice::from_raw_parts_mut(spare.pointer::<u32>(), n)
    };
    if n <= MAX_SERIAL_LENGTH {
        merge_sort(indices, spare, &mut comparison()?);
        return Ok(());
    }
    let first = n.div_ceil(2);
    // The number of parts of `width` elements in the first half, in both halves, and the range of a part.
    let parts_of_half = |width: usize| first.div_ceil(width);
    let count = |width: usize| parts_of_half(width) + (n - first).div_ceil(width);
    let part = |width: usize, number: usize| -> Range<usize> {
        let (number, start, end) = match number.checked_sub(parts_of_half(width)) {
            None => (number, 0, first),
            Some(number) => (number, first, n),
        };
        let start = start + number * width;
        start..end.min(start + width)
    };
    // SAFETY: tasks write disjoint parts.
    let (items, others) = unsafe { (Shared::new(indices.as_mut_ptr()), Shared::new(spare.as_mut_ptr())) };
    ctx.try_for_each(count(BLOCK_ELEMENTS), |task| {
        let block = part(BLOCK_ELEMENTS, task);
        // SAFETY: each task has its own part of both buffers.
        let [block, spare] = [&items, &others].map(|buffer| unsafe {
            std::slice::from_raw_parts_mut(buffer.get().add(block.start), block.len())
        });
        sort_runs(block, spare, &mut comparison()?);
        Ok(())
    })?;
    let (mut from, mut to) = (items, others);
    let mut width = BLOCK_ELEMENTS;
    loop {
        // SAFETY: nothing writes the source while it is read.
        let source = unsafe { std::slice::from_raw_parts(from.get().cast_const(), n) };
        let halved = width >= first;
        let whole = || {
            let (left, right) = source.split_at(first);
            (0, Merge { left, right, backward: left.len() > right.len() })
        };
        let mut merges = Filled::new(if halved { 1 } else { count(2 * width) }, whole())?;
        for (number, merge) in merges.iter_mut().enumerate().filter(|_| !halved) {
            let part = part(2 * width, number);
            let (left, right) = source[part.clone()].split_at(width.min(part.len()));
            *merge = (part.start, Merge { left, right, backward: false });
        }
        merge_all(ctx, &merges, &to, &comparison)?;
        (from, to) = (to, from);
        if halved {
            break;
        }
        width *= 2;
    }
    if !std::ptr::eq(from.get(), items.get()) {
        // SAFETY: both buffers have `n` indices and are distinct.
        unsafe { std::ptr::copy_nonoverlapping(from.get(), to.get(), n) };
    }
    Ok(())
}

/// A piece of a merge, for one task.
#[derive(Clone, Copy, Default)]
struct Piece {
    /// The index of the merge.
    merge: usize,
    /// The number of elements merged before this piece, and how many of them came from the left run.
    merged: usize,
    taken: usize,
    /// The start and the length of the piece in the target.
    to: (usize, usize),
    /// The number of elements taken from the left run at the end of the piece.
    end: usize,
}

/// Merges each pair of runs into `to`, at the position given with it.
fn merge_all<F: FnMut(u32, u32) -> bool>(
    ctx: &Context,
    merges: &[(usize, Merge<'_, u32>)],
    to: &Shared<*mut u32>,
    comparison: &(impl Fn() -> Result<F, Error> + Sync),
) -> Result<(), Error> {
    let mut before = comparison()?;
    let len = |merge: &Merge<'_, u32>| merge.left.len() + merge.right.len();
    let mut pieces =
        Filled::new(merges.iter().map(|m| len(&m.1).div_ceil(PIECE_ELEMENTS)).sum(), Piece::default())?;
    let mut next_piece = pieces.iter_mut();
    for (number, (start, merge)) in merges.iter().enumerate() {
        let len = len(merge);
        for merged in (0..len).step_by(PIECE_ELEMENTS) {
            let next = len.min(merged + PIECE_ELEMENTS);
            let to = if merge.backward { len - next..len - merged } else { merged..next };
            let Some(piece) = next_piece.next() else { break };
            let taken = merge.taken(merged, &mut before);
            *piece = Piece { merge: number, merged, taken, to: (start + to.start, to.len()), end: 0 };
        }
    }
    // SAFETY: the pieces are disjoint in the target.
    let write = |piece: &Piece, before: &mut F| unsafe {
        let to = std::slice::from_raw_parts_mut(to.get().add(piece.to.0), piece.to.1);
        merges[piece.merge].1.write(piece.merged, piece.taken, to, before)
    };
    let count = pieces.len();
    // SAFETY: each task has its own piece.
    let all = unsafe { Shared::new(pieces.as_mut_ptr()) };
    ctx.try_for_each(count, |task| {
        // SAFETY: as above.
        let piece = unsafe { &mut *all.get().add(task) };
        piece.end = write(piece, &mut comparison()?);
        Ok(())
    })?;
    for i in 1..count {
        let end = pieces[i - 1].end;
        if pieces[i].merge == pieces[i - 1].merge && pieces[i].taken != end {
            pieces[i].taken = end;
            pieces[i].end = write(&pieces[i], &mut before);
        }
    }
    Ok(())
}
