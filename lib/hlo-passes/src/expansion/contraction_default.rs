//! `contraction-default`: gives a contraction a default operand if some elements of its result get no value,
//! and removes it otherwise.
//!
//! ```text
//!                                                        z = f32[] constant(0)
//! x = f32[3] parameter(0)                                x = f32[3] parameter(0)
//! y = f32[6] contraction(x), access={(2*d0) = (d0)}   →  d = f32[6] broadcast(z), dimensions={}
//!                                                        y = f32[6] contraction(x, d), access={(2*d0) = (d0)}
//! ```
//!
//! Code generation writes the computed elements into the memory of the default.

use crate::pass_info::PassInfo;
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::build::Build;
use hlo_ir::{InstrId, Op, Shape};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "contraction-default",
    summary: "pass zeros as the default of contractions that leave elements unset, and remove unneeded defaults",
    example: "\
HloModule contraction_default

ENTRY e {
  x = f32[3] parameter(0)
  ROOT y = f32[6] contraction(x), access={(2*d0) = (d0)}
}
",
    build: |_, _| expansion_pass("contraction", |op| matches!(op, Op::Contraction(_)), expand),
    ..PassInfo::PLAIN
};

/// Returns the contraction with the operands that it needs, if they differ from the existing ones.
fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Contraction(attrs) = e.module[id].op.clone() else { return None };
    let operands = e.module[id].operands.to_vec();
    let (read, default) = operands.split_at_checked(attrs.access.operands.len())?;
    let shape = e.shape();
    let shapes: Vec<&Shape> = read.iter().map(|&o| &e.module[o].shape).collect();
    let nest = attrs.access.nest(&shape, &shapes).ok()?;
    let array = shape.as_array()?.clone();
    let is_covered = nest.is_some_and(|nest| nest.covers(array.element_count()));
    let operands = match (is_covered, default) {
        (true, [_]) => read.to_vec(),
        (false, []) => {
            let zero = e.zero(array.element_type)?;
            let zeros = e.broadcast(zero, &array, &[]);
            [read, &[zeros]].concat()
        }
        _ => return None,
    };
    Some(e.add(shape, Op::Contraction(attrs), &operands))
}
