//! Code for one element of every elementwise operation.
//!
//! [`emit`] handles every elementwise opcode. The files of this folder and [`crate::math`] implement the
//! operations per kind of element type. Results of narrow types that are represented as `f32` are rounded
//! here, once per operation.

use super::complex::C;
use super::integer::{self, Shift};
use super::{Unsupported, compare, convert, float};
use crate::builder::{Builder, IntPredicate, Unary, V};
use crate::elem::{self, Elem};
use crate::math::{F, I, P, erf, exp, log, power, trig};
use hlo_ir::{ElementType, ElementwiseOp as E};

/// Operands with their element types, and the name of the operation for errors.
struct Cx<'a, 'c> {
    b: &'a Builder<'c>,
    op: &'static str,
    result: ElementType,
    operands: &'a [(Elem<'c>, ElementType)],
}

/// An operand with the arithmetic of its element type.
enum Kind<'a, 'c> {
    Pred(P<'a, 'c>),
    Int(I<'a, 'c>),
    Float(F<'a, 'c>),
    Complex(C<'a, 'c>),
}

/// The result of the arithmetic, before rounding to the result's type.
enum Out<'a, 'c> {
    Value(V<'c>),
    Float(F<'a, 'c>),
    Complex(C<'a, 'c>),
}

type OutResult<'a, 'c> = Result<Out<'a, 'c>, Unsupported>;

impl<'a, 'c> From<I<'a, 'c>> for Out<'a, 'c> {
    fn from(x: I<'a, 'c>) -> Self {
        Out::Value(x.v)
    }
}

impl<'a, 'c> From<P<'a, 'c>> for Out<'a, 'c> {
    fn from(x: P<'a, 'c>) -> Self {
        Out::Value(x.v)
    }
}

impl<'a, 'c> From<F<'a, 'c>> for Out<'a, 'c> {
    fn from(x: F<'a, 'c>) -> Self {
        Out::Float(x)
    }
}

impl<'a, 'c> From<C<'a, 'c>> for Out<'a, 'c> {
    fn from(x: C<'a, 'c>) -> Self {
        Out::Complex(x)
    }
}

impl<'a, 'c> Cx<'a, 'c> {
    fn unsupported(&self) -> Unsupported {
        let mut types: Vec<ElementType> = self.operands.iter().map(|o| o.1).collect();
        types.push(self.result);
        Unsupported { op: self.op, types }
    }

    fn none<T>(&self) -> Result<T, Unsupported> {
        Err(self.unsupported())
    }

    fn operand(&self, i: usize) -> Result<(Elem<'c>, ElementType), Unsupported> {
        self.operands.get(i).copied().ok_or_else(|| self.unsupported())
    }

    fn ty(&self) -> ElementType {
        self.operands.first().map_or(self.result, |o| o.1)
    }

    fn signed(&self) -> bool {
        self.ty().is_signed_integer()
    }

    fn bits(&self) -> u32 {
        self.ty().bit_width()
    }

    fn kind(&self, i: usize) -> Result<Kind<'a, 'c>, Unsupported> {
        let b = self.b;
        Ok(match self.operand(i)? {
            (Elem::Complex(re, im), _) => Kind::Complex(C::new(F::new(b, re), F::new(b, im))),
            (Elem::One(v), ElementType::Pred) => Kind::Pred(P::new(b, v)),
            (Elem::One(v), ty) if ty.is_float() => Kind::Float(F::new(b, v)),
            (Elem::One(v), _) => Kind::Int(I::new(b, v)),
        })
    }

    /// Returns operands 0 and 1, which must have the same type.
    fn pair(&self) -> Result<(Kind<'a, 'c>, Kind<'a, 'c>), Unsupported> {
        let (a, b) = (self.operand(0)?, self.operand(1)?);
        if a.1 != b.1 { self.none() } else { Ok((self.kind(0)?, self.kind(1)?)) }
    }

    /// Emits an operation that is defined for real floats only.
    fn real(&self, f: impl FnOnce(F<'a, 'c>) -> F<'a, 'c>) -> OutResult<'a, 'c> {
        match self.kind(0)? {
            Kind::Float(x) => Ok(f(x).into()),
            Kind::Pred(_) | Kind::Int(_) | Kind::Complex(_) => self.none(),
        }
    }

