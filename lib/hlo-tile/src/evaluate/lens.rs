//! PlaidML 1's `TensorLens`: a function is written for dimensions in one order, and runs on tensors that have them in another.

use super::arithmetic::Placed;
use super::{Evaluator, unsuitable};
use crate::error::error;
use crate::value::Value;
use hlo_builder::Value as Hlo;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{ArrayShape, Span};
use std::rc::Rc;

/// The order of a tensor's dimensions.
#[derive(Clone, Debug)]
pub(crate) struct Lens {
    /// The dimension of the tensor that each dimension of the function is.
    dims: Rc<[usize]>,
}

impl Lens {
    /// Returns the lens of `TensorLens(source, target)`. The tensor has the dimensions in the order of the letters in `source`,
    /// the function in that of `target`.
    ///
    /// # Errors
    /// The letters are not the same, or one is there twice.
    fn of(source: &str, target: &str, span: Span) -> Result<Self, Diag> {
        // No tensor has more dimensions than letters that are looked at.
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
            error(code::TILE_OPERAND, span, message, "not two orders of the same dimensions")
        })?;
        Ok(Self { dims })
    }

    /// Returns the tensor with its dimensions in the order of the function.
    ///
    /// # Errors
    /// The tensor has another number of dimensions.
    fn seen<'b>(&self, tensor: Hlo<'b>, rank: usize, span: Span) -> Result<Hlo<'b>, Diag> {
        let dims: Vec<i64> = self.dims.iter().map(|&d| d as i64).collect();
        transposed(tensor, rank, &dims, span)
    }

    /// Returns a result of the function with its dimensions in the order of the tensor.
    ///
    /// # Errors
    /// The result has another number of dimensions.
    pub(super) fn written<'b>(&self, tensor: Hlo<'b>, rank: usize, span: Span) -> Result<Hlo<'b>, Diag> {
        let mut dims = vec![0; self.dims.len()];
        for (of_function, &of_tensor) in self.dims.iter().enumerate() {
            dims[of_tensor] = of_function as i64;
        }
        transposed(tensor, rank, &dims, span)
    }
}

/// Returns a tensor with its dimensions in an order.
///
/// # Errors
/// The tensor has another number of dimensions.
fn transposed<'b>(tensor: Hlo<'b>, rank: usize, dims: &[i64], span: Span) -> Result<Hlo<'b>, Diag> {
    if dims.len() != rank {
        let message = format!("the TensorLens has {} dimensions, the tensor has {rank}", dims.len());
        return Err(error(code::TILE_OPERAND, span, message, "seen through the lens"));
    }
    let ordered = (0..).zip(dims).all(|(n, &d)| n == d);
    Ok(if ordered { tensor } else { tensor.transpose(dims) })
}

/// Returns `TensorLens(source, target)`.
///
/// # Errors
/// As [`Lens::of`]; an argument is no text.
pub(super) fn lens<'b>(source: &Placed<'b>, target: &Placed<'b>, span: Span) -> Result<Value<'b>, Diag> {
    let [Value::Text(from), Value::Text(to)] = [&source.0, &target.0] else {
        let wrong = if matches!(source.0, Value::Text(_)) { target } else { source };
        return Err(unsuitable(wrong.1, "letters such as `'NHWC'`", &wrong.0));
    };
    Ok(Value::Lens(Lens::of(from, to, span)?))
}

impl<'b> Evaluator<'b, '_> {
    /// `tensor.use(lens)`.
    pub(super) fn seen(
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
        Ok(Value::Tensor(of.seen(tensor, rank, lens.1)?))
    }
}
