//! Reductions: what a `reduce` accumulates, and how.
//!
//! Source: operation semantics, "Reduce": the order in which elements are combined is unspecified. Here it
//! depends on the shapes only.

use crate::{Combine, SumBlocks};
use hlo_ir::attr::ReduceAttrs;
use hlo_ir::{ElementType, InstrId, Module, Op};
use hlo_plan::{Refusal, array};

/// A `reduce`: its arrays, its loops, and the way in which it combines values.
#[derive(Clone, Debug)]
pub struct Reduction<'m> {
    /// The arrays.
    pub operands: &'m [InstrId],
    /// Their initial values.
    pub inits: &'m [InstrId],
    /// The attributes.
    pub attrs: &'m ReduceAttrs,
    /// The element type of each array.
    pub types: Vec<ElementType>,
    /// The reduced dimensions of the arrays, in loop order: the slowest varying first.
    pub reduced: Vec<usize>,
    /// The sizes of the reduced dimensions, in the same order.
    pub sizes: Vec<i64>,
    /// The way in which values are combined.
    pub combine: Combine,
    /// The blocks in which a sum is computed for one element of the result. Other reductions have no blocks.
    pub blocks: SumBlocks,
}

/// Number of elements of a block, which one loop adds up. The block is long enough for the loop to be
/// vectorized, with a few dozen elements per vector lane.
pub const BLOCK_ELEMENTS: i64 = 2048;

impl<'m> Reduction<'m> {
    /// Describes a `reduce`.
    pub(crate) fn of(module: &'m Module, id: InstrId) -> Result<Self, Refusal> {
        let instr = &module[id];
        let Op::Reduce(attrs) = &instr.op else {
            return Err(format!("`{}` is not a reduce", instr.name).into());
        };
        let (operands, inits) = instr.operands.split_at(instr.operands.len() / 2);
        let types =
            operands.iter().map(|&o| Ok(array(module, o)?.element_type)).collect::<Result<_, Refusal>>()?;
        let shape = array(module, *operands.first().ok_or("a reduce without operands")?)?;
        let slowest_first = shape.minor_to_major().into_iter().rev();
        let reduced: Vec<usize> = slowest_first.filter(|&d| attrs.dimensions.contains(&(d as i64))).collect();
        let sizes: Vec<i64> = reduced.iter().map(|&d| shape.dims[d]).collect();
        let combine = Combine::of(module, attrs.to_apply, operands.len());
        let blocks = match combine {
            Combine::Sum(_) => SumBlocks::of_sizes(&sizes, BLOCK_ELEMENTS),
            Combine::Extremum(_) | Combine::Computation => SumBlocks::Sequence,
        };
        Ok(Self { operands, inits, attrs, types, reduced, sizes, combine, blocks })
    }

    /// Returns the types of the loop-carried values.
    pub fn carried(&self) -> Vec<ElementType> {
        match self.combine {
            Combine::Extremum(e) => vec![e.integers],
            Combine::Sum(_) | Combine::Computation => self.types.clone(),
        }
    }
}
