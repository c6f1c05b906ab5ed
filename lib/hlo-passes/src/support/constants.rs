//! Constants: reads the value that all elements share, and creates scalars of a type.

use super::integer_range::type_range;
use half::{bf16, f16};
use hlo_ir::{ElementType, InstrId, Literal, Module, Op};
use smallvec::SmallVec;

/// The bytes of one element.
pub type ElementBytes = SmallVec<[u8; 16]>;

/// Returns the literal of a constant, unless the text omitted its elements.
pub fn literal(module: &Module, id: InstrId) -> Option<&Literal> {
    match &module[id].op {
        Op::Constant(a) if !a.is_elided() => Some(&a.literal),
        _ => None,
    }
}

/// Maximum size in bytes of a constant whose elements [`splat`] compares.
const MAX_SPLAT_BYTES: usize = 4096;

/// Returns the element type and the bytes that all elements of `id` share, if there are such bytes. Finds
/// constants through broadcasts, reshapes, transposes and copies.
pub fn splat(module: &Module, id: InstrId) -> Option<(ElementType, ElementBytes)> {
    let mut at = id;
    // The input may contain a chain of any length, but real programs need only a few steps.
    for _ in 0..8 {
        match &module[at].op {
            Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Copy => {
                at = *module[at].operands.first()?
            }
            _ => break,
        }
    }
    let value = literal(module, at)?;
    let ty = value.shape().as_array()?.element_type;
    let bytes = value.bytes();
    let mut chunks = bytes.chunks_exact(ty.byte_size());
    let first = chunks.next()?;
    if bytes.len() > MAX_SPLAT_BYTES || !chunks.all(|c| c == first) {
        return None;
    }
    Some((ty, SmallVec::from_slice(first)))
}

