//! `logistic-expander`: replaces the logistic function by arithmetic.
//!
//! ```text
//! logistic(x)  →  1 / (1 + exp(-x))
//! ```
//!
//! Types narrower than `f32` are computed in `f32` and rounded once at the end. For complex numbers with a
//! negative real part, the formula is `exp(x) / (1 + exp(x))`, which does not overflow.

use crate::pass_info::{PassInfo, Preservation};
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::attr::ComparisonDirection;
use hlo_ir::{ElementType, InstrId, Op};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "logistic-expander",
    summary: "replace logistic(x) by 1 / (1 + exp(-x))",
    keeps: Preservation::Values,
    example: "\
HloModule logistic_expander

ENTRY e {
  x = f32[4] parameter(0)
  ROOT y = f32[4] logistic(x)
}
",
    build: |_, _| expansion_pass("logistic", |op| matches!(op, Op::Logistic), expand),
    ..PassInfo::PLAIN
};

fn expand(e: &mut Emitter<'_>, _: InstrId) -> Option<InstrId> {
    let operand = e.operand(0)?;
    let wide = match e.array(operand)?.element_type {
        ty @ (ElementType::F64 | ElementType::C64 | ElementType::C128) => ty,
        _ => ElementType::F32,
    };
    let x = e.convert(operand, wide)?;
    let one = e.splat(x, wide, 1.0)?;
    let negative = e.same(Op::Negate, &[x]);
    let (exponent, dividend) = if wide.is_complex() {
        let real = e.elementwise(wide.real_type(), Op::Real, &[x]);
        let zero = e.splat(x, wide.real_type(), 0.0)?;
        let is_left = e.relation(real, ComparisonDirection::Lt, zero);
        let exponent = e.choose(is_left, x, negative)?;
        let power = e.same(Op::Exponential, &[exponent]);
        (power, e.choose(is_left, power, one)?)
    } else {
        (e.same(Op::Exponential, &[negative]), one)
    };
    let divisor = e.same(Op::Add, &[exponent, one]);
    let result = e.same(Op::Divide, &[dividend, divisor]);
    let shape = e.shape();
    e.finish(result, &shape)
}
