//! Ranges of integers, and the ranges of the integer types.

use hlo_ir::ElementType;

/// A range of values. Both bounds are inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The smallest value.
    pub low: i128,
    /// The largest value.
    pub high: i128,
}

impl Range {
    /// Returns the smallest range that contains the values, or `None` if there are none.
    pub(super) fn of(values: impl IntoIterator<Item = i128>) -> Option<Self> {
        values.into_iter().fold(None, |r: Option<Self>, v| {
            Some(r.map_or(Self { low: v, high: v }, |r| Self { low: r.low.min(v), high: r.high.max(v) }))
        })
    }

    /// Returns the smallest range that contains both ranges.
    pub(super) fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Returns whether the range contains all values of another one.
    pub fn contains(self, other: Self) -> bool {
        self.low <= other.low && other.high <= self.high
    }
}

/// Returns the range of an integer type or `pred`.
pub(crate) fn type_range(ty: ElementType) -> Option<Range> {
    let bits = if ty.is_pred() { 1 } else { ty.bit_width() };
    match (ty.is_signed_integer(), ty.is_integer() || ty.is_pred()) {
        (true, _) => Some(Range { low: -(1i128 << (bits - 1)), high: (1i128 << (bits - 1)) - 1 }),
        (false, true) => Some(Range { low: 0, high: (1i128 << bits) - 1 }),
        _ => None,
    }
}

/// Wraps an integer around to the range of a type. `value` is the result of arithmetic modulo 2¹²⁸.
pub fn wrapped(ty: ElementType, value: i128) -> Option<i128> {
    let all = type_range(ty)?;
    Some(value.wrapping_sub(all.low).rem_euclid(all.high - all.low + 1) + all.low)
}
