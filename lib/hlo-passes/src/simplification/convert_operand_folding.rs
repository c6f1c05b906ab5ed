//! `convert_operand_folding`: a dot or convolution takes narrow operands as they are, and accumulates in the wide type
//! of its result.
//!
//! ```text
//! a = s32[4,8] convert(x)                  x = s8[4,8] parameter(0)
//! b = s32[8,4] convert(y)             →    y = s8[8,4] parameter(1)
//! ROOT d = s32[4,4] dot(a, b), …           ROOT d = s32[4,4] dot(x, y), …
//! ```
//!
//! Both operands must be converted from the same type, to one that has all its values.

use super::algsimp::keeps_every_value;
use crate::PassInfo;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{ElementType, InstrId, Opcode};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "convert_operand_folding",
    summary: "let dot and convolution read narrow operands without widening them first",
    example: "\
HloModule convert_operand_folding

ENTRY e {
  x = s8[4,8] parameter(0)
  y = s8[8,4] parameter(1)
  a = s32[4,8] convert(x)
  b = s32[8,4] convert(y)
  ROOT d = s32[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[Pattern::new(
    "fold-convert",
    "dot(convert(x), convert(y)) → dot(x, y) of the same result type; so convolution",
    &[Opcode::Dot, Opcode::Convolution],
    fold,
)];

fn fold(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let &[lhs, rhs] = cx.module[id].operands.as_slice() else { return None };
    let (x, from) = widened(cx, lhs)?;
    let (y, also) = widened(cx, rhs)?;
    // In the wide type itself the products must be formed: a sum of narrower ones may wrap or round.
    let accumulates =
        cx.element_type(lhs) == cx.element_type(id) && cx.element_type(rhs) == cx.element_type(id);
    let op = cx.module[id].op.clone();
    (accumulates && from == also).then(|| cx.instead(op, &[x, y]))
}

/// The operand of a conversion to a type that has all its values and more bits, and its type.
fn widened(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, ElementType)> {
    let x = cx.operand(id, 0).filter(|_| cx.opcode(id) == Opcode::Convert)?;
    let (from, to) = (cx.array(x)?.element_type, cx.array(id)?.element_type);
    let same_kind =
        from.is_integer() == to.is_integer() && from.is_signed_integer() == to.is_signed_integer();
    (same_kind && from != to && !from.is_pred() && keeps_every_value(from, to)).then_some((x, from))
}
