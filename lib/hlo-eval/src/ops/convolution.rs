//! `convolution`.

use super::accumulate::{Factor, factor_type, rounding, with_factor};
use super::dot::put;
use super::fast;
use super::pointwise::converted;
use super::support::{Result, array, dimension, dimensions, result_array, take};
use super::window::{base_index, window_dimensions, window_dims};
use crate::context::Context;
use crate::error::EvalError;
use crate::index::{indices, pick, position};
use crate::kernel::elements;
use hlo_ir::attr::{ConvolutionAttrs, WindowDim};
use hlo_ir::{ArrayShape, Dims, Instruction, Literal};
use smallvec::SmallVec;

/// A `convolution` with its dimensions by role, checked.
pub(super) struct Convolution {
    pub(super) window: Vec<WindowDim>,
    pub(super) input: Labels,
    /// The dimensions of the kernel. Its "batch" is the output feature dimension.
    pub(super) kernel: Labels,
    pub(super) output: Labels,
    /// The sizes of the base area.
    pub(super) input_spatial: Dims,
    pub(super) output_spatial: Dims,
    pub(super) output_batch: usize,
    pub(super) input_features: usize,
    /// Number of input features in a group, which is that of the kernel.
    pub(super) group_features: usize,
    pub(super) output_features: usize,
    pub(super) feature_group_count: usize,
    pub(super) batch_group_count: usize,
}

/// The roles of the dimensions of an array.
pub(super) struct Labels {
    pub(super) batch: usize,
    pub(super) feature: usize,
    pub(super) spatial: SmallVec<[usize; 6]>,
}

impl Labels {
    fn new(what: &str, shape: &ArrayShape, batch: i64, feature: i64, spatial: &[i64]) -> Result<Self> {
        let rank = shape.rank();
        let labels = Self {
            batch: dimension(batch, rank)?,
            feature: dimension(feature, rank)?,
            spatial: dimensions(spatial, rank)?,
        };
        let mut all = labels.spatial.clone();
        all.extend([labels.batch, labels.feature]);
        all.sort_unstable();
        if all.into_iter().eq(0..rank) {
            Ok(labels)
        } else {
            Err(EvalError::new(format!("the dimension labels do not fit the {what} of shape {shape}")))
        }
    }
}

/// `convolution` (semantics, "ConvWithGeneralPadding").
pub(super) fn convolution(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &ConvolutionAttrs,
) -> Result<Literal> {
    let [input, kernel] = take(operands)?;
    let shape = result_array(instr)?;
    let convolution = Convolution::new(attrs, array(&input)?, array(&kernel)?, shape)?;
    let ty = factor_type(&[array(&input)?.element_type, array(&kernel)?.element_type], shape.element_type);
    if !cx.definitions_only() {
        return fast::convolution::convolution(cx, &convolution, shape, input, kernel, ty);
    }
    let (input, kernel) = (converted(cx, input, ty)?, converted(cx, kernel, ty)?);
    let mut output = cx.allocate(shape)?;
    with_factor!(ty, T => convolve::<T>(cx, &convolution, &input, &kernel, &mut output))?;
    cx.release(input);
    cx.release(kernel);
    Ok(output)
}

