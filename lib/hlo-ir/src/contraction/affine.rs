//! Index expressions: affine functions of integer indices.

use std::fmt;

/// The function `constant + Σ coefficients[i] · x[i]` of integers `x`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Affine {
    /// The coefficient of each index.
    pub coefficients: Vec<i64>,
    /// The constant term.
    pub constant: i64,
}

/// The integers from `low` to `high`, both included. Empty if `low` is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The smallest integer.
    pub low: i64,
    /// The largest integer.
    pub high: i64,
}

impl Affine {
    /// Returns the function whose value is index `number`, out of `indices` indices.
    pub fn index(number: usize, indices: usize) -> Self {
        Self { coefficients: (0..indices).map(|i| i64::from(i == number)).collect(), constant: 0 }
    }

    /// Returns a constant function of `indices` indices.
    pub fn constant(value: i64, indices: usize) -> Self {
        Self { coefficients: vec![0; indices], constant: value }
    }

    /// Returns the value at `x`, modulo 2⁶⁴. It is exact if it fits 64 bits, even if intermediate results do
    /// not.
    pub fn at(&self, x: &[i64]) -> i64 {
        let terms = self.coefficients.iter().zip(x).map(|(&c, &x)| c.wrapping_mul(x));
        terms.fold(self.constant, i64::wrapping_add)
    }

    /// Returns whether the function depends on index `number`.
    pub fn depends_on(&self, number: usize) -> bool {
        self.coefficients.get(number).is_some_and(|&c| c != 0)
    }

    /// Returns the only index that the function depends on; `None` if there are several or none.
    pub fn only_index(&self) -> Option<usize> {
        let mut used = (0..self.coefficients.len()).filter(|&i| self.depends_on(i));
        used.next().filter(|_| used.next().is_none())
    }

    /// Returns the last index that the function depends on, if there is one.
    pub fn last_index(&self) -> Option<usize> {
        (0..self.coefficients.len()).rev().find(|&i| self.depends_on(i))
    }

    /// Returns the smallest and the largest value over a box of indices; `None` if they do not fit 128 bits.
    pub fn extremes(&self, ranges: &[Interval]) -> Option<(i128, i128)> {
        let mut extremes = (i128::from(self.constant), i128::from(self.constant));
        for (&c, range) in self.coefficients.iter().zip(ranges) {
            let ends = [range.low, range.high].map(|x| i128::from(c) * i128::from(x));
            extremes.0 = extremes.0.checked_add(ends[0].min(ends[1]))?;
            extremes.1 = extremes.1.checked_add(ends[0].max(ends[1]))?;
        }
        Some(extremes)
    }
}

/// `2*d0-d1+3`.
impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (i, &c) in self.coefficients.iter().enumerate().filter(|&(_, &c)| c != 0) {
            let sign = match (c < 0, first) {
                (true, _) => "-",
                (false, true) => "",
                (false, false) => "+",
            };
            f.write_str(sign)?;
            if c.unsigned_abs() != 1 {
                write!(f, "{}*", c.unsigned_abs())?;
            }
            write!(f, "d{i}")?;
            first = false;
        }
        match self.constant {
            constant if first => write!(f, "{constant}"),
            0 => Ok(()),
            constant => write!(f, "{constant:+}"),
        }
    }
}
