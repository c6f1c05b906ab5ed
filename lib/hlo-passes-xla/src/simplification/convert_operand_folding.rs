//! `convert_operand_folding`: removes widening conversions of the operands of a dot or convolution, which
//! accumulates in the wide type of its result.
//!
//! ```text
//! a = s32[4,8] convert(x)                  x = s8[4,8] parameter(0)
//! b = s32[8,4] convert(y)             →    y = s8[8,4] parameter(1)
//! ROOT d = s32[4,4] dot(a, b), …           ROOT d = s32[4,4] dot(x, y), …
//! ```
//!
//! Both operands must be converted from the same type, to a type that represents all of its values.

use hlo_ir::{ElementType, InstrId, Opcode};
use hlo_passes::PassInfo;
use hlo_passes::parts::keeps_every_value;
use hlo_passes::support::rewrite::{Cx, Pattern};

/// The description in the registry.
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
    "dot(convert(x), convert(y)) → dot(x, y) with the same result type; also convolution",
    &[Opcode::Dot, Opcode::Convolution],
    fold,
)];

fn fold(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let &[lhs, rhs] = cx.module[id].operands.as_slice() else { return None };
    let (x, from) = widened(cx, lhs)?;
    let (y, also) = widened(cx, rhs)?;
    // The products must be computed in the wide type: sums of narrower products could wrap or round.
    let accumulates =
        cx.element_type(lhs) == cx.element_type(id) && cx.element_type(rhs) == cx.element_type(id);
    let op = cx.module[id].op.clone();
    (accumulates && from == also).then(|| cx.add_same_shape(op, &[x, y]))
}

/// Returns the operand and the operand type of a conversion to a wider type that represents all of its
/// values.
fn widened(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, ElementType)> {
    let x = cx.operand(id, 0).filter(|_| cx.opcode(id) == Opcode::Convert)?;
    let (from, to) = (cx.array(x)?.element_type, cx.array(id)?.element_type);
    let same_kind =
        from.is_integer() == to.is_integer() && from.is_signed_integer() == to.is_signed_integer();
    (same_kind && from != to && !from.is_pred() && keeps_every_value(from, to)).then_some((x, from))
}
