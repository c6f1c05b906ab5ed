//! `stochastic_convert_decomposer`: replaces stochastic rounding by arithmetic.
//!
//! ```text
//! stochastic-convert(x, random)  →  m = |x| / unit, where unit is the unit in the result's last place
//!                                   up = random < (m - floor(m)) · 2ⁿ
//!                                   convert(±(floor(m) + up) · unit)
//! ```
//!
//! Every step is exact, because the units are powers of two. Zeros, infinities and NaN are converted
//! directly.

use crate::pass_info::PassInfo;
use crate::support::arrays::unsigned;
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::attr::ComparisonDirection;
use hlo_ir::{ElementType, FloatFormat, InstrId, Op};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "stochastic_convert_decomposer",
    summary: "replace stochastic-convert by the arithmetic of stochastic rounding",
    example: "\
HloModule stochastic_convert_decomposer

ENTRY e {
  x = f32[4] parameter(0)
  random = u32[4] parameter(1)
  ROOT y = s8[4] stochastic-convert(x, random)
}
",
    build: |_, _| expansion_pass("stochastic-convert", |op| matches!(op, Op::StochasticConvert), expand),
    ..PassInfo::PLAIN
};

fn expand(e: &mut Emitter<'_>, _: InstrId) -> Option<InstrId> {
    let (operand, random) = (e.operand(0)?, e.operand(1)?);
    let (from, bits) = (e.array(operand)?.element_type, e.array(random)?.element_type);
    let shape = e.shape();
    let to = shape.as_array()?.element_type;
    let defined = from.is_float() && bits.is_unsigned_integer() && from.bit_width() == bits.bit_width();
    if !defined || !(to.is_float() || to.is_integer()) {
        return None;
    }
    let wide = if from == ElementType::F64 { from } else { ElementType::F32 };
    let x = e.convert(operand, wide)?;
    if to == wide || to == ElementType::F64 {
        // The conversion is exact.
        return e.finish(x, &shape);
    }
    let magnitude = e.same(Op::Abs, &[x]);
    let unit = match FloatFormat::of(to) {
        Some(format) => Some(last_place(e, magnitude, wide, format)?),
        None => None,
    };
    let units = unit.map_or(magnitude, |u| e.same(Op::Divide, &[magnitude, u]));
    let whole = e.same(Op::Floor, &[units]);
    let lost = e.same(Op::Subtract, &[units, whole]);
    let scale = e.splat(x, wide, 2f64.powi(bits.bit_width() as i32))?;
    let lost = e.same(Op::Multiply, &[lost, scale]);
    let lost = e.convert(lost, bits)?;
    let up = e.relation(random, ComparisonDirection::Lt, lost);
    let up = e.convert(up, wide)?;
    let rounded = e.same(Op::Add, &[whole, up]);
    let rounded = unit.map_or(rounded, |u| e.same(Op::Multiply, &[rounded, u]));

    let zero = e.splat(x, wide, 0.0)?;
    let is_negative = e.relation(x, ComparisonDirection::Lt, zero);
    let opposite = e.same(Op::Negate, &[rounded]);
    let rounded = e.choose(is_negative, opposite, rounded)?;
    let is_finite = e.elementwise(ElementType::Pred, Op::IsFinite, &[x]);
    let is_zero = e.relation(x, ComparisonDirection::Eq, zero);
    let is_other = e.same(Op::Not, &[is_zero]);
    let counts = e.same(Op::And, &[is_finite, is_other]);
    let result = e.choose(counts, rounded, x)?;
    e.finish(result, &shape)
}

/// Returns the unit in the last place of a format for each magnitude. It is the power of two of the
/// magnitude, at least the format's smallest, divided by 2 for each mantissa digit.
fn last_place(
    e: &mut Emitter<'_>,
    magnitude: InstrId,
    wide: ElementType,
    to: FloatFormat,
) -> Option<InstrId> {
    let from = FloatFormat::of(wide)?;
    let integer = unsigned(wide.bit_width())?;
    let exponents = ((1 << from.exponent_bits) - 1) << from.mantissa_bits;
    let (bits, mask) = (e.reinterpret(magnitude, integer)?, e.splat_bits(magnitude, integer, exponents)?);
    let bits = e.same(Op::And, &[bits, mask]);
    let power = e.reinterpret(bits, wide)?;
    // If the operand's type has no digits below its own smallest exponent, the format cannot lose any there.
    let lowest = to.last_place(f64::MIN_POSITIVE) + to.mantissa_bits as i32;
    let smallest = e.splat(magnitude, wide, 2f64.powi(lowest))?;
    let power = e.same(Op::Maximum, &[power, smallest]);
    let step = e.splat(magnitude, wide, 2f64.powi(-(to.mantissa_bits as i32)))?;
    Some(e.same(Op::Multiply, &[power, step]))
}
