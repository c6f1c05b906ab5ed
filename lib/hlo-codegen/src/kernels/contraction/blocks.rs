//! Contractions in blocks of elements that are aggregated together.
//!
//! For each block of neighbouring result elements, the inner loops become the outer ones. They run over all
//! indices that contribute a value to any element of the block. The innermost loop runs along the elements,
//! where the operands' elements are contiguous too, so that LLVM vectorises it. Each element receives its
//! values in the order of the loops, wherever the block begins.

use super::emit::{Done, Writer};
use super::plan::{Loops, Search};
use crate::builder::{Binary, FastMath, V};
use crate::elem::{self, Elem};
use hlo_ir::ElementType;
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

/// The blocks of a contraction. The loop over blocks is the last outer loop.
pub struct Blocks {
    /// Number of elements of a block.
    pub size: i64,
    /// Number of elements along the dimension that is split into blocks.
    length: i64,
    /// The number of the block, as a function of the loop variables.
    number: Affine,
    /// The number of an element in its block.
    element: Affine,
    /// The position of the block's first element in memory.
    first: Affine,
}

/// The memory that the values of a block are aggregated in.
pub(super) struct BlockAccumulators<'c> {
    pub(super) values: Vec<V<'c>>,
    /// Whether each element has a value, if this is not known statically.
    pub(super) any: Option<V<'c>>,
}

impl Search<'_> {
    /// Returns the loops in blocks of the result, along the dimension whose elements are contiguous. Returns
    /// `None` if they cannot be vectorised.
    pub(super) fn in_blocks(&self) -> Option<Loops> {
        let outputs = self.contraction.output.len();
        let lie_together = (0..outputs).filter(|&d| self.memory.output[d] == 1);
        let cut = lie_together.max_by_key(|&d| self.strips[d].size)?;
        let Strip { index, size: length } = &self.strips[cut];
        // A short dimension still has enough blocks for several threads.
        let part = (length / 16 + MIN_BLOCK_ELEMENTS - 1) / MIN_BLOCK_ELEMENTS * MIN_BLOCK_ELEMENTS;
        let size = part.clamp(MIN_BLOCK_ELEMENTS, MAX_BLOCK_ELEMENTS).min(*length);
        if *length < MIN_BLOCKED_LENGTH {
            return None;
        }
        // index = block · size + element, where block is a new index.
        let block = self.contraction.indices;
        let number = Affine::index(block, block + 1);
        let mut element = index.clone();
        element.coefficients.resize(block + 1, 0);
        element.coefficients[block] = -size;

        let mut strips: Vec<Strip> =
            (0..outputs).filter(|&d| d != cut).map(|d| self.strips[d].clone()).collect();
        strips.push(Strip { index: number.clone(), size: (length + size - 1) / size });
        let (along, mut across): (Vec<usize>, Vec<usize>) =
            (outputs..self.strips.len()).partition(|&n| self.is_contiguous(n));
        across.sort_by_key(|&n| self.strips[n].size);
        strips.extend(across.into_iter().chain(along).map(|n| self.strips[n].clone()));
        strips.push(self.strips[cut].clone());
        strips.push(Strip { index: element.clone(), size });
        let nest = Nest::in_order(block + 1, &strips, outputs).ok()??;

        let mut loops = self.placed(nest);
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
        loops.blocks = Some(Box::new(Blocks { size, length: *length, number, element, first }));
        Some(loops)
    }

    /// Returns whether a strip belongs to an operand's dimension whose elements are contiguous.
    fn is_contiguous(&self, strip: usize) -> bool {
        let strides = self.memory.operands.iter().flatten();
        strides.into_iter().nth(strip - self.contraction.output.len()).is_some_and(|&stride| stride == 1)
    }
}

impl<'c> Writer<'_, '_, 'c> {
    /// Emits a block: aggregates and stores its values.
    pub(super) fn in_block(&self, blocks: &Blocks, variables: &mut Vec<V<'c>>) -> Done {
        let b = self.b;
        let Some(BlockAccumulators { values, any }) = &self.block else { return Ok(()) };
        let done = b.muli(self.at(&blocks.number, variables), b.index(blocks.size));
        let left = b.index_sub(b.index(blocks.length), done);
        let count = b.binary(Binary::Smin, b.index(blocks.size), left);
        let flag = |at: V<'c>, is: bool| {
            if let Some(any) = any {
                elem::store(b, ElementType::Pred, *any, at, Elem::One(b.const_bool(is)));
            }
        };
        b.for_loop(b.index(0), count, 1, |element| {
            self.set(values, element, self.plan.neutral(b));
            flag(element, false);
            Ok::<_, hlo_plan::Refusal>(())
        })?;
        self.emit_inner_loops(0, variables, &|variables| {
            let element = self.at(&blocks.element, variables);
            let value = self.plan.aggregated_parts(b, self.value(&self.positions(variables), None)?);
            let before = self.parts_at(values, element);
            self.set(values, element, self.plan.aggregated(b, &before, &value, FastMath::None)?);
            flag(element, true);
            Ok(())
        })?;
        let first = self.at(&blocks.first, variables);
        b.for_loop(b.index(0), count, 1, |element| {
            let store = || {
                let value = self.plan.finished(b, &self.parts_at(values, element))?;
                self.store(b.index_add(first, element), value);
                Ok(())
            };
            match any {
                None => store(),
                Some(any) => b.if_then(elem::load(b, ElementType::Pred, *any, element).first(), store),
            }
        })
    }

    /// Emits the inner loops from `depth` on.
    fn emit_inner_loops(
        &self,
        depth: usize,
        variables: &mut Vec<V<'c>>,
        body: &dyn Fn(&[V<'c>]) -> Done,
    ) -> Done {
        let Some(&variable) = self.loops.inner.get(depth) else { return body(variables) };
        let [lower, end] = self.bounds(&self.loops.nest, variable, variables);
        self.b.for_loop(lower, end, 1, |x| {
            variables[variable] = x;
            self.emit_inner_loops(depth + 1, variables, body)
        })
    }
}
