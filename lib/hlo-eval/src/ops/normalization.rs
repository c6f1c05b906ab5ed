//! Batch normalization. Sums are computed in `f64`, and results are rounded once.

use super::convert;
use super::pointwise::converted;
use super::reduction::{collate, result_arrays};
use super::support::{Result, array, dimension, take};
use crate::context::Context;
use crate::error::EvalError;
use crate::index::extent;
use crate::kernel::elements;
use hlo_ir::attr::BatchNormAttrs;
use hlo_ir::{ElementType, Instruction, Literal};

/// The operand as `f64`, with the feature of each element.
struct Features {
    values: Literal,
    count: usize,
    /// Distance between neighbors in the feature dimension, in elements.
    stride: usize,
}

impl Features {
    fn new(cx: &mut Context<'_>, operand: Literal, attrs: &BatchNormAttrs) -> Result<Self> {
        let shape = array(&operand)?;
        if shape.element_type.is_complex() {
            return Err(EvalError::new("batch normalization of complex numbers is not defined"));
        }
        let d = dimension(attrs.feature_index, shape.rank())?;
        let (count, stride) = (extent(shape.dims[d])?, crate::index::count(&shape.dims[d + 1..]));
        Ok(Self { values: converted(cx, operand, ElementType::F64)?, count, stride })
    }

    /// Returns each element with its feature, in order.
    fn iter(&self) -> Result<impl Iterator<Item = (usize, f64)> + '_> {
        let elements = elements::<f64>(self.values.bytes())?.iter().enumerate();
        // If either is 0, there are no elements.
        Ok(elements.map(|(i, &x)| (i / self.stride % self.count, x)))
    }

    /// Returns for each feature the mean of `f` over its elements.
    fn mean(&self, f: impl Fn(usize, usize, f64) -> f64) -> Result<Vec<f64>> {
        let mut sums = vec![0.0; self.count];
        let mut total = 0usize;
        for (i, (c, x)) in self.iter()?.enumerate() {
            sums[c] += f(i, c, x);
            total = i + 1;
        }
        let each = total as f64 / self.count as f64;
        sums.iter_mut().for_each(|s| *s /= each);
        Ok(sums)
    }
}

/// Returns a vector with one `f64` per feature.
fn vector(cx: &mut Context<'_>, value: Literal, features: &Features) -> Result<Vec<f64>> {
    let wide = converted(cx, value, ElementType::F64)?;
    let values = elements::<f64>(wide.bytes())?.to_vec();
    cx.release(wide);
    if values.len() != features.count {
        return Err(EvalError::new(format!("{} values for {} features", values.len(), features.count)));
    }
    Ok(values)
}

/// Returns the results, rounded to the instruction's shapes.
fn finish(cx: &mut Context<'_>, instr: &Instruction, values: &[Vec<f64>]) -> Result<Literal> {
    let shapes = result_arrays(&instr.shape)?;
    if shapes.len() != values.len() {
        return Err(EvalError::internal(format!("{} results for {}", values.len(), instr.shape)));
    }
    let mut results = Vec::with_capacity(shapes.len());
    for (shape, values) in shapes.into_iter().zip(values) {
        let mut result = cx.allocate(shape)?;
        convert::kernel(ElementType::F64, shape.element_type)(
            &[bytemuck::cast_slice(values)],
            result.bytes_mut(),
        )?;
        results.push(result);
    }
    collate(&instr.shape, results)
}

/// `batch-norm-training` (semantics, "BatchNormTraining"): the normalized operand, the means and the
/// variances.
pub(super) fn training(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &BatchNormAttrs,
) -> Result<Literal> {
    let [operand, scale, offset] = take(operands)?;
    let x = Features::new(cx, operand, attrs)?;
    let (scale, offset) = (vector(cx, scale, &x)?, vector(cx, offset, &x)?);
    let mean = x.mean(|_, _, x| x)?;
    let variance = x.mean(|_, c, x| (x - mean[c]) * (x - mean[c]))?;
    let y = normalize(&x, &scale, &offset, &mean, &variance, attrs)?;
    let result = finish(cx, instr, &[y, mean, variance]);
    cx.release(x.values);
    result
}

/// `batch-norm-inference` (semantics, "BatchNormInference").
pub(super) fn inference(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &BatchNormAttrs,
) -> Result<Literal> {
    let [operand, scale, offset, mean, variance] = take(operands)?;
    let x = Features::new(cx, operand, attrs)?;
    let (scale, offset) = (vector(cx, scale, &x)?, vector(cx, offset, &x)?);
    let (mean, variance) = (vector(cx, mean, &x)?, vector(cx, variance, &x)?);
    let y = normalize(&x, &scale, &offset, &mean, &variance, attrs)?;
    let result = finish(cx, instr, &[y]);
    cx.release(x.values);
    result
}

/// γ (x − μ) / √(σ² + ε) + β.
fn normalize(
    x: &Features,
    scale: &[f64],
    offset: &[f64],
    mean: &[f64],
    variance: &[f64],
    attrs: &BatchNormAttrs,
) -> Result<Vec<f64>> {
    let deviation: Vec<f64> = variance.iter().map(|v| (v + f64::from(attrs.epsilon)).sqrt()).collect();
    Ok(x.iter()?.map(|(c, x)| scale[c] * (x - mean[c]) / deviation[c] + offset[c]).collect())
}

/// `batch-norm-grad` (semantics, "BatchNormGrad"): the gradients of operand, scale and offset.
pub(super) fn gradient(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &BatchNormAttrs,
) -> Result<Literal> {
    let [operand, scale, mean, variance, grad] = take(operands)?;
    let x = Features::new(cx, operand, attrs)?;
    let (scale, mean, variance) = (vector(cx, scale, &x)?, vector(cx, mean, &x)?, vector(cx, variance, &x)?);
    let grad = converted(cx, grad, ElementType::F64)?;
    let dy = elements::<f64>(grad.bytes())?;
    if dy.len() != elements::<f64>(x.values.bytes())?.len() {
        return Err(EvalError::new("the gradient's shape is not the operand's"));
    }
    let spread: Vec<f64> = variance.iter().map(|v| v + f64::from(attrs.epsilon)).collect();
    // c and d of the semantics: means over the elements of the feature.
    let c = x.mean(|i, f, x| dy[i] * (x - mean[f]) / spread[f])?;
    let d = x.mean(|i, _, _| dy[i])?;
    let each = dy.len() as f64 / x.count as f64;
    let dx = x
        .iter()?
        .enumerate()
        .map(|(i, (f, x))| scale[f] / spread[f].sqrt() * (dy[i] - d[f] - c[f] * (x - mean[f])))
        .collect();
    // The sums, from the means. Without elements a sum is 0, but the mean is not defined.
    let sum = |mean: f64| if each == 0.0 { 0.0 } else { mean * each };
    let dscale = c.iter().zip(&spread).map(|(c, s)| sum(*c) * s.sqrt()).collect();
    let doffset = d.iter().map(|d| sum(*d)).collect();
    let result = finish(cx, instr, &[dx, dscale, doffset]);
    cx.release(x.values);
    cx.release(grad);
    result
}
