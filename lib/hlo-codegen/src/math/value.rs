//! Arithmetic notation for SSA values: `a * b + 1.0` builds the operations.
//!
//! [`F`] is a float (`f32` or `f64`), [`I`] an integer of any width, [`P`] a truth value. Constants on the
//! right-hand side take the type of the left-hand side.

use crate::builder::{Binary, Builder, Cast, FloatPredicate, IntPredicate, Unary, V};
use melior::ir::{Type, ValueLike};
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Shl, Sub};

macro_rules! wrapper {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'a, 'c> {
            /// Where operations are appended.
            pub b: &'a Builder<'c>,
            /// The SSA value.
            pub v: V<'c>,
        }

        impl<'a, 'c> $name<'a, 'c> {
            /// Wraps a value of the right kind.
            pub fn new(b: &'a Builder<'c>, v: V<'c>) -> Self {
                Self { b, v }
            }

            fn binary(self, op: Binary, other: Self) -> Self {
                Self::new(self.b, self.b.binary(op, self.v, other.v))
            }

            fn cast_to(self, op: Cast, to: Type<'c>) -> V<'c> {
                self.b.cast(op, self.v, to)
            }
        }
    };
}

wrapper! {
    /// A float, `f32` or `f64`.
    F
}
wrapper! {
    /// A signless integer.
    I
}
wrapper! {
    /// A truth value (`i1`).
    P
}

macro_rules! operators {
    ($ty:ident $constant:ty: $($trait:ident $method:ident $op:ident,)*) => {
        $(
            impl<'a, 'c> $trait for $ty<'a, 'c> {
                type Output = Self;
                fn $method(self, other: Self) -> Self {
                    self.binary(Binary::$op, other)
                }
            }
            impl<'a, 'c> $trait<$constant> for $ty<'a, 'c> {
                type Output = Self;
                fn $method(self, other: $constant) -> Self {
                    self.binary(Binary::$op, self.lit(other))
                }
            }
        )*
    };
}

operators! { F f64: Add add Addf, Sub sub Subf, Mul mul Mulf, Div div Divf, }
operators! { I i64: Add add Addi, Sub sub Subi, Mul mul Muli, BitAnd bitand Andi,
BitOr bitor Ori, BitXor bitxor Xori, Shl shl Shli, }
operators! { P bool: BitAnd bitand Andi, BitOr bitor Ori, BitXor bitxor Xori, }

impl Neg for F<'_, '_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.unary(Unary::Negf)
    }
}

impl Neg for I<'_, '_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.lit(0) - self
    }
}

impl Not for P<'_, '_> {
    type Output = Self;
    fn not(self) -> Self {
        self ^ true
    }
}

impl<'a, 'c> F<'a, 'c> {
    /// The value's type.
    pub fn ty(self) -> Type<'c> {
        self.v.r#type()
    }

    fn unary(self, op: Unary) -> Self {
        Self::new(self.b, self.b.unary(op, self.v))
    }

    /// A constant of the same type.
    pub fn lit(self, value: f64) -> Self {
        Self::new(self.b, self.b.const_float(self.ty(), value))
    }

    /// True for `f64`.
    pub fn is_f64(self) -> bool {
        self.ty() == self.b.f64()
    }

    /// `narrow` for `f32`, `wide` for `f64`.
    pub fn pick<T>(self, narrow: T, wide: T) -> T {
        if self.is_f64() { wide } else { narrow }
    }

    /// Bits of the mantissa without the leading one.
    pub fn mantissa_bits(self) -> u32 {
        self.pick(23, 52)
    }

    /// The exponent's bias.
    pub fn bias(self) -> i64 {
        self.pick(127, 1023)
    }

    /// `self * a + c` rounded once.
    pub fn fma(self, a: Self, c: Self) -> Self {
        Self::new(self.b, self.b.fma(self.v, a.v, c.v))
    }

    /// The absolute value.
    pub fn abs(self) -> Self {
        self.unary(Unary::Fabs)
    }

    /// The square root, correctly rounded.
    pub fn sqrt(self) -> Self {
        self.unary(Unary::Sqrt)
    }

    /// The nearest integer, ties to even.
    pub fn round_even(self) -> Self {
        self.unary(Unary::Roundeven)
    }

    /// The next integer towards zero.
    pub fn trunc(self) -> Self {
        self.unary(Unary::Trunc)
    }

    /// This magnitude with the sign of `sign`.
    pub fn copysign(self, sign: Self) -> Self {
        self.binary(Binary::Copysign, sign)
    }

    /// C's `fmod`.
    pub fn remainder(self, other: Self) -> Self {
        self.binary(Binary::Remf, other)
    }

    /// The next integer downwards.
    pub fn floor(self) -> Self {
        self.unary(Unary::Floor)
    }

    /// The next integer upwards.
    pub fn ceil(self) -> Self {
        self.unary(Unary::Ceil)
    }

    /// The greater operand; NaN if either is NaN.
    pub fn maximum(self, other: Self) -> Self {
        self.binary(Binary::Maximum, other)
    }

    /// The smaller operand; NaN if either is NaN.
    pub fn minimum(self, other: Self) -> Self {
        self.binary(Binary::Minimum, other)
    }

    /// A comparison with NaN handled as the predicate says.
    pub fn cmp(self, predicate: FloatPredicate, other: Self) -> P<'a, 'c> {
        P::new(self.b, self.b.cmpf(predicate, self.v, other.v))
    }

    /// `self < value`.
    pub fn lt(self, value: f64) -> P<'a, 'c> {
        self.cmp(FloatPredicate::Olt, self.lit(value))
    }

    /// `self > value`.
    pub fn gt(self, value: f64) -> P<'a, 'c> {
        self.cmp(FloatPredicate::Ogt, self.lit(value))
    }

    /// `self == value`.
    pub fn eq(self, value: f64) -> P<'a, 'c> {
        self.cmp(FloatPredicate::Oeq, self.lit(value))
    }

    /// True if NaN.
    pub fn is_nan(self) -> P<'a, 'c> {
        self.cmp(FloatPredicate::Uno, self)
    }

    /// True if neither infinite nor NaN.
    pub fn is_finite(self) -> P<'a, 'c> {
        self.abs().lt(f64::INFINITY)
    }

    /// The bit pattern as an integer of the same width.
    pub fn bits(self) -> I<'a, 'c> {
        let ty = self.b.int(self.pick(32, 64));
        I::new(self.b, self.cast_to(Cast::Bitcast, ty))
    }

    /// `-1`, `0`, … the sign bit: true if set.
    pub fn sign_bit(self) -> P<'a, 'c> {
        self.bits().cmp(IntPredicate::Slt, self.bits().lit(0))
    }

    /// The value as `f64`.
    pub fn to_f64(self) -> Self {
        if self.is_f64() { self } else { Self::new(self.b, self.cast_to(Cast::Extf, self.b.f64())) }
    }

    /// The value rounded to `f32`.
    pub fn to_f32(self) -> Self {
        if self.is_f64() { Self::new(self.b, self.cast_to(Cast::Truncf, self.b.f32())) } else { self }
    }

    /// The value rounded to the type of `like`.
    pub fn to_type_of(self, like: Self) -> Self {
        if like.is_f64() { self.to_f64() } else { self.to_f32() }
    }

    /// `coefficients[0] + coefficients[1] x + …` by Horner's rule with fused multiply-adds.
    pub fn poly(self, coefficients: &[f64]) -> Self {
        let mut rest = coefficients.iter().rev();
        let mut sum = self.lit(rest.next().copied().unwrap_or(0.0));
        for &c in rest {
            sum = sum.fma(self, self.lit(c));
        }
        sum
    }
}

