//! `result_caster`: computes products in the type of their operands and converts the result if a narrower
//! type is required.
//!
//! ```text
//! dot(x, y) : bf16, x and y of f32  →  convert(dot(x, y) : f32) : bf16
//! ```
//!
//! The pass is for backends without products that round to another type. If a sum of floats must become an
//! integer, the sum is converted, not its terms. `operand_upcaster` handles results of a wider type.

use crate::pass_info::{PassInfo, Preservation};
use crate::support::retype::{represents_all_values, sum_before_conversion};
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{ElementType, InstrId, Op, Opcode};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "result_caster",
    summary: "compute products in the type of their operands, then convert to a narrower result type",
    keeps: Preservation::Values,
    example: "\
HloModule result_caster

ENTRY e {
  x = f32[2,3] parameter(0)
  y = f32[3,4] parameter(1)
  ROOT d = bf16[2,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
",
    patterns: &[&[
        Pattern::new(
            "cast-result",
            "dot(x, y) of a narrower type than x and y → convert(dot(x, y)); also convolution",
            &[Opcode::Dot, Opcode::Convolution],
            cast,
        ),
        CAST_SUM,
    ]],
    ..PassInfo::PLAIN
};

/// Converts sums of floats to integers, and of complex numbers to real ones, after the product.
pub(crate) const CAST_SUM: Pattern = Pattern::new(
    "cast-sum-of-floats",
    "dot(x, y) of integers with float x or y → convert(dot(x, y)); of reals with complex x and y → real(dot(x, y)); also convolution",
    &[Opcode::Dot, Opcode::Convolution],
    cast_sum,
);

/// The factors are not converted: terms of 0.75 and 0.5 add up to 1, not 0.
fn cast_sum(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let operands = cx.module[id].operands.to_vec();
    let [x, y] = operands[..] else { return None };
    let result = cx.module[id].shape.as_array()?.clone();
    let sum = sum_before_conversion([cx.element_type(x)?, cx.element_type(y)?], result.element_type)?;
    let op = cx.module[id].op.clone();
    let mut widened = operands;
    for operand in &mut widened {
        let array = cx.module[*operand].shape.as_array()?.clone();
        if sum == ElementType::C128 && array.element_type == ElementType::C64 {
            *operand = cx.add(array.with_element_type(sum), Op::Convert, &[*operand]);
        }
    }
    let mut product = cx.add(result.with_element_type(sum), op, &widened);
    if sum.is_complex() {
        product = cx.add(result.with_element_type(sum.real_type()), Op::Real, &[product]);
    }
    Some(if sum.real_type() == result.element_type {
        product
    } else {
        cx.add_same_shape(Op::Convert, &[product])
    })
}

fn cast(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let operands = cx.module[id].operands.to_vec();
    let [x, y] = operands[..] else { return None };
    let (a, b) = (cx.element_type(x)?, cx.element_type(y)?);
    let wide = if represents_all_values(a, b) { a } else { b };
    let result = cx.module[id].shape.as_array()?.clone();
    if result.element_type == wide
        || !represents_all_values(wide, result.element_type)
        || !represents_all_values(wide, a)
        || !represents_all_values(wide, b)
    {
        return None;
    }
    let op = cx.module[id].op.clone();
    let product = cx.add(result.with_element_type(wide), op, &operands);
    Some(cx.add_same_shape(Op::Convert, &[product]))
}