impl Convolution {
    fn new(
        attrs: &ConvolutionAttrs,
        input: &ArrayShape,
        kernel: &ArrayShape,
        output: &ArrayShape,
    ) -> Result<Self> {
        let l = &attrs.dim_labels;
        let (input_labels, kernel_labels, output_labels) = (
            Labels::new("input", input, l.input_batch, l.input_feature, &l.input_spatial)?,
            Labels::new(
                "kernel",
                kernel,
                l.kernel_output_feature,
                l.kernel_input_feature,
                &l.kernel_spatial,
            )?,
            Labels::new("output", output, l.output_batch, l.output_feature, &l.output_spatial)?,
        );
        let size = |shape: &ArrayShape, d: usize| {
            usize::try_from(shape.dims[d]).map_err(|_| EvalError::internal(format!("the sizes of {shape}")))
        };
        let positive = |n: i64| usize::try_from(n).ok().filter(|&n| n > 0);
        let groups = positive(attrs.feature_groups()).zip(positive(attrs.batch_groups()));
        let (feature_group_count, batch_group_count) =
            groups.ok_or_else(|| EvalError::new("group counts must be positive"))?;
        let window = window_dims(&attrs.window, input_labels.spatial.len())?;
        let (input_batch, output_feature) =
            (size(input, input_labels.batch)?, size(output, output_labels.feature)?);
        let convolution = Self {
            input_spatial: pick(&input.dims, &input_labels.spatial),
            output_spatial: pick(&output.dims, &output_labels.spatial),
            output_batch: size(output, output_labels.batch)?,
            input_features: size(input, input_labels.feature)?,
            group_features: size(kernel, kernel_labels.feature)?,
            output_features: size(kernel, kernel_labels.batch)?,
            feature_group_count,
            batch_group_count,
            window,
            input: input_labels,
            kernel: kernel_labels,
            output: output_labels,
        };
        let c = &convolution;
        let fits = c.input_features == c.group_features.saturating_mul(feature_group_count)
            && output_feature == c.output_features
            && c.output_features.is_multiple_of(feature_group_count.saturating_mul(batch_group_count))
            && input_batch == c.output_batch.saturating_mul(batch_group_count)
            && (feature_group_count == 1 || batch_group_count == 1)
            && c.output_spatial.len() == c.input_spatial.len()
            && pick(&kernel.dims, &c.kernel.spatial) == window_dimensions(&c.window);
        if fits { Ok(convolution) } else { Err(EvalError::new("the shapes of the convolution do not fit")) }
    }

    /// Returns the index space of the window elements that contribute products. Without input features there
    /// are none, whatever the size of the window.
    pub(super) fn taps(&self) -> Dims {
        match self.group_features {
            0 => smallvec::smallvec![0],
            _ => window_dimensions(&self.window),
        }
    }
}

/// The pseudo-code of the semantics: each element of the output is a sum of input times kernel. The sum is
/// over the window and the input features of the output feature's group. Padding and the holes of the base
/// dilation are zeros.
fn convolve<T: Factor>(
    cx: &mut Context<'_>,
    c: &Convolution,
    input: &Literal,
    kernel: &Literal,
    output: &mut Literal,
) -> Result<()> {
    let (input_dims, kernel_dims) = (&array(input)?.dims, &array(kernel)?.dims);
    let (input, kernel) = (elements::<T>(input.bytes())?, elements::<T>(kernel.bytes())?);
    let shape = array(output)?.clone();
    let round = rounding::<T>(shape.element_type);
    let mut input_index: Dims = smallvec::smallvec![0; input_dims.len()];
    let mut kernel_index: Dims = smallvec::smallvec![0; kernel_dims.len()];
    let out = output.bytes_mut().chunks_exact_mut(shape.element_type.byte_size());
    for (index, out) in indices(&shape.dims).zip(out) {
        let (batch, output_feature) = (index[c.output.batch], index[c.output.feature]);
        // Output features are split evenly into groups: feature groups or batch groups.
        let group_of = |groups: usize| output_feature / (c.output_features / groups) as i64;
        let (feature_group, batch_group) = (group_of(c.feature_group_count), group_of(c.batch_group_count));
        input_index[c.input.batch] = batch_group * c.output_batch as i64 + batch;
        kernel_index[c.kernel.batch] = output_feature;
        let mut value = [T::ZERO];
        for window_index in indices(&c.taps()) {
            let output_index = pick(&index, &c.output.spatial);
            let base_index = base_index(&c.window, &c.input_spatial, &output_index, &window_index);
            // `window_reversal`: the kernel is read from its end.
            let reversed = |(w, &k): (&WindowDim, &i64)| if w.reversed { w.size - 1 - k } else { k };
            let kernel_spatial: Dims = c.window.iter().zip(&window_index).map(reversed).collect();
            put(&mut kernel_index, &c.kernel.spatial, &kernel_spatial);
            for feature in 0..c.group_features as i64 {
                let x = match &base_index {
                    Some(base_index) => {
                        put(&mut input_index, &c.input.spatial, base_index);
                        input_index[c.input.feature] = feature_group * c.group_features as i64 + feature;
                        input[position(&input_index, input_dims)?]
                    }
                    None => T::zeroed(),
                };
                kernel_index[c.kernel.feature] = feature;
                T::add_products(&mut value, x, &[kernel[position(&kernel_index, kernel_dims)?]]);
                cx.charge(1)?;
            }
        }
        round(&[bytemuck::cast_slice(&value)], out)?;
    }
    Ok(())
}