    /// Emits a function of real and complex floats.
    fn math(
        &self,
        real: impl FnOnce(F<'a, 'c>) -> F<'a, 'c>,
        complex: impl FnOnce(C<'a, 'c>) -> C<'a, 'c>,
    ) -> OutResult<'a, 'c> {
        match self.kind(0)? {
            Kind::Float(x) => Ok(real(x).into()),
            Kind::Complex(x) => Ok(x.in_f64(complex).into()),
            Kind::Pred(_) | Kind::Int(_) => self.none(),
        }
    }

    /// Emits an operation on two numbers of the same type.
    fn arithmetic(
        &self,
        int: impl FnOnce(I<'a, 'c>, I<'a, 'c>) -> I<'a, 'c>,
        real: impl FnOnce(F<'a, 'c>, F<'a, 'c>) -> F<'a, 'c>,
        complex: impl FnOnce(C<'a, 'c>, C<'a, 'c>) -> C<'a, 'c>,
        pred: Option<fn(P<'a, 'c>, P<'a, 'c>) -> P<'a, 'c>>,
    ) -> OutResult<'a, 'c> {
        match (self.pair()?, pred) {
            ((Kind::Int(x), Kind::Int(y)), _) => Ok(int(x, y).into()),
            ((Kind::Float(x), Kind::Float(y)), _) => Ok(real(x, y).into()),
            ((Kind::Complex(x), Kind::Complex(y)), _) => Ok(complex(x, y).into()),
            ((Kind::Pred(x), Kind::Pred(y)), Some(f)) => Ok(f(x, y).into()),
            _ => self.none(),
        }
    }

    fn atan2(&self) -> OutResult<'a, 'c> {
        match self.pair()? {
            (Kind::Float(y), Kind::Float(x)) => Ok(trig::atan2(y, x).into()),
            (Kind::Complex(y), Kind::Complex(x)) => Ok(y.in_f64_with(x, C::atan2).into()),
            _ => self.none(),
        }
    }

    fn power(&self) -> OutResult<'a, 'c> {
        let (signed, bits) = (self.signed(), self.bits());
        self.arithmetic(
            |x, y| integer::power(x, y, bits, signed),
            power::power,
            |x, y| x.in_f64_with(y, C::power),
            None,
        )
    }

    fn abs(&self) -> OutResult<'a, 'c> {
        match self.kind(0)? {
            Kind::Int(x) => Ok(self.int_abs(x)),
            Kind::Float(x) => Ok(x.abs().into()),
            Kind::Complex(x) => Ok(x.abs().into()),
            Kind::Pred(_) => self.none(),
        }
    }

    fn is_finite(&self) -> OutResult<'a, 'c> {
        match self.kind(0)? {
            Kind::Float(x) => Ok(x.is_finite().into()),
            Kind::Pred(_) | Kind::Int(_) | Kind::Complex(_) => self.none(),
        }
    }

    fn sign(&self) -> OutResult<'a, 'c> {
        match self.kind(0)? {
            Kind::Int(x) => Ok(integer::sign(x, self.bits(), self.signed()).into()),
            Kind::Float(x) => Ok(float::sign(x).into()),
            Kind::Complex(x) => Ok(x.sign().into()),
            Kind::Pred(_) => self.none(),
        }
    }

    fn negate(&self) -> OutResult<'a, 'c> {
        match self.kind(0)? {
            Kind::Int(x) => Ok((-x).into()),
            Kind::Float(x) => Ok((-x).into()),
            Kind::Complex(x) => Ok(C::new(-x.re, -x.im).into()),
            Kind::Pred(_) => self.none(),
        }
    }

    /// Emits `and`, `or` or `xor`.
    fn bitwise(
        &self,
        int: impl FnOnce(I<'a, 'c>, I<'a, 'c>) -> I<'a, 'c>,
        pred: impl FnOnce(P<'a, 'c>, P<'a, 'c>) -> P<'a, 'c>,
    ) -> OutResult<'a, 'c> {
        match self.pair()? {
            (Kind::Int(x), Kind::Int(y)) => Ok(int(x, y).into()),
            (Kind::Pred(x), Kind::Pred(y)) => Ok(pred(x, y).into()),
            _ => self.none(),
        }
    }

    fn extremum(&self, greater: bool) -> OutResult<'a, 'c> {
        match self.pair()? {
            (Kind::Int(x), Kind::Int(y)) => Ok(integer::extremum(x, y, self.signed(), greater).into()),
            (Kind::Float(x), Kind::Float(y)) => Ok(float::extremum(x, y, greater).into()),
            (Kind::Pred(x), Kind::Pred(y)) => Ok((if greater { x | y } else { x & y }).into()),
            (Kind::Complex(x), Kind::Complex(y)) => Ok(x.extremum(y, greater).into()),
            _ => self.none(),
        }
    }

