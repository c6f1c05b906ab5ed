//! `contraction-raising`: replaces contractions by other operations that compute the same values.
//!
//! ```text
//! c = f32[2,4] contraction(a, b),              →  c = f32[2,4] dot(a, b), lhs_contracting_dims={1},
//!       access={(d0,d1) += (d0,d2) * (d2,d1)}         rhs_contracting_dims={0}
//! ```
//!
//! The pass analyses a contraction in these steps:
//!
//! - Each index has a range: all values that its own bounds allow (`form.rs`). A difference that a constraint
//!   bounds becomes an index, so that a sum up to an element becomes a sum over windows.
//! - Operands are sliced to the elements that are read, with indices as dimensions (`labeled.rs`).
//! - The rest must have one of three forms. It is a product of matrices or elementwise operations and
//!   reductions (`values.rs`), windows of one operand (`window.rs`), or a convolution (`convolution.rs`).
//! - Constraints that select elements become masks (`masks.rs`).
//! - The values are placed in the output (`result.rs`).
//!
//! A convolution also multiplies its padding. An infinity in the kernel therefore produces NaN beyond the
//! ends of the operand. A contraction reads nothing there and produces no NaN.
//!
//! The pass does not rewrite other contractions:
//! - other combinations of windows;
//! - expressions of three indices;
//! - indices without a range of their own;
//! - maxima of windows some of which are empty;
//! - masks of one of two operands (0 times an infinity is not 0);
//! - aggregates of combinations that repeat each element often, such as `min` of `a[i,k] + b[k,j]`.
//!
//! In the last case, the loops of a contraction keep the aggregates in registers and read both operands along
//! their rows.

mod aggregates;
mod convolution;
mod form;
mod labeled;
mod masks;
mod result;
mod values;
mod window;

use crate::pass_info::{PassInfo, Preservation};
use crate::support::expander::{Emitter, expansion_pass};
use form::Form;
use hlo_ir::build::Build;
use hlo_ir::{InstrId, Op, Shape};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "contraction-raising",
    summary: "replace contractions by equivalent products, convolutions, reductions and data movement",
    keeps: Preservation::Values,
    example: "\
HloModule contraction_raising

ENTRY e {
  x = f32[8] parameter(0)
  ROOT pool = f32[4] contraction(x), access={(d0) >= (2*d0+d1), d1 < 2}
}
",
    build: |_, _| expansion_pass("contraction", |op| matches!(op, Op::Contraction(_)), raise),
    ..PassInfo::PLAIN
};

/// Returns the replacement of a contraction.
fn raise(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Contraction(attributes) = e.module[id].op.clone() else { return None };
    let contraction = &attributes.access;
    let shape = e.shape();
    let result = shape.as_array()?.clone();
    let operands = e.module[id].operands.to_vec();
    let (read, default) = operands.split_at_checked(contraction.operands.len())?;
    let default = default.first().copied();
    let shapes: Vec<Shape> = read.iter().map(|&o| e.module[o].shape.clone()).collect();
    let nest = contraction.nest(&shape, &shapes.iter().collect::<Vec<_>>()).ok()?;
    let value = if nest.is_none() {
        match default {
            Some(default) => default,
            None => {
                let zero = e.zero(result.element_type)?;
                e.broadcast(zero, &result, &[])
            }
        }
    } else {
        let sizes = shapes.iter().map(|s| Some(s.as_array()?.dims.to_vec())).collect::<Option<Vec<_>>>()?;
        let mut form = Form::of(contraction, &result.dims, sizes, default.is_some())?;
        let values = values::values(e, &mut form, read)?;
        result::placed(e, &form, &values, default)?
    };
    e.finish(value, &shape)
}
