//! Index expressions: affine functions of index variables with rational coefficients.

use num_rational::Ratio;
use num_traits::Zero;
use std::collections::BTreeMap;

/// A rational number. Numerators and denominators are less than [`LIMIT`], so that no operation on two
/// numbers overflows.
pub(crate) type Rational = Ratio<i128>;

/// Exclusive upper bound of numerators and denominators.
const LIMIT: i128 = 1 << 60;

/// The number of an index variable.
pub(crate) type IndexId = u32;

/// Provides the names of index variables.
pub(crate) trait IndexNames {
    /// Returns the name of a variable, or a placeholder.
    fn name_of(&self, id: IndexId) -> String;
}

/// An affine expression `Σ coefficient · index + constant`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Poly {
    /// The coefficients. None of them is 0.
    terms: BTreeMap<IndexId, Rational>,
    /// The constant term.
    constant: Rational,
}

/// Returns `None` if a number is too large.
fn checked(value: Rational) -> Option<Rational> {
    (value.numer().abs() < LIMIT && *value.denom() < LIMIT).then_some(value)
}

impl Poly {
    /// Returns a constant expression.
    pub(crate) fn constant(value: i64) -> Option<Self> {
        let constant = checked(Rational::from_integer(value.into()))?;
        Some(Self { terms: BTreeMap::new(), constant })
    }

    /// Returns an index variable as an expression.
    pub(crate) fn index(id: IndexId) -> Self {
        Self { terms: BTreeMap::from([(id, Rational::from_integer(1))]), constant: Rational::zero() }
    }

    /// Returns the constant if the expression has no index.
    pub(crate) fn as_constant(&self) -> Option<Rational> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Returns the constant term.
    pub(crate) fn offset(&self) -> Rational {
        self.constant
    }

    /// Returns the coefficient of an index.
    pub(crate) fn coefficient(&self, id: IndexId) -> Rational {
        self.terms.get(&id).copied().unwrap_or_default()
    }

    /// Returns the indices that the expression depends on, in the order of their numbers.
    pub(crate) fn indices(&self) -> impl Iterator<Item = IndexId> + '_ {
        self.terms.keys().copied()
    }

    /// Returns `self + factor · other`, or `None` if a coefficient is too large.
    pub(crate) fn plus(&self, other: &Self, factor: i64) -> Option<Self> {
        let factor = Rational::from_integer(factor.into());
        let mut terms = self.terms.clone();
        for (&id, &coefficient) in &other.terms {
            let sum = checked(self.coefficient(id) + checked(coefficient * factor)?)?;
            terms.insert(id, sum);
        }
        terms.retain(|_, c| !c.is_zero());
        Some(Self { terms, constant: checked(self.constant + checked(other.constant * factor)?)? })
    }

    /// Returns `self · factor`, or `None` if a coefficient is too large.
    pub(crate) fn times(&self, factor: Rational) -> Option<Self> {
        let terms = self.terms.iter().map(|(&id, &c)| Some((id, checked(c * factor)?)));
        let mut terms: BTreeMap<_, _> = terms.collect::<Option<_>>()?;
        terms.retain(|_, c| !c.is_zero());
        Some(Self { terms, constant: checked(self.constant * factor)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affine_arithmetic_is_exact() {
        let (i, j) = (Poly::index(0), Poly::index(1));
        let half = i.plus(&j, -1).unwrap().times(Rational::new(1, 2)).unwrap();
        assert_eq!(half.coefficient(0), Rational::new(1, 2));
        assert_eq!(half.coefficient(1), Rational::new(-1, 2));
        let none = half.plus(&half, -1).unwrap();
        assert_eq!(none.as_constant(), Some(Rational::zero()));
        assert_eq!(half.indices().collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn what_is_too_large_is_none() {
        assert!(Poly::constant(i64::MAX).is_none());
        let large = Poly::constant(1 << 59).unwrap();
        assert!(large.plus(&large, 1).is_none());
        assert!(large.times(Rational::from_integer(1 << 59)).is_none());
        assert!(
            Poly::index(0).times(Rational::new(1, 1 << 59)).unwrap().times(Rational::new(1, 4)).is_none()
        );
    }
}
