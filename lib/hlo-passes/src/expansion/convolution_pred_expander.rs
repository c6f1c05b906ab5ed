//! `convolution-pred-expander`: computes convolutions of predicates as sums of numbers.
//!
//! ```text
//! convolution(x, k) : pred  →  convert(convolution(convert(x), convert(k))) : pred
//! ```
//!
//! The numbers are `f32`. A sum of zeros and ones is zero only if all of them are zero.

use crate::pass_info::PassInfo;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{ElementType, InstrId, Opcode};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "convolution-pred-expander",
    summary: "compute convolutions of predicates as convolutions of numbers",
    example: "\
HloModule convolution_pred_expander

ENTRY e {
  x = pred[1,8,2] parameter(0)
  k = pred[3,2,4] parameter(1)
  ROOT c = pred[1,6,4] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f
}
",
    patterns: &[&[Pattern::new(
        "convolution-of-pred",
        "convolution(x, k) of pred → convert(convolution(convert(x), convert(k)))",
        &[Opcode::Convolution],
        of_pred,
    )]],
    ..PassInfo::PLAIN
};

fn of_pred(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let operands = cx.module[id].operands.to_vec();
    let [x, k] = operands[..] else { return None };
    let types = [cx.element_type(x)?, cx.element_type(k)?, cx.element_type(id)?];
    if !types.iter().all(|t| t.is_pred()) {
        return None;
    }
    cx.computed_in(ElementType::F32)
}
