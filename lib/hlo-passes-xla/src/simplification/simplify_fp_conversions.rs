//! `simplify-fp-conversions`: replaces chains of conversions between floating-point types by at most one
//! conversion.
//!
//! ```text
//! a = f32[4] convert(x)                 ROOT r = bf16[4] x
//! ROOT r = bf16[4] convert(a)      →
//! ```
//!
//! XLA's pass does this to every chain. It removes `f32 → bf16 → f32`, although the values have fewer bits in
//! between, so results differ from those that the program specifies. This pass removes a conversion only if
//! its result type represents every value of its operand type, which preserves every bit. In `f64 → f16 → f32
//! → bf16` it removes the second conversion, and in `f32 → bf16 → f32` none.
//!
//! The option `excess-precision` enables XLA's behavior. The pass then removes every conversion to a
//! floating-point type that is followed by another one, and results are no more accurate than the removed
//! types.

use hlo_ir::{ElementType, FloatFormat, InstrId, Op, Opcode};
use hlo_passes::parts::keeps_every_value;
use hlo_passes::support::rewrite::{Cx, Pattern, pattern_pass};
use hlo_passes::{OptionInfo, OptionValue, PassInfo};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "simplify-fp-conversions",
    summary: "merge chains of conversions between floats into one conversion",
    options: &[OptionInfo {
        name: "excess-precision",
        summary: "whether to remove conversions that round too, so that results have excess precision",
        default: OptionValue::Switch(false),
    }],
    example: "\
HloModule simplify_fp_conversions

ENTRY e {
  x = bf16[4] parameter(0)
  a = f32[4] convert(x)
  ROOT r = bf16[4] convert(a)
}
",
    patterns: &[EXACT],
    build: |info, options| {
        if options.switch("excess-precision") { pattern_pass(ANY) } else { pattern_pass(info.patterns) }
    },
    ..PassInfo::PLAIN
};

static EXACT: &[Pattern] = &[Pattern::new(
    "exact-chain",
    "convert(convert(x)) between floats → convert(x) or x, if the inner conversion is exact",
    &[Opcode::Convert],
    |cx, id| shorten(cx, id, has_every_value),
)];

static ANY: &[&[Pattern]] = &[&[Pattern::new(
    "any-chain",
    "convert(convert(x)) between floats → convert(x) or x",
    &[Opcode::Convert],
    |cx, id| shorten(cx, id, |_, from| !from.is_complex()),
)]];

/// Removes the inner of two conversions, if `may_go` accepts its result and operand types.
fn shorten(cx: &mut Cx<'_>, id: InstrId, may_go: fn(ElementType, ElementType) -> bool) -> Option<InstrId> {
    let inner = cx.operand(id, 0).filter(|&i| cx.opcode(i) == Opcode::Convert)?;
    let x = cx.operand(inner, 0)?;
    let (from, via, to) = (cx.element_type(x)?, cx.element_type(inner)?, cx.element_type(id)?);
    if !via.is_float() || !to.is_float() || !may_go(via, from) {
        return None;
    }
    if from == to {
        return cx.module[x].shape.compatible(&cx.module[id].shape).then_some(x);
    }
    Some(cx.add_same_shape(Op::Convert, &[x]))
}

/// Returns whether the floating-point type `to` represents each value of `from`.
fn has_every_value(to: ElementType, from: ElementType) -> bool {
    match (FloatFormat::of(to), FloatFormat::of(from)) {
        (Some(to), Some(from)) => to.has_values_of(&from),
        _ => keeps_every_value(from, to),
    }
}
