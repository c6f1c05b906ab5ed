//! Exact reduction modulo π/2 of `f64` arguments beyond 2^27 for trigonometric functions.
//!
//! 2/π is stored as 50-bit pieces. If x is scaled to less than 2^54 by a power 2^(50 i), only five pieces
//! matter. The pieces before them contribute whole turns. The pieces after them contribute less than 2^-92 of
//! a quarter turn. The bits of i select the five pieces as in a barrel shifter, without a table in memory.

use super::exp::rounder;
use super::{F, I};
use std::f64::consts::FRAC_PI_2;

/// The second piece of π/2, below `FRAC_PI_2`.
pub(super) const PI_2_MID: f64 = 6.123_233_995_736_766e-17;

/// A reduced `f64` argument: `quarter` π/2 + `r` + `tail`.
pub(super) struct Reduced<'a, 'c> {
    /// The number of quarter turns. Only its low two bits are significant.
    pub quarter: I<'a, 'c>,
    /// The remainder, at most π/4.
    pub r: F<'a, 'c>,
    /// The rounding error of `r`, if it matters.
    pub tail: Option<F<'a, 'c>>,
}

const PIECE_BITS: i64 = 50;

/// The 50-bit pieces of 2/π from the highest down, after one zero piece for its integer part.
const TWO_OVER_PI: [u64; 26] = [
    0,
    0x28be60db93910,
    0x1529fc2757d1f,
    0x14d377036d8a5,
    0x1993c439041fe,
    0x1458eaf7aef15,
    0x21b7246e3a424,
    0x374b801924bba,
    0x209d1921cfe1d,
    0x3ac72c4a69cfb,
    0x288235f52ebb4,
    0x1213a671c09ad,
    0x5f7e413991d6,
    0xe60d4ce7d272,
    0x45f8bbdf9283,
    0x2c7fe25fff781,
    0x1980fef2f118b,
    0x16829b47db4d9,
    0x3ecf27cb09b74,
    0x3d18fd9a797fa,
    0x22d7527bac7eb,
    0x397c5ecf41ce7,
    0x378a5292ea6bf,
    0x2d7ec47e35742,
    0x56033046fc7b,
    0x1aeafc33ef082,
];

/// Emits the five pieces from number `i` on, as fractions below 1.
fn pieces<'a, 'c>(i: I<'a, 'c>, like: F<'a, 'c>) -> Vec<F<'a, 'c>> {
    let mut row: Vec<F<'a, 'c>> =
        TWO_OVER_PI.iter().map(|&p| like.lit(p as f64 * 2f64.powi(-(PIECE_BITS as i32)))).collect();
    for step in [16usize, 8, 4, 2, 1] {
        let on = (i & step as i64).ne(0);
        // The number of pieces that the remaining steps can still select.
        let keep = 5 + step - 1;
        row = (0..keep.min(row.len()))
            .map(|j| row.get(j + step).map_or(row[j], |&far| on.select(far, row[j])))
            .collect();
    }
    row
}

/// Emits the sum of `a` and `b` and its rounding error.
fn two_sum<'a, 'c>(a: F<'a, 'c>, b: F<'a, 'c>) -> (F<'a, 'c>, F<'a, 'c>) {
    let s = a + b;
    let bb = s - a;
    (s, (a - (s - bb)) + (b - bb))
}

/// Emits the number of quarter turns, the remainder and the tail of a finite `x` with |x| > 1. The remainder
/// is NaN for infinity and NaN.
pub(super) fn reduce<'a, 'c>(x: F<'a, 'c>) -> Reduced<'a, 'c> {
    // x = y 2^(50 i) with |y| from 2^4 to 2^54.
    let exponent = (x.bits().shift_right(52) & 0x7ff) - (1023 + 4);
    // Division by 50 as 5243 / 2^18, which is exact for all exponents.
    let i = (exponent * 5243).shift_right(18);
    let y = x * ((i.lit(1023) - i * PIECE_BITS) << 52).as_float(x.ty());
    let row = pieces(i, x);
    let mut parts = Vec::with_capacity(10);
    for (j, &piece) in row.iter().enumerate() {
        let weight = 2f64.powi(PIECE_BITS as i32 * (1 - j as i32));
        let high = y * piece;
        let low = y.fma(piece, -high);
        for (part, large) in [(high * weight, j < 2), (low * weight, j < 1)] {
            parts.push(if large { (part * 0.25).round_even().fma(x.lit(-4.0), part) } else { part });
        }
    }
    let total = parts.iter().skip(1).fold(parts[0], |sum, &p| sum + p);
    let (n, quarter) = nearest_small(total);
    let mut sum = parts[0] - n;
    let (mut error, mut rest) = (x.lit(0.0), x.lit(0.0));
    for &p in &parts[1..] {
        let (s, e) = two_sum(sum, p);
        let (e, ee) = two_sum(error, e);
        (sum, error, rest) = (s, e, rest + ee);
    }
    let (sum, error) = two_sum(sum, error);
    let (sum, error) = two_sum(sum, error + rest);
    // Multiplies by π/2, in two parts.
    let high = sum * FRAC_PI_2;
    let low = sum.fma(x.lit(FRAC_PI_2), -high) + (sum * PI_2_MID + error * FRAC_PI_2);
    let (r, tail) = two_sum(high, low);
    Reduced { quarter, r, tail: Some(tail) }
}

/// Emits the integer nearest to a float of at most a few turns, as float and integer.
pub(super) fn nearest_small<'a, 'c>(x: F<'a, 'c>) -> (F<'a, 'c>, I<'a, 'c>) {
    let magic = rounder(x);
    let shifted = x + magic;
    (shifted - magic, shifted.bits() - magic.bits())
}
