//! PlaidML 1's `TensorLens`: lets a function that is written for one order of dimensions run on tensors with
//! another order.

use super::arithmetic::Placed;
use super::{Evaluator, unsuitable};
use crate::error::error;
use crate::rules;
use crate::value::Value;
use hlo_builder::Value as Hlo;
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, Span};
use std::rc::Rc;

/// The order of a tensor's dimensions.
#[derive(Clone, Debug)]
pub(crate) struct Lens {
    /// The dimension of the tensor for each dimension in the function.
    dims: Rc<[usize]>,
}

impl Lens {
    /// Returns the lens of `TensorLens(source, target)`. The tensor has the dimensions in the order of the
    /// letters in `source`. The function has them in the order of the letters in `target`.
    ///
    /// # Errors
    /// Returns an error if the letters differ or if one occurs twice.
    fn of(source: &str, target: &str, span: Span) -> Result<Self, Diag> {
        // More letters than the maximum rank are never valid.
        let letters: Vec<char> = source.chars().take(ArrayShape::MAX_RANK + 1).collect();
        let place = |c: char| letters.iter().position(|&s| s == c);
        let dims: Option<Rc<[usize]>> = target.chars().map(place).collect();
        let distinct = |dims: &&Rc<[usize]>| {
            let mut sorted = dims.to_vec();
            sorted.sort_unstable();
            sorted.iter().copied().eq(0..letters.len())
        };
        let dims = dims.as_ref().filter(distinct).cloned().ok_or_else(|| {
            let message = format!(
                "a TensorLens has the same letters twice, each once, found `{source}` and `{target}`"
            );
            error(rules::TILE_OPERAND, span, message, "not two orders of the same dimensions")
        })?;
        Ok(Self { dims })
    }

    /// Returns the tensor with its dimensions in the order of the function.
    ///
    /// # Errors
    /// Returns an error if the tensor has a different number of dimensions.
    fn reordered<'b>(&self, tensor: Hlo<'b>, rank: usize, span: Span) -> Result<Hlo<'b>, Diag> {
        let dims: Vec<i64> = self.dims.iter().map(|&d| d as i64).collect();
        transposed(tensor, rank, &dims, span)
    }

    /// Returns a result of the function with its dimensions in the order of the tensor.
    ///
    /// # Errors
    /// Returns an error if the result has a different number of dimensions.
    pub(super) fn written<'b>(&self, tensor: Hlo<'b>, rank: usize, span: Span) -> Result<Hlo<'b>, Diag> {
        let mut dims = vec![0; self.dims.len()];
        for (of_function, &of_tensor) in self.dims.iter().enumerate() {
            dims[of_tensor] = of_function as i64;
        }
        transposed(tensor, rank, &dims, span)
    }
}

/// Transposes a tensor to the order `dims`.
///
/// # Errors
/// Returns an error if the tensor has a different number of dimensions.
fn transposed<'b>(tensor: Hlo<'b>, rank: usize, dims: &[i64], span: Span) -> Result<Hlo<'b>, Diag> {
    if dims.len() != rank {
        let message = format!("the TensorLens has {} dimensions, the tensor has {rank}", dims.len());
        return Err(error(rules::TILE_OPERAND, span, message, "seen through the lens"));
    }
    let ordered = (0..).zip(dims).all(|(n, &d)| n == d);
    Ok(if ordered { tensor } else { tensor.transpose(dims) })
}

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
