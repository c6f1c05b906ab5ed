//! Array elements as SSA values: how each element type is represented, loaded, stored and written as a
//! constant.
//!
//! | element type | represented as |
//! |---|---|
//! | `pred` | `i1` |
//! | `sN`, `uN` | `iN`, signless |
//! | `f32`, `f64` | themselves |
//! | `f16`, `bf16`, `f8…`, `f6…`, `f4…` | an `f32` that the type represents exactly |
//! | `c64`, `c128` | the real and the imaginary part |
//!
//! **Invariant:** the `f32` that represents a narrower type always has a value of that type. Code that
//! computes such an `f32` rounds it with [`round_to`] (as [`crate::ops::elementwise::emit`] does). Loads and
//! stores are then exact.

use crate::builder::{Builder, Cast, V};
use crate::math::narrow::{self, Format};
use crate::math::{F, I, P};
use hlo_ir::ElementType;
use melior::dialect::llvm;
use melior::ir::Type;

/// One array element. See the table in the module's documentation.
#[derive(Clone, Copy)]
pub enum Elem<'c> {
    /// An element of any type that is not complex.
    One(V<'c>),
    /// The real and the imaginary part.
    Complex(V<'c>, V<'c>),
}

impl<'c> Elem<'c> {
    /// Returns the SSA values, one or two.
    pub fn flatten(&self) -> Vec<V<'c>> {
        match *self {
            Elem::One(v) => vec![v],
            Elem::Complex(re, im) => vec![re, im],
        }
    }

    /// Returns the element that [`Self::flatten`] split into values. The length of `values` equals the length
    /// of [`types`].
    pub fn from_values(ty: ElementType, values: &[V<'c>]) -> Self {
        if ty.is_complex() { Elem::Complex(values[0], values[1]) } else { Elem::One(values[0]) }
    }

    /// Returns the value, or the real part.
    pub fn first(&self) -> V<'c> {
        match *self {
            Elem::One(v) | Elem::Complex(v, _) => v,
        }
    }
}

/// Returns the SSA types of an element, for values that a loop carries or a branch yields.
pub fn types<'c>(b: &Builder<'c>, ty: ElementType) -> Vec<Type<'c>> {
    let part = value_type(b, ty);
    if ty.is_complex() { vec![part, part] } else { vec![part] }
}

/// Returns the SSA type of an element, or of each part of a complex element.
pub fn value_type<'c>(b: &Builder<'c>, ty: ElementType) -> Type<'c> {
    match ty.real_type() {
        ElementType::F64 => b.f64(),
        t if t.is_float() => b.f32(),
        t => b.int(t.bit_width()),
    }
}

/// Returns the type in memory, for address arithmetic. Its size is the element's size. A complex type is an
/// array of two parts.
pub fn memory_type<'c>(b: &Builder<'c>, ty: ElementType) -> Type<'c> {
    match ty {
        ElementType::F32 => b.f32(),
        ElementType::F64 => b.f64(),
        ElementType::C64 | ElementType::C128 => llvm::r#type::array(memory_type(b, ty.real_type()), 2),
        _ => b.int(8 * ty.byte_size() as u32),
    }
}

/// Loads the element at `index` (an `i64`) of the array of `ty` at `base`.
pub fn load<'c>(b: &Builder<'c>, ty: ElementType, base: V<'c>, index: V<'c>) -> Elem<'c> {
    let memory = memory_type(b, ty);
    if ty.is_complex() {
        let part = memory_type(b, ty.real_type());
        let address = b.gep(base, index, memory);
        let re = b.load(part, address);
        return Elem::Complex(re, b.load(part, b.gep(address, b.index(1), part)));
    }
    let raw = b.load(memory, b.gep(base, index, memory));
    Elem::One(from_memory(b, ty, raw))
}

/// Converts a value from its form in memory to its SSA form.
fn from_memory<'c>(b: &Builder<'c>, ty: ElementType, raw: V<'c>) -> V<'c> {
    match ty {
        ElementType::F32 | ElementType::F64 => raw,
        ElementType::Pred => I::new(b, raw).ne(0).v,
        _ if ty.is_float() => {
            let bits = I::new(b, raw);
            from_bits(b, ty, if ty.bit_width() < 8 { bits.truncate(ty.bit_width()) } else { bits })
        }
        _ if ty.bit_width() < 8 => b.cast(Cast::Trunci, raw, b.int(ty.bit_width())),
        _ => raw,
    }
}

/// Stores an element at `index` (an `i64`) of the array of `ty` at `base`.
pub fn store<'c>(b: &Builder<'c>, ty: ElementType, base: V<'c>, index: V<'c>, value: Elem<'c>) {
    let address = b.gep(base, index, memory_type(b, ty));
    match value {
        Elem::One(v) => b.store(to_memory(b, ty, v), address),
        Elem::Complex(re, im) => {
            b.store(re, address);
            b.store(im, b.gep(address, b.index(1), memory_type(b, ty.real_type())));
        }
    }
}

