//! `convolution` by rows of output features. The dimensions of the arrays are first reordered: input (batch,
//! spatial, feature), kernel (spatial, input feature, output feature), output (batch, spatial, feature).

use crate::context::Context;
use crate::index::{count, indices, pick, position};
use crate::kernel::elements;
use crate::ops::accumulate::{Factor, rounding, with_factor};
use crate::ops::convolution::Convolution;
use crate::ops::moved::moved;
use crate::ops::pointwise::converted;
use crate::ops::support::{Result, array};
use crate::ops::window::base_index;
use hlo_ir::attr::WindowDim;
use hlo_ir::{ArrayShape, ElementType, Literal};

/// Computes a convolution with factors of type `ty`. The shapes of operands and result are already checked.
pub(in crate::ops) fn convolution(
    cx: &mut Context<'_>,
    c: &Convolution,
    shape: &ArrayShape,
    input: Literal,
    kernel: Literal,
    ty: ElementType,
) -> Result<Literal> {
    let order = |first: &[usize], spatial: &[usize], last: &[usize]| [first, spatial, last].concat();
    let input = reorder(cx, input, &order(&[c.input.batch], &c.input.spatial, &[c.input.feature]))?;
    let kernel = reorder(cx, kernel, &order(&[], &c.kernel.spatial, &[c.kernel.feature, c.kernel.batch]))?;
    let output_order = order(&[c.output.batch], &c.output.spatial, &[c.output.feature]);
    let (input, kernel) = (converted(cx, input, ty)?, converted(cx, kernel, ty)?);
    let window = count(&c.taps());
    cx.charge(shape.element_count().saturating_mul(window).saturating_mul(c.group_features))?;
    let mut output = cx.allocate(&ArrayShape::new(shape.element_type, pick(&shape.dims, &output_order)))?;
    with_factor!(ty, T => convolve::<T>(c, &input, &kernel, &mut output, shape.element_type))?;
    cx.release(input);
    cx.release(kernel);
    // Back to the result's order of dimensions.
    moved(cx, shape, output, |result, ordered| {
        output_order.iter().zip(ordered).for_each(|(&d, i)| *i = result[d]);
    })
}

/// Returns the array with its dimensions in the given order.
fn reorder(cx: &mut Context<'_>, value: Literal, order: &[usize]) -> Result<Literal> {
    let from = array(&value)?;
    if order.iter().copied().eq(0..from.rank()) {
        return Ok(value);
    }
    let shape = ArrayShape::new(from.element_type, pick(&from.dims, order));
    moved(cx, &shape, value, |ordered, operand| {
        order.iter().zip(ordered).for_each(|(&d, &i)| operand[d] = i);
    })
}

/// For each output position and each window position, adds the product of the input and a kernel row to the
/// sums of all output features. Padding and the holes of the base dilation are zeros. They are skipped if all
/// products with them are zero.
fn convolve<T: Factor>(
    c: &Convolution,
    input: &Literal,
    kernel: &Literal,
    output: &mut Literal,
    ty: ElementType,
) -> Result<()> {
    let (input, kernel) = (elements::<T>(input.bytes())?, elements::<T>(kernel.bytes())?);
    let round = rounding::<T>(ty);
    let zeros_count = !kernel.iter().all(T::is_finite);
    let taps = c.taps();
    let input_positions = count(&c.input_spatial);
    let groups = c.feature_group_count.max(c.batch_group_count);
    let group_outputs = c.output_features / groups;
    let mut sums = vec![T::ZERO; c.output_features];
    let row_bytes = c.output_features * ty.byte_size();
    if row_bytes == 0 {
        return Ok(());
    }
    let mut rows = output.bytes_mut().chunks_exact_mut(row_bytes);
    for batch in 0..c.output_batch {
        for (output_index, row) in indices(&c.output_spatial).zip(&mut rows) {
            sums.fill(T::ZERO);
            for window_index in indices(&taps) {
                let from = base_index(&c.window, &c.input_spatial, &output_index, &window_index);
                if from.is_none() && !zeros_count {
                    continue;
                }
                let from = from.map(|index| position(&index, &c.input_spatial)).transpose()?;
                let place = kernel_position(&c.window, &window_index);
                let kernel = &kernel[place * c.group_features * c.output_features..];
                for group in 0..groups {
                    let batch = if c.batch_group_count > 1 { group * c.output_batch + batch } else { batch };
                    let feature = if c.feature_group_count > 1 { group * c.group_features } else { 0 };
                    let place = |from| (batch * input_positions + from) * c.input_features + feature;
                    let start = from.map(place);
                    let sums = &mut sums[group * group_outputs..(group + 1) * group_outputs];
                    for i in 0..c.group_features {
                        let x = start.map_or(T::zeroed(), |start| input[start + i]);
                        let row = &kernel[i * c.output_features + group * group_outputs..][..group_outputs];
                        T::add_products(sums, x, row);
                    }
                }
            }
            round(&[bytemuck::cast_slice(&sums)], row)?;
        }
    }
    Ok(())
}

/// Returns the row-major position of the kernel element at an index of the window.
fn kernel_position(window: &[WindowDim], window_index: &[i64]) -> usize {
    let along = |w: &WindowDim, k: i64| if w.reversed { w.size - 1 - k } else { k };
    window.iter().zip(window_index).fold(0, |position, (w, &k)| position * w.size + along(w, k)) as usize
}
