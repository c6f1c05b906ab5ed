//! Conversion of HLO attributes to StableHLO attributes.

use super::types::element_type;
use crate::tree::{Attribute, Attributes, Elements, FloatType, Name, Number, Type, TypeKind};
use hlo_ir::attr::{
    AttrValue, ComputationNames, DotAlgorithm, OperandAlias, OperandPrecision, Precision, ResultAccuracy,
    WindowDim,
};
use hlo_ir::{AlignedBytes, ComputationId, ElementType};
use std::fmt;
use std::sync::Arc;

/// Returns `#stablehlo<kind WORD>`.
pub(super) fn word(kind: &str, word: &str) -> Attribute {
    Attribute::Enum(kind.into(), word.into())
}

/// Returns a number of type `i32`.
pub(super) fn i32(value: i64) -> Attribute {
    Attribute::Integer(value.into(), Type::integer(32))
}

/// Returns a list of numbers.
pub(super) fn i64s(values: &[i64]) -> Attribute {
    Attribute::i64s(values)
}

/// Returns the number in a list of one number, or 0 if the list is empty. HLO writes a single dimension as
/// such a list.
pub(super) fn only(values: &[i64]) -> Attribute {
    Attribute::i64(values.first().copied().unwrap_or(0))
}

/// Returns `array<i1: …>`.
pub(super) fn bools(values: impl IntoIterator<Item = bool>) -> Attribute {
    Attribute::DenseArray(Type::integer(1), values.into_iter().map(i64::from).collect())
}

/// Returns a number of type `f32`.
pub(super) fn f32(value: f32) -> Attribute {
    Attribute::Float(Number { bits: value.to_bits().into(), ty: FloatType::F32.into() })
}

/// Returns a number of type `f64`.
fn f64(value: f64) -> Attribute {
    Attribute::Float(Number { bits: value.to_bits(), ty: FloatType::F64.into() })
}

/// Returns `dense<…> : tensor<…xi64>`.
pub(super) fn dense(dims: &[i64], values: &[i64]) -> Attribute {
    dense_of(Type::integer(64), dims, values)
}

/// Returns `dense<…> : tensor<…xindex>`, for the order of dimensions in memory.
pub(super) fn order(values: &[i64]) -> Attribute {
    let count = values.len() as i64;
    dense_of(TypeKind::Index.into(), &[count], values)
}

fn dense_of(element: Type, dims: &[i64], values: &[i64]) -> Attribute {
    let is_splat = values.first().is_some_and(|first| values.iter().all(|v| v == first));
    let kept = if is_splat { &values[..1] } else { values };
    let bytes: Vec<u8> = kept.iter().flat_map(|v| v.to_le_bytes()).collect();
    let bytes = Arc::new(AlignedBytes::from_slice(&bytes));
    Attribute::Elements(Arc::new(Elements { ty: Type::tensor(dims, element), bytes, is_splat }))
}

/// Returns a matrix of numbers. Rows that are shorter than the longest one are filled up with `fill`.
pub(super) fn rows(rows: &[Vec<i64>], fill: i64) -> Attribute {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    let padded = |row: &Vec<i64>| row.iter().copied().chain(std::iter::repeat(fill)).take(width).collect();
    let values: Vec<i64> = rows.iter().flat_map(|row| -> Vec<i64> { padded(row) }).collect();
    dense(&[rows.len() as i64, width as i64], &values)
}

/// Returns the attribute `padding` of a window, with two numbers for each dimension. Returns `None` without
/// dimensions.
pub(super) fn padding(window: &[WindowDim]) -> Option<Attribute> {
    let values: Vec<i64> = window.iter().flat_map(|d| [d.pad_low, d.pad_high]).collect();
    (!window.is_empty()).then(|| dense(&[window.len() as i64, 2], &values))
}

/// Returns a list with one number for each dimension of a window.
pub(super) fn of_window(window: &[WindowDim], of: impl Fn(&WindowDim) -> i64) -> Attribute {
    Attribute::i64s(window.iter().map(of).collect::<Vec<_>>())
}

/// Returns `[#stablehlo<precision DEFAULT>, …]` with one entry for each of two operands, in the given
/// dialect.
pub(super) fn precision(dialect: &str, precision: &OperandPrecision) -> Attribute {
    let kind = format!("{dialect}.precision");
    let of = |i: usize| match precision.0.get(i) {
        None | Some(Precision::Default) => "DEFAULT",
        Some(Precision::High) => "HIGH",
        Some(Precision::Highest) => "HIGHEST",
    };
    Attribute::Array([0, 1].map(|i| word(&kind, of(i))).into())
}

