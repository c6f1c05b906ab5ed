//! The combining operations of reductions, in forms that LLVM's vectorizer recognizes.

use super::Unsupported;
use crate::builder::{Binary, Builder, FastMath};
use crate::elem::{self, Elem};
use hlo_ir::{ElementType, ElementwiseOp};

/// Like [`crate::ops::elementwise::emit`] for `op` on two values of type `ty`. `fast` determines whether sums
/// and products may be combined in another order.
///
/// Narrow floats are rounded after each step as in all operations. To accumulate in `f32`, pass `f32` as the
/// type.
///
/// # Errors
/// Fails if the operation is not defined for this type.
pub fn emit_reducer_op<'c>(
    b: &Builder<'c>,
    op: ElementwiseOp<'_>,
    ty: ElementType,
    a: Elem<'c>,
    c: Elem<'c>,
    fast: FastMath,
) -> Result<Elem<'c>, Unsupported> {
    let sum = op == ElementwiseOp::Add;
    if !sum && op != ElementwiseOp::Multiply {
        return super::elementwise::emit(b, op, ty, &[(a, ty), (c, ty)]);
    }
    let combine = if sum { Binary::Addf } else { Binary::Mulf };
    match (a, c) {
        (Elem::One(x), Elem::One(y)) if ty.is_float() => {
            Ok(Elem::One(elem::round_to(b, ty, b.binary_fast(combine, x, y, fast))))
        }
        (Elem::Complex(ar, ai), Elem::Complex(cr, ci)) if sum => {
            Ok(Elem::Complex(b.binary_fast(combine, ar, cr, fast), b.binary_fast(combine, ai, ci, fast)))
        }
        _ => super::elementwise::emit(b, op, ty, &[(a, ty), (c, ty)]),
    }
}
