//! Symbolic element indices: a value that the loop nest computes plus a constant, with a known range.
//!
//! Constants are kept separate for three reasons. A slice, a pad or a concatenate can shift an index without
//! emitting code. Equal elements that are reached on different paths have equal keys. Bounds checks are
//! omitted if the range proves them.

use crate::builder::{Binary, Builder, V};
use melior::ir::ValueLike;

/// An index `base + offset` (or `offset` alone) in the range `lo..=hi`.
#[derive(Clone, Copy)]
pub struct Idx<'c> {
    base: Option<V<'c>>,
    offset: i64,
    /// The minimum value of the index.
    pub lo: i64,
    /// The maximum value of the index.
    pub hi: i64,
}

impl<'c> Idx<'c> {
    /// Returns a constant index.
    pub fn constant(value: i64) -> Self {
        Self { base: None, offset: value, lo: value, hi: value }
    }

    /// Returns the index of a computed value in `lo..=hi`.
    pub fn value(v: V<'c>, lo: i64, hi: i64) -> Self {
        if lo == hi { Self::constant(lo) } else { Self { base: Some(v), offset: 0, lo, hi } }
    }

    /// Returns the index plus a constant.
    pub fn plus(self, n: i64) -> Self {
        Self {
            offset: self.offset.saturating_add(n),
            lo: self.lo.saturating_add(n),
            hi: self.hi.saturating_add(n),
            ..self
        }
    }

    /// Returns the value if it is constant.
    pub fn as_constant(self) -> Option<i64> {
        self.base.is_none().then_some(self.offset)
    }

    /// Returns a key that distinguishes the index from other indices of the same function.
    pub fn key(self) -> (usize, i64) {
        (self.base.map_or(0, |v| v.to_raw().ptr as usize), self.offset)
    }

    /// Returns the same index with the range intersected with `lo..=hi`.
    pub fn within(self, lo: i64, hi: i64) -> Self {
        Self { lo: self.lo.max(lo), hi: self.hi.min(hi), ..self }
    }

    /// Emits the SSA value.
    pub fn emit(self, b: &Builder<'c>) -> V<'c> {
        match (self.base, self.offset) {
            (Some(v), 0) => v,
            (Some(v), n) => {
                let n = b.index(n);
                b.index_add(v, n)
            }
            (None, n) => b.index(n),
        }
    }

    /// Emits `self * n` for a constant `n >= 0`.
    pub fn times(self, b: &Builder<'c>, n: i64) -> Self {
        match (self.base, n) {
            (_, 1) => self,
            (_, 0) => Self::constant(0),
            (None, n) => Self::constant(self.offset.saturating_mul(n)),
            (Some(v), n) => {
                let factor = b.index(n);
                let product = b.index_mul(v, factor);
                Self {
                    base: Some(product),
                    offset: self.offset.saturating_mul(n),
                    lo: self.lo.saturating_mul(n),
                    hi: self.hi.saturating_mul(n),
                }
            }
        }
    }

    /// Emits the sum of two indices.
    pub fn add(self, b: &Builder<'c>, other: Self) -> Self {
        match (self.base, other.base) {
            (_, None) => self.plus(other.offset),
            (None, _) => other.plus(self.offset),
            (Some(x), Some(y)) => Self {
                base: Some(b.index_add(x, y)),
                offset: self.offset.saturating_add(other.offset),
                lo: self.lo.saturating_add(other.lo),
                hi: self.hi.saturating_add(other.hi),
            },
        }
    }

    /// Converts an index into an array with `low` elements of padding before it to a position in the array,
    /// whose last position is `last`. An index behind the array becomes some position after `last`, so that
    /// nothing overflows.
    pub fn without_padding(self, b: &Builder<'c>, low: i64, last: i64) -> Self {
        let end = i128::from(low) + i128::from(last) + 1;
        if end <= i128::from(self.lo) {
            return Self::constant(last.saturating_add(1));
        }
        if i128::from(self.hi) - i128::from(low) <= i128::from(i64::MAX) {
            return self.plus(-low);
        }
        // The end of the array is one of the possible indices.
        let end = end as i64;
        Self::value(b.binary(Binary::Smin, self.emit(b), b.index(end)), self.lo, end).plus(-low)
    }

    /// Emits `n - self` for a constant `n`.
    pub fn subtracted_from(self, b: &Builder<'c>, n: i64) -> Self {
        match self.base {
            None => Self::constant(n.saturating_sub(self.offset)),
            Some(v) => {
                let from = b.index(n.saturating_sub(self.offset));
                let (lo, hi) = (n.saturating_sub(self.hi), n.saturating_sub(self.lo));
                Self { base: Some(b.index_sub(from, v)), offset: 0, lo, hi }
            }
        }
    }

    /// Emits the quotient and the remainder of a non-negative index by a constant `n >= 1`.
    pub fn divide(self, b: &Builder<'c>, n: i64) -> (Self, Self) {
        if n == 1 {
            return (self, Self::constant(0));
        }
        if self.lo >= 0 && self.hi < n {
            return (Self::constant(0), self);
        }
        match self.as_constant() {
            Some(c) => (Self::constant(c.div_euclid(n)), Self::constant(c.rem_euclid(n))),
            None => {
                let v = self.emit(b);
                let divisor = b.index(n);
                let q = b.binary(Binary::Divui, v, divisor);
                let r = b.binary(Binary::Remui, v, divisor);
                (Self::value(q, self.lo.max(0) / n, self.hi.max(0) / n), Self::value(r, 0, n - 1))
            }
        }
    }
}

/// Emits `Σ index[d] * stride[d]`.
pub fn linear<'c>(b: &Builder<'c>, index: &[Idx<'c>], strides: &[i64]) -> Idx<'c> {
    index.iter().zip(strides).fold(Idx::constant(0), |sum, (i, &stride)| sum.add(b, i.times(b, stride)))
}

/// Emits the index of the element at a linear position in an array of the given sizes, whose dimensions vary
/// in the order `minor_to_major`.
pub fn delinearize<'c>(
    b: &Builder<'c>,
    position: Idx<'c>,
    dims: &[i64],
    minor_to_major: &[usize],
) -> Vec<Idx<'c>> {
    let mut index = vec![Idx::constant(0); dims.len()];
    let mut rest = position;
    for (k, &d) in minor_to_major.iter().enumerate() {
        if minor_to_major[k + 1..].iter().all(|&e| dims[e] == 1) {
            index[d] = rest;
            break;
        }
        let (q, r) = rest.divide(b, dims[d].max(1));
        index[d] = r;
        rest = q;
    }
    index
}

