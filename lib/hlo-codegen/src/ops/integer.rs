//! Arithmetic on integers and `pred`: wrapping, and defined for every operand.
//!
//! x / 0 is all ones, and x % 0 is x. The least number divided by -1 is itself (remainder 0). Shifts by the
//! width or more result in 0 (or in the sign for arithmetic right shifts). All of these are undefined in
//! LLVM, so the operands are replaced before LLVM's operation.

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
    // x / -1 is -x, which wraps for the least number as required.
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

/// Emits a shift by `y`, interpreted as unsigned, of a value of `bits` bits.
pub fn shift<'a, 'c>(x: I<'a, 'c>, y: I<'a, 'c>, bits: u32, kind: Shift) -> I<'a, 'c> {
    let b = x.b;
    if bits == 1 {
        // The width 1 does not occur as a one-bit number: a nonzero `y` shifts by the width.
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

/// Emits the high half of the product.
pub fn mulhi<'a, 'c>(x: I<'a, 'c>, y: I<'a, 'c>, bits: u32, signed: bool) -> I<'a, 'c> {
    let wide = |v: I<'a, 'c>| if signed { v.sign_extend(2 * bits) } else { v.zero_extend(2 * bits) };
    (wide(x) * wide(y)).shift_right(i64::from(bits)).truncate(bits)
}

/// Emits `power` by repeated squaring, with one step per bit of the exponent up to the highest bit set. It is
/// a loop, because unrolled it would be hundreds of operations that LLVM's passes process repeatedly. For a
/// negative exponent, the result is the truncated true quotient: 1 for base 1, plus or minus 1 for base -1,
/// else 0 (also for base 0, as in XLA).
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
