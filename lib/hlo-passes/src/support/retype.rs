//! Operations on elements of another type: their operands converted, and their result converted back.

use super::expander::{Emitter, expand_all};
use crate::{Options, Rewrites};
use hlo_ir::attr::ComparisonType;
use hlo_ir::{ElementType, Family, FloatFormat, InstrId, Module, Op, Shape};

/// The types of floats that are less than `f32`, by name.
pub(crate) static NARROW_FLOATS: &[&str] = &[
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

/// The types of floats that hold all numbers of [`NARROW_FLOATS`], by name.
pub(crate) static WIDE_FLOATS: &[&str] = &["f32", "f64"];

/// A change of the type that is computed in.
#[derive(Clone, Copy)]
pub(crate) struct Retype {
    /// What its rewrites are called.
    pub(crate) name: &'static str,
    /// The type that operands or results have.
    pub(crate) from: ElementType,
    /// The type that takes its place.
    pub(crate) to: ElementType,
    /// True if all operands and the result must have the type.
    pub(crate) whole: bool,
}

impl Retype {
    /// Of the types that options name.
    pub(crate) fn named(name: &'static str, options: &Options, whole: bool) -> Self {
        let ty = |option: &str| ElementType::from_name(options.choice(option)).unwrap_or(ElementType::F32);
        Self { name, from: ty("from"), to: ty("to"), whole }
    }

    /// Expresses the operations that `wanted` names on the one type by those on the other. Returns whether anything
    /// changed.
    pub(crate) fn run(self, module: &mut Module, wanted: fn(&Op) -> bool, rewrites: &mut Rewrites) -> bool {
        expand_all(module, self.name, wanted, |e, id| self.expand(e, id), rewrites)
    }

    /// The operation on the other type, if it has operands or a result of the one type and no others but arrays.
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

/// True for what computes numbers of numbers by itself; moves are none.
pub(crate) fn is_arithmetic(op: &Op) -> bool {
    match op {
        Op::Convert | Op::BitcastConvert | Op::StochasticConvert => false,
        Op::Copy | Op::Select | Op::ReducePrecision(_) => false,
        // Of bits, not of values.
        Op::Compare(a) => a.comparison_type != ComparisonType::TotalOrder,
        _ if !op.called_computations().is_empty() => false,
        op => match op.opcode().family() {
            Family::Elementwise | Family::Normalization => true,
            Family::LinearAlgebra => !matches!(op, Op::Fft(_) | Op::ScaledDot(_)),
            _ => false,
        },
    }
}

/// True for arithmetic on integers whose lowest bits are those of the arithmetic on wider ones.
pub(crate) fn is_modular(op: &Op) -> bool {
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

/// The type that a product of floats is summed in before the sum becomes an integer or a predicate, one of complex numbers
/// before its real part does so or becomes a float, and one of real numbers before it becomes complex; `None` for other
/// operands and results.
pub(crate) fn sum_before_conversion(operands: [ElementType; 2], result: ElementType) -> Option<ElementType> {
    let complex = operands.iter().find(|t| t.is_complex());
    match complex {
        // The sum is as precise as its real part is to be.
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

/// True if a type has every number of another: of real types, floats and integers.
pub(crate) fn holds(wide: ElementType, narrow: ElementType) -> bool {
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
