//! `scaled-dot-rewriter`: products of operands with scales by products of what they stand for.
//!
//! ```text
//! x = f8e4m3fn[4,64] parameter(0)                  a = f32[4,64] convert(x)
//! s = f8e8m0fnu[4,2] parameter(2)                  b = f32[4,64] (convert(s), each for 32 elements)
//! r = f32[4,8] scaled-dot(x, y, s, t), …        →  c = f32[4,64] multiply(a, b)
//!                                                  r = f32[4,8] dot(c, …), …
//! ```
//!
//! The operands are multiplied with their scales in f32, or in f64 where that occurs.

use crate::PassInfo;
use crate::support::rewrite::{Cx, Pattern, apply_patterns, broadcast_op};
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Op, Opcode};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "scaled-dot-rewriter",
    summary: "products with scales by products of operands that are multiplied with them",
    options: &[],
    build: |_| Box::new(|module: &mut hlo_ir::Module| Ok(apply_patterns(module, &[&REWRITE]))),
};

static REWRITE: Pattern = Pattern::new(
    "rewrite-scaled-dot",
    "scaled-dot(x, y, s, t) → dot(x · s, y · t)",
    &[Opcode::ScaledDot],
    rewrite,
);

fn rewrite(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::ScaledDot(attrs) = cx.module[id].op.clone() else { return None };
    let mut wide = ElementType::F32;
    for value in (0..4).map(|i| cx.operand(id, i)).chain([Some(id)]) {
        if cx.element_type(value?)? == ElementType::F64 {
            wide = ElementType::F64;
        }
    }
    let lhs = scaled(cx, id, [0, 2], wide)?;
    let rhs = scaled(cx, id, [1, 3], wide)?;
    Some(cx.instead(Op::Dot(attrs), &[lhs, rhs]))
}

/// An operand times its scale.
fn scaled(cx: &mut Cx<'_>, id: InstrId, numbers: [usize; 2], wide: ElementType) -> Option<InstrId> {
    let [value, scale] = [cx.operand(id, numbers[0])?, cx.operand(id, numbers[1])?];
    let (a, s) = (cx.array(value)?, cx.array(scale)?);
    let shape = ArrayShape::new(wide, a.dims.iter().copied());
    let value = cx.add(shape.clone(), Op::Convert, &[value]);
    let mut factor = cx.add(ArrayShape::new(wide, s.dims.iter().copied()), Op::Convert, &[scale]);
    if s.dims != a.dims {
        // Each dimension as blocks and the elements in a block; a scalar is for all.
        let split: Dims = match s.rank() {
            0 => a.dims.clone(),
            _ => a.dims.iter().zip(&s.dims).flat_map(|(&n, &blocks)| [blocks, n / blocks.max(1)]).collect(),
        };
        let op = broadcast_op((0..s.rank() as i64).map(|d| 2 * d));
        factor = cx.add(ArrayShape::new(wide, split), op, &[factor]);
        factor = cx.reshape(factor, &a.dims)?;
    }
    Some(cx.add(shape, Op::Multiply, &[value, factor]))
}
