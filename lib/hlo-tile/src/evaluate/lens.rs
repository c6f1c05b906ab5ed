//! Creates lenses, and reorders tensors by them.

use super::arithmetic::Placed;
use super::{Evaluator, unsuitable};
use crate::lens::Lens;
use crate::value::Value;
use hlo_ir::Span;
use hlo_ir::diag::Diag;

/// Evaluates `TensorLens(source, target)`.
///
/// # Errors
/// Returns the errors of [`Lens::of`], or an error if an argument is not a string.
pub(super) fn lens<'b>(source: &Placed<'b>, target: &Placed<'b>, span: Span) -> Result<Value<'b>, Diag> {
    let [Value::Text(from), Value::Text(to)] = [&source.0, &target.0] else {
        let wrong = if matches!(source.0, Value::Text(_)) { target } else { source };
        return Err(unsuitable(wrong.1, "letters such as `'NHWC'`", &wrong.0));
    };
    Ok(Value::Lens(Lens::of(from, to, span)?))
}

impl<'b> Evaluator<'b, '_> {
    /// Evaluates `tensor.use(lens)`.
    pub(super) fn reordered(
        &mut self,
        base: &Value<'b>,
        place: Span,
        lens: &Placed<'b>,
    ) -> Result<Value<'b>, Diag> {
        let Value::Lens(of) = &lens.0 else {
            return Err(unsuitable(lens.1, "a TensorLens", &lens.0));
        };
        let tensor = self.tensor(base, place)?;
        let rank = self.shape_of(tensor, place)?.rank();
        Ok(Value::Tensor(of.reordered(tensor, rank, lens.1)?))
    }
}
