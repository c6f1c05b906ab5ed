//! Arithmetic notation for SSA values: `a * b + 1.0` builds the operations.
//!
//! [`F`] is a float (`f32` or `f64`), [`I`] an integer of any width, [`P`] a boolean. Constants on the
//! right-hand side get the type of the left-hand side.

use crate::builder::{Binary, Builder, Cast, FloatPredicate, IntPredicate, Unary, V};
use melior::ir::{Type, ValueLike};
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Shl, Sub};

macro_rules! wrapper {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'a, 'c> {
            /// The builder that operations are appended to.
            pub b: &'a Builder<'c>,
            /// The SSA value.
            pub v: V<'c>,
        }

        impl<'a, 'c> $name<'a, 'c> {
            /// Wraps a value of the right type.
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
    /// A boolean (`i1`).
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
    /// Returns the value's type.
    pub fn ty(self) -> Type<'c> {
        self.v.r#type()
    }

    fn unary(self, op: Unary) -> Self {
        Self::new(self.b, self.b.unary(op, self.v))
    }

    /// Returns a constant of the same type.
    pub fn lit(self, value: f64) -> Self {
        Self::new(self.b, self.b.const_float(self.ty(), value))
    }

    /// Returns whether the type is `f64`.
    pub fn is_f64(self) -> bool {
        self.ty() == self.b.f64()
    }

    /// Returns `narrow` for `f32`, `wide` for `f64`.
    pub fn pick<T>(self, narrow: T, wide: T) -> T {
        if self.is_f64() { wide } else { narrow }
    }

    /// Returns the number of mantissa bits without the leading one.
    pub fn mantissa_bits(self) -> u32 {
        self.pick(23, 52)
    }

    /// Returns the exponent's bias.
    pub fn bias(self) -> i64 {
        self.pick(127, 1023)
    }

    /// Emits `self * a + c`, rounded once.
    pub fn fma(self, a: Self, c: Self) -> Self {
        Self::new(self.b, self.b.fma(self.v, a.v, c.v))
    }

    /// Emits the absolute value.
    pub fn abs(self) -> Self {
        self.unary(Unary::Fabs)
    }

    /// Emits the square root, correctly rounded.
    pub fn sqrt(self) -> Self {
        self.unary(Unary::Sqrt)
    }

    /// Emits the nearest integer, ties to even.
    pub fn round_even(self) -> Self {
        self.unary(Unary::Roundeven)
    }

    /// Emits the value rounded towards zero.
    pub fn trunc(self) -> Self {
        self.unary(Unary::Trunc)
    }

    /// Emits this magnitude with the sign of `sign`.
    pub fn copysign(self, sign: Self) -> Self {
        self.binary(Binary::Copysign, sign)
    }

    /// Emits C's `fmod`.
    pub fn remainder(self, other: Self) -> Self {
        self.binary(Binary::Remf, other)
    }

    /// Emits the value rounded down.
    pub fn floor(self) -> Self {
        self.unary(Unary::Floor)
    }

    /// Emits the value rounded up.
    pub fn ceil(self) -> Self {
        self.unary(Unary::Ceil)
    }

    /// Emits the maximum, which is NaN if either operand is NaN.
    pub fn maximum(self, other: Self) -> Self {
        self.binary(Binary::Maximum, other)
    }

    /// Emits the minimum, which is NaN if either operand is NaN.
    pub fn minimum(self, other: Self) -> Self {
        self.binary(Binary::Minimum, other)
    }

    /// Emits a comparison. The predicate determines the result for NaN.
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

    /// Emits a test for NaN.
    pub fn is_nan(self) -> P<'a, 'c> {
        self.cmp(FloatPredicate::Uno, self)
    }

    /// Emits a test for a value that is neither infinite nor NaN.
    pub fn is_finite(self) -> P<'a, 'c> {
        self.abs().lt(f64::INFINITY)
    }

    /// Emits the bit pattern as an integer of the same width.
    pub fn bits(self) -> I<'a, 'c> {
        let ty = self.b.int(self.pick(32, 64));
        I::new(self.b, self.cast_to(Cast::Bitcast, ty))
    }

    /// Emits the sign bit as a boolean, true if it is set.
    pub fn sign_bit(self) -> P<'a, 'c> {
        self.bits().cmp(IntPredicate::Slt, self.bits().lit(0))
    }

    /// Emits the value as `f64`.
    pub fn to_f64(self) -> Self {
        if self.is_f64() { self } else { Self::new(self.b, self.cast_to(Cast::Extf, self.b.f64())) }
    }

    /// Emits the value rounded to `f32`.
    pub fn to_f32(self) -> Self {
        if self.is_f64() { Self::new(self.b, self.cast_to(Cast::Truncf, self.b.f32())) } else { self }
    }

    /// Emits the value rounded to the type of `like`.
    pub fn to_type_of(self, like: Self) -> Self {
        if like.is_f64() { self.to_f64() } else { self.to_f32() }
    }

    /// Emits `coefficients[0] + coefficients[1] x + …` by Horner's rule with fused multiply-adds.
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
    /// Returns the value's type.
    pub fn ty(self) -> Type<'c> {
        self.v.r#type()
    }

    /// Returns a constant of the same type.
    pub fn lit(self, value: i64) -> Self {
        Self::new(self.b, self.b.const_int(self.ty(), value))
    }

    /// Emits a comparison.
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

    /// Emits a right shift that fills with zeros. `bits` must be less than the width.
    pub fn shift_right(self, bits: i64) -> Self {
        self.binary(Binary::Shrui, self.lit(bits))
    }

    /// Emits a right shift that fills with the sign. `bits` must be less than the width.
    pub fn sar(self, bits: i64) -> Self {
        self.binary(Binary::Shrsi, self.lit(bits))
    }

    /// Emits the signed value as a float.
    pub fn to_float(self, ty: Type<'c>) -> F<'a, 'c> {
        F::new(self.b, self.cast_to(Cast::Sitofp, ty))
    }

    /// Emits the bit pattern, of 32 or 64 bits, as a float.
    pub fn as_float(self, ty: Type<'c>) -> F<'a, 'c> {
        F::new(self.b, self.cast_to(Cast::Bitcast, ty))
    }

    /// Emits the low `bits` bits.
    pub fn truncate(self, bits: u32) -> Self {
        Self::new(self.b, self.cast_to(Cast::Trunci, self.b.int(bits)))
    }

    /// Emits the value extended to `bits` bits with zeros.
    pub fn zero_extend(self, bits: u32) -> Self {
        Self::new(self.b, self.cast_to(Cast::Extui, self.b.int(bits)))
    }

    /// Emits the value extended to `bits` bits with its sign.
    pub fn sign_extend(self, bits: u32) -> Self {
        Self::new(self.b, self.cast_to(Cast::Extsi, self.b.int(bits)))
    }
}

impl<'a, 'c> P<'a, 'c> {
    /// Returns a constant.
    pub fn lit(self, value: bool) -> Self {
        Self::new(self.b, self.b.const_bool(value))
    }

    /// Emits `self ? a : b` on floats.
    pub fn select(self, a: F<'a, 'c>, b: F<'a, 'c>) -> F<'a, 'c> {
        F::new(self.b, self.b.select(self.v, a.v, b.v))
    }

    /// Emits `self ? a : b` on integers.
    pub fn select_int(self, a: I<'a, 'c>, b: I<'a, 'c>) -> I<'a, 'c> {
        I::new(self.b, self.b.select(self.v, a.v, b.v))
    }

    /// Emits 0 or 1 as an integer of `bits` bits.
    pub fn to_int(self, bits: u32) -> I<'a, 'c> {
        I::new(self.b, self.cast_to(Cast::Extui, self.b.int(bits)))
    }
}
