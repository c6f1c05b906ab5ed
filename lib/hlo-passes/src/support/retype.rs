//! Computes operations in another element type: converts the operands, and converts the result back.

use super::expander::{Emitter, expand_all};
use crate::pass_info::Options;
use crate::rewrites::Rewrites;
use hlo_ir::attr::ComparisonType;
use hlo_ir::{ElementType, Family, FloatFormat, InstrId, Module, Op, Shape};

/// The names of the floating-point types narrower than `f32`.
pub static NARROW_FLOATS: &[&str] = &[
    "bf16",
    "f16",
    "f8e5m2",
    "f8e4m3",
    "f8e4m3fn",
    "f8e4m3b11fnuz",
    "f8e3m4",
    "f8e5m2fnuz",
    "f8e4m3fnuz",
    "f8e8m0fnu",
    "f6e3m2fn",
    "f6e2m3fn",
    "f4e2m1fn",
];

/// The names of the floating-point types that represent all numbers of [`NARROW_FLOATS`].
pub static WIDE_FLOATS: &[&str] = &["f32", "f64"];

/// A change of the type in which operations are computed.
#[derive(Clone, Copy)]
pub struct Retype {
    /// The name of the rewrites.
    pub name: &'static str,
    /// The type of the original operands or results.
    pub from: ElementType,
    /// The type in which the operation is computed.
    pub to: ElementType,
    /// Whether all operands and the result must have the type `from`.
    pub whole: bool,
}

impl Retype {
    /// Creates a change from the types in the options `from` and `to`.
    pub fn named(name: &'static str, options: &Options, whole: bool) -> Self {
        let ty = |option: &str| ElementType::from_name(options.choice(option)).unwrap_or(ElementType::F32);
        Self { name, from: ty("from"), to: ty("to"), whole }
    }

    /// Replaces the operations that `wanted` selects by operations on the other type. Returns whether the
    /// module changed.
    pub fn run(self, module: &mut Module, wanted: fn(&Op) -> bool, rewrites: &mut Rewrites) -> bool {
        expand_all(module, self.name, wanted, |e, id| self.expand(e, id), rewrites)
    }

    /// Emits the operation on the type `to`, if its operands are arrays and the types match.
    fn expand(self, e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
        let Self { from, to, whole, .. } = self;
        let operands = e.module[id].operands.to_vec();
        let is = |shape: &Shape| shape.as_array().is_some_and(|a| a.element_type == from);
        let shapes: Vec<Shape> = operands.iter().map(|&o| e.module[o].shape.clone()).collect();
        let result = e.shape();
        let parts = result.leaves().into_iter().chain(&shapes).collect::<Vec<_>>();
        let fits = if whole { parts.iter().all(|s| is(s)) } else { parts.iter().any(|s| is(s)) };
        if !fits || shapes.iter().any(|s| s.as_array().is_none()) {
            return None;
        }
        let wide = |shape: &Shape| match shape {
            Shape::Array(a) if a.element_type == from => Shape::Array(a.with_element_type(to)),
            other => other.clone(),
        };
        let mut converted = Vec::new();
        for (&operand, shape) in operands.iter().zip(&shapes) {
            converted.push(if is(shape) { e.add(wide(shape), Op::Convert, &[operand]) } else { operand });
        }
        let op = e.module[id].op.clone();
        let shape = match &result {
            Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(wide).collect()),
            one => wide(one),
        };
        let value = e.add(shape, op, &converted);
        let values = e.elements(value)?;
        e.results(&values)
    }
}

/// Returns whether the operation itself computes numbers from numbers. Data movement does not count.
pub fn is_arithmetic(op: &Op) -> bool {
    match op {
        Op::Convert | Op::BitcastConvert | Op::StochasticConvert => false,
        Op::Copy | Op::Select | Op::ReducePrecision(_) => false,
        // A total order compares bits, not values.
        Op::Compare(a) => a.comparison_type != ComparisonType::TotalOrder,
        _ if !op.called_computations().is_empty() => false,
        op => match op.opcode().family() {
            Family::Elementwise | Family::Normalization => true,
            Family::LinearAlgebra => !matches!(op, Op::Fft(_) | Op::ScaledDot(_)),
            _ => false,
        },
    }
}

/// Returns whether the low bits of the integer operation's result equal those of the same operation on a
/// wider type.
pub fn is_modular(op: &Op) -> bool {
    let exact = matches!(
        op,
        Op::Abs
            | Op::Add
            | Op::And
            | Op::Clamp
            | Op::Compare(_)
            | Op::Convolution(_)
            | Op::Divide
            | Op::Dot(_)
            | Op::Maximum
            | Op::Minimum
            | Op::Multiply
            | Op::Negate
            | Op::Not
            | Op::Or
            | Op::Remainder
            | Op::Sign
            | Op::Subtract
            | Op::Xor
    );
    exact && is_arithmetic(op)
}

/// Returns the type in which a product is summed before the sum is converted to the result type:
///
/// - floating-point operands and an integer or predicate as the result;
/// - complex operands and a real result, which is the real part of the sum;
/// - real operands and a complex result.
///
/// Returns `None` for other operands and results.
pub(crate) fn sum_before_conversion(operands: [ElementType; 2], result: ElementType) -> Option<ElementType> {
    let complex = operands.iter().find(|t| t.is_complex());
    match complex {
        // The sum must be as precise as the result.
        Some(_) if result == ElementType::F64 => return Some(ElementType::C128),
        Some(&sum) => return (!result.is_complex()).then_some(sum),
        None if result.is_complex() => return Some(result.real_type()),
        None => {}
    }
    if result.is_float() || !operands.iter().any(|t| t.is_float()) {
        return None;
    }
    let fits_f32 = operands.iter().all(|t| t.is_float() && t.bit_width() <= 32);
    Some(if fits_f32 { ElementType::F32 } else { ElementType::F64 })
}

/// Returns whether a real type `wide` represents every number of the real type `narrow`.
pub fn represents_all_values(wide: ElementType, narrow: ElementType) -> bool {
    let bits = |t: ElementType| t.bit_width() - u32::from(t.is_signed_integer());
    match (FloatFormat::of(wide), FloatFormat::of(narrow)) {
        _ if wide == narrow => true,
        (Some(w), Some(n)) => w.mantissa_bits >= n.mantissa_bits && w.exponent_bits >= n.exponent_bits,
        (Some(w), None) => narrow.is_integer() && bits(narrow) <= w.mantissa_bits + 1,
        (None, None) if wide.is_integer() && narrow.is_integer() => {
            bits(wide) >= bits(narrow) && (wide.is_signed_integer() || !narrow.is_signed_integer())
        }
        _ => false,
    }
}