/// Returns the bytes of a small integer, if the type represents it exactly and passes compute in this type.
pub fn integer_bytes(ty: ElementType, value: i64) -> Option<ElementBytes> {
    use ElementType::*;
    let bytes: SmallVec<[u8; 16]> = match ty {
        F16 | Bf16 | F32 | F64 => {
            let float = value as f64;
            return if float as i64 == value { float_bytes(ty, float) } else { None };
        }
        Pred if (0..=1).contains(&value) => SmallVec::from_slice(&[value as u8]),
        t if t.is_integer() => {
            let bits = t.bit_width();
            let (low, high) = if t.is_signed_integer() {
                (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
            } else {
                (0, (1i128 << bits) - 1)
            };
            if !(low..=high).contains(&i128::from(value)) {
                return None;
            }
            SmallVec::from_slice(value.to_le_bytes().get(..t.byte_size())?)
        }
        _ => return None,
    };
    Some(bytes)
}

/// Returns the value of an element, if the type is a real floating-point type that passes compute in.
pub(crate) fn float_value(ty: ElementType, bytes: &[u8]) -> Option<f64> {
    Some(match ty {
        ElementType::F16 => f16::from_le_bytes(bytes.try_into().ok()?).to_f64(),
        ElementType::Bf16 => bf16::from_le_bytes(bytes.try_into().ok()?).to_f64(),
        ElementType::F32 => f64::from(f32::from_le_bytes(bytes.try_into().ok()?)),
        ElementType::F64 => f64::from_le_bytes(bytes.try_into().ok()?),
        _ => return None,
    })
}

/// Returns the bytes of a floating-point value, if the type represents it exactly.
pub fn float_bytes(ty: ElementType, value: f64) -> Option<ElementBytes> {
    let bytes: ElementBytes = match ty {
        ElementType::F16 => SmallVec::from_slice(&f16::from_f64(value).to_le_bytes()),
        ElementType::Bf16 => SmallVec::from_slice(&bf16::from_f64(value).to_le_bytes()),
        ElementType::F32 => SmallVec::from_slice(&(value as f32).to_le_bytes()),
        ElementType::F64 => SmallVec::from_slice(&value.to_le_bytes()),
        _ => return None,
    };
    (float_value(ty, &bytes)?.to_bits() == value.to_bits()).then_some(bytes)
}

/// Returns the reciprocal of a power of two, if both are normal numbers of the type.
pub(crate) fn exact_reciprocal(ty: ElementType, value: f64) -> Option<f64> {
    let mantissa_is_zero = value.is_normal() && value.to_bits() & ((1 << 52) - 1) == 0;
    (mantissa_is_zero && is_normal_in(ty, 1.0 / value) && is_normal_in(ty, value)).then(|| 1.0 / value)
}

/// Returns whether the type represents the value as a normal number.
fn is_normal_in(ty: ElementType, value: f64) -> bool {
    let smallest = match ty {
        ElementType::F16 => 2f64.powi(-14),
        ElementType::Bf16 | ElementType::F32 => 2f64.powi(-126),
        ElementType::F64 => f64::MIN_POSITIVE,
        _ => return false,
    };
    value.abs() >= smallest && float_bytes(ty, value).is_some()
}

/// Returns whether all elements of `id` equal this small integer. A negative floating-point zero does not
/// equal 0.
pub(crate) fn is_splat_integer(module: &Module, id: InstrId, value: i64) -> bool {
    splat(module, id).is_some_and(|(ty, bytes)| integer_bytes(ty, value).is_some_and(|b| b == bytes))
}

/// Returns whether all elements of `id` have the bits of this number.
pub(crate) fn is_splat_float(module: &Module, id: InstrId, value: f64) -> bool {
    splat(module, id).is_some_and(|(ty, bytes)| float_bytes(ty, value).is_some_and(|b| b == bytes))
}

/// Returns whether all elements of `id` are true, or integers with all bits set.
pub(crate) fn is_splat_all_ones(module: &Module, id: InstrId) -> bool {
    splat(module, id).is_some_and(|(ty, bytes)| all_ones(ty).is_some_and(|b| b == bytes))
}

/// Returns the element of an integer type or `pred` with all value bits set.
pub fn all_ones(ty: ElementType) -> Option<ElementBytes> {
    if ty.is_pred() {
        return Some(SmallVec::from_slice(&[1]));
    }
    if !ty.is_integer() {
        return None;
    }
    Some(match (ty.is_signed_integer(), ty.bit_width()) {
        // The high bits of unsigned elements narrower than a byte are zero.
        (false, bits @ 0..8) => SmallVec::from_slice(&[(1u8 << bits) - 1]),
        _ => SmallVec::from_elem(0xff, ty.byte_size()),
    })
}

/// Returns whether the instruction is a constant, or an array with equal constant elements.
pub(crate) fn is_constant(module: &Module, id: InstrId) -> bool {
    literal(module, id).is_some() || splat(module, id).is_some()
}

/// Returns the value of a scalar integer constant.
pub fn scalar_integer(module: &Module, id: InstrId) -> Option<i128> {
    let value = literal(module, id)?;
    if !value.shape().is_scalar() {
        return None;
    }
    value.integer_at(0)
}

/// The value of an element that passes compute with.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Number {
    /// An integer or a `pred`.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
}

impl Number {
    /// Decodes an element. Returns `None` for complex and narrow floating-point types.
    pub fn of(ty: ElementType, bytes: &[u8]) -> Option<Self> {
        match float_value(ty, bytes) {
            Some(value) => Some(Self::Float(value)),
            None => Literal::scalar_from_bytes(ty, bytes)?.integer_at(0).map(Self::Integer),
        }
    }

    /// Returns the value that all elements of `id` share.
    pub fn splat(module: &Module, id: InstrId) -> Option<Self> {
        let (ty, bytes) = splat(module, id)?;
        Self::of(ty, &bytes)
    }
}

/// Returns the integer that all elements of `id` share.
pub(crate) fn splat_value(module: &Module, id: InstrId) -> Option<i128> {
    match Number::splat(module, id)? {
        Number::Integer(value) => Some(value),
        Number::Float(_) => None,
    }
}

/// Returns the bytes of an integer, if `ty` is an integer type or `pred` that represents it.
pub fn wide_integer_bytes(ty: ElementType, value: i128) -> Option<ElementBytes> {
    let all = type_range(ty)?;
    if value < all.low || value > all.high {
        return None;
    }
    Some(SmallVec::from_slice(value.to_le_bytes().get(..ty.byte_size())?))
}
