//! `rng_expander`: converts each `rng` to random doubles and arithmetic that converts them to its type. It
//! also records the stream of numbers that each instruction uses.
//!
//! ```text
//! rng(a, b) : f32, uniform  →  x = rng(f64(a), f64(b)) : f64, uniform, of stream n
//!                              y = x, or slightly less than b if f32(x) is not below b
//!                              f32(y)
//! ```
//!
//! Code generation requires this expansion. The streams (`hlo_ir::streams`) are recorded in a frontend
//! attribute, which passes copy together with instructions. The numbers therefore do not depend on later
//! passes.

use crate::pass_info::PassInfo;
use crate::rewrites::Rewrites;
use crate::support::constants::float_bytes;
use crate::support::expander::{Emitter, expand_all};
use hlo_ir::attr::{ComparisonDirection, RngDistribution};
use hlo_ir::build::Build;
use hlo_ir::diag::Diag;
use hlo_ir::{ElementType, FloatFormat, InstrId, Module, Op, streams};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "rng_expander",
    summary: "compute random numbers from doubles, and record the stream that each instruction draws from",
    example: "\
HloModule rng_expander

ENTRY e {
  a = f32[] constant(0)
  b = f32[] constant(1)
  ROOT r = f32[3] rng(a, b), distribution=rng_uniform
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let streams = streams::of(module);
    let mut changed = false;
    for (&id, &stream) in &streams {
        if streams::noted(module, id).is_none() {
            streams::note(module, id, stream);
            changed = true;
        }
    }
    Ok(expand_all(module, "rng", |op| matches!(op, Op::Rng(_)), expand, rewrites) || changed)
}

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Rng(attrs) = e.module[id].op.clone() else { return None };
    let shape = e.shape();
    // Numbers are drawn for the full bounds of dynamic dimensions.
    let array = shape.as_array()?.clone().with_dynamic([]);
    let ty = array.element_type;
    let wide = array.with_element_type(ElementType::F64);
    let (a, b) = (e.operand(0)?, e.operand(1)?);
    if ty == ElementType::F64 {
        return None;
    }
    let (a, b) = (e.convert(a, ElementType::F64)?, e.convert(b, ElementType::F64)?);
    let uniform = attrs.distribution == RngDistribution::Uniform;
    let numbers = e.add(wide.clone(), Op::Rng(attrs), &[a, b]);
    let stream = streams::noted(e.module, id)?;
    streams::note(e.module, numbers, stream);
    let numbers = match FloatFormat::of(ty) {
        Some(format) if uniform => {
            // Rounding must not reach the limit `b`. If it does, use `b - |b| · 2^-mantissa_bits` instead.
            let part = power_of_two(-i64::from(format.mantissa_bits))?;
            let part = e.scalar(ElementType::F64, &float_bytes(ElementType::F64, part)?)?;
            let size = e.same(Op::Abs, &[b]);
            let step = e.same(Op::Multiply, &[size, part]);
            let below = e.same(Op::Subtract, &[b, step]);
            let (limit, below) = (e.broadcast(b, &wide, &[]), e.broadcast(below, &wide, &[]));
            let rounded = e.convert(numbers, ty)?;
            let rounded = e.convert(rounded, ElementType::F64)?;
            let direction = ComparisonDirection::Ge;
            let compare = Op::compare(direction);
            let reached = e.add(wide.with_element_type(ElementType::Pred), compare, &[rounded, limit]);
            e.add(wide, Op::Select, &[reached, below, numbers])
        }
        Some(_) => numbers,
        None => e.same(Op::Floor, &[numbers]),
    };
    Some(e.add(shape, Op::Convert, &[numbers]))
}

/// Returns a power of two.
fn power_of_two(exponent: i64) -> Option<f64> {
    Some(f64::from_bits(u64::try_from(1023 + exponent).ok()? << 52))
}
