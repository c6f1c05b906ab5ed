//! `convolution`.

use super::accumulate::{Factor, factor_type, rounding};
use super::convert::converted;
use super::data_movement::gather_walk;
use super::{Result, array, dimension, dimensions, result_array, take};
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::index::{Walk, advance, count, row_major_strides};
use crate::kernel::elements;
use hlo_ir::attr::{ConvolutionAttrs, WindowDim};
use hlo_ir::{ArrayShape, Dims, ElementType, Instruction, Literal};

/// The problem with dimensions in one order: input (batch, spatial, feature), kernel (spatial, input feature,
/// output feature), output (batch, spatial, feature).
struct Problem {
    window: Vec<WindowDim>,
    input_spatial: Dims,
    output_spatial: Dims,
    output_batch: usize,
    input_features: usize,
    /// Input features of a group: the kernel's.
    group_features: usize,
    output_features: usize,
    feature_groups: usize,
    batch_groups: usize,
}

/// `convolution` (semantics, "ConvWithGeneralPadding").
pub(super) fn convolution(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &ConvolutionAttrs,
) -> Result<Literal> {
    let [input, kernel] = take(operands)?;
    let shape = result_array(instr)?;
    let labels = &attrs.dim_labels;
    let join = |first: &[i64], spatial: &Dims, last: &[i64]| -> Dims {
        first.iter().chain(spatial.iter()).chain(last).copied().collect()
    };
    let ty = factor_type(&[array(&input)?.element_type, array(&kernel)?.element_type], shape.element_type);
    let input_order = join(&[labels.input_batch], &labels.input_spatial, &[labels.input_feature]);
    let kernel_order =
        join(&[], &labels.kernel_spatial, &[labels.kernel_input_feature, labels.kernel_output_feature]);
    let output_order = join(&[labels.output_batch], &labels.output_spatial, &[labels.output_feature]);
    let input = reorder(ev, input, &input_order)?;
    let kernel = reorder(ev, kernel, &kernel_order)?;
    let output_dims: Dims = dimensions(&output_order, shape.rank())?.iter().map(|&d| shape.dims[d]).collect();

    let problem = problem(attrs, array(&input)?, array(&kernel)?, &output_dims)?;
    let input = converted(ev, input, ty)?;
    let kernel = converted(ev, kernel, ty)?;
    let window = count(&problem.window.iter().map(|w| w.size).collect::<Dims>());
    ev.charge(shape.element_count().saturating_mul(window).saturating_mul(problem.group_features))?;
    let mut output = ev.allocate(&ArrayShape::new(shape.element_type, output_dims.iter().copied()))?;
    match ty {
        ElementType::F32 => convolve::<f32>(&problem, &input, &kernel, &mut output, shape.element_type),
        ElementType::F64 => convolve::<f64>(&problem, &input, &kernel, &mut output, shape.element_type),
        ElementType::C64 => convolve::<[f32; 2]>(&problem, &input, &kernel, &mut output, shape.element_type),
        ElementType::C128 => convolve::<[f64; 2]>(&problem, &input, &kernel, &mut output, shape.element_type),
        _ => convolve::<i64>(&problem, &input, &kernel, &mut output, shape.element_type),
    }
    ev.release(input);
    ev.release(kernel);
    // Back to the result's order: result dimension output_order[i] is dimension i here.
    let strides = row_major_strides(&output_dims);
    let mut walk = Walk { offset: 0, strides: smallvec::smallvec![0; shape.rank()] };
    for (i, d) in dimensions(&output_order, shape.rank())?.into_iter().enumerate() {
        walk.strides[d] = strides[i];
    }
    gather_walk(ev, shape, output, &walk)
}

/// The array with its dimensions in the given order.
fn reorder(ev: &mut Evaluator<'_>, value: Literal, order: &[i64]) -> Result<Literal> {
    let from = array(&value)?;
    let order = dimensions(order, from.rank())?;
    if order.len() != from.rank() {
        return Err(EvalError::new("the dimension labels do not fit the operand"));
    }
    if order.iter().copied().eq(0..from.rank()) {
        return Ok(value);
    }
    let strides = row_major_strides(&from.dims);
    let walk = Walk { offset: 0, strides: order.iter().map(|&d| strides[d]).collect() };
    let shape = ArrayShape::new(from.element_type, order.iter().map(|&d| from.dims[d]));
    gather_walk(ev, &shape, value, &walk)
}