/// Returns `#stablehlo.dot_algorithm<…>` for operands of the given types, or `None` if the backend chooses
/// the algorithm.
///
/// # Errors
/// A message if StableHLO has no form for a type.
pub(super) fn algorithm(
    algorithm: DotAlgorithm,
    operands: [ElementType; 2],
) -> Result<Option<Attribute>, String> {
    use DotAlgorithm as A;
    use ElementType::{Bf16, F16, F32, F64};
    let both = |ty: ElementType| element_type(ty).map(|ty| [ty.clone(), ty]);
    let tf32 = || [Type::from(FloatType::TF32), FloatType::TF32.into()];
    // The algorithm accepts all 8-bit types. It does not round operands of other types, so `F8E5M2` only
    // stands in for them.
    let any = || -> Result<[Type; 2], String> {
        let [lhs, rhs] = operands.map(|ty| if ty.bit_width() == 8 { ty } else { ElementType::F8E5M2 });
        Ok([element_type(lhs)?, element_type(rhs)?])
    };
    // The operand types, the accumulation type, and the number of primitive products per product.
    let ([lhs, rhs], sum, products) = match algorithm {
        A::Unset => return Ok(None),
        A::AnyF8AnyF8F32 | A::AnyF8AnyF8F32FastAccum => (any()?, F32, 1),
        A::F16F16F16 => (both(F16)?, F16, 1),
        A::F16F16F32 => (both(F16)?, F32, 1),
        A::Bf16Bf16Bf16 => (both(Bf16)?, Bf16, 1),
        A::Bf16Bf16F32 => (both(Bf16)?, F32, 1),
        A::Bf16Bf16F32X3 => (both(Bf16)?, F32, 3),
        A::Bf16Bf16F32X6 => (both(Bf16)?, F32, 6),
        A::Bf16Bf16F32X9 => (both(Bf16)?, F32, 9),
        A::Tf32Tf32F32 => (tf32(), F32, 1),
        A::Tf32Tf32F32X3 => (tf32(), F32, 3),
        A::F32F32F32 => (both(F32)?, F32, 1),
        A::F64F64F64 => (both(F64)?, F64, 1),
    };
    Ok(Some(Attribute::of_fields(
        "stablehlo.dot_algorithm",
        [
            ("lhs_precision_type", Attribute::Type(lhs)),
            ("rhs_precision_type", Attribute::Type(rhs)),
            ("accumulation_type", Attribute::Type(element_type(sum)?)),
            // JAX writes algorithms with several products in this way: it does not count the components.
            ("lhs_component_count", Attribute::i64(1)),
            ("rhs_component_count", Attribute::i64(1)),
            ("num_primitive_operations", Attribute::i64(products)),
            ("allow_imprecise_accumulation", Attribute::Bool(algorithm == A::AnyF8AnyF8F32FastAccum)),
        ],
    )))
}

/// Returns `#stablehlo.channel_handle<handle = 1, type = 1>`, or `None` without a channel.
pub(super) fn channel(id: Option<i64>, kind: Channel) -> Option<Attribute> {
    let fields = |id| [("handle", Attribute::i64(id)), ("type", Attribute::i64(kind as i64))];
    id.map(|id| Attribute::of_fields("stablehlo.channel_handle", fields(id)))
}

/// The endpoints of a channel, with StableHLO's numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Channel {
    /// Between devices.
    Devices = 1,
    /// From a device to the host.
    ToHost = 2,
    /// From the host to a device.
    FromHost = 3,
}

/// Returns `[#stablehlo.output_operand_alias<…>]`, or `None` if no buffers are shared.
pub(super) fn aliases(aliases: &[OperandAlias]) -> Option<Attribute> {
    let one = |OperandAlias { output, operand, operand_index }: &OperandAlias| {
        Attribute::of_fields(
            "stablehlo.output_operand_alias",
            [
                ("output_tuple_indices", i64s(output)),
                ("operand_index", Attribute::i64(*operand)),
                ("operand_tuple_indices", i64s(operand_index)),
            ],
        )
    };
    (!aliases.is_empty()).then(|| Attribute::Array(aliases.iter().map(one).collect()))
}

/// Returns `#stablehlo.result_accuracy<…>`, or `None` for the default accuracy.
pub(super) fn accuracy(accuracy: ResultAccuracy) -> Option<Attribute> {
    let (atol, rtol, ulps, mode) = match accuracy {
        ResultAccuracy::Default => return None,
        ResultAccuracy::Highest => (0.0, 0.0, 0, "HIGHEST"),
        ResultAccuracy::Tolerance { atol, rtol, ulps } => (atol, rtol, ulps, "TOLERANCE"),
    };
    let fields = [
        ("atol", f64(atol)),
        ("rtol", f64(rtol)),
        ("ulps", Attribute::i64(ulps)),
        ("mode", word("stablehlo.result_accuracy_mode", mode)),
    ];
    Some(Attribute::of_fields("stablehlo.result_accuracy", fields))
}

/// Returns a dictionary.
pub(super) fn dictionary(entries: impl IntoIterator<Item = (Name, Attribute)>) -> Attribute {
    Attribute::Dictionary(Arc::new(entries.into_iter().collect::<Attributes>()))
}

/// A writer of computation names for attributes that contain none.
struct NoComputations;

impl ComputationNames for NoComputations {
    fn write_computation(&self, _: &mut dyn fmt::Write, _: ComputationId) -> fmt::Result {
        Ok(())
    }
}

/// Returns a value as a string of HLO text.
pub(super) fn as_text(value: &impl AttrValue) -> Attribute {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = value.write(&mut text, &NoComputations);
    Attribute::string(&text)
}
