//! One loop of a nest, whose bounds depend on the variables of the outer loops.

use super::{Affine, Interval, Strip};
use std::ops::RangeInclusive;

/// A loop over the values of its variable that are in all its strips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    strips: Vec<Strip>,
    lower: Vec<Quotient>,
    upper: Vec<Quotient>,
    range: Interval,
}

/// A function divided by a positive number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotient {
    /// The dividend: a function of the loop variables.
    pub numerator: Affine,
    /// The divisor.
    pub divisor: i64,
}

impl Quotient {
    /// Returns the value, rounded down.
    pub fn floor(&self, variables: &[i64]) -> i64 {
        self.numerator.at(variables).div_euclid(self.divisor)
    }

    /// Returns the value, rounded up.
    pub fn ceil(&self, variables: &[i64]) -> i64 {
        -(-self.numerator.at(variables)).div_euclid(self.divisor)
    }
}

impl Level {
    /// Creates the loop of a variable from its strips. It is the last variable of each of them.
    pub(super) fn new(variable: usize, strips: Vec<Strip>, range: Interval) -> Self {
        let (lower, upper) = strips.iter().map(|s| <(_, _)>::from(bounds(s, variable))).unzip();
        Self { strips, lower, upper, range }
    }

    /// Returns the strips that bound the variable: functions of the loop variables whose last variable it is.
    pub fn strips(&self) -> &[Strip] {
        &self.strips
    }

    /// Returns an interval that contains all values of the variable.
    pub fn range(&self) -> Interval {
        self.range
    }

    /// Returns the lower bounds, each rounded up. The largest one is in effect.
    pub fn lower(&self) -> &[Quotient] {
        &self.lower
    }

    /// Returns the inclusive upper bounds, each rounded down. The smallest one is in effect.
    pub fn upper(&self) -> &[Quotient] {
        &self.upper
    }

    /// Returns the values of the variable for these values of the outer variables.
    pub fn at(&self, outer: &[i64]) -> RangeInclusive<i64> {
        let lower = self.lower.iter().map(|bound| bound.ceil(outer)).max();
        let upper = self.upper.iter().map(|bound| bound.floor(outer)).min();
        lower.unwrap_or(self.range.low)..=upper.unwrap_or(self.range.high)
    }

    /// Returns whether the bounds of the loop are constant.
    pub fn is_constant(&self) -> bool {
        self.strips.iter().all(|s| s.index.only_index().is_some())
    }

    /// See [`super::Nest::trip_count_bounds`].
    pub(super) fn trip_count_bounds(&self, ranges: &[Interval]) -> Interval {
        let mut trips = Interval { low: i64::MAX, high: i64::MAX };
        for lower in &self.lower {
            for upper in &self.upper {
                let (low, high) = between(lower, upper, ranges).unwrap_or((0, i64::MAX));
                (trips.low, trips.high) = (trips.low.min(low), trips.high.min(high));
            }
        }
        trips
    }
}

/// Returns the bounds of a strip on the last variable that it depends on. The lower one must be rounded up,
/// and the upper one down.
pub(super) fn bounds(strip: &Strip, variable: usize) -> [Quotient; 2] {
    let mut rest = strip.index.clone();
    let coefficient = std::mem::take(&mut rest.coefficients[variable]);
    let top = strip.size - 1;
    // 0 <= coefficient · x + rest <= top.
    let [lower, upper] = if coefficient > 0 {
        [subtracted(0, &rest), subtracted(top, &rest)]
    } else {
        [Affine { constant: rest.constant - top, ..rest.clone() }, rest]
    };
    [lower, upper].map(|numerator| Quotient { numerator, divisor: coefficient.abs() })
}

/// Returns `constant - function`.
fn subtracted(constant: i64, function: &Affine) -> Affine {
    Affine {
        coefficients: function.coefficients.iter().map(|c| -c).collect(),
        constant: constant - function.constant,
    }
}

/// Returns the minimum and maximum number of integers between two bounds; `None` if the numbers are too
/// large.
fn between(lower: &Quotient, upper: &Quotient, ranges: &[Interval]) -> Option<(i64, i64)> {
    let (p, q) = (i128::from(lower.divisor), i128::from(upper.divisor));
    let scaled = |a: i64, b: i64| i64::try_from(p * i128::from(a) - q * i128::from(b)).ok();
    let pairs = upper.numerator.coefficients.iter().zip(&lower.numerator.coefficients);
    let difference = Affine {
        coefficients: pairs.map(|(&a, &b)| scaled(a, b)).collect::<Option<_>>()?,
        constant: scaled(upper.numerator.constant, lower.numerator.constant)?,
    };
    let (least, greatest) = difference.extremes(ranges)?;
    let product = p.checked_mul(q)?;
    // Rounding moves each of the bounds inwards by less than one.
    let inwards = p.checked_mul(q - 1)?.checked_add(q.checked_mul(p - 1)?)?;
    let low = -(inwards - least).div_euclid(product) + 1;
    let high = greatest.div_euclid(product) + 1;
    let count = |n: i128| i64::try_from(n.max(0)).ok();
    Some((count(low)?, count(high)?))
}
