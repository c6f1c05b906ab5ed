//! Arithmetic on integers and `pred`. Results wrap, and are defined for all operands:
//!
//! - x / 0 has all bits set, and x % 0 is x.
//! - The smallest number divided by -1 is the smallest number, with remainder 0.
//! - A shift by the width of the type or more results in 0. For arithmetic right shifts, all bits of the
//!   result are the sign bit.
//!
//! In LLVM, these operations are undefined. The functions therefore replace such operands before they emit
//! LLVM's operation, and then select the defined result.

use crate::builder::{Binary, IntPredicate, V};
use crate::math::{I, P};
use std::convert::Infallible;

/// Emits `divide`.
pub fn divide<'a, 'c>(x: I<'a, 'c>, y: I<'a, 'c>, signed: bool) -> I<'a, 'c> {
    let b = x.b;
    let zero = y.eq(0);
    if !signed {
        let q = I::new(b, b.binary(Binary::Divui, x.v, zero.select_int(y.lit(1), y).v));
        return zero.select_int(x.lit(-1), q);
    }
    // x / -1 is -x. For the smallest number, the negation wraps to the same number, as required.
    let minus_one = y.eq(-1);
    let q = I::new(b, b.binary(Binary::Divsi, x.v, (zero | minus_one).select_int(y.lit(1), y).v));
    zero.select_int(x.lit(-1), minus_one.select_int(-x, q))
}

/// Emits `remainder`, with the sign of `x`.
pub fn remainder<'a, 'c>(x: I<'a, 'c>, y: I<'a, 'c>, signed: bool) -> I<'a, 'c> {
    let b = x.b;
    let zero = y.eq(0);
    let (bad, op) = if signed { (zero | y.eq(-1), Binary::Remsi) } else { (zero, Binary::Remui) };
    let r = I::new(b, b.binary(op, x.v, bad.select_int(y.lit(1), y).v));
    zero.select_int(x, r)
}

/// The kind of a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// `shift-left`.
    Left,
    /// `shift-right-logical`.
    RightLogical,
    /// `shift-right-arithmetic`.
    RightArithmetic,
}

/// Emits a shift of a value of `bits` bits by `y`, which is interpreted as an unsigned number.
pub fn shift<'a, 'c>(x: I<'a, 'c>, y: I<'a, 'c>, bits: u32, kind: Shift) -> I<'a, 'c> {
    let b = x.b;
    if bits == 1 {
        // A one-bit `y` is 0 or 1, and 1 is the width. A nonzero `y` therefore shifts the bit out.
        let far = y.ne(0);
        return if kind == Shift::RightArithmetic { x } else { far.select_int(x.lit(0), x) };
    }
    let far = y.cmp(IntPredicate::Uge, y.lit(i64::from(bits)));
    let (op, safe) = match kind {
        Shift::Left => (Binary::Shli, far.select_int(y.lit(0), y)),
        Shift::RightLogical => (Binary::Shrui, far.select_int(y.lit(0), y)),
        Shift::RightArithmetic => (Binary::Shrsi, far.select_int(y.lit(i64::from(bits) - 1), y)),
    };
    let r = I::new(b, b.binary(op, x.v, safe.v));
    if kind == Shift::RightArithmetic { r } else { far.select_int(x.lit(0), r) }
}

/// Emits the upper half of the bits of the full product.
pub fn mulhi<'a, 'c>(x: I<'a, 'c>, y: I<'a, 'c>, bits: u32, signed: bool) -> I<'a, 'c> {
    let wide = |v: I<'a, 'c>| if signed { v.sign_extend(2 * bits) } else { v.zero_extend(2 * bits) };
    (wide(x) * wide(y)).shift_right(i64::from(bits)).truncate(bits)
}

/// Emits `power` by repeated squaring. The code is a loop, with one step for each bit of the exponent up to
/// the highest bit that is set. The loop is not unrolled, because LLVM's passes would process hundreds of
/// operations repeatedly. For a negative exponent, the result is the exact quotient, truncated: 1 for base 1,
/// 1 or -1 for base -1, and 0 for any other base, including 0, as in XLA.
pub fn power<'a, 'c>(x: I<'a, 'c>, y: I<'a, 'c>, bits: u32, signed: bool) -> I<'a, 'c> {
    if bits == 1 {
        return y.ne(0).select_int(x, x.lit(1));
    }
    if !signed {
        return squared(x, y);
    }
    let negative = y.cmp(IntPredicate::Slt, y.lit(0));
    let result = squared(x, negative.select_int(y.lit(0), y));
    let odd = (y & 1).ne(0);
    let minus = x.eq(-1).select_int(odd.select_int(x.lit(-1), x.lit(1)), x.lit(0));
    let reciprocal = x.eq(1).select_int(x.lit(1), minus);
    negative.select_int(reciprocal, result)
}

/// Emits the power with the exponent interpreted as unsigned.
fn squared<'a, 'c>(x: I<'a, 'c>, y: I<'a, 'c>) -> I<'a, 'c> {
    let b = x.b;
    let state = |s: &[V<'c>]| [0, 1, 2].map(|i| I::new(b, s[i]));
    let Ok(last) = b.while_loop(
        &[x.lit(1).v, x.v, y.v],
        |s| Ok::<_, Infallible>(state(s)[2].ne(0).v),
        |s| {
            let [result, square, rest] = state(s);
            let result = (rest & 1).ne(0).select_int(result * square, result);
            Ok(vec![result.v, (square * square).v, rest.shift_right(1).v])
        },
    );
    state(&last)[0]
}

/// Emits `sign`: -1, 0 or 1.
pub fn sign<'a, 'c>(x: I<'a, 'c>, bits: u32, signed: bool) -> I<'a, 'c> {
    let nonzero: P<'a, 'c> = x.ne(0);
    if !signed || bits == 1 {
        let one = x.lit(if signed { -1 } else { 1 });
        return nonzero.select_int(one, x.lit(0));
    }
    x.sar(i64::from(bits) - 1) | nonzero.select_int(x.lit(1), x.lit(0))
}

/// Emits the maximum (if `greater`) or the minimum of the operands.
pub fn extremum<'a, 'c>(x: I<'a, 'c>, y: I<'a, 'c>, signed: bool, greater: bool) -> I<'a, 'c> {
    let op = match (signed, greater) {
        (true, true) => Binary::Maxsi,
        (true, false) => Binary::Minsi,
        (false, true) => Binary::Maxui,
        (false, false) => Binary::Minui,
    };
    I::new(x.b, x.b.binary(op, x.v, y.v))
}