    fn shift(&self, kind: Shift) -> OutResult<'a, 'c> {
        match self.pair()? {
            (Kind::Int(x), Kind::Int(y)) => Ok(integer::shift(x, y, self.bits(), kind).into()),
            _ => self.none(),
        }
    }

    fn count(&self, bits: impl FnOnce(&Builder<'c>, V<'c>) -> V<'c>) -> OutResult<'a, 'c> {
        let Kind::Int(x) = self.kind(0)? else { return self.none() };
        Ok(Out::Value(bits(self.b, x.v)))
    }

    /// Emits `real` or `imag`. The real part of a real number is the number itself.
    fn part(&self, imaginary: bool) -> OutResult<'a, 'c> {
        Ok(match self.kind(0)? {
            Kind::Complex(x) => (if imaginary { x.im } else { x.re }).into(),
            Kind::Float(x) => (if imaginary { x.lit(0.0) } else { x }).into(),
            Kind::Pred(_) | Kind::Int(_) => return self.none(),
        })
    }

    fn select(&self) -> Result<Elem<'c>, Unsupported> {
        let ((Elem::One(p), ElementType::Pred), a, c) =
            (self.operand(0)?, self.operand(1)?, self.operand(2)?)
        else {
            return self.none();
        };
        match (a.0, c.0) {
            _ if a.1 != c.1 => self.none(),
            (Elem::One(x), Elem::One(y)) => Ok(Elem::One(self.b.select(p, x, y))),
            (Elem::Complex(xr, xi), Elem::Complex(yr, yi)) => {
                Ok(Elem::Complex(self.b.select(p, xr, yr), self.b.select(p, xi, yi)))
            }
            _ => self.none(),
        }
    }

    fn clamp(&self) -> OutResult<'a, 'c> {
        match (self.kind(0)?, self.kind(1)?, self.kind(2)?) {
            (Kind::Float(low), Kind::Float(x), Kind::Float(high)) => Ok(float::clamp(low, x, high).into()),
            (Kind::Int(low), Kind::Int(x), Kind::Int(high)) => {
                let s = self.signed();
                Ok(integer::extremum(integer::extremum(x, low, s, true), high, s, false).into())
            }
            (Kind::Pred(low), Kind::Pred(x), Kind::Pred(high)) => Ok(((x | low) & high).into()),
            (Kind::Complex(low), Kind::Complex(x), Kind::Complex(high)) => {
                Ok(low.extremum(x, true).extremum(high, false).into())
            }
            _ => self.none(),
        }
    }

    fn int_abs(&self, x: I<'a, 'c>) -> Out<'a, 'c> {
        if !self.signed() {
            return x.into();
        }
        let negative = x.cmp(IntPredicate::Slt, x.lit(0));
        negative.select_int(-x, x).into()
    }

    fn finish(&self, out: Out<'a, 'c>) -> Elem<'c> {
        match out {
            Out::Value(v) => Elem::One(v),
            Out::Float(x) => Elem::One(elem::round_to(self.b, self.result, x.v)),
            Out::Complex(x) => Elem::Complex(x.re.v, x.im.v),
        }
    }
}

