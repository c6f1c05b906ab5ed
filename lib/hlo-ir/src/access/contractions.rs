//! The operand access of contractions.

use super::operands::Call;
use super::{Access, Along, Axis};
use crate::contraction::{Affine, Contraction};

impl Call<'_> {
    /// Returns the access of an operand. The default operand is read where the output element has no value.
    /// An axis of another operand is known if its index is a linear function of one dimension of the result.
    /// It is also known if it is an index that the result does not use, plus a constant.
    pub(super) fn contraction(&self, contraction: &Contraction) -> Access {
        match contraction.operands.get(self.operand) {
            Some(access) => Access::Axes(access.iter().map(|index| axis(contraction, index)).collect()),
            None => self.pointwise(),
        }
    }
}

fn axis(contraction: &Contraction, index: &Affine) -> Axis {
    let Some(variable) = index.only_index() else { return Axis::Any };
    let stride = index.coefficients[variable];
    let output = &contraction.output;
    let of_result =
        output.iter().position(|o| o.only_index() == Some(variable) && o.coefficients[variable] == 1);
    let Some(dim) = of_result else {
        let elsewhere = output.iter().any(|o| o.depends_on(variable));
        return if elsewhere || stride.abs() != 1 { Axis::Any } else { Axis::All(variable) };
    };
    // The index of the result is the variable plus a constant.
    let before = stride.checked_mul(output[dim].constant);
    match before.and_then(|before| index.constant.checked_sub(before)) {
        Some(offset) => Axis::Along(Along { stride, offset, ..Along::same(dim) }),
        None => Axis::Any,
    }
}