impl<'a, 'c> I<'a, 'c> {
    /// The value's type.
    pub fn ty(self) -> Type<'c> {
        self.v.r#type()
    }

    /// A constant of the same type.
    pub fn lit(self, value: i64) -> Self {
        Self::new(self.b, self.b.const_int(self.ty(), value))
    }

    /// A comparison.
    pub fn cmp(self, predicate: IntPredicate, other: Self) -> P<'a, 'c> {
        P::new(self.b, self.b.cmpi(predicate, self.v, other.v))
    }

    /// `self == value`.
    pub fn eq(self, value: i64) -> P<'a, 'c> {
        self.cmp(IntPredicate::Eq, self.lit(value))
    }

    /// `self != value`.
    pub fn ne(self, value: i64) -> P<'a, 'c> {
        self.cmp(IntPredicate::Ne, self.lit(value))
    }

    /// Shift right filling with zeros, by fewer bits than the width.
    pub fn shift_right(self, bits: i64) -> Self {
        self.binary(Binary::Shrui, self.lit(bits))
    }

    /// Shift right filling with the sign, by fewer bits than the width.
    pub fn sar(self, bits: i64) -> Self {
        self.binary(Binary::Shrsi, self.lit(bits))
    }

    /// The signed value as a float.
    pub fn to_float(self, ty: Type<'c>) -> F<'a, 'c> {
        F::new(self.b, self.cast_to(Cast::Sitofp, ty))
    }

    /// The bit pattern as a float; 32 or 64 bits.
    pub fn as_float(self, ty: Type<'c>) -> F<'a, 'c> {
        F::new(self.b, self.cast_to(Cast::Bitcast, ty))
    }

    /// The low bits.
    pub fn truncate(self, bits: u32) -> Self {
        Self::new(self.b, self.cast_to(Cast::Trunci, self.b.int(bits)))
    }

    /// More bits, zeros above.
    pub fn zero_extend(self, bits: u32) -> Self {
        Self::new(self.b, self.cast_to(Cast::Extui, self.b.int(bits)))
    }

    /// More bits, the sign above.
    pub fn sign_extend(self, bits: u32) -> Self {
        Self::new(self.b, self.cast_to(Cast::Extsi, self.b.int(bits)))
    }
}

impl<'a, 'c> P<'a, 'c> {
    /// A constant.
    pub fn lit(self, value: bool) -> Self {
        Self::new(self.b, self.b.const_bool(value))
    }

    /// `self ? a : b` on floats.
    pub fn select(self, a: F<'a, 'c>, b: F<'a, 'c>) -> F<'a, 'c> {
        F::new(self.b, self.b.select(self.v, a.v, b.v))
    }

    /// `self ? a : b` on integers.
    pub fn select_int(self, a: I<'a, 'c>, b: I<'a, 'c>) -> I<'a, 'c> {
        I::new(self.b, self.b.select(self.v, a.v, b.v))
    }

    /// 0 or 1 as an integer of so many bits.
    pub fn to_int(self, bits: u32) -> I<'a, 'c> {
        I::new(self.b, self.cast_to(Cast::Extui, self.b.int(bits)))
    }
}