/// Emits the code for one element of `op`, whose result has element type `result`, from the operands'
/// elements and their types.
///
/// # Errors
/// The operation is not defined for these types. This does not happen for a verified module.
pub fn emit<'c>(
    b: &Builder<'c>,
    op: E<'_>,
    result: ElementType,
    operands: &[(Elem<'c>, ElementType)],
) -> Result<Elem<'c>, Unsupported> {
    let cx = Cx { b, op: op.opcode().name(), result, operands };
    let out = match op {
        E::Acos => cx.math(trig::acos, C::acos)?,
        E::Acosh => cx.math(log::acosh, C::acosh)?,
        E::Asin => cx.math(trig::asin, C::asin)?,
        E::Asinh => cx.math(log::asinh, C::asinh)?,
        E::Atanh => cx.math(log::atanh, C::atanh)?,
        E::Cbrt => cx.real(power::cbrt)?,
        E::Cosine => cx.math(trig::cos, C::cos)?,
        E::Cosh => cx.math(exp::cosh, C::cosh)?,
        E::Erf => cx.real(erf::erf)?,
        E::Exponential => cx.math(exp::exp, C::exp)?,
        E::ExponentialMinusOne => cx.math(exp::exp_m1, C::exp_m1)?,
        E::Log => cx.math(log::log, C::log)?,
        E::LogPlusOne => cx.math(log::log1p, C::log1p)?,
        E::Logistic => cx.math(exp::logistic, C::logistic)?,
        E::Rsqrt => cx.math(power::rsqrt, C::rsqrt)?,
        E::Sine => cx.math(trig::sin, C::sin)?,
        E::Sinh => cx.math(exp::sinh, C::sinh)?,
        E::Tan => cx.math(trig::tan, C::tan)?,
        E::Tanh => cx.math(exp::tanh, C::tanh)?,
        E::Atan2 => cx.atan2()?,
        E::Power => cx.power()?,
        E::Abs => cx.abs()?,
        E::Ceil => cx.real(F::ceil)?,
        E::Floor => cx.real(F::floor)?,
        E::RoundNearestAfz => cx.real(float::round_away)?,
        E::RoundNearestEven => cx.real(F::round_even)?,
        E::IsFinite => cx.is_finite()?,
        E::Sign => cx.sign()?,
        E::Sqrt => cx.math(F::sqrt, C::sqrt)?,
        E::Negate => cx.negate()?,
        E::Not => match cx.kind(0)? {
            Kind::Int(x) => (x ^ -1).into(),
            Kind::Pred(x) => (!x).into(),
            Kind::Float(_) | Kind::Complex(_) => return cx.none(),
        },
        E::CountLeadingZeros => cx.count(Builder::count_leading_zeros)?,
        E::PopulationCount => cx.count(|b, x| b.unary(Unary::Ctpop, x))?,
        E::Real => cx.part(false)?,
        E::Imag => cx.part(true)?,
        E::Convert => {
            let (x, from) = cx.operand(0)?;
            return Ok(convert::convert(b, result, x, from));
        }
        E::ReducePrecision(to) => cx.real(|x| F::new(b, convert::reduce_precision(b, result, x.v, to)))?,
        E::StochasticConvert => {
            let ((x, from), (Elem::One(random), ty)) = (cx.operand(0)?, cx.operand(1)?) else {
                return cx.none();
            };
            return convert::stochastic_convert(b, result, x, from, random, ty)
                .ok_or_else(|| cx.unsupported());
        }
        E::Add => cx.arithmetic(|x, y| x + y, |x, y| x + y, C::add, Some(|x, y| x | y))?,
        E::Subtract => cx.arithmetic(|x, y| x - y, |x, y| x - y, C::sub, Some(|x, y| x ^ y))?,
        E::Multiply => cx.arithmetic(|x, y| x * y, |x, y| x * y, C::mul, Some(|x, y| x & y))?,
        E::Divide => {
            let signed = cx.signed();
            cx.arithmetic(|x, y| integer::divide(x, y, signed), |x, y| x / y, C::div, None)?
        }
        E::Remainder => match cx.pair()? {
            (Kind::Int(x), Kind::Int(y)) => integer::remainder(x, y, cx.signed()).into(),
            (Kind::Float(x), Kind::Float(y)) => float::remainder(x, y).into(),
            _ => return cx.none(),
        },
        E::Maximum => cx.extremum(true)?,
        E::Minimum => cx.extremum(false)?,
        E::Mulhi => match cx.pair()? {
            (Kind::Int(x), Kind::Int(y)) => integer::mulhi(x, y, cx.bits(), cx.signed()).into(),
            _ => return cx.none(),
        },
        E::And => cx.bitwise(|x, y| x & y, |x, y| x & y)?,
        E::Or => cx.bitwise(|x, y| x | y, |x, y| x | y)?,
        E::Xor => cx.bitwise(|x, y| x ^ y, |x, y| x ^ y)?,
        E::ShiftLeft => cx.shift(Shift::Left)?,
        E::ShiftRightArithmetic => cx.shift(Shift::RightArithmetic)?,
        E::ShiftRightLogical => cx.shift(Shift::RightLogical)?,
        E::Compare(attrs) => {
            let (x, y) = (cx.operand(0)?, cx.operand(1)?);
            let same = x.1 == y.1;
            let out = if same { compare::compare(b, attrs, x.1, x.0, y.0) } else { None };
            return out.ok_or_else(|| cx.unsupported());
        }
        E::Complex => match cx.pair()? {
            (Kind::Float(re), Kind::Float(im)) => C::new(re, im).into(),
            _ => return cx.none(),
        },
        E::Select => return cx.select(),
        E::Clamp => cx.clamp()?,
    };
    Ok(cx.finish(out))
}
