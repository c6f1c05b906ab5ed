//! Which elements of its operands an element of an instruction's result is computed from.

use hlo_ir::attr::{ConvolutionAttrs, DotAttrs, Window, WindowDim};
use hlo_ir::{ArrayShape, Dims, InstrId, Module, Op, Shape};

/// The elements of one operand that feed an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fed {
    /// Those at these row-major positions.
    These(Vec<usize>),
    /// Any of them.
    Any,
}

/// For each operand the elements that feed the element at `position` of a result (all results of one instruction have
/// the same dimensions where this is known).
pub fn feeding(module: &Module, id: InstrId, position: usize) -> Vec<Fed> {
    let instr = &module[id];
    let operands: Vec<&Shape> = instr.operands.iter().map(|&o| &module[o].shape).collect();
    let result = instr.shape.leaves().into_iter().find_map(Shape::as_array);
    exact(&instr.op, &operands, result, position).unwrap_or_else(|| vec![Fed::Any; operands.len()])
}

/// `None` where it is not known, or the shapes do not fit.
fn exact(op: &Op, operands: &[&Shape], result: Option<&ArrayShape>, position: usize) -> Option<Vec<Fed>> {
    let result = result?;
    let arrays: Vec<&ArrayShape> = operands.iter().map(|o| o.as_array()).collect::<Option<_>>()?;
    if let hlo_ir::elementwise_op!() | Op::Map(_) = op {
        return Some(arrays.iter().map(|a| same(a, position)).collect());
    }
    // Positions are those in the real sizes.
    if !arrays.iter().chain([&result]).all(|a| a.is_static()) {
        return None;
    }
    let at = unravel(position, &result.dims);
    match op {
        Op::Dot(a) => dot(a, &arrays, &at),
        Op::Reduce(a) => {
            let kept = |d: usize| !a.dimensions.contains(&(d as i64));
            let half = arrays.len() / 2;
            let mut fed = Vec::with_capacity(arrays.len());
            for array in &arrays[..half] {
                let mut fixed = at.iter().copied();
                let ranges: Option<Vec<_>> = (0..array.rank())
                    .map(|d| if kept(d) { fixed.next().map(|i| i..i + 1) } else { Some(0..array.dims[d]) })
                    .collect();
                fed.push(Fed::These(box_of(&array.dims, &ranges?)));
            }
            fed.extend(arrays[half..].iter().map(|_| Fed::These(vec![0])));
            Some(fed)
        }
        Op::ReduceWindow(a) => {
            let half = arrays.len() / 2;
            let inside = |array: &&ArrayShape| Fed::These(windowed(&array.dims, &a.window, &at));
            let initial = arrays[half..].iter().map(|_| Fed::These(vec![0]));
            Some(arrays[..half].iter().map(inside).chain(initial).collect())
        }
        Op::Convolution(a) => convolution(a, &arrays, result, &at),
        _ => None,
    }
}

/// The element at the same place, or the only one.
fn same(operand: &ArrayShape, position: usize) -> Fed {
    Fed::These(vec![if operand.rank() == 0 { 0 } else { position }])
}

fn unravel(position: usize, dims: &[i64]) -> Dims {
    let mut rest = position as i64;
    let mut index: Dims = dims.into();
    for (i, &d) in index.iter_mut().zip(dims).rev() {
        *i = rest % d.max(1);
        rest /= d.max(1);
    }
    index
}

/// The positions of a box in an array.
fn box_of(dims: &[i64], ranges: &[std::ops::Range<i64>]) -> Vec<usize> {
    let mut positions = vec![0];
    for (&d, range) in dims.iter().zip(ranges) {
        positions = positions
            .iter()
            .flat_map(|&p: &usize| range.clone().map(move |i| p * d.max(0) as usize + i.max(0) as usize))
            .collect();
    }
    positions
}

/// The row of one operand and the column of the other.
fn dot(a: &DotAttrs, arrays: &[&ArrayShape], at: &[i64]) -> Option<Vec<Fed>> {
    let &[lhs, rhs] = arrays else { return None };
    let batch = a.lhs_batch_dims.len();
    let side = |array: &ArrayShape, batch_dims: &[i64], contracting: &[i64], skipped: usize| {
        let mut free = at.iter().skip(batch + skipped);
        let ranges: Option<Vec<_>> = (0..array.rank() as i64)
            .map(|d| match batch_dims.iter().position(|&b| b == d) {
                Some(n) => at.get(n).map(|&i| i..i + 1),
                None if contracting.contains(&d) => Some(0..array.dims[d as usize]),
                None => free.next().map(|&i| i..i + 1),
            })
            .collect();
        ranges.map(|ranges| Fed::These(box_of(&array.dims, &ranges)))
    };
    let free = lhs.rank().checked_sub(batch + a.lhs_contracting_dims.len())?;
    Some(vec![
        side(lhs, &a.lhs_batch_dims, &a.lhs_contracting_dims, 0)?,
        side(rhs, &a.rhs_batch_dims, &a.rhs_contracting_dims, free)?,
    ])
}

/// The places of the base area along one dimension that a window covers, each with the window's element.
fn covered(window: &WindowDim, size: i64, at: i64) -> impl Iterator<Item = (i64, i64)> + '_ {
    (0..window.size).filter_map(move |tap| {
        let reach = at.checked_mul(window.stride)?.checked_add(tap.checked_mul(window.rhs_dilate)?)?;
        let dilated = reach.checked_sub(window.pad_low)?;
        let base = dilated.div_euclid(window.lhs_dilate.max(1));
        let whole = dilated.rem_euclid(window.lhs_dilate.max(1)) == 0;
        (whole && (0..size).contains(&base)).then_some((base, tap))
    })
}

