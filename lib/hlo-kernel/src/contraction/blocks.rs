//! Contractions in blocks of elements that are aggregated together.
//!
//! For each block of neighboring result elements, the inner loops become the outer ones. They run over all
//! indices that contribute a value to any element of the block. The innermost loop runs along the elements,
//! where the operands' elements are contiguous too, so that LLVM vectorizes it. Each element receives its
//! values in the order of the loops, wherever the block begins.

use super::loops::{ElementBlocks, Loops, Search};
use hlo_ir::contraction::{Affine, Interval, Nest, Strip};

/// Maximum number of elements of a block, so that their accumulators stay in the first-level cache.
const MAX_BLOCK_ELEMENTS: i64 = 512;
/// Minimum number of elements of a block, unless the dimension is shorter. Blocks have a multiple of this
/// number, which is a number of whole vectors.
const MIN_BLOCK_ELEMENTS: i64 = 128;
/// Minimum length of a loop along elements that is executed in blocks.
const MIN_BLOCKED_LENGTH: i64 = 32;
/// Maximum number of values of an element that are added up sequentially.
const MAX_SEQUENTIAL_VALUES: i64 = 1 << 12;

/// Returns the loops in blocks of the result, along the dimension whose elements are contiguous. Returns
/// `None` if they cannot be vectorized.
pub(super) fn in_blocks(search: &Search<'_>) -> Option<Loops> {
    let outputs = search.contraction.output.len();
    let lie_together = (0..outputs).filter(|&d| search.memory.output[d] == 1);
    let cut = lie_together.max_by_key(|&d| search.strips[d].size)?;
    let Strip { index, size: length } = &search.strips[cut];
    // A short dimension still has enough blocks for several threads.
    let part = (length / 16 + MIN_BLOCK_ELEMENTS - 1) / MIN_BLOCK_ELEMENTS * MIN_BLOCK_ELEMENTS;
    let size = part.clamp(MIN_BLOCK_ELEMENTS, MAX_BLOCK_ELEMENTS).min(*length);
    if *length < MIN_BLOCKED_LENGTH {
        return None;
    }
    // index = block · size + element, where block is a new index.
    let block = search.contraction.indices;
    let number = Affine::index(block, block + 1);
    let mut element = index.clone();
    element.coefficients.resize(block + 1, 0);
    element.coefficients[block] = -size;

    let mut strips: Vec<Strip> =
        (0..outputs).filter(|&d| d != cut).map(|d| search.strips[d].clone()).collect();
    strips.push(Strip { index: number.clone(), size: (length + size - 1) / size });
    let (along, mut across): (Vec<usize>, Vec<usize>) =
        (outputs..search.strips.len()).partition(|&n| is_contiguous(search, n));
    across.sort_by_key(|&n| search.strips[n].size);
    strips.extend(across.into_iter().chain(along).map(|n| search.strips[n].clone()));
    strips.push(search.strips[cut].clone());
    strips.push(Strip { index: element.clone(), size });
    let nest = Nest::in_order(block + 1, &strips, outputs).ok()??;

    let mut loops = search.placed(nest);
    let last = loops.nest.levels().len() - 1;
    let Interval { low, high } = loops.nest.levels()[last].range();
    let element = loops.nest.in_variables(&element);
    let goes_along = |position: &Affine| position.coefficients[last].saturating_abs() <= 1;
    let trips = (loops.nest.outer()..last).map(|level| loops.nest.trip_count_bounds(level).high);
    let values = trips.fold(1, i64::saturating_mul);
    let makes_vectors = last >= loops.nest.outer()
        && element.coefficients[last].saturating_abs() == 1
        && high - low >= MIN_BLOCKED_LENGTH
        && loops.operands.iter().all(goes_along)
        && values <= MAX_SEQUENTIAL_VALUES;
    if !makes_vectors {
        return None;
    }
    let mut first = loops.output.clone();
    first.constant = first.constant.wrapping_sub(element.constant);
    for (sum, x) in first.coefficients.iter_mut().zip(&element.coefficients) {
        *sum = sum.wrapping_sub(*x);
    }
    loops.inner = (loops.nest.outer()..=last).collect();
    let number = loops.nest.in_variables(&number);
    loops.blocks = Some(Box::new(ElementBlocks { size, length: *length, number, element, first }));
    Some(loops)
}

/// Returns whether a strip belongs to an operand's dimension whose elements are contiguous.
fn is_contiguous(search: &Search<'_>, strip: usize) -> bool {
    let strides = search.memory.operands.iter().flatten();
    strides.into_iter().nth(strip - search.contraction.output.len()).is_some_and(|&stride| stride == 1)
}
