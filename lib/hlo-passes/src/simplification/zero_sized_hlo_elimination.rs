//! `zero_sized_hlo_elimination`: replaces instructions that compute arrays without elements by constants.
//!
//! ```text
//! ROOT s = f32[0,3] dot(x, y), …      →    ROOT s = f32[0,3] constant({})
//! ```
//!
//! Instructions with side effects, instructions that call computations, such as loops and branches, and
//! communication stay.

use crate::pass_info::PassInfo;
use crate::support::effects::is_impure;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{Family, InstrId, Literal, Op};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "zero_sized_hlo_elimination",
    summary: "replace operations whose results are empty by constants",
    example: "\
HloModule zero_sized_hlo_elimination

ENTRY e {
  x = f32[0,4] parameter(0)
  y = f32[4,3] parameter(1)
  ROOT d = f32[0,3] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] =
    &[Pattern::new("zero-sized", "op(…) of an empty shape → constant({})", &[], eliminate)];

fn eliminate(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let shape = cx.array(id).filter(|a| a.dims.contains(&0))?;
    let computes = matches!(
        cx.opcode(id).family(),
        Family::Elementwise
            | Family::DataMovement
            | Family::Indexing
            | Family::Reduction
            | Family::LinearAlgebra
            | Family::Normalization
    );
    if !computes || is_impure(&cx.module[id].op) {
        return None;
    }
    let value = Literal::try_zeros(&shape.into())?;
    Some(cx.add_same_shape(Op::constant(value), &[]))
}