fn windowed(dims: &[i64], window: &Window, at: &[i64]) -> Vec<usize> {
    let mut positions = vec![0];
    for (d, &size) in dims.iter().enumerate() {
        let one = window.dims.get(d).cloned().unwrap_or_default();
        let places: Vec<i64> =
            covered(&one, size, at.get(d).copied().unwrap_or(0)).map(|(base, _)| base).collect();
        positions = positions
            .iter()
            .flat_map(|&p: &usize| places.iter().map(move |&i| p * size.max(0) as usize + i as usize))
            .collect();
    }
    positions
}

fn convolution(
    a: &ConvolutionAttrs,
    arrays: &[&ArrayShape],
    result: &ArrayShape,
    at: &[i64],
) -> Option<Vec<Fed>> {
    let &[input, kernel] = arrays else { return None };
    let labels = &a.dim_labels;
    let get = |index: &[i64], d: i64| index.get(usize::try_from(d).ok()?).copied();
    let one = |i: i64| vec![i];
    let (batch, feature) = (get(at, labels.output_batch)?, get(at, labels.output_feature)?);
    let per_group =
        |groups: i64| get(&result.dims, labels.output_feature)?.checked_div(groups).filter(|&n| n > 0);
    let features = get(&kernel.dims, labels.kernel_input_feature)?;
    let group = feature.checked_div(per_group(a.feature_groups())?)?;
    let batches = get(&result.dims, labels.output_batch)?;
    let batch_group = feature.checked_div(per_group(a.batch_groups())?)?;
    let mut from_input = vec![Vec::new(); input.rank()];
    let mut from_kernel = vec![Vec::new(); kernel.rank()];
    let set = |list: &mut Vec<Vec<i64>>, d: i64, places: Vec<i64>| -> Option<()> {
        *list.get_mut(usize::try_from(d).ok()?)? = places;
        Some(())
    };
    set(&mut from_input, labels.input_batch, one(batch_group * batches + batch))?;
    set(&mut from_input, labels.input_feature, (group * features..(group + 1) * features).collect())?;
    set(&mut from_kernel, labels.kernel_input_feature, (0..features).collect())?;
    set(&mut from_kernel, labels.kernel_output_feature, one(feature))?;
    for (n, (&d, &k)) in labels.input_spatial.iter().zip(&labels.kernel_spatial).enumerate() {
        let window = a.window.dims.get(n).cloned().unwrap_or_default();
        let place = get(at, *labels.output_spatial.get(n)?)?;
        let pairs: Vec<(i64, i64)> = covered(&window, get(&input.dims, d)?, place).collect();
        let along = |tap: i64| if window.reversed { window.size - 1 - tap } else { tap };
        set(&mut from_input, d, pairs.iter().map(|&(base, _)| base).collect())?;
        set(&mut from_kernel, k, pairs.iter().map(|&(_, tap)| along(tap)).collect())?;
    }
    let positions = |dims: &[i64], places: &[Vec<i64>]| {
        dims.iter().zip(places).fold(vec![0usize], |positions, (&size, places)| {
            let next = |p: usize| places.iter().map(move |&i| p * size.max(0) as usize + i.max(0) as usize);
            positions.into_iter().flat_map(next).collect()
        })
    };
    Some(vec![
        Fed::These(positions(&input.dims, &from_input)),
        Fed::These(positions(&kernel.dims, &from_kernel)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo_tools_common::format::parse_and_verify;

    /// What feeds an element of the root.
    fn fed(line: &str, position: usize) -> Vec<Fed> {
        let text = format!(
            "HloModule m\nadd {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}}\n\
             ENTRY e {{\n x = f32[2,3] parameter(0)\n y = f32[3,4] parameter(1)\n z = f32[] constant(0)\n \
             i = f32[1,4,1] parameter(2)\n k = f32[2,1,1] parameter(3)\n ROOT r = {line}\n}}\n"
        );
        let Ok(parsed) = parse_and_verify(&text, false) else { panic!("{text}") };
        let module = parsed.module;
        feeding(&module, module[module.entry()].root(), position)
    }

    fn these(list: &[usize]) -> Fed {
        Fed::These(list.to_vec())
    }

    #[test]
    fn a_row_and_a_column_feed_an_element_of_a_product() {
        let line = "f32[2,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
        assert_eq!(fed(line, 6), [these(&[3, 4, 5]), these(&[2, 6, 10])]);
    }

    #[test]
    fn what_is_reduced_feeds_the_sum() {
        assert_eq!(
            fed("f32[3] reduce(x, z), dimensions={0}, to_apply=add", 1),
            [these(&[1, 4]), these(&[0])]
        );
    }

    #[test]
    fn a_window_stops_at_the_border() {
        let line = "f32[3,5] reduce-window(y, z), window={size=1x2 pad=0_0x1_1}, to_apply=add";
        assert_eq!(fed(line, 5), [these(&[4]), these(&[0])]);
        assert_eq!(fed(line, 6), [these(&[4, 5]), these(&[0])]);
    }

    #[test]
    fn a_convolution_pairs_places_and_taps() {
        let line = "f32[1,4,1] convolution(i, k), window={size=2 pad=1_0}, dim_labels=b0f_0io->b0f";
        assert_eq!(fed(line, 0), [these(&[0]), these(&[1])]);
        assert_eq!(fed(line, 2), [these(&[1, 2]), these(&[0, 1])]);
    }
}
