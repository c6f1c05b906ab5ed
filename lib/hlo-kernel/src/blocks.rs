//! Long sums, computed in blocks. Loops add up blocks of elements, and then the sums of the blocks, again in
//! blocks. The error of a sum then grows with the logarithm of its length. With sequential addition in `f32`,
//! a sum of ones stays at 2²⁴ once it has reached that value.
//!
//! The sizes of the loops alone determine the blocks.

/// Number of block sums that are added up to one sum of the next level.
const FANOUT: i64 = 32;

/// The division of nested loops, outermost first, into blocks. It starts with the first loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// The loops run in order, without blocks.
    Sequence,
    /// The first loop has a single index. The other loops are divided.
    Inside(Box<Blocks>),
    /// The first loop runs over parts of `step` indices. Each part has a sum of its own.
    Parts {
        /// The maximum number of indices of a part.
        step: i64,
        /// Whether each part has exactly this number of indices.
        exact: bool,
        /// The division of a part and of the other loops.
        part: Box<Blocks>,
    },
}

/// The indices of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The maximum number of indices.
    pub size: i64,
    /// Whether the loop has exactly this number of indices.
    pub exact: bool,
}

impl Blocks {
    /// Divides loops into blocks of at most `block` elements.
    pub fn of(loops: &[Extent], block: i64) -> Self {
        match loops.split_first() {
            Some((outer, inner)) if elements(loops) > block => Self::of_part(*outer, inner, block),
            _ => Blocks::Sequence,
        }
    }

    /// Divides loops that run over all of their indices into blocks of at most `block` elements.
    pub fn of_sizes(sizes: &[i64], block: i64) -> Self {
        Self::of(&sizes.iter().map(|&size| Extent { size, exact: true }).collect::<Vec<_>>(), block)
    }

    /// Divides a part of the first loop, and the loops in it.
    fn of_part(first: Extent, inner: &[Extent], block: i64) -> Self {
        let inside = elements(inner);
        if first.size.saturating_mul(inside) <= block {
            return Blocks::Sequence;
        }
        if first.size == 1 {
            return Blocks::Inside(Box::new(Self::of(inner, block)));
        }
        let step = step_size(first.size, (block / inside).max(1));
        let exact = first.exact && first.size % step == 0;
        let part = Box::new(Self::of_part(Extent { size: step, exact }, inner, block));
        Blocks::Parts { step, exact, part }
    }

    /// Returns the maximum number of sums that are under way at the same time, besides the total.
    pub fn levels(&self) -> usize {
        match self {
            Blocks::Sequence => 0,
            Blocks::Inside(inner) => inner.levels(),
            Blocks::Parts { part, .. } => 1 + part.levels(),
        }
    }

    /// Returns the sizes of the parts, the largest first.
    pub fn steps(&self) -> Vec<i64> {
        match self {
            Blocks::Sequence => Vec::new(),
            Blocks::Inside(inner) => inner.steps(),
            Blocks::Parts { step, part, .. } => [vec![*step], part.steps()].concat(),
        }
    }
}

/// Returns the maximum number of iterations of nested loops.
fn elements(loops: &[Extent]) -> i64 {
    loops.iter().fold(1, |n, l| n.saturating_mul(l.size))
}

/// Returns the step size of a loop over `length` indices: `unit` times a power of `FANOUT`, such that there
/// are at most `FANOUT` steps.
fn step_size(length: i64, unit: i64) -> i64 {
    let mut step = unit;
    while step.saturating_mul(FANOUT) < length {
        step *= FANOUT;
    }
    step
}
