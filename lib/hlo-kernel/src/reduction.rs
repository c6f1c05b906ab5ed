//! Reductions: what a `reduce` accumulates, and how.
//!
//! Source: operation semantics, "Reduce": the order in which elements are combined is unspecified. Here it
//! depends on the shapes only.

use crate::Combine;
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
}

impl<'m> Reduction<'m> {
    /// Describes a `reduce`. Returns `None` for other instructions.
    ///
    /// # Errors
    /// An operand is not an array.
    pub fn of(module: &'m Module, id: InstrId) -> Result<Option<Self>, Refusal> {
        let instr = &module[id];
        let Op::Reduce(attrs) = &instr.op else { return Ok(None) };
        let (operands, inits) = instr.operands.split_at(instr.operands.len() / 2);
        let types =
            operands.iter().map(|&o| Ok(array(module, o)?.element_type)).collect::<Result<_, Refusal>>()?;
        let shape = array(module, *operands.first().ok_or("a reduce without operands")?)?;
        let slowest_first = shape.minor_to_major().into_iter().rev();
        let reduced: Vec<usize> = slowest_first.filter(|&d| attrs.dimensions.contains(&(d as i64))).collect();
        let sizes = reduced.iter().map(|&d| shape.dims[d]).collect();
        let combine = Combine::of(module, attrs.to_apply, operands.len());
        Ok(Some(Self { operands, inits, attrs, types, reduced, sizes, combine }))
    }

    /// Returns the types of the loop-carried values.
    pub fn carried(&self) -> Vec<ElementType> {
        match self.combine {
            Combine::Extremum(e) => vec![e.integers],
            Combine::Sum(_) | Combine::Computation => self.types.clone(),
        }
    }
}
