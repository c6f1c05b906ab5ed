//! `comparison-expander`: compares integers instead of floats in total order.
//!
//! ```text
//! compare(a, b), direction=LT, type=TOTALORDER  →  compare(key(a), key(b)), direction=LT
//! key(x): the bits of x as an integer; if the sign bit is set, the other bits are inverted
//! ```
//!
//! As in the total order, the sign of zero and the kinds of NaN matter. Types without an integer type of the
//! same width (`f6e3m2fn`, `f6e2m3fn`) are compared as `f32`. This keeps their order, because they have no
//! NaN.

use crate::pass_info::PassInfo;
use crate::support::arrays::{signed, unsigned};
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::attr::{ComparisonDirection, ComparisonType};
use hlo_ir::{ElementType, InstrId, Op};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "comparison-expander",
    summary: "replace total-order comparisons of floats by integer comparisons",
    example: "\
HloModule comparison_expander

ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  ROOT c = pred[4] compare(x, y), direction=LT, type=TOTALORDER
}
",
    build: |_, _| expansion_pass("total-order", is_total_order, expand),
    ..PassInfo::PLAIN
};

fn is_total_order(op: &Op) -> bool {
    matches!(op, Op::Compare(a) if a.comparison_type == ComparisonType::TotalOrder)
}

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Compare(attrs) = e.module[id].op.clone() else { return None };
    let (a, b) = (e.operand(0)?, e.operand(1)?);
    let (a, b) = (key(e, a)?, key(e, b)?);
    let result = e.relation(a, attrs.direction, b);
    let shape = e.shape();
    e.finish(result, &shape)
}

/// Returns integers in the order of the floats, or `None` for elements that are not floats.
fn key(e: &mut Emitter<'_>, x: InstrId) -> Option<InstrId> {
    use ElementType as T;
    let ty = e.array(x)?.element_type;
    let width = ty.bit_width();
    if ty == T::F8E8M0Fnu {
        // This type has no sign.
        return e.reinterpret(x, unsigned(width)?);
    }
    if !ty.is_float() {
        return None;
    }
    let Some(integer) = signed(width) else {
        let wide = e.convert(x, T::F32)?;
        return key(e, wide);
    };
    let bits = e.reinterpret(x, integer)?;
    let (zero, magnitude) = (e.splat(x, integer, 0.0)?, e.splat_bits(x, integer, (1 << (width - 1)) - 1)?);
    let is_negative = e.relation(bits, ComparisonDirection::Lt, zero);
    let mut inverted = e.same(Op::Xor, &[bits, magnitude]);
    if !matches!(ty, T::F8E4M3B11Fnuz | T::F8E5M2Fnuz | T::F8E4M3Fnuz) {
        return e.choose(is_negative, inverted, bits);
    }
    // These types have no negative zero. Its bit pattern is the NaN, which is below all numbers. Adding one
    // to the other negative numbers makes room for it.
    let one = e.splat(x, integer, 1.0)?;
    inverted = e.same(Op::Add, &[inverted, one]);
    let nan = e.same(Op::Not, &[magnitude]);
    let is_nan = e.relation(bits, ComparisonDirection::Eq, nan);
    let number = e.choose(is_negative, inverted, bits)?;
    e.choose(is_nan, nan, number)
}