/// Sets the components of `index` for the dimensions `along` (slowest first) from a linear position among
/// them. `dims` are the sizes of all dimensions.
pub fn set_along<'c>(
    b: &Builder<'c>,
    position: Idx<'c>,
    dims: &[i64],
    along: &[usize],
    index: &mut [Idx<'c>],
) {
    let sizes: Vec<i64> = along.iter().map(|&d| dims[d]).collect();
    let minor_to_major: Vec<usize> = (0..sizes.len()).rev().collect();
    for (&d, part) in along.iter().zip(delinearize(b, position, &sizes, &minor_to_major)) {
        index[d] = part;
    }
}

/// Emits the operand index of a `reshape` between row-major dimensions with the same number of elements.
/// Dimensions are matched in groups of equal size, so that only dimensions that are really split or merged
/// need a division.
pub fn reshape<'c>(b: &Builder<'c>, index: &[Idx<'c>], from: &[i64], to: &[i64]) -> Vec<Idx<'c>> {
    // `index` is an index into `to` (the result). `out` is an index into `from` (the operand).
    let mut out = vec![Idx::constant(0); from.len()];
    let (mut i, mut j) = (0, 0);
    while i < from.len() || j < to.len() {
        let (i0, j0) = (i, j);
        let (mut a, mut c) = (1i64, 1i64);
        // The smallest group, with at least one dimension on either side, whose sizes are equal.
        loop {
            if i < from.len() && (a < c || (a == c && (i == i0 || from[i] == 1))) {
                a *= from[i];
                i += 1;
            } else if j < to.len() && (c < a || (a == c && (j == j0 || to[j] == 1))) {
                c *= to[j];
                j += 1;
            } else {
                break;
            }
        }
        let real_from: Vec<usize> = (i0..i).filter(|&d| from[d] != 1).collect();
        let real_to: Vec<usize> = (j0..j).filter(|&d| to[d] != 1).collect();
        if let ([d], [e]) = (real_from.as_slice(), real_to.as_slice()) {
            out[*d] = index[*e];
            continue;
        }
        let mut position = Idx::constant(0);
        for &e in &real_to {
            position = position.times(b, to[e]).add(b, index[e]);
        }
        set_along(b, position, from, &real_from, &mut out);
    }
    out
}