/// Converts a value from its SSA form to its form in memory.
fn to_memory<'c>(b: &Builder<'c>, ty: ElementType, v: V<'c>) -> V<'c> {
    match ty {
        ElementType::F32 | ElementType::F64 => v,
        ElementType::Pred => P::new(b, v).to_int(8).v,
        _ if ty.is_float() => {
            let bits = to_bits(b, ty, v);
            (if ty.bit_width() < 8 { bits.zero_extend(8) } else { bits }).v
        }
        _ if ty.bit_width() < 8 => {
            let extend = if ty.is_signed_integer() { Cast::Extsi } else { Cast::Extui };
            b.cast(extend, v, b.int(8))
        }
        _ => v,
    }
}

/// Returns the bits of a real element as an integer of its width, including those of a NaN.
pub fn to_bits<'a, 'c>(b: &'a Builder<'c>, ty: ElementType, v: V<'c>) -> I<'a, 'c> {
    match ty {
        ElementType::F32 | ElementType::F64 => F::new(b, v).bits(),
        ElementType::F16 => narrow::f32_to_half(F::new(b, v)),
        ElementType::Bf16 => F::new(b, v).bits().shift_right(16).truncate(16),
        _ => match Format::of(ty) {
            Some(format) => format.pack(F::new(b, v)).truncate(ty.bit_width()),
            None => I::new(b, v),
        },
    }
}

/// Returns the real element with the given bits, an integer of the element's width.
pub fn from_bits<'c>(b: &Builder<'c>, ty: ElementType, bits: I<'_, 'c>) -> V<'c> {
    match ty {
        ElementType::F32 | ElementType::F64 => b.cast(Cast::Bitcast, bits.v, value_type(b, ty)),
        ElementType::F16 => narrow::half_to_f32(bits).v,
        ElementType::Bf16 => (bits.zero_extend(32) << 16).as_float(b.f32()).v,
        _ => match Format::of(ty) {
            Some(format) => format.decode(if ty.bit_width() < 8 { bits.zero_extend(8) } else { bits }).v,
            None => bits.v,
        },
    }
}

/// Returns a constant element from its bytes in memory, little-endian. Missing bytes count as zero.
pub fn constant<'c>(b: &Builder<'c>, ty: ElementType, bytes: &[u8]) -> Elem<'c> {
    if ty.is_complex() {
        let part = ty.real_type();
        let (re, im) = bytes.split_at(part.byte_size().min(bytes.len()));
        return Elem::Complex(constant(b, part, re).first(), constant(b, part, im).first());
    }
    let mut raw = [0u8; 8];
    let n = ty.byte_size().min(bytes.len());
    raw[..n].copy_from_slice(&bytes[..n]);
    let bits = u64::from_le_bytes(raw);
    Elem::One(match ty {
        ElementType::Pred => b.const_bool(bits != 0),
        ElementType::F64 => const_f64(b, bits),
        ElementType::F32 => const_f32(b, f32::from_bits(bits as u32)),
        _ if ty.is_float() => match Format::of(ty) {
            Some(format) => const_f32(b, format.decode_constant(bits as u32)),
            None => const_f32(b, f32::from_bits(bits as u32)),
        },
        _ => b.const_int(b.int(ty.bit_width()), bits as i64),
    })
}

/// Returns a constant that keeps the payload of a NaN.
fn const_f32<'c>(b: &Builder<'c>, value: f32) -> V<'c> {
    if value.is_nan() {
        let bits = b.const_int(b.int(32), i64::from(value.to_bits()));
        return b.cast(Cast::Bitcast, bits, b.f32());
    }
    b.const_float(b.f32(), f64::from(value))
}

/// Returns a constant that keeps the payload of a NaN.
fn const_f64<'c>(b: &Builder<'c>, bits: u64) -> V<'c> {
    let value = f64::from_bits(bits);
    if value.is_nan() {
        return b.cast(Cast::Bitcast, b.const_int(b.int(64), bits as i64), b.f64());
    }
    b.const_float(b.f64(), value)
}

/// Groups flat SSA values into elements of the given types.
pub fn regroup<'c>(types: &[ElementType], values: &[V<'c>]) -> Vec<Elem<'c>> {
    let mut rest = values;
    types
        .iter()
        .map(|&ty| {
            let (now, later) = rest.split_at(if ty.is_complex() { 2 } else { 1 });
            rest = later;
            Elem::from_values(ty, now)
        })
        .collect()
}

/// Flattens elements to SSA values.
pub fn flatten<'c>(elements: &[Elem<'c>]) -> Vec<V<'c>> {
    elements.iter().flat_map(Elem::flatten).collect()
}

/// Rounds `v`, a float in its SSA form with any value, to a value that `ty` represents. Rounds to nearest
/// even, with overflow and NaN by the format's rules. Returns `v` unchanged for `f32`, `f64` and types that
/// are not floats.
pub fn round_to<'c>(b: &Builder<'c>, ty: ElementType, v: V<'c>) -> V<'c> {
    if ty.is_float() { narrow::round_f32(ty, F::new(b, v)).v } else { v }
}
