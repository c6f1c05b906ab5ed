//! `select-and-scatter`: a loop nest over the windows. Each window updates one element of the result.
//!
//! Source: operation semantics, "SelectAndScatter". Windows are processed in row-major order. If several
//! windows select the same element, every run combines their values in the same order. Windows share no
//! elements along dimensions in which they have a single element. These dimensions form the kernel's
//! iterations.

use hlo_ir::attr::{SelectAndScatterAttrs, WindowDim};
use hlo_ir::{ArrayShape, InstrId, Module, Op};
use hlo_plan::{Refusal, array};

/// The loops of a `select-and-scatter`.
#[derive(Clone, Debug)]
pub struct SelectAndScatterPlan<'a> {
    /// The number of independent iterations.
    pub iterations: i64,
    /// The attributes.
    pub attrs: &'a SelectAndScatterAttrs,
    /// The window, with a dimension for each of the operand's.
    pub window: Vec<WindowDim>,
    /// The array that windows select elements of.
    pub operand: InstrId,
    /// The array whose elements are combined with the selected ones, one for each window.
    pub source: InstrId,
    /// The initial value of the result's elements.
    pub initial: InstrId,
    /// The shape of the operand and the result.
    pub shape: &'a ArrayShape,
    /// The shape of the source.
    pub source_shape: &'a ArrayShape,
    /// The dimensions that form the iterations.
    pub independent: Vec<usize>,
    /// The other dimensions.
    pub sequential: Vec<usize>,
}

impl<'a> SelectAndScatterPlan<'a> {
    /// Plans a `select-and-scatter`.
    ///
    /// # Errors
    /// The instruction is not a `select-and-scatter` of arrays.
    pub(crate) fn new(module: &'a Module, id: InstrId) -> Result<Self, Refusal> {
        let Op::SelectAndScatter(attrs) = &module[id].op else {
            return Err("not a select-and-scatter".into());
        };
        let &[operand, source, initial] = &module[id].operands[..] else {
            return Err("a select-and-scatter of other than three operands".into());
        };
        let (shape, source_shape) = (array(module, id)?, array(module, source)?);
        let window = attrs.window.of_rank(shape.rank());
        let single = |d: &usize| {
            let w = &window[*d];
            w.size == 1 && w.stride == 1 && w.lhs_dilate == 1 && w.pad_low == 0 && w.pad_high == 0
        };
        let (independent, sequential): (Vec<usize>, Vec<usize>) = (0..shape.rank()).partition(single);
        let iterations = independent.iter().map(|&d| shape.dims[d]).product();
        Ok(Self {
            iterations,
            attrs,
            window,
            operand,
            source,
            initial,
            shape,
            source_shape,
            independent,
            sequential,
        })
    }

    /// Returns the number of elements that are read: those of all windows.
    pub(crate) fn work(&self) -> i64 {
        let sizes = self.window.iter().zip(&self.shape.dims);
        let covered = sizes.fold(1i64, |n, (w, &size)| n.saturating_mul(w.most_covered(size)));
        covered.saturating_mul(self.source_shape.element_count() as i64)
    }
}
