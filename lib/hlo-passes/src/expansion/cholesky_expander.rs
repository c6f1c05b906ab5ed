//! `cholesky_expander`: converts each Cholesky factorization to a loop over columns.
//!
//! ```text
//! cholesky(a), lower=true  →  for j: l[:,j] = a[:,j] / sqrt(a[j,j]), zeros above the diagonal
//!                                    a = a - l[:,j] · l[:,j]ᴴ
//! ```
//!
//! If a matrix is not positive definite, its factor is NaN. Types narrower than `f32` are computed in `f32`.

use crate::pass_info::{PassInfo, Preservation};
use crate::support::expander::{Emitter, expansion_pass};
use crate::support::matrices::{computed_in, matrix_sizes};
use hlo_ir::attr::ComparisonDirection;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ElementType, InstrId, Op};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "cholesky_expander",
    summary: "replace Cholesky factorizations by loops",
    keeps: Preservation::Values,
    example: "\
HloModule cholesky_expander

ENTRY e {
  a = f32[4,4] parameter(0)
  ROOT l = f32[4,4] cholesky(a), lower=true
}
",
    build: |_, _| expansion_pass("cholesky", |op| matches!(op, Op::Cholesky(_)), expand),
    ..PassInfo::PLAIN
};

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Cholesky(attrs) = e.module[id].op.clone() else { return None };
    let operand = e.operand(0)?;
    let shape = e.array(operand)?;
    let sizes = matrix_sizes(&shape)?;
    let [count, n, _] = sizes;
    if !e.is_static(id) || shape.element_type.is_integer() || shape.element_type.is_pred() {
        return None;
    }
    if count == 0 || n == 0 {
        let zeros = e.zeros(&shape)?;
        return e.results(&[zeros]);
    }
    let ty = computed_in(shape.element_type);
    let a = e.convert(operand, ty)?;
    let mut a = e.matrices(a)?;
    if !attrs.lower {
        a = adjoint(e, a)?;
    }
    let factor = e.zeros(&ArrayShape::new(ty, sizes))?;
    let yes = e.scalar(ElementType::Pred, &[1])?;
    let definite = e.filled(&ArrayShape::new(ElementType::Pred, [count, 1, 1]), yes);
    let last = e.counted_loop("cholesky", n, &[a, factor, definite], |e, j, state| {
        let &[a, factor, definite] = state else { return None };
        step(e, &sizes, j, a, factor, definite)
    })?;
    let &[_, factor, definite] = last.as_slice() else { return None };
    let definite = e.broadcast_to_sizes(definite, &sizes)?;
    let nan = e.nan(ty)?;
    let nan = e.spread(factor, nan)?;
    let mut result = e.choose(definite, factor, nan)?;
    if !attrs.lower {
        result = adjoint(e, result)?;
    }
    let result = e.reshaped(result, &shape.dims)?;
    e.results(&[result])
}

fn adjoint(e: &mut Emitter<'_>, a: InstrId) -> Option<InstrId> {
    let a = e.transposed(a, &[0, 2, 1])?;
    e.conjugate(a)
}

/// Computes column `j` of the factor, and the matrix that remains without it.
fn step(
    e: &mut Emitter<'_>,
    sizes: &[i64; 3],
    j: InstrId,
    a: InstrId,
    factor: InstrId,
    definite: InstrId,
) -> Option<Vec<InstrId>> {
    let [count, n, _] = *sizes;
    let column_sizes = [count, n, 1];
    let zero = e.index(0)?;
    let pivot = e.part(a, &[zero, j, j], &[count, 1, 1])?;
    let pivot = e.real_part(pivot)?;
    let root = e.same(Op::Sqrt, &[pivot]);
    let none = e.splat(root, e.array(root)?.element_type, 0.0)?;
    let is_positive = e.relation(root, ComparisonDirection::Gt, none);
    let definite = e.same(Op::And, &[definite, is_positive]);

    let column = e.part(a, &[zero, zero, j], &column_sizes)?;
    let roots = e.broadcast_to_sizes(root, &column_sizes)?;
    let scaled = e.over_real(column, roots)?;
    let zeros = e.zeros(&e.array(scaled)?)?;
    let is_below = e.places(&column_sizes, 1, ComparisonDirection::Gt, j)?;
    let is_diagonal = e.places(&column_sizes, 1, ComparisonDirection::Eq, j)?;
    let below = e.choose(is_below, scaled, zeros)?;
    let diagonal = e.convert(roots, e.array(scaled)?.element_type)?;
    let column = e.choose(is_diagonal, diagonal, below)?;
    let factor = e.updated(factor, &[zero, zero, j], column);

    let row = adjoint(e, below)?;
    let product = e.outer(below, row, sizes)?;
    let rest = e.same(Op::Subtract, &[a, product]);
    Some(vec![rest, factor, definite])
}
