//! Finds the elements of operands that an element of a result is computed from.

use hlo_ir::access::{Access, Axis, ReadFor};
use hlo_ir::{InstrId, Module, Shape, unravel};

/// The elements of one operand that an element is computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadElements {
    /// The elements at these row-major positions.
    These(Vec<usize>),
    /// Any of the elements.
    Any,
}

/// Returns the elements of each operand that the element at `position` of a result is computed from. If an
/// instruction has several results, they have the same dimensions wherever the elements are known.
pub fn source_elements(module: &Module, id: InstrId, position: usize) -> Vec<ReadElements> {
    let operands = 0..module[id].operands.len();
    operands
        .map(|n| from_operand(module, id, n, position).map_or(ReadElements::Any, ReadElements::These))
        .collect()
}

/// Returns the elements of operand `n`, or `None` if they are not known.
fn from_operand(module: &Module, id: InstrId, n: usize, position: usize) -> Option<Vec<usize>> {
    let instr = &module[id];
    let result = instr.shape.leaves().into_iter().find_map(Shape::as_array)?;
    let operand = module[*instr.operands.get(n)?].shape.as_array()?;
    let access = module.access(id, n);
    // For dynamic shapes, positions refer to the actual sizes.
    if !(operand.is_static() && result.is_static()) {
        return match access {
            Access::Axes(axes) if axes.is_empty() => Some(vec![0]),
            access => access.is_identity(result.rank()).then(|| vec![position]),
        };
    }
    let unsaid = |axis: &Axis| matches!(axis, Axis::Any | Axis::Moved { .. });
    if access.axes().is_some_and(|axes| axes.iter().any(unsaid)) {
        return None;
    }
    let index = unravel(position, &result.dims);
    access.positions(&operand.dims, ReadFor { index: &index, dims: &result.dims, window: instr.op.window() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo_tools_common::format::parse_and_verify;

    /// Returns the elements that an element of the root is computed from.
    fn fed(line: &str, position: usize) -> Vec<ReadElements> {
        let text = format!(
            "HloModule m\nadd {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}}\n\
             ENTRY e {{\n x = f32[2,3] parameter(0)\n y = f32[3,4] parameter(1)\n z = f32[] constant(0)\n \
             i = f32[1,4,1] parameter(2)\n k = f32[2,1,1] parameter(3)\n ROOT r = {line}\n}}\n"
        );
        let Ok(parsed) = parse_and_verify(&text, false) else { panic!("{text}") };
        let module = parsed.module;
        source_elements(&module, module[module.entry()].root(), position)
    }

    fn these(list: &[usize]) -> ReadElements {
        ReadElements::These(list.to_vec())
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
