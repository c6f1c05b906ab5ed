//! `triangular_solve_expander`: converts each triangular solve to a loop over its unknowns.
//!
//! ```text
//! triangular-solve(a, b), left_side=true, lower=true  →  for i: x[i] = b[i] / a[i,i]
//!                                                               b[k] = b[k] - a[k,i] · x[i] for k > i
//! ```
//!
//! Other forms are reduced to this one by transposes and conjugates, or solved starting with the last
//! unknown. Types narrower than `f32` are computed in `f32`.

use crate::pass_info::{PassInfo, Preservation};
use crate::support::expander::{Emitter, expansion_pass};
use crate::support::matrices::{computed_in, matrix_sizes};
use hlo_ir::attr::{ComparisonDirection, TransposeKind};
use hlo_ir::build::Build;
use hlo_ir::{InstrId, Op};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "triangular_solve_expander",
    summary: "replace triangular solves by loops",
    keeps: Preservation::Values,
    example: "\
HloModule triangular_solve_expander

ENTRY e {
  a = f32[4,4] parameter(0)
  b = f32[4,2] parameter(1)
  ROOT x = f32[4,2] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
}
",
    build: |_, _| expansion_pass("triangular-solve", |op| matches!(op, Op::TriangularSolve(_)), expand),
    ..PassInfo::PLAIN
};

/// A system `a·x = b` that is being solved.
struct System {
    /// The sizes of `a`.
    a: [i64; 3],
    b: [i64; 3],
    /// Whether the first unknown is solved first.
    forward: bool,
    unit_diagonal: bool,
}

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::TriangularSolve(attrs) = e.module[id].op.clone() else { return None };
    let (a, b) = (e.operand(0)?, e.operand(1)?);
    let shape = e.array(b)?;
    if !e.is_static(id) || shape.element_type.is_integer() || shape.element_type.is_pred() {
        return None;
    }
    if shape.dims.contains(&0) {
        let zeros = e.zeros(&shape)?;
        return e.results(&[zeros]);
    }
    let ty = computed_in(shape.element_type);
    let (a, b) = (e.convert(a, ty)?, e.convert(b, ty)?);
    let (mut a, mut b) = (e.matrices(a)?, e.matrices(b)?);
    // If the unknown is on the right, solve the transposed system.
    let is_transposed = matches!(attrs.transpose_a, TransposeKind::Transpose | TransposeKind::Adjoint);
    let flip = is_transposed == attrs.left_side;
    if flip {
        a = e.transposed(a, &[0, 2, 1])?;
    }
    if attrs.transpose_a == TransposeKind::Adjoint {
        a = e.conjugate(a)?;
    }
    if !attrs.left_side {
        b = e.transposed(b, &[0, 2, 1])?;
    }
    let system = System {
        a: matrix_sizes(&e.array(a)?)?,
        b: matrix_sizes(&e.array(b)?)?,
        forward: attrs.lower != flip,
        unit_diagonal: attrs.unit_diagonal,
    };
    let last = e.counted_loop("triangular_solve", system.a[1], &[a, b], |e, i, state| {
        let &[a, b] = state else { return None };
        Some(vec![a, system.step(e, i, a, b)?])
    })?;
    let mut x = *last.last()?;
    if !attrs.left_side {
        x = e.transposed(x, &[0, 2, 1])?;
    }
    let x = e.reshaped(x, &shape.dims)?;
    e.results(&[x])
}

impl System {
    /// Solves one more unknown in the right side, and subtracts its contribution from the unsolved ones.
    fn step(&self, e: &mut Emitter<'_>, i: InstrId, a: InstrId, b: InstrId) -> Option<InstrId> {
        let ([count, n, _], [_, _, width]) = (self.a, self.b);
        let zero = e.index(0)?;
        let (i, unsolved) = if self.forward {
            (i, ComparisonDirection::Gt)
        } else {
            let last = e.index(n - 1)?;
            (e.same(Op::Subtract, &[last, i]), ComparisonDirection::Lt)
        };
        let row_sizes = [count, 1, width];
        let mut x = e.part(b, &[zero, i, zero], &row_sizes)?;
        if !self.unit_diagonal {
            let pivot = e.part(a, &[zero, i, i], &[count, 1, 1])?;
            let pivots = e.broadcast_to_sizes(pivot, &row_sizes)?;
            x = e.same(Op::Divide, &[x, pivots]);
        }
        let solved = e.updated(b, &[zero, i, zero], x);
        let column = e.part(a, &[zero, zero, i], &[count, n, 1])?;
        let product = e.outer(column, x, &self.b)?;
        let rest = e.same(Op::Subtract, &[solved, product]);
        let is_unsolved = e.places(&self.b, 1, unsolved, i)?;
        e.choose(is_unsolved, rest, solved)
    }
}
