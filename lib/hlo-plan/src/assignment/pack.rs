//! Arena offsets: places the largest classes first, each in the smallest gap that is free while the class is
//! needed.

use super::coalesce::Classes;
use crate::Pin;

/// Alignment of buffers in bytes: a cache line, and the largest vector.
const ALIGNMENT: u64 = 64;
/// Alignment of smaller buffers in bytes, so that many scalars share a cache line. It is that of the largest
/// element type.
const SMALL_ALIGNMENT: u64 = 16;

/// The arena.
pub(crate) struct Packed {
    /// The offset of each class that is in the arena, by class.
    pub offsets: Vec<u64>,
    /// The size of the arena in bytes.
    pub bytes: u64,
}

/// Places all classes that are not pinned. Returns `None` if an offset overflows.
pub(super) fn pack(classes: &Classes) -> Option<Packed> {
    let mut order: Vec<usize> = classes
        .all()
        .filter(|&c| classes.pin(c) == Pin::Free && classes.bytes(c) > 0 && !classes.intervals(c).is_empty())
        .collect();
    order.sort_by_key(|&c| (std::cmp::Reverse(classes.bytes(c)), classes.intervals(c)[0].start, c));
    let index = HullIndex::new(classes, &order);
    let mut placed: Vec<Option<u64>> = vec![None; order.iter().max().map_or(0, |&c| c + 1)];
    let mut total = 0u64;
    for &c in &order {
        let mut taken: Vec<(u64, u64)> = Vec::new();
        index.overlapping(classes, c, &mut |other| {
            if let Some(offset) = placed[other]
                && overlap(classes, c, other)
            {
                taken.push((offset, offset + classes.bytes(other)));
            }
        });
        taken.sort_unstable();
        let offset = best_gap(&taken, classes.bytes(c))?;
        total = total.max(offset.checked_add(classes.bytes(c))?);
        placed[c] = Some(offset);
    }
    let mut offsets = vec![0; placed.len()];
    for (c, offset) in placed.into_iter().enumerate() {
        offsets[c] = offset.unwrap_or(0);
    }
    // Empty classes and those that are never needed get offset 0.
    offsets.resize(classes.all().max().map_or(0, |c| c + 1), 0);
    Some(Packed { offsets, bytes: total.checked_next_multiple_of(ALIGNMENT)? })
}

/// Returns the start of the smallest gap between the taken ranges (sorted) that `bytes` fit into, or the end
/// of all ranges if there is none.
fn best_gap(taken: &[(u64, u64)], bytes: u64) -> Option<u64> {
    let alignment = if bytes < ALIGNMENT { SMALL_ALIGNMENT } else { ALIGNMENT };
    let mut best: Option<(u64, u64)> = None;
    let mut free = 0u64;
    for &(start, end) in taken {
        let at = free.checked_next_multiple_of(alignment)?;
        if at.checked_add(bytes)? <= start && best.is_none_or(|(gap, _)| start - at < gap) {
            best = Some((start - at, at));
        }
        free = free.max(end);
    }
    match best {
        Some((_, at)) => Some(at),
        None => free.checked_next_multiple_of(alignment),
    }
}

/// Checks whether both classes are needed at the same time.
fn overlap(classes: &Classes, a: usize, b: usize) -> bool {
    let (a, b) = (classes.intervals(a), classes.intervals(b));
    let (mut i, mut k) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(k)) {
        if x.start < y.end && y.start < x.end {
            return true;
        }
        if x.end <= y.end {
            i += 1;
        } else {
            k += 1;
        }
    }
    false
}

/// An index that finds the classes whose hulls overlap that of a given class. The hull of a class is the span
/// from its first to its last moment. Classes are sorted by start, and each subtree stores its largest end.
struct HullIndex {
    /// `(start, end, class)`, sorted by start.
    hulls: Vec<(u64, u64, usize)>,
    /// A segment tree over `hulls`. Node 1 is the root, and the children of `n` are `2n` and `2n + 1`.
    max_end: Vec<u64>,
    leaves: usize,
}

impl HullIndex {
    fn new(classes: &Classes, order: &[usize]) -> Self {
        let mut hulls: Vec<(u64, u64, usize)> = order
            .iter()
            .map(|&c| {
                let i = classes.intervals(c);
                (i[0].start, i[i.len() - 1].end, c)
            })
            .collect();
        hulls.sort_unstable();
        let leaves = hulls.len().next_power_of_two();
        let mut max_end = vec![0; 2 * leaves];
        for (i, h) in hulls.iter().enumerate() {
            max_end[leaves + i] = h.1;
        }
        for n in (1..leaves).rev() {
            max_end[n] = max_end[2 * n].max(max_end[2 * n + 1]);
        }
        Self { hulls, max_end, leaves }
    }

    fn overlapping(&self, classes: &Classes, class: usize, found: &mut impl FnMut(usize)) {
        let i = classes.intervals(class);
        let (start, end) = (i[0].start, i[i.len() - 1].end);
        let below = self.hulls.partition_point(|h| h.0 < end);
        self.visit(1, 0, self.leaves, below, start, found);
    }

    /// Reports the hulls in `first..first + width` with an index below `below` that end after `start`.
    fn visit(
        &self,
        node: usize,
        first: usize,
        width: usize,
        below: usize,
        start: u64,
        found: &mut impl FnMut(usize),
    ) {
        if first >= below || self.max_end[node] <= start {
            return;
        }
        if width == 1 {
            found(self.hulls[first].2);
            return;
        }
        let half = width / 2;
        self.visit(2 * node, first, half, below, start, found);
        self.visit(2 * node + 1, first + half, half, below, start, found);
    }
}
