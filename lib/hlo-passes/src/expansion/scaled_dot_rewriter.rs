//! `scaled-dot-rewriter`: replaces products of scaled operands by products of operands multiplied by their
//! scales.
//!
//! ```text
//! x = f8e4m3fn[4,64] parameter(0)                  a = f32[4,64] convert(x)
//! s = f8e8m0fnu[4,2] parameter(2)                  b = f32[4,64] (convert(s), each for 32 elements)
//! r = f32[4,8] scaled-dot(x, y, s, t), …        →  c = f32[4,64] multiply(a, b)
//!                                                  r = f32[4,8] dot(c, …), …
//! ```
//!
//! The operands are multiplied by their scales in `f32`, or in `f64` if that type occurs.

use crate::pass_info::{PassInfo, Preservation};
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::{ArrayShape, ElementType, InstrId, Op};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "scaled-dot-rewriter",
    summary: "replace scaled products by products of operands multiplied by their scales",
    keeps: Preservation::Values,
    example: "\
HloModule scaled_dot_rewriter

ENTRY e {
  x = f8e4m3fn[4,32] parameter(0)
  y = f8e4m3fn[32,4] parameter(1)
  xs = f8e8m0fnu[4,1] parameter(2)
  ys = f8e8m0fnu[1,4] parameter(3)
  ROOT r = f32[4,4] scaled-dot(x, y, xs, ys), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
",
    build: |_, _| expansion_pass("scaled-dot", |op| matches!(op, Op::ScaledDot(_)), expand),
    ..PassInfo::PLAIN
};

/// Returns the product that replaces a scaled product.
pub(crate) fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::ScaledDot(attrs) = e.module[id].op.clone() else { return None };
    let mut wide = ElementType::F32;
    for value in (0..4).map(|i| e.operand(i)).chain([Some(id)]) {
        if e.array(value?)?.element_type == ElementType::F64 {
            wide = ElementType::F64;
        }
    }
    let lhs = scaled(e, [0, 2], wide)?;
    let rhs = scaled(e, [1, 3], wide)?;
    let shape = e.shape();
    Some(e.add(shape, Op::Dot(attrs), &[lhs, rhs]))
}

/// Returns an operand multiplied by its scale.
fn scaled(e: &mut Emitter<'_>, numbers: [usize; 2], wide: ElementType) -> Option<InstrId> {
    let [value, scale] = [e.operand(numbers[0])?, e.operand(numbers[1])?];
    let (a, s) = (e.array(value)?, e.array(scale)?);
    let a = ArrayShape::new(wide, a.dims.iter().copied()).with_dynamic(a.dynamic);
    let s = ArrayShape::new(wide, s.dims.iter().copied()).with_dynamic(s.dynamic);
    let value = e.add(a.clone(), Op::Convert, &[value]);
    let mut factor = e.add(s.clone(), Op::Convert, &[scale]);
    if s.dims != a.dims {
        // Split each dimension into blocks and the elements of a block. A scalar scale applies to all
        // elements.
        let (mut dims, mut dynamic) = (a.dims.to_vec(), Vec::new());
        if s.rank() > 0 {
            let blocks = a.dims.iter().zip(&s.dims);
            dims = blocks.flat_map(|(&n, &blocks)| [blocks, n / blocks.max(1)]).collect();
            dynamic = (0..s.rank()).flat_map(|d| [s.is_dynamic_dim(d), false]).collect();
        }
        let split = ArrayShape::new(wide, dims).with_dynamic(dynamic);
        factor = e.add(split, Op::broadcast((0..s.rank() as i64).map(|d| 2 * d)), &[factor]);
        let merged = ArrayShape::new(wide, a.dims.iter().copied())
            .with_dynamic((0..s.rank()).map(|d| s.is_dynamic_dim(d)));
        if e.array(factor)?.dims != merged.dims {
            factor = e.add(merged, Op::reshape(), &[factor]);
        }
        // The last block may be incomplete.
        for d in (0..s.rank()).filter(|&d| a.is_dynamic_dim(d)) {
            let size = e.size(value, d);
            factor = e.set_size(factor, d, size)?;
        }
    }
    Some(e.same(Op::Multiply, &[value, factor]))
}
