//! Stable merge sorts that give a permutation whatever the comparison answers: on one thread, and in parallel.

use crate::context::{Context, Error, Shared};
use crate::scratch::Scratch;

/// Elements of a run that one task sorts, and of a piece that one task merges: the split depends on the number of
/// elements alone.
const TASK: usize = 1 << 13;

/// Sorts stably; `before(a, b)` says whether `a` must precede `b`. `spare` is as long as `items`.
pub(super) fn merge_sort<T: Copy>(items: &mut [T], spare: &mut [T], before: &mut impl FnMut(T, T) -> bool) {
    const RUN: usize = 12;
    for run in items.chunks_mut(RUN) {
        for i in 1..run.len() {
            let mut j = i;
            while j > 0 && before(run[j], run[j - 1]) {
                run.swap(j, j - 1);
                j -= 1;
            }
        }
    }
    let n = items.len();
    let mut width = RUN;
    while width < n {
        for (part, spare) in items.chunks_mut(2 * width).zip(spare.chunks_mut(2 * width)) {
            // Runs in order already, as sorted input has them, need no merging.
            if part.len() <= width || !before(part[width], part[width - 1]) {
                continue;
            }
            let (left, right) = part.split_at(width);
            merge(left, right, spare, before);
            part.copy_from_slice(spare);
        }
        width *= 2;
    }
}

/// Merges two runs into `to`, which is as long as both.
fn merge<T: Copy>(left: &[T], right: &[T], to: &mut [T], before: &mut impl FnMut(T, T) -> bool) {
    let (mut l, mut r) = (0, 0);
    for to in to {
        let from_right = r < right.len() && (l >= left.len() || before(right[r], left[l]));
        *to = if from_right { right[r] } else { left[l] };
        if from_right { r += 1 } else { l += 1 }
    }
}

/// How many of the first `k` elements of two merged runs come from the left one.
fn taken_from_left(
    left: &[u32],
    right: &[u32],
    k: usize,
    before: &mut impl FnMut(u32, u32) -> bool,
) -> usize {
    let (mut low, mut high) = (k.saturating_sub(right.len()), k.min(left.len()));
    while low < high {
        let middle = (low + high) / 2;
        // `middle` is below `k` and at least `k - right.len()`.
        if before(right[k - middle - 1], left[middle]) { high = middle } else { low = middle + 1 }
    }
    low
}

/// A piece of a merge: what comes from either run, and where it goes.
struct Piece {
    left: std::ops::Range<usize>,
    right: std::ops::Range<usize>,
    to: std::ops::Range<usize>,
}

/// The pieces of the merges of neighbouring runs of `width` elements. They cover the runs exactly, whatever
/// `before` answers.
fn pieces(items: &[u32], width: usize, before: &mut impl FnMut(u32, u32) -> bool) -> Vec<Piece> {
    let n = items.len();
    let mut out = Vec::with_capacity(n / TASK + 2);
    for start in (0..n).step_by(2 * width) {
        let (middle, end) = (n.min(start + width), n.min(start + 2 * width));
        let (left, right) = (&items[start..middle], &items[middle..end]);
        let (mut l, mut k) = (0, 0);
        while k < end - start {
            let next = (k + TASK).min(end - start);
            // Within what is left and what the piece holds, even if comparisons contradict each other.
            let most = (l + next - k).min(left.len());
            let split = taken_from_left(left, right, next, before).clamp(l, most);
            let (r, next_r) = (k - l, next - split);
            out.push(Piece {
                left: start + l..start + split,
                right: middle + r..middle + next_r,
                to: start + k..start + next,
            });
            (l, k) = (split, next);
        }
    }
    out
}

/// Sorts indices stably, in parallel if there are many. `comparison()` gives a thread its `before`.
pub(super) fn parallel_merge_sort<F: FnMut(u32, u32) -> bool>(
    ctx: &Context,
    indices: &mut [u32],
    comparison: impl Fn() -> F + Sync,
) -> Result<(), Error> {
    let n = indices.len();
    let spare = Scratch::new::<u32>(n)?;
    // SAFETY: the buffer has room for the indices, which are written here.
    let spare = unsafe {
        std::ptr::copy_nonoverlapping(indices.as_ptr(), spare.pointer::<u32>(), n);
        std::slice::from_raw_parts_mut(spare.pointer::<u32>(), n)
    };
    if n <= TASK {
        merge_sort(indices, spare, &mut comparison());
        return Ok(());
    }
    // SAFETY: tasks write disjoint parts.
    let (items, others) = unsafe { (Shared::new(indices.as_mut_ptr()), Shared::new(spare.as_mut_ptr())) };
    ctx.for_each(n.div_ceil(TASK), |task| {
        let (start, len) = (task * TASK, TASK.min(n - task * TASK));
        // SAFETY: each task has its part of both buffers.
        let (run, spare) = unsafe {
            (
                std::slice::from_raw_parts_mut(items.get().add(start), len),
                std::slice::from_raw_parts_mut(others.get().add(start), len),
            )
        };
        merge_sort(run, spare, &mut comparison());
    });
    let (mut from, mut to) = (items, others);
    let mut width = TASK;
    while width < n {
        // SAFETY: nothing writes the source while it is read.
        let source = unsafe { std::slice::from_raw_parts(from.get().cast_const(), n) };
        let pieces = pieces(source, width, &mut comparison());
        ctx.for_each(pieces.len(), |task| {
            let piece = &pieces[task];
            // SAFETY: the pieces are disjoint in the target.
            let target =
                unsafe { std::slice::from_raw_parts_mut(to.get().add(piece.to.start), piece.to.len()) };
            let (left, right) = (&source[piece.left.clone()], &source[piece.right.clone()]);
            merge(left, right, target, &mut comparison());
        });
        (from, to) = (to, from);
        width *= 2;
    }
    if !std::ptr::eq(from.get(), items.get()) {
        // SAFETY: both buffers hold `n` indices and are distinct.
        unsafe { std::ptr::copy_nonoverlapping(from.get(), to.get(), n) };
    }
    Ok(())
}
