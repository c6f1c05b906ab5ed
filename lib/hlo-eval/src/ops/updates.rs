//! Arrays that are updated one element at a time, at any positions: the results of `scatter` and
//! `select-and-scatter` during their computation.

use super::reducer::{element_types, wide_components};
use super::support::{Result, array};
use super::wide::Wide;
use crate::context::Context;
use crate::element::{Scalar, Scalars, load, store};
use crate::error::EvalError;
use crate::function::Function;
use crate::index::position;
use hlo_ir::{ComputationId, Dims, ElementType, Literal};

/// N arrays of the same dimensions, and the computation that combines an element of each with an update of
/// each.
///
/// Sums and products of narrow floats are rounded once, after the last update.
pub(super) struct Updates<'a> {
    arrays: Vec<&'a mut [u8]>,
    dims: Dims,
    /// The element size of each array in bytes.
    sizes: Vec<usize>,
    computation: Function,
    /// The arguments of the computation. The buffer is reused.
    arguments: Scalars,
    /// The accumulators of the components that are accumulated in a wider type.
    sums: Vec<Option<Sums>>,
}

impl<'a> Updates<'a> {
    /// Starts with the current contents of the arrays.
    pub(super) fn new(
        cx: &mut Context<'_>,
        computation: ComputationId,
        arrays: &'a mut [Literal],
    ) -> Result<Self> {
        let types = element_types(arrays)?;
        let first = arrays.first().ok_or_else(|| EvalError::internal("updates of no array"))?;
        let dims = array(first)?.dims.clone();
        let arrays: Vec<&mut [u8]> = arrays.iter_mut().map(Literal::bytes_mut).collect();
        let wide = wide_components(cx.module, computation, &types, Wide::of_updates);
        let sums = |(op, (&ty, a)): (Option<_>, (&ElementType, &&mut [u8]))| {
            Some(Sums::new(Wide::of_updates(op?, ty)?, a.len() / ty.byte_size()))
        };
        let sums = wide.into_iter().zip(types.iter().zip(&arrays)).map(sums).collect();
        let both: Vec<ElementType> = types.iter().chain(&types).copied().collect();
        let computation = Function::new(cx, computation, &both, &types)?;
        let sizes = types.iter().map(|ty| ty.byte_size()).collect();
        Ok(Self { arrays, dims, sizes, computation, arguments: Scalars::new(), sums })
    }

    /// Computes `(output[0][index], …) = computation(output[0][index], …, updates[0], …)`.
    pub(super) fn combine(&mut self, cx: &mut Context<'_>, index: &[i64], updates: &[Scalar]) -> Result<()> {
        let at = position(index, &self.dims)?;
        if updates.len() != self.arrays.len() {
            return Err(EvalError::internal(format!(
                "{} updates of {} arrays",
                updates.len(),
                self.arrays.len()
            )));
        }
        for (k, sums) in self.sums.iter_mut().enumerate() {
            if let Some(sums) = sums {
                sums.combine(at, self.arrays[k], updates[k])?;
            }
        }
        if self.sums.iter().all(Option::is_some) {
            return cx.charge(updates.len());
        }
        self.arguments.clear();
        for (a, &size) in self.arrays.iter().zip(&self.sizes) {
            self.arguments.push(load(a, size, at)?);
        }
        self.arguments.extend_from_slice(updates);
        let values = self.computation.call(cx, &self.arguments)?;
        for ((a, &size), &value) in self.arrays.iter_mut().zip(&self.sizes).zip(values) {
            store(a, size, at, value)?;
        }
        Ok(())
    }

    /// Ends after the last update.
    pub(super) fn finish(self) -> Result<()> {
        for (a, sums) in self.arrays.into_iter().zip(&self.sums) {
            if let Some(sums) = sums {
                sums.write(a)?;
            }
        }
        Ok(())
    }
}

/// The running sums or products of an array's elements.
struct Sums {
    wide: Wide,
    /// The accumulators of the elements that were updated, as bits of an `f32`. All updates of narrower
    /// floats accumulate in `f32`.
    running: Vec<u32>,
    is_touched: Vec<bool>,
}

impl Sums {
    fn new(wide: Wide, count: usize) -> Self {
        Self { wide, running: vec![0; count], is_touched: vec![false; count] }
    }

    fn combine(&mut self, at: usize, array: &[u8], update: Scalar) -> Result<()> {
        let outside =
            || EvalError::internal(format!("an update of element {at}, which the array does not have"));
        let running = self.running.get_mut(at).ok_or_else(outside)?;
        let is_touched = self.is_touched.get_mut(at).ok_or_else(outside)?;
        let before = if *is_touched {
            (*running).into()
        } else {
            self.wide.widened(load(array, self.wide.from.byte_size(), at)?)?
        };
        let sum = self.wide.combined(before, self.wide.widened(update)?)?;
        *running = u32::try_from(sum).map_err(|_| EvalError::internal("a sum that is no f32"))?;
        *is_touched = true;
        Ok(())
    }

    /// Writes the updated elements, rounded.
    fn write(&self, array: &mut [u8]) -> Result<()> {
        for (at, &sum) in self.running.iter().enumerate().filter(|(at, _)| self.is_touched[*at]) {
            store(array, self.wide.from.byte_size(), at, self.wide.rounded(sum.into())?)?;
        }
        Ok(())
    }
}
