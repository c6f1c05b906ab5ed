//! PlaidML 1's `TensorLens`: lets a function that is written for one order of dimensions run on tensors with
//! another order.

use crate::error::error;
use crate::rules;
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
    pub(crate) fn of(source: &str, target: &str, span: Span) -> Result<Self, Diag> {
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
    pub(crate) fn reordered<'b>(&self, tensor: Hlo<'b>, rank: usize, span: Span) -> Result<Hlo<'b>, Diag> {
        let dims: Vec<i64> = self.dims.iter().map(|&d| d as i64).collect();
        transposed(tensor, rank, &dims, span)
    }

    /// Returns a result of the function with its dimensions in the order of the tensor.
    ///
    /// # Errors
    /// Returns an error if the result has a different number of dimensions.
    pub(crate) fn written<'b>(&self, tensor: Hlo<'b>, rank: usize, span: Span) -> Result<Hlo<'b>, Diag> {
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
