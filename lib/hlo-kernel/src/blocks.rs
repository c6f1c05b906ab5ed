//! Long sums, computed in blocks. Loops add up blocks of elements, and then the sums of the blocks, again in
//! blocks. The error of a sum then grows with the logarithm of its length. With sequential addition in `f32`,
//! a sum of ones stays at 2²⁴ once it has reached that value.
//!
//! The sizes of the loops alone determine the blocks.

/// Number of block sums that are added up to one sum of the next level.
const FANOUT: i64 = 32;

/// The division of nested loops, outermost first, into blocks. It starts with the first loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SumBlocks {
    /// The loops run in order, without blocks.
    Sequence,
    /// The first loop has a single index. The other loops are divided.
    Inside(Box<SumBlocks>),
    /// The first loop runs over parts of `step` indices. Each part has a sum of its own.
    Parts {
        /// The maximum number of indices of a part.
        step: i64,
        /// Whether each part has exactly this number of indices.
        exact: bool,
        /// The division of a part and of the other loops.
        part: Box<SumBlocks>,
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

impl SumBlocks {
    /// Divides loops into blocks of at most `block` elements, at least 1.
    pub fn of(loops: &[Extent], block: i64) -> Self {
        let block = block.max(1);
        match loops.split_first() {
            Some((outer, inner)) if elements(loops) > block => Self::of_part(*outer, inner, block),
            _ => SumBlocks::Sequence,
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
            return SumBlocks::Sequence;
        }
        if first.size == 1 {
            return SumBlocks::Inside(Box::new(Self::of(inner, block)));
        }
        let step = step_size(first.size, (block / inside).max(1));
        let exact = first.exact && first.size % step == 0;
        let part = Box::new(Self::of_part(Extent { size: step, exact }, inner, block));
        SumBlocks::Parts { step, exact, part }
    }

    /// Returns the maximum number of sums that are under way at the same time, besides the total.
    pub fn levels(&self) -> usize {
        match self {
            SumBlocks::Sequence => 0,
            SumBlocks::Inside(inner) => inner.levels(),
            SumBlocks::Parts { part, .. } => 1 + part.levels(),
        }
    }

    /// Returns the sizes of the parts of each loop that is divided, by the number of the loop. The largest parts
    /// come first.
    pub fn steps(&self) -> Vec<(usize, Vec<i64>)> {
        let mut steps: Vec<(usize, Vec<i64>)> = Vec::new();
        let (mut blocks, mut number) = (self, 0);
        loop {
            match blocks {
                SumBlocks::Sequence => return steps,
                SumBlocks::Inside(inner) => (blocks, number) = (inner, number + 1),
                SumBlocks::Parts { step, part, .. } => {
                    match steps.last_mut().filter(|(last, _)| *last == number) {
                        Some((_, sizes)) => sizes.push(*step),
                        None => steps.push((number, vec![*step])),
                    }
                    blocks = part;
                }
            }
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