/// Reads the sizes off the reordered shapes and checks that they fit.
fn problem(
    attrs: &ConvolutionAttrs,
    input: &ArrayShape,
    kernel: &ArrayShape,
    output: &[i64],
) -> Result<Problem> {
    let spatial = attrs.dim_labels.input_spatial.len();
    let size = |dims: &[i64], d: usize| -> Result<usize> {
        dimension(d as i64, dims.len()).map(|d| dims[d].max(0) as usize)
    };
    let positive = |n: i64| usize::try_from(n).ok().filter(|&n| n > 0);
    let groups = positive(attrs.feature_groups()).zip(positive(attrs.batch_groups()));
    let (feature_groups, batch_groups) =
        groups.ok_or_else(|| EvalError::new("group counts must be positive"))?;
    // A window without entries is one of ones.
    let mut window = attrs.window.dims.clone();
    window.resize(spatial, WindowDim::default());
    let problem = Problem {
        input_spatial: input.dims.iter().skip(1).take(spatial).copied().collect(),
        output_spatial: output.iter().skip(1).take(spatial).copied().collect(),
        output_batch: size(output, 0)?,
        input_features: size(&input.dims, spatial + 1)?,
        group_features: size(&kernel.dims, spatial)?,
        output_features: size(&kernel.dims, spatial + 1)?,
        feature_groups,
        batch_groups,
        window,
    };
    let fits = problem.input_features == problem.group_features.saturating_mul(feature_groups)
        && size(output, spatial + 1)? == problem.output_features
        && problem.output_features.is_multiple_of(feature_groups.saturating_mul(batch_groups))
        && size(&input.dims, 0)? == problem.output_batch.saturating_mul(batch_groups)
        && (feature_groups == 1 || batch_groups == 1)
        && problem.window.iter().zip(&kernel.dims).all(|(w, &k)| w.size == k && w.lhs_dilate > 0);
    if fits { Ok(problem) } else { Err(EvalError::new("the shapes of the convolution do not fit")) }
}

/// For each output position and each window position, adds input times kernel row to the sums of all output features.
/// Padding and the holes of the base dilation are zeros; they are left out where all products with them are zero.
fn convolve<T: Factor>(
    p: &Problem,
    input: &Literal,
    kernel: &Literal,
    output: &mut Literal,
    ty: ElementType,
) {
    let (input, kernel) = (elements::<T>(input.bytes()), elements::<T>(kernel.bytes()));
    let round = rounding::<T>(ty);
    let zeros_count = !kernel.iter().all(T::is_finite);
    let window_dims: Dims = p.window.iter().map(|w| w.size).collect();
    let (positions, windows) = (count(&p.output_spatial), count(&window_dims));
    let input_positions = count(&p.input_spatial);
    let groups = p.feature_groups.max(p.batch_groups);
    let group_outputs = p.output_features / groups;
    let mut sums = vec![T::ZERO; p.output_features];
    let row_bytes = p.output_features * ty.byte_size();
    if row_bytes == 0 {
        return;
    }
    let mut rows = output.bytes_mut().chunks_exact_mut(row_bytes);
    for batch in 0..p.output_batch {
        let mut at: Dims = smallvec::smallvec![0; p.output_spatial.len()];
        for _ in 0..positions {
            sums.fill(T::ZERO);
            let mut tap: Dims = smallvec::smallvec![0; window_dims.len()];
            for _ in 0..windows {
                let (from, place) = (input_position(p, &at, &tap), kernel_position(p, &tap));
                if from.is_some() || zeros_count {
                    let kernel = &kernel[place * p.group_features * p.output_features..];
                    for group in 0..groups {
                        let batch = if p.batch_groups > 1 { group * p.output_batch + batch } else { batch };
                        let feature = if p.feature_groups > 1 { group * p.group_features } else { 0 };
                        let place = |from| (batch * input_positions + from) * p.input_features + feature;
                        let start = from.map(place);
                        let sums = &mut sums[group * group_outputs..(group + 1) * group_outputs];
                        for i in 0..p.group_features {
                            let x = start.map_or(T::zeroed(), |start| input[start + i]);
                            let row =
                                &kernel[i * p.output_features + group * group_outputs..][..group_outputs];
                            T::add_products(sums, x, row);
                        }
                    }
                }
                advance(&mut tap, &window_dims);
            }
            if let Some(row) = rows.next() {
                round(&[bytemuck::cast_slice(&sums)], row);
            }
            advance(&mut at, &p.output_spatial);
        }
    }
}

/// The row-major position of the kernel element at window element `tap`.
fn kernel_position(p: &Problem, tap: &[i64]) -> usize {
    let along = |w: &WindowDim, tap: i64| if w.reversed { w.size - 1 - tap } else { tap };
    p.window.iter().zip(tap).fold(0, |position, (w, &tap)| position * w.size + along(w, tap)) as usize
}

/// The row-major input position that window element `tap` covers when the window is at `at`; `None` if it falls on
/// padding or into a hole of the base dilation.
fn input_position(p: &Problem, at: &[i64], tap: &[i64]) -> Option<usize> {
    let mut from = 0i64;
    for (d, w) in p.window.iter().enumerate() {
        let reach = at[d].saturating_mul(w.stride).saturating_add(tap[d].saturating_mul(w.rhs_dilate));
        let dilated = reach.saturating_sub(w.pad_low);
        let index = dilated.div_euclid(w.lhs_dilate);
        if dilated.rem_euclid(w.lhs_dilate) != 0 || index < 0 || index >= p.input_spatial[d] {
            return None;
        }
        from = from * p.input_spatial[d] + index;
    }
    Some(from as usize)
}
