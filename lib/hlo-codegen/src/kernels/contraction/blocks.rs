//! Blocks of elements, aggregated together.
//!
//! For each block of neighbouring elements of the result the inner loops run outside: over all that gives any of them a value. The
//! innermost loop goes along the elements, where those of the operands lie together, too, and LLVM makes vectors of it. Each
//! element gets its values in the order of the loops, wherever the block begins.

use super::emit::{Done, Writer};
use super::plan::{Loops, Search};
use crate::builder::{Binary, FastMath, V};
use crate::elem::{self, Elem};
use hlo_ir::ElementType;
use hlo_ir::contraction::{Affine, Interval, Nest, Strip};

/// The most elements of a block: their accumulators stay in the first cache.
const MOST_ELEMENTS: i64 = 512;
/// The fewest, of which there is a multiple, but of a dimension that is shorter: whole vectors.
const FEWEST_ELEMENTS: i64 = 128;
/// Shorter loops along elements are not worth it.
const LEAST_ELEMENTS: i64 = 32;
/// The most values of an element that are added up one after the other.
const MOST_VALUES: i64 = 1 << 12;

/// The blocks of a contraction, which are the last of its outer loops.
pub struct Blocks {
    /// How many elements one has.
    pub size: i64,
    /// The number of elements along the dimension that is cut into blocks.
    length: i64,
    /// The number of the block.
    number: Affine,
    /// The number of an element in its block.
    element: Affine,
    /// Where the first element of the block is in memory.
    first: Affine,
}

/// What the values of a block are aggregated in.
pub(super) struct BlockAccumulators<'c> {
    pub(super) values: Vec<V<'c>>,
    /// Whether an element has a value, if that is not known.
    pub(super) any: Option<V<'c>>,
}

impl Search<'_> {
    /// The loops in blocks of the result, along the dimension whose elements lie together; `None` if that makes no vectors.
    pub(super) fn in_blocks(&self) -> Option<Loops> {
        let outputs = self.contraction.output.len();
        let lie_together = (0..outputs).filter(|&d| self.memory.output[d] == 1);
        let cut = lie_together.max_by_key(|&d| self.strips[d].size)?;
        let Strip { index, size: length } = &self.strips[cut];
        // Of a short dimension there are enough blocks for some threads.
        let part = (length / 16 + FEWEST_ELEMENTS - 1) / FEWEST_ELEMENTS * FEWEST_ELEMENTS;
        let size = part.clamp(FEWEST_ELEMENTS, MOST_ELEMENTS).min(*length);
        if *length < LEAST_ELEMENTS {
            return None;
        }
        // index = block · size + element, the block being a new index.
        let block = self.contraction.indices;
        let number = Affine::index(block, block + 1);
        let mut element = index.clone();
        element.coefficients.resize(block + 1, 0);
        element.coefficients[block] = -size;

        let mut strips: Vec<Strip> =
            (0..outputs).filter(|&d| d != cut).map(|d| self.strips[d].clone()).collect();
        strips.push(Strip { index: number.clone(), size: (length + size - 1) / size });
        let (along, mut across): (Vec<usize>, Vec<usize>) =
            (outputs..self.strips.len()).partition(|&n| self.lies_together(n));
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
        let trips = (loops.nest.outer()..last).map(|level| loops.nest.trips(level).high);
        let values = trips.fold(1, i64::saturating_mul);
        let makes_vectors = last >= loops.nest.outer()
            && element.coefficients[last].saturating_abs() == 1
            && high - low >= LEAST_ELEMENTS
            && loops.operands.iter().all(goes_along)
            && values <= MOST_VALUES;
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

    /// True for the strip of an operand's dimension whose elements lie together.
    fn lies_together(&self, strip: usize) -> bool {
        let strides = self.memory.operands.iter().flatten();
        strides.into_iter().nth(strip - self.contraction.output.len()).is_some_and(|&stride| stride == 1)
    }
}

impl<'c> Writer<'_, '_, 'c> {
    /// All of a block: its values, aggregated and stored.
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
        self.through(0, variables, &|variables| {
            let element = self.at(&blocks.element, variables);
            let value = self.plan.taken_apart(b, self.value(&self.positions(variables), None)?);
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

    /// The inner loops from one on.
    fn through(&self, depth: usize, variables: &mut Vec<V<'c>>, body: &dyn Fn(&[V<'c>]) -> Done) -> Done {
        let Some(&variable) = self.loops.inner.get(depth) else { return body(variables) };
        let [lower, end] = self.bounds(&self.loops.nest, variable, variables);
        self.b.for_loop(lower, end, 1, |x| {
            variables[variable] = x;
            self.through(depth + 1, variables, body)
        })
    }
}
